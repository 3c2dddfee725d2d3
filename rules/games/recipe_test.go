package games_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/rules/rulestest/toy"
	"github.com/timba-arena/timba/terminal/draw"
	"github.com/timba-arena/timba/terminal/explain"
	"github.com/timba-arena/timba/terminal/playback"
	"github.com/timba-arena/timba/web/board"
)

// A game that is in the list can be played, verified, fed, shown, explained and
// exported: nothing else has to know it.
func TestRecipe(t *testing.T) {
	list := append(games.All(), toy.New(""))
	g := kit.Get[*rules.Game](t)(list.Find("toy"))
	for name, c := range map[string]struct {
		bots [2]string // what each answers to a turn; "" is its first legal move
		says string    // what explain begins with
	}{
		"honest": {[2]string{"", ""}, "1 game of toy, without faults\n"},
		"faulty": {[2]string{"", "8"}, "\n-- fault 1 of 1: illegal --"},
	} {
		t.Run(name, func(t *testing.T) {
			r := playOne(t, g, c.bots)
			for _, difference := range r.Verify(g) {
				t.Error(difference)
			}
			if traffic, err := r.Traffic(g, 0); err != nil || len(traffic) < 3 {
				t.Errorf("the lines of seat 0 are %d blocks: %v", len(traffic), err)
			}
			wants(t, "show", shown(t, r, g), "toy cards=3 best=high\n", "hand of seat 0", "trick, by seat", "  1.  bot")
			if got := explained(t, r, g); !strings.HasPrefix(got, c.says) {
				t.Errorf("explain says\n%s\nwant %q first", got, c.says)
			}
			page, rows := exported(t, r, g)
			wants(t, "the page", page, `"display":{"title":"Toy","cards":{"hand":"hand","trick":"table"}}`)
			if n := strings.Count(rows, "\ntoy,"); n != len(r.Moves) {
				t.Errorf("%d rows for %d moves", n, len(r.Moves))
			}
		})
	}
}

// playOne plays one game between bots in this process.
func playOne(t *testing.T, g *rules.Game, answers [2]string) *referee.Replay {
	t.Helper()
	v := kit.Get[*rules.Variant](t)(g.Resolve(nil))
	m := match.Match{
		Variant: v, Deals: 1, Only: []int{0},
		Clock: referee.Clock{Move: time.Minute, Startup: time.Minute},
	}
	for i, answer := range answers {
		m.Bots = append(m.Bots, match.Bot{
			Name: fmt.Sprintf("bot%d", i), Hash: strings.Repeat("0", 64), Untimed: true,
			Serve: func(in io.Reader, out io.Writer) error {
				return protocol.Serve(in, out, "", "", func(t *protocol.Turn) protocol.Answer {
					if answer != "" {
						return protocol.Answer{Move: []byte(answer)}
					}
					return protocol.Answer{Move: t.Moves.At(0)}
				})
			},
		})
	}
	var r *referee.Replay
	m.Done = func(g *referee.Result) error {
		r = &g.Replay
		return nil
	}
	kit.Must(t, m.Play(t.Context()))
	return r
}

func shown(t *testing.T, r *referee.Replay, g *rules.Game) string {
	t.Helper()
	game := kit.Get[*playback.Game](t)(playback.New(r, g))
	var out strings.Builder
	s := playback.Screen{Writer: &out, Style: draw.Style{}, Game: game, Seat: -1}
	s.Whole()
	return out.String()
}

func explained(t *testing.T, r *referee.Replay, g *rules.Game) string {
	t.Helper()
	var out strings.Builder
	e := explain.Explainer{
		Writer: &out, Games: []*explain.Game{{Replay: r, Rules: g}},
		Command: func(words ...string) string { return strings.Join(words, " ") },
		About: func(path, name string, c fault.Circumstances) (fault.Circumstances, []string) {
			return c, []string{"check", name}
		},
	}
	kit.Must(t, e.Explain())
	return out.String()
}

func exported(t *testing.T, r *referee.Replay, g *rules.Game) (page, rows string) {
	t.Helper()
	game := kit.Get[*board.Game](t)(board.NewGame(r, g))
	var html, csv bytes.Buffer
	kit.Must(t, game.WritePage(&html))
	kit.Must(t, board.WriteCSV(&csv, board.Rows(r, g)))
	return html.String(), csv.String()
}

func wants(t *testing.T, what, got string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("%s has no %q:\n%.2000s", what, part, got)
		}
	}
}

const root = "../.."

// docs/adding-a-game.md lists every file of the program, of the bots and of the
// configuration that names a game, and no other.
func TestGamesAreNamed(t *testing.T) {
	doc := kit.Get[[]byte](t)(os.ReadFile(filepath.Join(root, "docs", "adding-a-game.md")))
	_, section, ok := strings.Cut(string(doc), "\n## Where games are named\n")
	if !ok {
		t.Fatal(`docs/adding-a-game.md has no section "Where games are named"`)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllStringSubmatch(section, -1) {
		listed = append(listed, m[1])
	}
	used := map[string]bool{}
	for _, path := range naming(t) {
		i := slices.IndexFunc(listed, func(pattern string) bool {
			ok, err := filepath.Match(pattern, path)
			return ok && err == nil
		})
		if i < 0 {
			t.Errorf("%s names a game, and docs/adding-a-game.md does not list it", path)
			continue
		}
		used[listed[i]] = true
	}
	for _, pattern := range listed {
		if !used[pattern] {
			t.Errorf("docs/adding-a-game.md lists %s, which names no game", pattern)
		}
	}
}

// naming lists the files that name a game as a word of the program: in quotes, in
// an import, or as a class of a style sheet. Tests, texts and the games' own
// directories do not count.
func naming(t *testing.T) (paths []string) {
	t.Helper()
	var names []string
	own := map[string]bool{}
	for _, g := range games.All() {
		names = append(names, g.Name)
		own[filepath.Join("rules", g.Name)] = true
	}
	all := strings.Join(names, "|")
	word := regexp.MustCompile(`["'/](` + all + `)["']|(?m)^\s*\.(` + all + `)\b`) // the second in style sheets
	kit.Must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if own[rel] || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && rel != "." || d.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(rel, "_test.go") || strings.HasSuffix(rel, ".md") || !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		if err == nil && word.Match(data) && !bytes.ContainsRune(data, 0) {
			paths = append(paths, filepath.ToSlash(rel))
		}
		return err
	}))
	return paths
}

// The toy is no game of the program.
func TestListIsNotShared(t *testing.T) {
	before := games.All()
	_ = append(before, toy.New(""))
	if diff := cmp.Diff(len(before), len(games.All())); diff != "" {
		t.Error(diff)
	}
	if _, err := games.Find("toy"); err == nil {
		t.Error("the toy is found among all games")
	}
}
