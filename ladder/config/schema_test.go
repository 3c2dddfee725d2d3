package config

import (
	"bytes"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/schema"
	"github.com/timba-arena/timba/internal/size"
)

var (
	sectionLine = regexp.MustCompile(`^\[+([a-z]+)\]`)
	keyLine     = regexp.MustCompile(`^([a-z]+) = .*?  +# (.*)`)
	ladderKey   = regexp.MustCompile(`^# ([a-z]+): (.*)`)
)

// keyTexts returns the descriptions of the keys in the comments of the default configuration.
func keyTexts() map[string]string {
	texts, section, last := map[string]string{}, "", ""
	for line := range strings.Lines(defaultTOML) {
		if m := sectionLine.FindStringSubmatch(line); m != nil {
			section = m[1] + "."
		} else if m := keyLine.FindStringSubmatch(line); m != nil {
			texts[section+m[1]] = m[2]
		} else if m := ladderKey.FindStringSubmatch(line); m != nil {
			last = "ladder." + m[1]
			texts[last] = m[2]
		} else if more, ok := strings.CutPrefix(line, "#   "); ok && last != "" {
			texts[last] += " " + strings.TrimSpace(more)
		}
	}
	return texts
}

// server.schema.json has the keys of the types that the reader fills, with the comments of the default configuration.
func TestConfigSchema(t *testing.T) {
	texts := keyTexts()
	g := schema.Generator{
		Types: map[reflect.Type]schema.Schema{
			reflect.TypeFor[size.Bytes]():    {"type": []string{"string", "integer"}},
			reflect.TypeFor[time.Duration](): {"type": "string"},
		},
		Member: func(f reflect.StructField) (string, bool) { return keyOf(f), false },
		Describe: func(path string, f reflect.StructField) string {
			if texts[path] == "" && f.Type.Kind() != reflect.Struct && path != "ladder" && !strings.HasPrefix(path, "ladder.clock.") {
				t.Errorf("%s has no description", path)
			}
			return texts[path]
		},
	}
	kit.Golden(t, "../server.schema.json", schema.Document("timba.toml of a server", g.TypeSchema("", reflect.TypeFor[file]())))
}

// The default configuration fits the schema; an unknown key, which the reader refuses, does not.
func TestConfigSchemaAgrees(t *testing.T) {
	c := jsonschema.NewCompiler()
	kit.Must(t, c.AddResource("server", kit.Get[any](t)(jsonschema.UnmarshalJSON(bytes.NewReader(ServerSchema)))))
	form := kit.Get[*jsonschema.Schema](t)(c.Compile("server"))
	fits := func(text string) bool {
		var values map[string]any
		kit.Must(t, toml.Unmarshal([]byte(text), &values))
		if list, ok := values["ladder"].([]map[string]any); ok {
			var items []any
			for _, l := range list {
				items = append(items, any(l))
			}
			values["ladder"] = items
		}
		return form.Validate(values) == nil
	}
	for text, want := range map[string]bool{
		defaultTOML: true, "[site]\nembed = 1": false, "[site]\nunheard = 1": false, "unheard = 1": false, `pause = "1m"`: true, "memory = 1": true,
	} {
		_, err := Parse("c", []byte(text))
		if got := fits(text); got != want || want != (err == nil) && text != "memory = 1" {
			t.Errorf("%.40q: it fits: %v, want %v; the reader says %v", text, got, want, err)
		}
	}
}
