package site

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
)

// apiPage is the data of the page "apidocs": the OpenAPI document of the API.
type apiPage struct {
	Intro  string
	Bearer string // how a request is authorized
	Groups []apiGroup
	Types  []apiType
}

// apiGroup are the operations whose first tag is Name.
type apiGroup struct {
	Name       string
	Operations []apiOperation
}

type apiOperation struct {
	ID, Method, Path, Summary, Description string
	Scope                                  string // that a token needs; "" without a token
	Owner, Admin                           bool   // only for the owner and admins; only for admins
	Parameters                             []apiField
	Body                                   *apiField // of the request
	Example                                string    // a command that sends the request
	Answers                                []apiAnswer
}

// apiField is a parameter, or a member of a document.
type apiField struct {
	Name, In, Type, Note string
	Ref                  string // the name of its type's schema, if it has one
	Required             bool
}

type apiAnswer struct {
	Status, Description string
	Fields              []apiField // one for each media type, or the members of a page
}

// apiType is a schema with a name.
type apiType struct {
	Name, Type, Description string
	Members                 []apiField
}

// apidocs shows the documentation of the API.
func (s *Site) apidocs(v *visit) error {
	page, err := s.reference()
	if err != nil {
		return err
	}
	return v.page(http.StatusOK, "apidocs", page)
}

// newReference reads the OpenAPI document.
func newReference() (*apiPage, error) {
	doc, err := openapi3.NewLoader().LoadFromData(api.Document())
	if err != nil {
		return nil, fmt.Errorf("site: openapi.yaml: %w", err)
	}
	page := &apiPage{Intro: doc.Info.Description, Bearer: doc.Components.SecuritySchemes["bearer"].Value.Description}
	groups := map[string][]apiOperation{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			groups[op.Tags[0]] = append(groups[op.Tags[0]], newAPIOperation(method, path, item, op))
		}
	}
	for _, tag := range doc.Tags {
		list := groups[tag.Name]
		slices.SortFunc(list, func(a, b apiOperation) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(apiMethods[a.Method], apiMethods[b.Method]))
		})
		page.Groups = append(page.Groups, apiGroup{tag.Name, list})
	}
	for name, ref := range doc.Components.Schemas {
		page.Types = append(page.Types, apiType{name, apiTypeOf(ref.Value), ref.Value.Description, apiMembers(ref.Value)})
	}
	slices.SortFunc(page.Types, func(a, b apiType) int { return cmp.Compare(a.Name, b.Name) })
	return page, nil
}

var apiMethods = map[string]int{"GET": 0, "POST": 1, "PUT": 2, "DELETE": 3}

func newAPIOperation(method, path string, item *openapi3.PathItem, op *openapi3.Operation) apiOperation {
	o := apiOperation{ID: op.OperationID, Method: method, Path: path, Summary: op.Summary, Description: op.Description}
	o.Owner, _ = op.Extensions["x-owner"].(bool)
	o.Admin, _ = op.Extensions["x-admin"].(bool)
	if op.Security != nil {
		for _, requirement := range *op.Security {
			o.Scope = strings.Join(requirement["bearer"], ", ")
		}
	}
	for _, ref := range append(slices.Clone(item.Parameters), op.Parameters...) {
		f := apiFieldOf(ref.Value.Name, ref.Value.Schema, ref.Value.Required)
		f.In, f.Note = ref.Value.In, sentence(ref.Value.Description, f.Note)
		o.Parameters = append(o.Parameters, f)
	}
	var body *openapi3.SchemaRef
	if op.RequestBody != nil {
		for _, kind := range slices.Sorted(maps.Keys(op.RequestBody.Value.Content)) {
			f := apiFieldOf(kind, op.RequestBody.Value.Content[kind].Schema, op.RequestBody.Value.Required)
			if o.Body == nil || strings.HasSuffix(kind, "json") {
				o.Body, body = &f, op.RequestBody.Value.Content[kind].Schema
			}
		}
	}
	o.Example = apiExample(&o, body)
	for _, status := range slices.Sorted(maps.Keys(op.Responses.Map())) {
		response := op.Responses.Value(status).Value
		a := apiAnswer{Status: status, Description: *response.Description}
		for _, kind := range slices.Sorted(maps.Keys(response.Content)) {
			schema := response.Content[kind].Schema
			if f := apiFieldOf(kind, schema, true); f.Ref != "" || len(schema.Value.Properties) == 0 {
				a.Fields = append(a.Fields, f)
			} else {
				a.Fields = append(a.Fields, apiMembers(schema.Value)...)
			}
		}
		o.Answers = append(o.Answers, a)
	}
	return o
}

func sentence(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), " ")
}

// apiFieldOf describes a value of a schema.
func apiFieldOf(name string, ref *openapi3.SchemaRef, required bool) apiField {
	f := apiField{Name: name, Required: required}
	if ref == nil || ref.Value == nil {
		return f
	}
	f.Ref, f.Type, f.Note = schemaName(ref.Ref), apiTypeOf(ref.Value), sentence(ref.Value.Description, apiBounds(ref.Value))
	if f.Type == "object" && f.Ref != "" {
		f.Type = f.Ref
	}
	if items := ref.Value.Items; items != nil {
		f.Ref = schemaName(items.Ref)
		f.Type = "array of " + cmp.Or(f.Ref, apiTypeOf(items.Value))
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

func apiTypeOf(s *openapi3.Schema) string {
	if s == nil || s.Type == nil {
		return ""
	}
	return sentence(strings.Join(s.Type.Slice(), " or "), s.Format)
}

// apiBounds returns what values a schema allows.
func apiBounds(s *openapi3.Schema) string {
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

// apiMembers returns the members of an object: those that are required first.
func apiMembers(s *openapi3.Schema) (list []apiField) {
	for _, part := range s.AllOf {
		list = append(list, apiMembers(part.Value)...)
	}
	var optional []apiField
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, name) {
			list = append(list, apiFieldOf(name, s.Properties[name], true))
		} else {
			optional = append(optional, apiFieldOf(name, s.Properties[name], false))
		}
	}
	return append(list, optional...)
}

// apiExample returns a command that sends a request.
func apiExample(o *apiOperation, body *openapi3.SchemaRef) string {
	path := o.Path
	var query []string
	for _, p := range o.Parameters {
		value := apiSamples[p.Name]
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
			data, err := json.Marshal(apiSample(body.Value))
			if err == nil {
				command += " -d '" + string(data) + "'"
			}
		} else {
			command += " --data-binary @mybot.tar.gz"
		}
	}
	return command + " \"$URL" + path + `"`
}

// apiSamples are values of parameters and members in examples, by their names.
var apiSamples = map[string]string{
	"ladder": "brisca-2", "bot": "mybot", "person": "anna", "name": "anna", "stage": "build", "scope": "submit", "seat": "0",
}

// apiSample returns a document with the required members of a schema, and one of the others that
// samples has.
func apiSample(s *openapi3.Schema) any {
	switch {
	case s.Type.Is("object"):
		doc := map[string]any{}
		for name, ref := range s.Properties {
			if text, ok := apiSamples[name]; ok {
				doc[name] = text
			} else if slices.Contains(s.Required, name) {
				doc[name] = apiSample(ref.Value)
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
