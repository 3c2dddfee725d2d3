package kit

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/timba-arena/timba/internal/kit/source"
)

// functionWords are pronouns, adverbs, prepositions and conjunctions: no name of a thing or of an act.
var functionWords = wordSet(`here there where elsewhere again away aside apart astray otherwise instead once twice ever never always
	already soon later meanwhile together so such thus else both none nobody nothing nowhere anybody anyone somebody someone
	others mine theirs ours whose who whom what which that this those these of on at by in to upon beside beyond behind within
	without among between although because if unless whether why how much many few most least whole own`)

// participles are those that do not end in "ed".
var participles = wordSet(`told gone come came given taken known shown said kept left held met seen heard found made done begun
	woken written sent spent paid sold bought brought thought lined undone won meant felt grown thrown risen chosen spoken broken
	driven eaten fallen forgotten stood understood caught taught fought sought built lent bent lit hung struck sat slept swept wept lost`)

// notParticiples end in "ed" and are nouns, verbs or terms.
var notParticiples = wordSet(`speed feed seed need embed shared named typed timed ordered sorted bounded buffered weighted limited
	unread exceed proceed succeed breed nested cached encoded signed`)

// allowedNames are names that stay, and why. Most are of one package ("ladder.Errorf"), some of all (".Done").
var allowedNames = map[string]string{
	".done":                          "is a channel that is closed at an end, as context.Context has it",
	".Done":                          "likewise",
	".closed":                        "likewise",
	"rules/baraja.Without":           "is the usual name for a set with fewer members",
	"sandbox/internal/sys.Permitted": "is a field of a struct of the kernel",
	"sandbox/internal/sys.Scoped":    "likewise",
	"web/site/apidocs.Required":      "is a key of OpenAPI",
	"web/wire.Registered":            "is the name of a schema of the API",
}

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

// nameWords splits a name at its capitals, in lower case: "HTTPServer" is http, server.
func nameWords(name string) (words []string) {
	runes, start := []rune(name), 0
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			words = append(words, strings.ToLower(string(runes[start:i])))
			start = i
		}
	}
	return append(words, strings.ToLower(string(runes[start:])))
}

// isParticiple reports whether a word is a participle, such as "sent" or "removed".
func isParticiple(word string) bool {
	return participles[word] || len(word) > 4 && strings.HasSuffix(word, "ed") && !notParticiples[word]
}

// badName reports whether a name says neither a thing nor an act. Fields that are bool may be participles, such as
// "closed", and so may variables and constants.
func badName(name, kind string) bool {
	words := nameWords(name)
	last := words[len(words)-1]
	if len(words) > 1 {
		return kind == "type" && functionWords[last]
	}
	return functionWords[last] || isParticiple(last) && !slices.Contains([]string{"bool", "var", "const"}, kind)
}

// declaredNames calls f with each name of a file that is declared at package level or is a field, and with its kind:
// type, func, var, const, field, or bool for a field of that type.
func declaredNames(file *ast.File, f func(id *ast.Ident, kind string)) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			f(d.Name, "func")
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if v, ok := s.(*ast.ValueSpec); ok {
					for _, id := range v.Names {
						f(id, d.Tok.String())
					}
				}
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			f(n.Name, "type")
		case *ast.StructType:
			for _, field := range n.Fields.List {
				kind := "field"
				if t, ok := field.Type.(*ast.Ident); ok && t.Name == "bool" {
					kind = "bool"
				}
				for _, id := range field.Names {
					f(id, kind)
				}
			}
		}
		return true
	})
}

