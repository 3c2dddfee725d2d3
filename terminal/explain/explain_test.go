package explain

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/rules/tebes"
	"github.com/timba-arena/timba/rules/teeko"
)

// explainer returns an Explainer of games, and the builder to which it writes.
func explainer(games ...*ReplayFile) (*Explainer, *strings.Builder) {
	out := new(strings.Builder)
	return &Explainer{
		Writer: out, Paths: []string{"out"}, Games: games,
		Command: func(words ...string) string { return "timba " + strings.Join(words, " ") },
		DescribeBot: func(path, name string, c fault.Circumstances) (fault.Circumstances, []string) {
			return c, []string{"check", name}
		},
	}, out
}

// played returns one game for each ply, with a fault at that ply unless it is negative.
func played(t *testing.T, g *rules.Game, plies ...int) (all []*ReplayFile) {
	t.Helper()
	for i, ply := range plies {
		var illegal *referee.Fault
		if ply >= 0 {
			illegal = &referee.Fault{Ply: ply, Reason: fault.Reason{Kind: fault.IllegalMove, Move: "0-0", Detail: "is not in the list of the turn"}}
		}
		r := refereetest.Replay(t, g, nil, 2, illegal)
		r.Match.Rotation = i % 2
		all = append(all, &ReplayFile{Path: fmt.Sprintf("testdata/games/%d.json", i), Match: "0000", Replay: r, Rules: g})
	}
	return all
}

// resigned marks some of the games, those with the indices in which, as ended by reported scores, and returns all
// games.
func resigned(games []*ReplayFile, which ...int) []*ReplayFile {
	for _, i := range which {
		games[i].Replay.AdjudicationResult = &referee.AdjudicationResult{Kind: referee.AdjudicatedResignation, Seats: []int{1}}
	}
	return games
}

func TestExplain(t *testing.T) {
	for name, c := range map[string]struct {
		games []*ReplayFile
		all   bool
		fault int
	}{
		"faults":   {played(t, teeko.Game, 3, 5, -1), false, 0},
		"all":      {played(t, teeko.Game, 3, 5), true, 0},
		"one":      {played(t, teeko.Game, 3, 5), false, 2},
		"none":     {played(t, tebes.Game, -1, -1), false, 0},
		"one-game": {played(t, tebes.Game, -1), false, 0},
		// Adjudication: a summary of faults counts the games that scores ended, too.
		"adjudicated": {resigned(played(t, teeko.Game, 3, -1, -1), 1, 2), false, 0},
		"resigned":    {resigned(played(t, tebes.Game, -1), 0), false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			e, out := explainer(c.games...)
			e.All = c.all
			err := e.Explain
			if c.fault > 0 {
				err = func() error { return e.Fault(c.fault) }
			}
			kit.Must(t, err())
			kit.Golden(t, name+".txt", out.String())
		})
	}
}

func TestFaultNumbers(t *testing.T) {
	with, _ := explainer(played(t, teeko.Game, 3)...)
	without, _ := explainer(played(t, teeko.Game, -1)...)
	for _, c := range []struct {
		e      *Explainer
		number int
		want   string
	}{
		{with, 1, ""},
		{with, 0, "explain: fault 0 does not exist: there are faults 1 to 1"},
		{with, 2, "explain: fault 2 does not exist: there are faults 1 to 1"},
		{without, 1, "explain: the games have no faults: leave --fault out"},
	} {
		if err := c.e.Fault(c.number); c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("fault %d: %v, want %q", c.number, err, c.want)
		}
	}
}

// TestOpen checks that Open reads a directory in the order of its games, and does not take its name for a pattern.
func TestOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b]*")
	kit.Must(t, os.MkdirAll(filepath.Join(dir, "games"), 0o755))
	var read []string
	open := func(path string) ([]*ReplayFile, error) {
		read = nil
		return Open([]string{path}, func(path string) (*referee.Replay, *rules.Game, error) {
			read = append(read, filepath.Base(path))
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, nil, err
			}
			r, err := referee.DecodeReplay(data)
			if err != nil {
				return nil, nil, err
			}
			g, err := games.Find(r.Game)
			return r, g, err
		})
	}
	if _, err := open(dir); err == nil || !strings.HasPrefix(err.Error(), "replay: "+dir+" has no games: ") {
		t.Errorf("an empty directory: %v", err)
	}
	data := refereetest.Replay(t, teeko.Game, nil, 2, nil).Encode()
	for _, name := range []string{"0001-00000-0.json", "0000-00001-0.json", "0000-00000-1.json", "notes.txt"} {
		kit.Must(t, os.WriteFile(filepath.Join(dir, "games", name), data, 0o644))
	}
	all := kit.Get[[]*ReplayFile](t)(open(dir))
	if want := []string{"0000-00000-1.json", "0000-00001-0.json", "0001-00000-0.json"}; !cmp.Equal(read, want) || all[2].Match != "0001" {
		t.Errorf("read %q and the match %q, want %q", read, all[2].Match, want)
	}
	if want := filepath.Join(dir, "logs", "0000-00000-1-seat1.log"); all[0].logPath(1) != want {
		t.Errorf("the log is at %q, want %q", all[0].logPath(1), want)
	}
	// Files of a competition have the match's seed and no log.
	fetched := t.TempDir()
	for _, name := range []string{"game-10.json", "game-9.json", ".cursor"} {
		kit.Must(t, os.WriteFile(filepath.Join(fetched, name), data, 0o644))
	}
	all = kit.Get[[]*ReplayFile](t)(open(fetched))
	if want := []string{"game-9.json", "game-10.json"}; !cmp.Equal(read, want) || all[0].Match != all[0].Replay.Match.Seed.String()[:8] {
		t.Errorf("read %q and the match %q, want %q", read, all[0].Match, want)
	}
	if _, err := open(filepath.Join(dir, "nothing.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that does not exist: %v", err)
	}
}
