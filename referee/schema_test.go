package referee_test

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/rules/games"
)

// replaySchema compiles replay.schema.json, and checks the schema itself.
func replaySchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	return kit.Get[*jsonschema.Schema](t)(jsonschema.NewCompiler().Compile("replay.schema.json"))
}

// specReplay returns the example in SPEC.md, "Replays".
func specReplay(t *testing.T) string {
	t.Helper()
	section := specSection(t, "Replays")
	m := regexp.MustCompile("(?s)```json\n(.*?)```").FindStringSubmatch(section)
	if m == nil {
		t.Fatal("SPEC.md, \"Replays\", has no example")
	}
	return m[1]
}

func validate(t *testing.T, schema *jsonschema.Schema, text string) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return schema.Validate(doc)
}

func TestReplaysExampleIsValid(t *testing.T) {
	if err := validate(t, replaySchema(t), specReplay(t)); err != nil {
		t.Error(err)
	}
}

// The example is a game that can be: the rules rebuild it, its seeds come from the match's.
func TestReplaysExampleVerifies(t *testing.T) {
	r, err := referee.DecodeReplay([]byte(specReplay(t)))
	kit.Must(t, err)
	g, err := games.Find(r.Game)
	kit.Must(t, err)
	for _, err := range r.Verify(g) {
		t.Error(err)
	}
}

