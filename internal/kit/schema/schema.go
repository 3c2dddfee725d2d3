// Package schema generates JSON schemas (draft 2020-12) from Go types.
package schema

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"strings"
)

// Schema is a JSON schema or a part of one.
type Schema = map[string]any

// Draft is the URL that identifies the version of JSON Schema in which the schemas are written.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// Generator generates the schemas of Go types that appear in one kind of JSON document.
type Generator struct {
	Types map[reflect.Type]Schema // schemas of the types whose values have another form in a document than in Go
	// Member returns the name that a Go field has in a document, and whether the document always contains it. If the
	// field is not in the document, the name is "".
	Member func(reflect.StructField) (name string, always bool)
	// Describe returns the description of a field; "" means none. path is the place of the field in the document: the
	// names of the members that contain it and its own name, joined by dots.
	Describe func(path string, f reflect.StructField) string
}

// TypeSchema returns the schema of values of type t. path is the place of such a value in the document: the names of the
// members that contain it, joined by dots, or "" for the whole document.
func (g *Generator) TypeSchema(path string, t reflect.Type) Schema {
	if s, ok := g.Types[t]; ok {
		return maps.Clone(s)
	}
	switch t.Kind() {
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return Schema{"type": "integer"}
	case reflect.Float64:
		return Schema{"type": "number"}
	case reflect.String:
		return Schema{"type": "string"}
	case reflect.Pointer:
		return g.TypeSchema(path, t.Elem())
	case reflect.Slice:
		return Schema{"type": "array", "items": g.TypeSchema(path, t.Elem())}
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": g.TypeSchema(path, t.Elem())}
	}
	return g.object(path, t)
}

func (g *Generator) object(path string, t reflect.Type) Schema {
	properties, required := Schema{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, always := g.Member(f)
		if name == "" || f.Anonymous {
			continue
		}
		if always {
			required = append(required, name)
		}
		inner := name
		if path != "" {
			inner = path + "." + name
		}
		member := g.TypeSchema(inner, f.Type)
		if text := g.Describe(inner, f); text != "" {
			member["description"] = text
		}
		properties[name] = member
	}
	s := Schema{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// Document returns the text of a file with the schema s, to which it adds the title. s is unchanged.
func Document(title string, s Schema) string {
	s = maps.Clone(s)
	s["$schema"], s["title"] = Draft, title
	data, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		panic("schema: " + err.Error()) // a schema contains nothing that JSON cannot express
	}
	return string(data) + "\n"
}

var (
	pageLink = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	pageCode = regexp.MustCompile("`([^`]*)`")
)

// PlainText returns a text of a page, in Markdown, without links and marks of code.
func PlainText(text string) string {
	return pageCode.ReplaceAllString(pageLink.ReplaceAllString(strings.TrimSpace(text), "$1"), "$1")
}
