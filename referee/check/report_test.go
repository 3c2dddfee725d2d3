package check

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/binaries"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/sample-bots/misbehave/faults"
)

// timeless replaces what differs from run to run.
func timeless(text string) string {
	text = regexp.MustCompile(`\b[0-9.]+ ms (of|after)`).ReplaceAllString(text, "N ms $1")
	text = regexp.MustCompile(`after [0-9]+ ms`).ReplaceAllString(text, "after N ms")
	text = regexp.MustCompile(`exits [0-9]+ ms`).ReplaceAllString(text, "exits N ms")
	return regexp.MustCompile(` +[0-9]+\.[0-9]{2}`).ReplaceAllString(text, " N.NN")
}

// The reports on a good bot and on a bad one, as people see them.
func TestReports(t *testing.T) {
	bad := slices.IndexFunc(beginners, func(b beginnerCase) bool { return b.name == "first seat" })
	reports := checked(t, []checkup{
		{"good", "@greedy", playHouse("greedy"), nil},
		{"bad", os.Args[0], begin(beginners[bad].make), nil},
	})
	kit.Golden(t, "good.txt", timeless(summary(reports["good"])))
	kit.Golden(t, "bad.txt", timeless(summary(reports["bad"])))
}

// The JSON document has all keys even if they are empty, survives decoding and encoding, and is in English.
func TestReportJSON(t *testing.T) {
	r := checked(t, []checkup{{"bad", os.Args[0], misbehave("not-ascii", nil), nil}})["bad"]
	data := kit.Get[[]byte](t)(json.MarshalIndent(r, "", " "))
	var doc map[string]any
	kit.Must(t, json.Unmarshal(data, &doc))
	for _, key := range []string{"bot", "clock", "seed", "verdict", "checks", "start_ms", "times", "seconds"} {
		if doc[key] == nil {
			t.Errorf("there is no %q", key)
		}
	}
	var again Report
	kit.Must(t, json.Unmarshal(data, &again))
	inEnglish := cmp.Transformer("English", phrase.Text.String) // as the document has texts
	if diff := cmp.Diff(r, &again, cmpopts.IgnoreUnexported(Failure{}), inEnglish); diff != "" {
		t.Error(diff)
	}
	f := again.Find(FirstGame).Failure
	if again.Verdict != Failed || f == nil {
		t.Fatalf("the verdict is %s", again.Verdict)
	}
	if want := (fault.Reason{Kind: fault.NotASCII, Line: "# \u00a1\u00f3rdago!", Position: 3, Byte: 0xc2}); f.Reason != want {
		t.Errorf("the reason is %+v, want %+v", f.Reason, want)
	}
	want := Line{true, `# \u00a1\u00f3rdago!`}
	if got := f.Lines[len(f.Lines)-1]; got != want {
		t.Errorf("the last line is %+v, want %+v", got, want)
	}
	if c := again.Find("tute"); c == nil || c.Status != Skipped || c.Warnings == nil {
		t.Errorf("tute is %+v, want it skipped", c)
	}
}

// A bot that thinks for long is not played to the end; SPEC.md, "Clocks".
func TestClocksSlowBot(t *testing.T) {
	r := checked(t, []checkup{{"slow", "@first", begin(slow), func(o *Options) {
		o.Clock.Move, o.Clock.Margin, o.Time = 20*time.Millisecond, time.Minute, time.Second
	}}})["slow"]
	said := summary(r)
	if r.Verdict != Warning || !strings.Contains(said, "because half of the 1s for the whole check was used up") ||
		!strings.Contains(said, "more than half of the 20 ms allowed") || r.Find(ManyGames).Status != Warning {
		t.Error(said)
	}
}

// The reason of a failure is the one that a match gives.
func TestReasons(t *testing.T) {
	brisca := func(o *Options) { o.Games = oneGame(t, "brisca") }
	reports := checked(t, []checkup{
		{"exit", "@first", misbehave("exit-at-start", nil), brisca},
		{"illegal", "@first", misbehave("illegal", nil), brisca},
	})
	for name, want := range map[string]fault.Reason{
		"exit":    {Kind: fault.Exited, Status: 3, BeforeReady: true},
		"illegal": {Kind: fault.IllegalMove, Move: "1o", Detail: `"1o" is not in hand: play one of 5c,7e,12e`},
	} {
		checks := reports[name].Checks
		i := slices.IndexFunc(checks, func(c Check) bool { return c.Failure != nil })
		if got := checks[i].Failure.Reason; got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// Bots that would keep a careless referee waiting forever are reported like others.
func TestClocksNeverHangs(t *testing.T) {
	short := func(o *Options) { o.Clock.Move, o.Games = 300*time.Millisecond, oneGame(t, "brisca") }
	reports := checked(t, []checkup{
		{"endless", "@first", begin(endless), short},
		{"deaf", "@first", begin(deaf), short},
	})
	verdict{FirstGame, Failed, []string{"more than 64 KiB on stdout"}, "write debug output to stderr"}.compare(t, reports["endless"])
	verdict{FirstGame, Failed, []string{"no move of ply 2 within 300 ms and the margin"}, "a turn that the bot forgets to answer"}.compare(t, reports["deaf"])
}

func TestRefusals(t *testing.T) {
	p := resolve(t, "@first")
	for _, c := range []struct {
		change func(*Options)
		games  []string
		want   string
	}{
		{nil, []string{"chess"}, `check: bot @first names no known game: its manifest has games = ["chess"]`},
		{func(o *Options) { o.Games = oneGame(t, "tute") }, []string{"brisca"}, `check: bot @first does not claim to play tute: its manifest has games = ["brisca"]`},
		{func(o *Options) { o.Set = map[string]string{"players": "4"} }, []string{"brisca players=2"}, "check: bot @first plays no game with players=4: leave --set out"},
		{nil, []string{"brisca players=3 teams=yes"}, `check: bot @first names no game that can be played with its options: its manifest has games = ["brisca players=3 teams=yes"]`},
		{func(o *Options) { o.Clock.Move = 0 }, nil, "clock: neither movetime nor bank is set"},
	} {
		o := Defaults()
		if c.change != nil {
			c.change(&o)
		}
		p.Games = c.games
		if _, err := Run(t.Context(), p, o); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("says %v, want %s", err, c.want)
		}
	}
}

// A program that cannot be started is reported.
func TestNotStarted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot")
	kit.Must(t, os.WriteFile(path, []byte("#!/nonexistent/interpreter\n"), 0o755))
	r := checked(t, []checkup{{"bot", path, nil, nil}})["bot"]
	verdict{Start, Failed, []string{"could not be started", "there is no /nonexistent/interpreter"}, "install /nonexistent/interpreter"}.compare(t, r)
}