// Each case changes the example of SPEC.md in one place.
func TestReplaysSchema(t *testing.T) {
	const (
		clock  = `{"movetime": 1000, "margin": 50}`
		move   = `{"seat": 0, "move": "9-13", "ms": 0.041, "info": ["score=3 depth=2"]}`
		points = `"points": [0, 0]`
		reason = `"reason": {"kind": "exited", "status": 1}, `
		fault  = `{"seat": 1, "ply": 1, "code": "exit", ` + reason + `"text": "the process exited with status 1"}`
		hash   = `9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08`
	)
	reveal := regexp.MustCompile(`\s*"seed": "0{64}",`).FindString(specReplay(t))
	for _, c := range []struct {
		name     string
		from, to string
		ok       bool
	}{
		{"seed not yet revealed", reveal, "", true},
		{"clock with a bank", clock, `{"bank": 60000, "inc": 0, "margin": 50}`, true},
		{"move of the stand-in", move, `{"seat": 0, "move": "8-9", "standin": true}`, true},
		{"move without info", move, `{"seat": 0, "move": "8-9", "ms": 12}`, true},
		{"no move, no fault", move, "", true},
		{"fault without a reason", reason, "", false},
		{"halves and losses", points, `"points": [0.5, -20]`, true},

		{"unknown member", points, points + `, "date": "today"`, false},
		{"no points", ",\n  " + points, "", false},
		{"points as text", points, `"points": ["0", "0"]`, false},
		{"one seat's points", points, `"points": [0]`, false},
		{"later version", `"timba": 1`, `"timba": 2`, false},
		{"option as a number", `"limit": "200"`, `"limit": 200`, false},
		{"upper-case game", `"game": "teeko"`, `"game": "Teeko"`, false},
		{"a seat's clock", `"seed": 1411298478805248`, `"seed": 1411298478805248, "clock": {"bank": 60000, "inc": 0, "margin": 50}`, true},
		{"a seat's clock without a margin", `"seed": 1411298478805248`, `"seed": 1411298478805248, "clock": {"movetime": 1000}`, false},
		{"a seat's clock with a start-up time", `"seed": 1411298478805248`, `"seed": 1411298478805248, "clock": {"movetime": 1000, "margin": 5, "startup": 1}`, false},
		{"two clocks", clock, `{"movetime": 1000, "bank": 60000, "inc": 0, "margin": 50}`, false},
		{"inc without a bank", clock, `{"inc": 10, "margin": 50}`, false},
		{"no margin", clock, `{"movetime": 1000}`, false},
		{"movetime of 0", clock, `{"movetime": 0, "margin": 50}`, false},
		{"short hash", hash, hash[1:], false},
		{"upper-case hash", hash, strings.ToUpper(hash), false},
		{"seed above 2^53-1", `"seed": 1342913898756151`, `"seed": 9007199254740992`, false},
		{"bot without a name", `"name": "mine"`, `"name": ""`, false},
		{"bot without a version", `"version": "1.0", `, "", false},
		{"move without a time", move, `{"seat": 0, "move": "8-9"}`, false},
		{"stand-in with a time", move, `{"seat": 0, "move": "8-9", "ms": 1, "standin": true}`, false},
		{"stand-in with info", move, `{"seat": 0, "move": "8-9", "info": ["a=1"], "standin": true}`, false},
		{"stand-in false", move, `{"seat": 0, "move": "8-9", "ms": 1, "standin": false}`, false},
		{"empty info", move, `{"seat": 0, "move": "8-9", "ms": 1, "info": []}`, false},
		{"move with a space", move, `{"seat": 0, "move": "8 9", "ms": 1}`, false},
		{"move of seat 12", move, `{"seat": 12, "move": "8-9", "ms": 1}`, false},
		{"negative time", move, `{"seat": 0, "move": "8-9", "ms": -1}`, false},
		{"unknown code", fault, strings.Replace(fault, "exit", "crash", 1), false},
		{"unknown kind of a reason", reason, strings.Replace(reason, "exited", "left", 1), false},
		{"reason without a kind", reason, strings.Replace(reason, `"kind": "exited", `, "", 1), false},
		{"unknown parameter", reason, strings.Replace(reason, "status", "state", 1), false},
		{"fault without a ply", fault, strings.Replace(fault, `"ply": 1, `, "", 1), false},
		{"rank 0", `"ranks": [1, 2]`, `"ranks": [0, 1]`, false},
		{"negative deal", `"deal": 0`, `"deal": -1`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := specReplay(t)
			if c.from == "" || strings.Count(text, c.from) != 1 {
				t.Fatalf("%q is there %d times in the example", c.from, strings.Count(text, c.from))
			}
			err := validate(t, replaySchema(t), strings.Replace(text, c.from, c.to, 1))
			if (err == nil) != c.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The schema and the program know the same reasons and parameters.
func TestReplaysFaultReasons(t *testing.T) {
	data := kit.Get[[]byte](t)(os.ReadFile("replay.schema.json"))
	var schema struct {
		Defs struct {
			Reason struct {
				Properties map[string]struct{ Enum []fault.Kind }
			}
		} `json:"$defs"`
	}
	kit.Must(t, json.Unmarshal(data, &schema))
	properties := schema.Defs.Reason.Properties
	if got := properties["kind"].Enum; !slices.Equal(got, fault.Kinds()) {
		t.Errorf("the schema has the kinds %q, the program %q", got, fault.Kinds())
	}
	for f := range reflect.TypeFor[fault.Reason]().Fields() {
		name := f.Tag.Get("json")
		if _, ok := properties[name]; !ok {
			t.Errorf("the schema has no %s", name)
		}
		delete(properties, name)
	}
	if len(properties) > 0 {
		t.Errorf("only the schema has %v", properties)
	}
}

// The schema and the protocol know the same codes.
func TestReplaysFaultCodes(t *testing.T) {
	data := kit.Get[[]byte](t)(os.ReadFile("replay.schema.json"))
	var schema struct {
		Properties struct {
			Faults struct {
				Items struct {
					Properties struct {
						Code struct{ Enum []protocol.Code }
					}
				}
			}
		}
	}
	kit.Must(t, json.Unmarshal(data, &schema))
	got := schema.Properties.Faults.Items.Properties.Code.Enum
	if len(got) != len(protocol.Codes) {
		t.Fatalf("the schema has %q, the protocol %q", got, protocol.Codes)
	}
	table := specSection(t, "Limits and faults")
	for i, code := range protocol.Codes {
		if got[i] != code {
			t.Errorf("code %d: the schema has %q, the protocol %q", i, got[i], code)
		}
		if !strings.Contains(table, "`"+string(code)+"`") {
			t.Errorf("SPEC.md, \"Limits and faults\", does not have %q", code)
		}
	}
}
