package program

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/schema"
	"github.com/timba-arena/timba/internal/size"
)

// bot.schema.json has the keys of the Go types, with the descriptions of docs/writing-a-bot.md and docs/matches.md.
func TestManifestSchema(t *testing.T) {
	descriptions := map[string]string{}
	for prefix, page := range map[string]string{"": "writing-a-bot.md", "match.": "matches.md"} {
		text := string(kit.Get[[]byte](t)(os.ReadFile("../../docs/" + page)))
		for _, row := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| ([^|]+)(?: \\| ([^|]+))? \\|").FindAllStringSubmatch(text, -1) {
			if prefix == "" {
				row[2] = row[3]
			}
			descriptions[prefix+row[1]] = schema.PlainText(row[2])
		}
	}
	g := schema.Generator{
		Types: map[reflect.Type]schema.Schema{reflect.TypeFor[size.Bytes](): {"type": "string"}},
		Member: func(f reflect.StructField) (string, bool) {
			if !f.IsExported() || f.Name == "Args" {
				return "", false
			}
			return strings.ToLower(f.Name), f.Name == "Run"
		},
		Describe: func(path string, _ reflect.StructField) string {
			if descriptions[path] == "" {
				t.Errorf("%s has no description", path)
			}
			return descriptions[path]
		},
	}
	kit.Golden(t, "../bot.schema.json", schema.Document("timba.toml of a bot", g.TypeSchema("", reflect.TypeFor[Manifest]())))
}

// The reader accepts every key of the schema, and its errors name these keys and no others.
func TestManifestSchemaKeys(t *testing.T) {
	type object struct {
		Type       string
		Properties map[string]struct {
			Type       string
			Properties map[string]struct{ Type string }
		}
	}
	var o object
	kit.Must(t, json.Unmarshal(BotSchema, &o))
	values := map[string]string{"string": `"300m"`, "integer": "60000", "array": `["x"]`}
	known := func(text, lead string) string {
		_, err := parseManifest(text)
		_, list, _ := strings.Cut(err.Error(), lead)
		return " " + strings.NewReplacer(",", "", " or ", " ").Replace(list) + " "
	}
	top, own := known("unheard = 1", "try "), known("match = {unheard = 1}", "try ")
	for key, p := range o.Properties {
		line := key + " = " + values[p.Type]
		if p.Type == "object" {
			line = key + " = {}"
		}
		if _, err := parseManifest("run = [\"x\"]\n" + line); err != nil && key != "run" {
			t.Errorf("%s: %v", line, err)
		}
		top = strings.Replace(top, " "+key+" ", " ", 1)
		for name, q := range p.Properties {
			line := "match = {" + name + " = " + values[q.Type] + "}"
			if name == "inc" {
				line = "match = {bank = 60000, inc = 1}"
			}
			if _, err := parseManifest("run = [\"x\"]\n" + line); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			own = strings.Replace(own, " "+name+" ", " ", 1)
		}
	}
	if strings.TrimSpace(top+own) != "" {
		t.Errorf("the schema lacks the keys %q and %q", top, own)
	}
}
