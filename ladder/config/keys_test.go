package config

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/source"
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
		key := keyOf(f)
		if key == "" {
			continue
		}
		if prefix != "" {
			key = prefix + "." + key
		}
		keys = append(keys, keysOf(key, f.Type)...)
	}
	return keys
}

// TestDefaultHasEveryKey checks that the default configuration mentions every key, at least in a comment.
func TestDefaultHasEveryKey(t *testing.T) {
	parts := map[string]string{} // by section
	section := ""
	for line := range strings.Lines(defaultTOML) {
		if m := regexp.MustCompile(`^\[([a-z]+)\]`).FindStringSubmatch(line); m != nil {
			section = m[1]
		}
		if strings.HasPrefix(line, "# The ladders") {
			section = "ladder"
		}
		parts[section] += line
	}
	for _, key := range keysOf("", reflect.TypeFor[file]()) {
		section, name, ok := strings.Cut(key, ".")
		if !ok {
			section, name = "", key
		}
		name = name[strings.LastIndex(name, ".")+1:]
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(parts[section]) {
			t.Errorf("it does not show %s", key)
		}
	}
}

// TestLimitsAreTested checks that each limit has a test, which names its key in a comment such as "// limit:
// play.day".
func TestLimitsAreTested(t *testing.T) {
	tested := map[string]bool{}
	for _, p := range kit.Get[[]*source.Package](t)(source.Load("../..")) {
		for _, f := range p.Files {
			for _, group := range f.Comments {
				for _, c := range group.List {
					if list, ok := strings.CutPrefix(c.Text, "// limit: "); ok && f.Test {
						for key := range strings.SplitSeq(list, ", ") {
							tested[key] = true
						}
					}
				}
			}
		}
	}
	for _, key := range keysOf("", reflect.TypeFor[file]()) {
		section, name, _ := strings.Cut(key, ".")
		if slices.Contains([]string{"limits", "play", "remote", "live", "storage"}, section) && name != "guests" && !tested[key] {
			t.Errorf("no test has the comment %q", "// limit: "+key)
		}
		delete(tested, key)
	}
	for key := range tested {
		t.Errorf("there is no key %s", key)
	}
}
