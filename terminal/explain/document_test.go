package explain

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/schema"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/rules/tebes"
	"github.com/timba-arena/timba/rules/teeko"
)

// TestSchemaFile checks that explain.schema.json has the members and the descriptions of the Go types.
func TestSchemaFile(t *testing.T) {
	g := schema.Generator{
		Types: map[reflect.Type]schema.Schema{reflect.TypeFor[fault.Reason](): {"type": "object", "required": []string{"kind"}}},
		Member: func(f reflect.StructField) (string, bool) {
			name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
			return name, option == ""
		},
		Describe: func(_ string, f reflect.StructField) string { return f.Tag.Get("doc") },
	}
	kit.Golden(t, "../explain.schema.json", schema.Document("timba explain --json", g.TypeSchema("", reflect.TypeFor[Explanation]())))
}

// TestDocument checks that the documents of games with faults, of games without, and of a single fault fit the
// schema.
func TestDocument(t *testing.T) {
	file := kit.Get[*os.File](t)(os.Open("explain.schema.json"))
	defer file.Close()
	c := jsonschema.NewCompiler()
	kit.Must(t, c.AddResource("explain", kit.Get[any](t)(jsonschema.UnmarshalJSON(file))))
	form := kit.Get[*jsonschema.Schema](t)(c.Compile("explain"))
	document := func(number int, games ...*ReplayFile) Explanation {
		e, _ := explainer(games...)
		d := kit.Get[Explanation](t)(e.Document(number))
		data := kit.Get[[]byte](t)(json.Marshal(d))
		if err := form.Validate(kit.Get[any](t)(jsonschema.UnmarshalJSON(strings.NewReader(string(data))))); err != nil {
			t.Errorf("%v in\n%s", err, data)
		}
		return d
	}
	all := document(0, resigned(played(t, teeko.Game, 3, 5, -1), 2)...)
	if f := all.Faults; len(f) != 2 || f[1].Number != 2 || f[1].Ply != 5 || f[1].Legal == nil || len(f[1].Lines) != lastLines || f[1].Check == "" || all.AdjudicatedGames != 1 {
		t.Errorf("all faults: %+v", all)
	}
	if one := document(2, played(t, teeko.Game, 3, 5)...); len(one.Faults) != 1 || !reflect.DeepEqual(one.Faults[0].place, all.Faults[1].place) {
		t.Errorf("one fault: %+v", one.Faults)
	}
	if none := document(0, played(t, tebes.Game, -1, -1)...); len(none.Faults) != 0 || len(none.LongThinks) != shownMoments {
		t.Errorf("no fault: %+v", none)
	}
	e, _ := explainer(played(t, teeko.Game, 3)...)
	if _, err := e.Document(2); err == nil || err.Error() != "explain: fault 2 does not exist: there are faults 1 to 1" {
		t.Errorf("fault 2: %v", err)
	}
}
