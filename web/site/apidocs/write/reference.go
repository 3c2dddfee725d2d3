package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/timba-arena/timba/web/api"
	"github.com/timba-arena/timba/web/site/apidocs"
)

// newReference reads the OpenAPI document.
func newReference() (*apidocs.Page, error) {
	doc, err := openapi3.NewLoader().LoadFromData(api.Document())
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	page := &apidocs.Page{Intro: doc.Info.Description, Bearer: doc.Components.SecuritySchemes["bearer"].Value.Description}
	groups := map[string][]apidocs.Operation{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			groups[op.Tags[0]] = append(groups[op.Tags[0]], newOperation(method, path, item, op))
		}
	}
	for _, tag := range doc.Tags {
		list := groups[tag.Name]
		slices.SortFunc(list, func(a, b apidocs.Operation) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(methods[a.Method], methods[b.Method]))
		})
		page.Groups = append(page.Groups, apidocs.Group{Name: tag.Name, Operations: list})
	}
	for name, ref := range doc.Components.Schemas {
		page.Types = append(page.Types, apidocs.Type{Name: name, Type: typeOf(ref.Value), Description: ref.Value.Description, Members: members(ref.Value)})
	}
	slices.SortFunc(page.Types, func(a, b apidocs.Type) int { return cmp.Compare(a.Name, b.Name) })
	return page, nil
}

var methods = map[string]int{"GET": 0, "POST": 1, "PUT": 2, "DELETE": 3}

func newOperation(method, path string, item *openapi3.PathItem, op *openapi3.Operation) apidocs.Operation {
	o := apidocs.Operation{ID: op.OperationID, Method: method, Path: path, Summary: op.Summary, Description: op.Description}
	o.Owner, _ = op.Extensions["x-owner"].(bool)
	o.Admin, _ = op.Extensions["x-admin"].(bool)
	if op.Security != nil {
		for _, requirement := range *op.Security {
			o.Scope = strings.Join(requirement["bearer"], ", ")
		}
	}
	for _, ref := range append(slices.Clone(item.Parameters), op.Parameters...) {
		f := fieldOf(ref.Value.Name, ref.Value.Schema, ref.Value.Required)
		f.In, f.Note = ref.Value.In, sentence(ref.Value.Description, f.Note)
		o.Parameters = append(o.Parameters, f)
	}
	var body *openapi3.SchemaRef
	if op.RequestBody != nil {
		for _, kind := range slices.Sorted(maps.Keys(op.RequestBody.Value.Content)) {
			f := fieldOf(kind, op.RequestBody.Value.Content[kind].Schema, op.RequestBody.Value.Required)
			if o.Body == nil || strings.HasSuffix(kind, "json") {
				o.Body, body = &f, op.RequestBody.Value.Content[kind].Schema
			}
		}
	}
	o.Example = example(&o, body)
	for _, status := range slices.Sorted(maps.Keys(op.Responses.Map())) {
		response := op.Responses.Value(status).Value
		a := apidocs.Answer{Status: status, Description: *response.Description}
		for _, kind := range slices.Sorted(maps.Keys(response.Content)) {
			schema := response.Content[kind].Schema
			if f := fieldOf(kind, schema, true); f.Ref != "" || len(schema.Value.Properties) == 0 {
				a.Fields = append(a.Fields, f)
			} else {
				a.Fields = append(a.Fields, members(schema.Value)...)
			}
		}
		o.Answers = append(o.Answers, a)
	}
	return o
}

func sentence(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), " ")
}

// fieldOf describes a value of a schema.
func fieldOf(name string, ref *openapi3.SchemaRef, required bool) apidocs.Field {
	f := apidocs.Field{Name: name, Required: required}
	if ref == nil || ref.Value == nil {
		return f
	}
	f.Ref, f.Type, f.Note = schemaName(ref.Ref), typeOf(ref.Value), sentence(ref.Value.Description, bounds(ref.Value))
	if f.Type == "object" && f.Ref != "" {
		f.Type = f.Ref
	}
	if items := ref.Value.Items; items != nil {
		f.Ref = schemaName(items.Ref)
		f.Type = "array of " + cmp.Or(f.Ref, typeOf(items.Value))
	}
	return f
}

func schemaName(ref string) string {
	name, ok := strings.CutPrefix(ref, "#/components/schemas/")
	if !ok {
		return ""
	}
	return name
}

func typeOf(s *openapi3.Schema) string {
	if s == nil || s.Type == nil {
		return ""
	}
	return sentence(strings.Join(s.Type.Slice(), " or "), s.Format)
}

// bounds returns what values a schema allows.
func bounds(s *openapi3.Schema) string {
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
	case s.Min != nil && s.Max != nil:
		add("%.0f to %.0f", *s.Min, *s.Max)
	case s.Min != nil:
		add("at least %.0f", *s.Min)
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

// members returns the members of an object: those that are required first.
func members(s *openapi3.Schema) (list []apidocs.Field) {
	for _, part := range s.AllOf {
		list = append(list, members(part.Value)...)
	}
	var optional []apidocs.Field
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, name) {
			list = append(list, fieldOf(name, s.Properties[name], true))
		} else {
			optional = append(optional, fieldOf(name, s.Properties[name], false))
		}
	}
	return append(list, optional...)
}

// example returns a command that sends a request.
func example(o *apidocs.Operation, body *openapi3.SchemaRef) string {
	path := o.Path
	var query []string
	for _, p := range o.Parameters {
		value := samples[p.Name]
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", cmp.Or(value, "1"))
		case p.In == "query" && p.Required:
			query = append(query, p.Name+"="+cmp.Or(value, "1"))
		}
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	command := "curl"
	if o.Method != http.MethodGet {
		command += " -X " + o.Method
	}
	if o.Scope != "" {
		command += ` -H "Authorization: Bearer $TOKEN"`
	}
	if o.Body != nil {
		command += " -H 'Content-Type: " + o.Body.Name + "'"
		if strings.HasSuffix(o.Body.Name, "json") {
			data, err := json.Marshal(sample(body.Value))
			if err == nil {
				command += " -d '" + string(data) + "'"
			}
		} else {
			command += " --data-binary @mybot.tar.gz"
		}
	}
	return command + " \"$URL" + path + `"`
}

// samples are values of parameters and members in examples, by their names.
var samples = map[string]string{
	"ladder": "brisca-2", "bot": "mybot", "person": "anna", "name": "anna", "stage": "build", "scope": "submit", "seat": "0",
}

// sample returns a document with the required members of a schema, and one of the others that
// samples has.
func sample(s *openapi3.Schema) any {
	switch {
	case s.Type.Is("object"):
		doc := map[string]any{}
		for name, ref := range s.Properties {
			if text, ok := samples[name]; ok {
				doc[name] = text
			} else if slices.Contains(s.Required, name) {
				doc[name] = sample(ref.Value)
			}
		}
		return doc
	case s.Type.Is("array"):
		return []string{"mybot", "@greedy"}
	case s.Type.Is("integer"):
		return 1
	}
	return "..."
}
