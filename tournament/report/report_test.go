package report

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/stats"
	"github.com/timba-arena/timba/tournament"
)

// bot returns a house bot, "last", which makes the last legal move, or "cheat", which makes illegal moves.
func bot(name string) match.Contestant {
	return match.Contestant{Name: name, Hash: strings.Repeat("0", 64), Serve: func(in io.Reader, out io.Writer) error {
		switch name {
		case "cheat":
			return protocol.Serve(in, out, name, "1", func(*protocol.Turn) protocol.Answer {
				return protocol.Answer{Move: []byte("pass")}
			})
		case "last":
			return protocol.Serve(in, out, name, "1", func(t *protocol.Turn) protocol.Answer {
				return protocol.Answer{Move: t.Moves.Token(t.Moves.Len() - 1)}
			})
		}
		return house.Run(strings.TrimRight(name, "2"), in, out)
	}}
}

// teeko returns Teeko with a limit of 20 plies.
func teeko(t *testing.T) *rules.Variant { return refereetest.Variant(t, "teeko", "limit=20") }

// begun returns a tournament that has not been played, and that stores only games with faults.
func begun(t *testing.T, v *rules.Variant, format tournament.Format, deals int, sprt string, bots ...string) *Run {
	t.Helper()
	c := tournament.Config{
		Game: v.Game.Name, Options: v.Settings.Map(), Format: format, Deals: deals, Seed: referee.Hex{1},
		Clock: referee.Clock{Move: time.Minute, Startup: time.Minute},
	}
	if sprt != "" {
		test := kit.Get[stats.SPRT](t)(stats.ParseSPRT(sprt))
		c.SPRT = &test
	}
	r := &Run{Self: "timba", Dir: &tournament.Dir{Path: filepath.Join(t.TempDir(), "faults"), FaultsOnly: true}}
	for _, name := range bots {
		b := bot(name)
		r.Programs = append(r.Programs, b)
		c.Bots = append(c.Bots, tournament.Entrant{BotSpec: program.BotSpec{Bot: name, Name: name}, SHA256: b.Hash})
	}
	r.State = kit.Get[*tournament.State](t)(tournament.New(c))
	return r
}

// run plays a tournament in a temporary directory. Its reported duration is two seconds.
func run(t *testing.T, v *rules.Variant, format tournament.Format, deals int, sprt string, bots ...string) *Run {
	t.Helper()
	t.Chdir(t.TempDir())
	r := begun(t, v, format, deals, sprt, bots...)
	r.Dir = kit.Get[*tournament.Dir](t)(tournament.CreateDir("out", r.Config))
	defer r.Dir.Close()
	last := 0
	kit.Must(t, r.Play(t.Context(), func(*tournament.Match, *referee.GameResult) {
		_, all := r.Total()
		if last++; r.Games != last || all < r.Games || format == tournament.Single && all != deals*len(bots) {
			t.Errorf("after %d games progress is %d of %d", last, r.Games, all)
		}
		scores(t, r)
	}, func(text string) { t.Error(text) }))
	r.startedAt, r.Took = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), 2*time.Second
	return r
}

// columnMS matches the times in a table of games.
var columnMS = regexp.MustCompile(`,[0-9]+\.[0-9]{3},`)