// A manifest that names an unknown game causes a warning.
func TestManifest(t *testing.T) {
	dir := kit.Files(t, t.TempDir(), map[string]string{
		"me+x":       "",
		"timba.toml": "name = \"mine\"\nrun = [\"./me\"]\ngames = [\"teeko\", \"chess\"]\n",
	})
	r := checked(t, []checkup{{"mine", dir, playHouse("first"), nil}})["mine"]
	verdict{Manifest, Warning, []string{"claims teeko, chess", `game "chess" does not exist`}, ""}.compare(t, r)
	if r.Find("teeko") == nil || r.Find("brisca") != nil {
		t.Error("other games are played than those that it claims")
	}
	kit.Files(t, dir, map[string]string{"timba.toml": "name = \"mine\"\nrun = [\"./me\"]\ngames = [\"teeko\", \"brisca player=2\"]\n"})
	r = checked(t, []checkup{{"mine", dir, playHouse("first"), nil}})["mine"]
	verdict{Manifest, Failed, []string{`games is wrong: brisca has no option "player"`}, "each word after the name of a game is an option"}.compare(t, r)
}

// The excerpt of a long log has the beginning and the end of a crash message.
func TestLogEnd(t *testing.T) {
	log := "noise\npanic: index out of range\n\ngoroutine 1 [running]:\n" + strings.Repeat("frame\n", 20) + "exit status 2\n"
	want := []string{"panic: index out of range", "..."}
	for range 7 {
		want = append(want, "frame")
	}
	want = append(want, "exit status 2")
	if diff := cmp.Diff(want, logEnd(log)); diff != "" {
		t.Error(diff)
	}
	if got := logEnd(""); got == nil || len(got) != 0 {
		t.Errorf("an empty log gives %q", got)
	}
	if diff := cmp.Diff([]string{"a \"b\"  c"}, logEnd("\n a \"b\"\tc \r\n")); diff != "" {
		t.Error(diff)
	}
}

// docs describe every status and every key of the report.
func TestDocument(t *testing.T) {
	data := kit.Get[[]byte](t)(os.ReadFile("../../docs/writing-a-bot.md"))
	r := checked(t, []checkup{
		{"bad", os.Args[0], misbehave("not-ascii", func(b *faults.Bot) { b.Game = 2 }), func(o *Options) { o.Games = oneGame(t, "brisca") }},
	})["bad"]
	words := []string{string(OK), string(Warning), string(Failed), string(Skipped)}
	text := kit.Get[[]byte](t)(json.MarshalIndent(r, "", " "))
	for _, m := range regexp.MustCompile(`"([a-z_0-9]+)": `).FindAllStringSubmatch(string(text), -1) {
		words = append(words, m[1])
	}
	for _, w := range words {
		if !strings.Contains(string(data), "`"+w+"`") {
			t.Errorf("docs/writing-a-bot.md does not tell `%s`", w)
		}
	}
}

// A canceled check makes no further checks, whether or not the bot answers.
func TestCalledOff(t *testing.T) {
	for _, bot := range []string{binaries.Program(t, "misbehave") + " --fault silent", "@first"} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		o := Defaults()
		o.Clock.Move, o.Clock.Startup, o.Time, o.Waits.Grace = time.Hour, time.Hour, time.Hour, time.Hour // nothing else ends it
		var made []string
		o.OnCheck = func(c Check) {
			if made = append(made, c.Name); c.Name == Start {
				cancel()
			}
		}
		if r, err := Run(ctx, resolve(t, bot), o); !errors.Is(err, context.Canceled) || r != nil {
			t.Errorf("%s: ends with %v, %v", bot, r, err)
		}
		if made[len(made)-1] != Start {
			t.Errorf("%s: these checks were made: %q", bot, made)
		}
	}
}
