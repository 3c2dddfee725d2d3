package report

import (
	_ "embed"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/timba-arena/timba/internal/kit"
)

//go:embed result.schema.json
var schemaText string

// valid checks a document against its schema.
func valid(t *testing.T, doc []byte) {
	t.Helper()
	c := jsonschema.NewCompiler()
	kit.Must(t, c.AddResource("result", kit.Get[any](t)(jsonschema.UnmarshalJSON(strings.NewReader(schemaText)))))
	schema := kit.Get[*jsonschema.Schema](t)(c.Compile("result"))
	value := kit.Get[any](t)(jsonschema.UnmarshalJSON(strings.NewReader(string(doc))))
	if err := schema.Validate(value); err != nil {
		t.Errorf("%v in\n%s", err, doc)
	}
}

// The schema has the members of the document, no more and no less.
func TestSchema(t *testing.T) {
	t.Parallel()
	var schema object
	kit.Must(t, json.Unmarshal([]byte(schemaText), &schema))
	for where, c := range map[string]struct {
		schema *object
		of     reflect.Type
	}{
		"the document": {&schema, reflect.TypeFor[Document]()},
		"machine":      {schema.at("machine"), reflect.TypeFor[documentMachine]()},
		"bots":         {schema.at("bots").Items, reflect.TypeFor[documentBot]()},
		"pairs":        {schema.at("pairs").Items, reflect.TypeFor[documentPair]()},
		"rounds":       {schema.at("rounds").Items, reflect.TypeFor[documentRound]()},
		"sprt":         {schema.Defs["sprt"], reflect.TypeFor[documentSPRT]()},
		"adjudicated":  {schema.at("adjudicated"), reflect.TypeFor[documentAdjudicated]()},
		"faults":       {schema.at("faults").Items, reflect.TypeFor[documentFault]()},
		"ended_early":  {schema.at("ended_early"), reflect.TypeFor[EarlyEnd]()},
	} {
		var names, always, has []string
		for _, f := range reflect.VisibleFields(c.of) {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" { // of an embedded struct, whose fields come too
				continue
			}
			names = append(names, name)
			if options == "" {
				always = append(always, name)
			}
		}
		for name := range c.schema.Properties {
			has = append(has, name)
		}
		for _, list := range [][]string{names, always, has, c.schema.Required} {
			slices.Sort(list)
		}
		if diff := cmp.Diff(names, has); diff != "" {
			t.Errorf("%s: the members are (-program +schema):\n%s", where, diff)
		}
		if diff := cmp.Diff(always, c.schema.Required); diff != "" {
			t.Errorf("%s: always there are (-program +schema):\n%s", where, diff)
		}
	}
}

// object is the part of a schema that lists the members of an object.
type object struct {
	Properties map[string]*object
	Required   []string
	Items      *object
	Defs       map[string]*object `json:"$defs"`
}

func (o *object) at(name string) *object { return o.Properties[name] }
