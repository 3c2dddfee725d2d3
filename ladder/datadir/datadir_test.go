package datadir

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
)

// names returns the paths that the methods of Dir return, relative to it.
func names(t *testing.T) (names []string) {
	dir := reflect.ValueOf(Dir("/data"))
	for i := range dir.NumMethod() {
		if path, ok := dir.Method(i).Interface().(func() string); ok {
			name, err := filepath.Rel("/data", path())
			if err != nil || strings.Contains(name, "..") {
				t.Fatalf("%s is not in the directory", path())
			}
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// The table of docs/operating.md has every path and no other.
func TestOperating(t *testing.T) {
	data := kit.Get[[]byte](t)(os.ReadFile("../../docs/operating.md"))
	_, table, ok := strings.Cut(string(data), "\n| path | what it is |\n|---|---|\n")
	if !ok {
		t.Fatal("the table of paths is missing")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z.]+)/?`").FindAllStringSubmatch(table, -1) {
		documented = append(documented, m[1])
	}
	slices.Sort(documented)
	if diff := cmp.Diff(names(t), documented); diff != "" {
		t.Errorf("the table differs (-datadir +table):\n%s", diff)
	}
}

// A hash of an upload cannot lead out of the directory.
func TestBundle(t *testing.T) {
	sum := strings.Repeat("0f", 32)
	if path, err := Dir("/data").Bundle(sum); err != nil || path != "/data/bundles/"+sum {
		t.Errorf("%q, %v", path, err)
	}
	for _, bad := range []string{"", "x", "../../etc/passwd", strings.Repeat("A", 64), sum + "\n"} {
		if _, err := Dir("/data").Bundle(bad); err == nil {
			t.Errorf("%q has a path", bad)
		}
	}
}

func TestMkdirTemp(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "new"))
	path := kit.Get[string](t)(d.MkdirTemp("work-*"))
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o755 || filepath.Dir(path) != d.Temp() {
		t.Errorf("%s is %v, %v", path, info, err)
	}
}
