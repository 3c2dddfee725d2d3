package config

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
)

// keysOf returns the keys of a part of the configuration.
func keysOf(prefix string, t reflect.Type) (keys []string) {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return []string{prefix}
	}
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("toml")
		if f.Anonymous || tag == "-" {
			continue
		}
		key := cmp.Or(tag, strings.ToLower(f.Name))
		if prefix != "" {
			key = prefix + "." + key
		}
		keys = append(keys, keysOf(key, f.Type)...)
	}
	return keys
}

// docs/operating.md, "Configuration": its table has every key and no other.
func TestOperatingConfiguration(t *testing.T) {
	data := kit.Get[[]byte](t)(os.ReadFile("../../docs/operating.md"))
	section := regexp.MustCompile(`(?s)\n## Configuration\n(.*?)\n## `).FindSubmatch(data)
	if section == nil {
		t.Fatal("the section is missing")
	}
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z.]+)` \\|").FindAllSubmatch(section[1], -1) {
		documented = append(documented, string(m[1]))
	}
	keys := keysOf("", reflect.TypeFor[file]())
	slices.Sort(documented)
	slices.Sort(keys)
	keys = slices.Compact(keys) // a key of an embedded part may be written anew
	if diff := gocmp.Diff(keys, documented); diff != "" {
		t.Errorf("the table differs (-configuration +table):\n%s", diff)
	}
}

// docs/testing.md, "Every limit": its table has every limit and no other key, and names tests
// that exist.
func TestLimitsAreTested(t *testing.T) {
	data := kit.Get[[]byte](t)(os.ReadFile("../../docs/testing.md"))
	section := regexp.MustCompile(`(?s)\n## Every limit\n(.*?)\n## `).FindSubmatch(data)
	if section == nil {
		t.Fatal("the section is missing")
	}
	var keys []string
	for _, key := range keysOf("", reflect.TypeFor[file]()) {
		if regexp.MustCompile(`^(limits|play|remote|live|storage)\.`).MatchString(key) && key != "play.guests" {
			keys = append(keys, key)
		}
	}
	var named []string
	for _, m := range regexp.MustCompile("`([a-z]+\\.[a-z]+)`").FindAllSubmatch(section[1], -1) {
		named = append(named, string(m[1]))
	}
	slices.Sort(keys)
	slices.Sort(named)
	if diff := gocmp.Diff(keys, named); diff != "" {
		t.Errorf("the table differs (-limits +table):\n%s", diff)
	}
	dir := ""
	for _, m := range regexp.MustCompile("`([a-z]+/[a-z]+|Test\\w+)`").FindAllSubmatch(section[1], -1) {
		name := string(m[1])
		if !strings.HasPrefix(name, "Test") {
			dir = name
			continue
		}
		if name != t.Name() && !declares(t, filepath.Join("../..", dir), name) {
			t.Errorf("%s has no test %s", dir, name)
		}
	}
}

// declares reports whether the tests of a directory have a function.
func declares(t *testing.T, dir, name string) bool {
	t.Helper()
	files := kit.Get[[]string](t)(filepath.Glob(filepath.Join(dir, "*_test.go")))
	for _, f := range files {
		data := kit.Get[[]byte](t)(os.ReadFile(f))
		if bytes.Contains(data, []byte("\nfunc "+name+"(")) {
			return true
		}
	}
	return false
}
