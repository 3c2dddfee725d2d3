package config

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// keysOf returns the keys of a part of the configuration.
func keysOf(prefix string, t reflect.Type) (keys []string) {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return []string{prefix}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			keys = append(keys, keysOf(prefix, f.Type)...)
			continue
		}
		key := f.Tag.Get("toml")
		if prefix != "" {
			key = prefix + "." + key
		}
		keys = append(keys, keysOf(key, f.Type)...)
	}
	return keys
}

// docs/operating.md, "Configuration": its table has every key and no other.
func TestOperatingConfiguration(t *testing.T) {
	data, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	section := regexp.MustCompile(`(?s)\n## Configuration\n(.*?)\n## `).FindSubmatch(data)
	if section == nil {
		t.Fatal("the section is missing")
	}
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z.]+)` \\|").FindAllSubmatch(section[1], -1) {
		documented = append(documented, string(m[1]))
	}
	keys := keysOf("", reflect.TypeFor[configFile]())
	slices.Sort(documented)
	slices.Sort(keys)
	keys = slices.Compact(keys) // a key of an embedded part may be written anew
	if diff := cmp.Diff(keys, documented); diff != "" {
		t.Errorf("the table differs (-configuration +table):\n%s", diff)
	}
}
