package timba

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/binaries"
	"github.com/timba-arena/timba/internal/kit/source"
)

const module = "github.com/timba-arena/timba/"

// rooms are the top directories in order: a package imports only packages of its own room, of rooms before it, and of
// internal. The first page of docs/architecture.md has the same table.
var rooms = []string{
	"protocol", "stats", "sandbox", "rules", "sample-bots", "referee", "tournament", "ladder", "web", "terminal", "lab", "cmd",
}

// upward are the test files that import a room after their own, with the reason.
var upward = map[string]string{
	"rules/games/games_test.go":             "SPEC.md is compared with the rules by a helper of the referee",
	"rules/games/perft_test.go":             "positions are counted through whole games",
	"sample-bots/starters/starters_test.go": "each starter is checked and plays matches",
}

// room returns the place of a directory's room in the order; -1 for the root, internal and docs.
func room(dir string) int {
	top, _, _ := strings.Cut(dir, "/")
	return slices.Index(rooms, top)
}

// TestRooms: no package imports a package of a later room.
func TestRooms(t *testing.T) {
	found := map[string]bool{}
	for _, p := range kit.Get[[]*source.Package](t)(source.Load(".")) {
		for _, f := range p.Files {
			for _, imported := range f.Imports {
				dir, ours := strings.CutPrefix(imported, module)
				if !ours || room(p.Dir) < 0 || room(dir) <= room(p.Dir) {
					continue
				}
				if found[f.Path] = true; upward[f.Path] == "" {
					t.Errorf("%s imports %s, which is in a later room", f.Path, dir)
				}
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(upward)) {
		if !found[file] {
			t.Errorf("upward: %s imports no later room", file)
		}
	}
}

// only are packages that depend on nothing but the standard library and these, of this module or others.
var only = map[string]string{
	"protocol":       `protocol(/.*)?`,
	"sandbox":        `sandbox(/.*)?|internal/proc|golang\.org/.*|github\.com/.*`,
	"rules":          `(protocol|rules)(/.*)?|internal/phrase`,
	"referee":        `(protocol|rules)(/.*)?|referee|referee/fault|internal/phrase`,
	"ladder":         `(protocol|rules)(/.*)?|referee|referee/fault|internal/(size|phrase)|ladder`,
	"ladder/datadir": `ladder/datadir|internal/proc|golang\.org/x/sys/unix`,
}

// never are what single packages may not depend on, and why.
var never = []struct{ dir, unwanted, reason string }{
	{"sandbox/internal/initproc", `^(reflect|strings|fmt|encoding/json|path/filepath|os/exec|golang.org/x/sys/unix)$`,
		"its init function is the first process of a sandbox, and runs early only if none of these come before it"},
	{"referee", `^os/exec$`, "a game starts no processes"},
	{"sample-bots/house", `^gonum\.org/v1/plot|timba/(lab|sandbox)(/|$)`, "a house bot starts with every match"},
	{"ladder/rating", `sql|^os/exec$|timba/referee/match$`, "ratings are computed without a database"},
	{"ladder/service", `^net/http$|timba/ladder/(runner|cluster)$`, "a service knows nothing of HTTP, nor who plays where"},
	{"ladder/runner", `nats-io/|timba/ladder/cluster$`, "the runner plays on its own machine without NATS"},
	{"ladder/cluster", `timba/ladder/(runner|store)$`, "what carries jobs knows neither the runner nor the store"},
	{"web/site", `timba/web/(api|client)$`, "the site is beside the API, and is no client of its own server"},
	{"web/server", `timba/terminal/`, "the server contains no terminal"},
	{"ladder/...", `timba/terminal/`, "the server contains no terminal"},
	{"cmd/timba", `^gonum\.org/v1/plot|timba/lab(/|$)`, "each house bot in a match is a start of this program"},
}

// TestDependencies: packages depend on what they may.
func TestDependencies(t *testing.T) {
	all := binaries.Dependencies(t)
	dependencies := func(pattern string) (deps []string) {
		dir, below := strings.CutSuffix(pattern, "/...")
		for pkg, list := range all {
			if name := strings.TrimPrefix(pkg, module); name == dir || below && strings.HasPrefix(name, dir+"/") {
				deps = append(deps, list...)
			}
		}
		if deps == nil {
			t.Errorf("%s is no package", pattern)
		}
		return deps
	}
	for dir, names := range only {
		allowed := regexp.MustCompile(`^(` + names + `)$`)
		for _, dep := range dependencies(dir) {
			top, _, _ := strings.Cut(dep, "/")
			name := strings.TrimPrefix(dep, module)
			if strings.Contains(top, ".") && !allowed.MatchString(name) { // else it is of the standard library
				t.Errorf("%s depends on %s", dir, dep)
			}
		}
	}
	for _, n := range never {
		unwanted := regexp.MustCompile(n.unwanted)
		for _, dep := range dependencies(n.dir) {
			if unwanted.MatchString(dep) {
				t.Errorf("%s depends on %s, but %s", n.dir, dep, n.reason)
			}
		}
	}
}

// TestPackageNames: no two packages have the same name, but for the room of a program and its directory in cmd.
func TestPackageNames(t *testing.T) {
	dirs := map[string]string{}
	for _, p := range kit.Get[[]*source.Package](t)(source.Load(".")) {
		name := path.Base(p.Dir)
		if dirs[name] != "" {
			t.Errorf("%s and %s have the same name", dirs[name], p.Dir)
		}
		dirs[name] = p.Dir
	}
}
