// Package apidocs converts the OpenAPI document of the API into the data of a documentation page. It decodes only
// the parts of OpenAPI that the document uses: a general library would make every start of the program slower.
//
// Begin with NewPage.
package apidocs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Page is the data of the page that documents the API.
type Page struct {
	Intro  string
	Bearer string  // how a request is authorized
	Groups []Group // in display order
	Types  []Type  // in alphabetical order
}

// Group is a section of the page: the operations whose first tag in the OpenAPI document is Name.
type Group struct {
	Name       string
	Operations []Operation
}

// Operation is what one HTTP method does at one path.
type Operation struct {
	ID, Method, Path, Summary, Description string
	Scope                                  string // the scope that the token needs; "" if it needs no token
	Owner                                  bool   // only the owner of the resource and admins may use it
	Admin                                  bool   // only admins may use it
	Parameters                             []Field
	Body                                   *Field // the body of the request; nil if it has none
	Example                                string // a curl command that sends the request
	Answers                                []Answer
}

// Field describes a value: a parameter, the content of a body or an answer, or a member of a JSON document.
type Field struct {
	Name, Type, Note string
	Location         string // where a parameter is, such as "query"; "" for other fields
	Ref              string // the name of the schema of its type; "" if that has no name
	Required         bool
}

// Answer describes the answer of an operation with one HTTP status.
type Answer struct {
	Status, Description string
	Fields              []Field // one for each media type; for a schema without a name, its members
}

// Type describes a JSON type that has a name in the OpenAPI document.
type Type struct {
	Name, Type, Description string
	Members                 []Field
}

// NewPage returns the page for an OpenAPI document in JSON.
func NewPage(data []byte) (*Page, error) {
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("apidocs: the OpenAPI document: %w", err)
	}
	page := &Page{Intro: d.Info.Description, Bearer: d.Components.SecuritySchemes["bearer"].Description}
	groups := map[string][]Operation{}
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		item := d.Paths[path]
		for _, m := range []struct {
			method string
			*operation
		}{{http.MethodGet, item.Get}, {http.MethodPost, item.Post}, {http.MethodPut, item.Put}, {http.MethodDelete, item.Delete}} {
			if m.operation != nil {
				tag := m.Tags[0]
				groups[tag] = append(groups[tag], d.operation(m.method, path, m.operation))
			}
		}
	}
	for _, tag := range d.Tags {
		page.Groups = append(page.Groups, Group{tag.Name, groups[tag.Name]})
	}
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		s := d.Components.Schemas[name]
		page.Types = append(page.Types, Type{name, s.typeName(), s.Description, d.members(s)})
	}
	return page, nil
}

func (d *document) operation(method, path string, op *operation) Operation {
	o := Operation{
		ID: op.OperationID, Method: method, Path: path, Summary: op.Summary, Description: op.Description,
		Owner: op.Owner, Admin: op.Admin,
	}
	for _, requirement := range op.Security {
		o.Scope = strings.Join(requirement["bearer"], ", ")
	}
	for _, p := range op.Parameters {
		f := d.field(p.Name, p.Schema, p.Required)
		f.Location, f.Note = p.Location, joinTexts(p.Description, f.Note)
		o.Parameters = append(o.Parameters, f)
	}
	var body *schema
	for _, kind := range slices.Sorted(maps.Keys(op.RequestBody.Content)) {
		if o.Body == nil || strings.HasSuffix(kind, "json") {
			body = op.RequestBody.Content[kind].Schema
			f := d.field(kind, body, op.RequestBody.Required)
			o.Body = &f
		}
	}
	o.Example = d.example(&o, body)
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		r := op.Responses[status]
		r = resolve(r.Ref, r, d.Components.Responses)
		a := Answer{Status: status, Description: r.Description}
		for _, kind := range slices.Sorted(maps.Keys(r.Content)) {
			content := r.Content[kind].Schema
			if f := d.field(kind, content, true); f.Ref != "" || len(d.schema(content).Properties) == 0 {
				a.Fields = append(a.Fields, f)
			} else {
				a.Fields = append(a.Fields, d.members(content)...)
			}
		}
		o.Answers = append(o.Answers, a)
	}
	return o
}

func joinTexts(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), " ")
}

// field returns the description of the value called name. ref is its schema or a reference to the schema; it is nil
// if the value has none. required says whether the value must be present.
func (d *document) field(name string, ref *schema, required bool) Field {
	f := Field{Name: name, Required: required}
	if ref == nil {
		return f
	}
	s := d.schema(ref)
	f.Ref, f.Type, f.Note = schemaName(ref.Ref), s.typeName(), joinTexts(s.Description, s.bounds())
	if f.Type == "object" && f.Ref != "" {
		f.Type = f.Ref
	}
	if s.Items != nil {
		f.Ref = schemaName(s.Items.Ref)
		f.Type = "array of " + cmp.Or(f.Ref, s.Items.typeName())
	}
	return f
}

// members returns the members of an object, the required ones first. ref is its schema or a reference to it.
func (d *document) members(ref *schema) (list []Field) {
	s := d.schema(ref)
	for _, part := range s.AllOf {
		list = append(list, d.members(part)...)
	}
	var optional []Field
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, name) {
			list = append(list, d.field(name, s.Properties[name], true))
		} else {
			optional = append(optional, d.field(name, s.Properties[name], false))
		}
	}
	return append(list, optional...)
}

// example returns a curl command that sends a request to the operation o. body is the schema of the request's body,
// or nil if it has none.
func (d *document) example(o *Operation, body *schema) string {
	path := o.Path
	var query []string
	for _, p := range o.Parameters {
		value := cmp.Or(samples[p.Name], "1")
		switch {
		case p.Location == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", value)
		case p.Location == "query" && p.Required:
			query = append(query, p.Name+"="+value)
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
			data, err := json.Marshal(d.sample(body))
			if err == nil {
				command += " -d '" + string(data) + "'"
			}
		} else {
			command += " --data-binary @mybot.tar.gz"
		}
	}
	return command + " \"$URL" + path + `"`
}

// samples maps names of parameters and members to example values.
var samples = map[string]string{
	"ladder": "brisca-2", "bot": "mybot", "person": "anna", "name": "anna", "stage": "build", "scope": "submit", "seat": "0",
}

// sample returns an example value for a schema; ref is the schema or a reference to it. The value for an
// object has the required members, and the optional members that have an entry in samples.
func (d *document) sample(ref *schema) any {
	s := d.schema(ref)
	switch {
	case s.hasType("object"):
		doc := map[string]any{}
		for name, member := range s.Properties {
			if text, ok := samples[name]; ok {
				doc[name] = text
			} else if slices.Contains(s.Required, name) {
				doc[name] = d.sample(member)
			}
		}
		return doc
	case s.hasType("array"):
		return []string{"mybot", "@greedy"}
	case s.hasType("integer"):
		return 1
	}
	return "..."
}