// TestRulesOfNames: things are nouns, acts are verbs, and what is true or false is a predicate.
func TestRulesOfNames(t *testing.T) {
	used := map[string]bool{}
	for _, p := range Get[[]*source.Package](t)(packages()) {
		for _, f := range p.Files {
			if f.Test || ast.IsGenerated(f.File) {
				continue
			}
			declaredNames(f.File, func(id *ast.Ident, kind string) {
				if !badName(id.Name, kind) {
					return
				}
				for _, key := range []string{"." + id.Name, p.Dir + "." + id.Name} { // of all packages, or of one
					if allowedNames[key] != "" {
						used[key] = true
						return
					}
				}
				t.Errorf("%s:%d: the %s %s is neither a thing nor an act; name things by nouns, acts by verbs", f.Path, f.Line(id), kind, id.Name)
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(allowedNames)) {
		if !used[name] {
			t.Errorf("allowedNames: there is no %s", name)
		}
	}
}

// TestBadName: what the rule of names finds, and what it leaves.
func TestBadName(t *testing.T) {
	for _, c := range []struct {
		name, kind string
		bad        bool
	}{
		{"told", "field", true}, {"told", "bool", false}, {"there", "var", true}, {"removed", "func", true}, {"removed", "var", false},
		{"ListenerOf", "type", true}, {"SeatOf", "func", false}, {"speed", "field", false}, {"at", "field", true}, {"CreatedAt", "field", false},
	} {
		if badName(c.name, c.kind) != c.bad {
			t.Errorf("badName(%q, %q) is %v, want %v", c.name, c.kind, !c.bad, c.bad)
		}
	}
}

// sharedTypes are names that the exported types of two packages may share although one file imports both: by the
// name, by a package, or by the name and two packages.
var sharedTypes = map[string]string{
	"Options":                             "is what the constructor of a package takes",
	"Config":                              "likewise, where it comes from a file or from flags",
	"Limits":                              "are the limits of a package",
	"web/wire":                            "has the documents of the API, which have the names of what they describe",
	"ladder/store/queries":                "has the rows of the database, and is generated",
	"rules/brisca":                        "is a game: each has State and Rules",
	"rules/podrida":                       "likewise",
	"rules/tebes":                         "likewise",
	"rules/teeko":                         "likewise",
	"rules/tute":                          "likewise",
	"rules/baraja":                        "has the cards of games: Set, Table",
	"sample-bots/search/endgame":          "has State, which is what this search needs of a rules.State",
	"sample-bots/search/ismcts":           "likewise",
	"sample-bots/search/mcts":             "likewise",
	"Game referee rules":                  "is the rules, and one play of them, as players say it",
	"Match ladder referee/match":          "is a row of the store, and what plays it",
	"Match referee/match tournament":      "is what plays a match, and its place in a tournament",
	"Bot ladder sample-bots/house":        "is a row of the store, and a house bot",
	"State rules tournament":              "is the state of a game, and of a tournament",
	"Store internal/trees ladder/store":   "is a store, of trees or of a competition",
	"Store ladder/runner ladder/store":    "is the part of the store that the runner uses, as the next three",
	"Ladders ladder/runner ladder/store":  "likewise",
	"Matches ladder/runner ladder/store":  "likewise",
	"Versions ladder/runner ladder/store": "likewise",
	"MatchFilter ladder/store web/client": "is the same filter, at both ends of the API",
	"Searcher sample-bots/search/alphabeta sample-bots/search/mcts": "is a search, of either kind",
}

// TestRulesOfTypes: no file imports two packages of the module that export types of one name.
func TestRulesOfTypes(t *testing.T) {
	all := Get[[]*source.Package](t)(packages())
	exported := map[string]map[string]bool{} // by package, the names of its types without aliases
	for _, p := range all {
		types := map[string]bool{}
		for _, f := range p.Files {
			for _, d := range f.Decls {
				if s, ok := d.Node.(*ast.TypeSpec); ok && !f.Test && !s.Assign.IsValid() && ast.IsExported(d.Name) {
					types[d.Name] = true
				}
			}
		}
		exported[p.Dir] = types
	}
	used := map[string]bool{}
	for _, p := range all {
		for _, f := range p.Files {
			if f.Test {
				continue
			}
			by := map[string][]string{} // by name of a type, the packages that export it, sorted
			for _, path := range slices.Sorted(maps.Values(f.Imports)) {
				dir := strings.TrimPrefix(path, module)
				for name := range exported[dir] {
					by[name] = append(by[name], dir)
				}
			}
			for name, dirs := range by {
				for i, a := range dirs {
					for _, b := range dirs[i+1:] {
						shared := false
						for _, key := range []string{name, a, b, name + " " + a + " " + b} {
							shared = shared || sharedTypes[key] != ""
							used[key] = true
						}
						if !shared {
							t.Errorf("%s: both %s and %s export a type %s; give one a name that says what distinguishes it", f.Path, a, b, name)
						}
					}
				}
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(sharedTypes)) {
		if !used[key] {
			t.Errorf("sharedTypes: %s is shared by no packages that one file imports", key)
		}
	}
}