// What people read and what programs read, of tournaments of each kind.
func TestReports(t *testing.T) {
	teams := refereetest.Variant(t, "tute", "players=4 teams=yes")
	bare, podrida := refereetest.Variant(t, "tebes", "size=4 opening=0"), refereetest.Variant(t, "podrida", "players=4")
	for name, c := range map[string]struct {
		format tournament.Format
		deals  int
		sprt   string
		bots   []string
		rules  *rules.Variant // nil for Teeko
	}{
		"duel":        {tournament.Single, 4, "", []string{"greedy", "random"}, nil},
		"sprt":        {tournament.Single, 40, "elo0=0,elo1=200", []string{"greedy", "random"}, nil},
		"one":         {tournament.Single, 2, "", []string{"first"}, nil},
		"faults":      {tournament.Single, 4, "", []string{"first", "cheat"}, nil},
		"round-robin": {tournament.RoundRobin, 2, "", []string{"first", "random", "greedy"}, nil},
		"gauntlet":    {tournament.Gauntlet, 2, "", []string{"first", "random", "greedy"}, nil},
		"teams":       {tournament.Single, 1, "", []string{"first", "random", "greedy", "last"}, teams},
		"knockout":    {tournament.Knockout, 2, "", []string{"first", "random", "greedy"}, nil},
		"bracket":     {tournament.Knockout, 1, "", []string{"first", "random", "greedy", "last", "random2"}, nil},
		"swiss":       {tournament.Swiss, 2, "", []string{"first", "random", "greedy"}, nil},
		"repeats":     {tournament.Single, 10, "", []string{"first", "last"}, bare},
		"exhausted":   {tournament.Single, 100, "elo0=0,elo1=10", []string{"first", "last"}, bare},
		"two-seats":   {tournament.Single, 4, "", []string{"greedy", "random"}, podrida},
	} {
		t.Run(name, func(t *testing.T) {
			if c.rules == nil {
				c.rules = teeko(t)
			}
			r := run(t, c.rules, c.format, c.deals, c.sprt, c.bots...)
			var text bytes.Buffer
			r.WriteHead(&text)
			r.WriteTables(&text)
			kit.Golden(t, name+".txt", text.String())
			doc := r.Document()
			doc.Machine = documentMachine{"linux/amd64", 2, 1} // not this one, which differs
			for _, team := range doc.Teams {                   // partners in all games have one rating
				elo := map[stats.Estimate]bool{}
				for _, b := range doc.Bots {
					if slices.Contains(team, b.Name) {
						elo[*b.Elo] = true
					}
				}
				if len(elo) != 1 {
					t.Errorf("the team of %v has the ratings %v", team, elo)
				}
			}
			data := kit.Get[[]byte](t)(json.MarshalIndent(doc, "", " "))
			kit.Golden(t, name+".json", string(data)+"\n")
			valid(t, data)
			kit.Must(t, r.Dir.StoreResult(data))
			s := kit.Get[*Archive](t)(ReadArchive(r.Dir.Path))
			if again := kit.Get[[]byte](t)(json.MarshalIndent(s.Result, "", " ")); string(again) != string(data) {
				t.Errorf("the document is read as %s", again)
			}
			var table bytes.Buffer
			kit.Must(t, s.WriteCSV(&table))
			if n := strings.Count(table.String(), "\n") - 1; n != r.Games*c.rules.Players {
				t.Errorf("the table has %d rows of %d games", n, r.Games)
			}
			if name == "faults" {
				kit.Golden(t, "faults.csv", columnMS.ReplaceAllString(table.String(), ",0,"))
			}
		})
	}
}

// A trace has every line of both sides, with the bot that was sent it or wrote it.
func TestTrace(t *testing.T) {
	r := begun(t, refereetest.Variant(t, "teeko", "limit=4"), tournament.Single, 1, "", "first", "random")
	var out bytes.Buffer
	r.TraceTo(&out)
	kit.Must(t, r.Play(t.Context(), func(*tournament.Match, *referee.GameResult) {}, func(string) {}))
	for _, line := range []string{
		"0.0.0 seat 0 first < timba 1", "0.0.0 seat 0 first > ready first 3", "0.0.0 seat 1 random > ready random 3",
		"0.0.1 seat 0 random < turn 0 ", "0.0.1 seat 1 first > move ",
	} {
		if !regexp.MustCompile(`(?m)^ +[0-9]+\.[0-9]{3} ms ` + regexp.QuoteMeta(line)).MatchString(out.String()) {
			t.Errorf("the trace has no line %q:\n%s", line, out.String())
		}
	}
}

// A match with openings that repeats itself needs more openings: random ones cannot be set beside them.
func TestRepeatsOfOpenings(t *testing.T) {
	r := run(t, refereetest.Variant(t, "tebes", "size=4 opening=0"), tournament.Single, 10, "", "first", "last")
	for openings, want := range map[int]string{0: "for games that differ: --set opening=", 2: "for games that differ: more openings than the 2 of the file"} {
		r.Openings = make([]referee.DealOpening, openings)
		var b bytes.Buffer
		r.writeRepeats(&b, r.Results())
		if !strings.Contains(b.String(), want) || openings > 0 && strings.Contains(b.String(), "--set") {
			t.Errorf("%d openings: %s", openings, b.String())
		}
	}
}

// A text that a spreadsheet would compute is marked as text.
func TestCell(t *testing.T) {
	for text, want := range map[string]string{"": "", "new": "new", "@random": "'@random", "=1+1": "'=1+1", "-": "'-", "a=b": "a=b"} {
		if got := cell(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
