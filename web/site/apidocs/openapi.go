package apidocs

import (
	"encoding/json"
	"fmt"
	"strings"
)

// document has the parts of an OpenAPI document that the page shows.
type document struct {
	Info       struct{ Description string }
	Tags       []struct{ Name string }
	Paths      map[string]struct{ Get, Post, Put, Delete *operation }
	Components struct {
		Schemas         map[string]*schema
		Responses       map[string]*response
		SecuritySchemes map[string]struct{ Description string }
	}
}

type operation struct {
	OperationID, Summary, Description string
	Tags                              []string
	Owner                             bool `json:"x-owner"`
	Admin                             bool `json:"x-admin"`
	Security                          []map[string][]string
	Parameters                        []*parameter
	RequestBody                       struct {
		Required bool
		Content  content
	}
	Responses map[string]*response
}

type parameter struct {
	Name, Description string
	Location          string `json:"in"`
	Required          bool
	Schema            *schema
}

type response struct {
	Ref         string `json:"$ref"`
	Description string
	Content     content
}

// content has the schemas of documents by their media types.
type content map[string]struct{ Schema *schema }

// schema is the part of a JSON Schema that the page shows.
type schema struct {
	Ref                          string `json:"$ref"`
	Type                         types
	Format, Description, Pattern string
	Enum                         []any
	Minimum, Maximum             *float64
	MaxLength                    *int
	Default                      any
	Items                        *schema
	Properties                   map[string]*schema
	Required                     []string
	AllOf                        []*schema
}

// types are the JSON types that a value may have. In JSON, a single type is a string instead of an array.
type types []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *types) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = types{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(t))
}

// resolve returns the value to which ref refers, such as "#/components/schemas/Bot": an entry of components. If ref
// is "", the value stands in the document itself, and resolve returns the argument here, which is that value.
func resolve[T any](ref string, here *T, components map[string]*T) *T {
	if ref == "" {
		return here
	}
	return components[ref[strings.LastIndexByte(ref, '/')+1:]]
}

func (d *document) schema(s *schema) *schema { return resolve(s.Ref, s, d.Components.Schemas) }

// schemaName returns the name of the schema to which ref refers: the last part of ref. If ref is "", it returns "".
func schemaName(ref string) string { return strings.TrimPrefix(ref, "#/components/schemas/") }

func (s *schema) hasType(name string) bool { return len(s.Type) == 1 && s.Type[0] == name }

// typeName returns the type and the format of a value as the page shows them.
func (s *schema) typeName() string { return joinTexts(strings.Join(s.Type, " or "), s.Format) }

// bounds returns the limits of a value in parentheses, such as "(at least 1; default 100)". It returns "" if
// there are none.
func (s *schema) bounds() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if len(s.Enum) > 0 {
		var words []string
		for _, word := range s.Enum {
			words = append(words, fmt.Sprint(word))
		}
		add("one of %s", strings.Join(words, ", "))
	}
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		add("%.0f to %.0f", *s.Minimum, *s.Maximum)
	case s.Minimum != nil:
		add("at least %.0f", *s.Minimum)
	}
	if s.MaxLength != nil {
		add("at most %d characters", *s.MaxLength)
	}
	if s.Pattern != "" {
		add("matches %s", s.Pattern)
	}
	if s.Default != nil {
		add("default %v", s.Default)
	}
	if len(parts) == 0 {
		return ""
	}
	return "(" + strings.Join(parts, "; ") + ")"
}
