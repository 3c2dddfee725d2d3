package program

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/sandbox"
)

func TestParseSpec(t *testing.T) {
	for line, want := range map[string]BotSpec{
		`cmd=@greedy`:                                {Bot: "@greedy"},
		`name=new cmd="./bot -c 2"`:                  {Bot: "./bot -c 2", Name: "new"},
		`name=new cmd="sh -c 'exit 1'"`:              {Bot: "sh -c 'exit 1'", Name: "new"},
		`cmd=./my\ bot args='-c "a b" =x'`:           {Bot: "./my bot", Overrides: Overrides{Args: []string{"-c", "a b", "=x"}}},
		`cmd=b movetime=50 memory=1024m processes=8`: {Bot: "b", Overrides: Overrides{Movetime: 50, Memory: 1 << 30, Processes: 8}},
		`cmd=b bank=60000 inc=0`:                     {Bot: "b", Overrides: Overrides{Bank: 60000}},
		`cmd=b bank=60000 inc=10`:                    {Bot: "b", Overrides: Overrides{Bank: 60000, Inc: 10}},
		`cmd=b args=`:                                {Bot: "b", Overrides: Overrides{Args: []string{}}},
		`@greedy:noise=20`:                           {Bot: "@greedy:noise=20"},
		`./bot name=x`:                               {Bot: "./bot name=x"},
		`nme=x cmd=b`:                                {Bot: "nme=x cmd=b"},
		`name`:                                       {Bot: "name"},
		``:                                           {},
	} {
		got, err := ParseSpec(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", line, diff)
		}
	}
}

func TestParseSpecErrors(t *testing.T) {
	const clock = "give a whole number of milliseconds, 1 to 86400000"
	for _, c := range []struct{ line, want string }{
		{`name=x`, "cmd is missing: name a house bot, a directory or a command, as in cmd=./mybot"},
		{`cmd=`, "cmd is empty"},
		{`cmd=./bot -c 2`, `"-c" is not key=value: quote values with spaces, as in cmd="./bot -c 2"`},
		{`cmd=b nme=x`, `unknown key "nme": try name, cmd, args, movetime, bank, inc, memory or processes`},
		{`cmd=b =x`, `unknown key ""`},
		{`cmd=b CMD=b`, `unknown key "CMD"`},
		{`cmd=a cmd=b`, "cmd is set twice: choose one"},
		{`cmd="./bot`, "has a quote without its end: check the quotes"},
		{`cmd=a; cmd=b`, `no shell reads this, so ';' has no effect: quote it`},
		{`cmd=a args="-c 'x"`, "args: "},
		{`cmd=a args='x > y'`, "args: no shell reads this, so '>' has no effect"},
		{`name= cmd=b`, `name cannot be "": give 1 to 64 printable ASCII characters without spaces`},
		{`name="a b" cmd=b`, `name cannot be "a b"`},
		{`name=señal cmd=b`, `name cannot be "señal"`},
		{`name=` + strings.Repeat("x", 65) + ` cmd=b`, "name cannot be"},
		{`cmd=b movetime=0`, `movetime cannot be "0": ` + clock},
		{`cmd=b movetime=-5`, `movetime cannot be "-5": ` + clock},
		{`cmd=b movetime=1.5`, `movetime cannot be "1.5": ` + clock},
		{`cmd=b movetime=`, `movetime cannot be "": ` + clock},
		{`cmd=b movetime=86400001`, `movetime cannot be "86400001": ` + clock},
		{`cmd=b bank=99999999999999999999`, `bank cannot be "99999999999999999999": ` + clock},
		{`cmd=b bank=5 inc=-1`, `inc cannot be "-1": give a whole number of milliseconds, 0 to 86400000`},
		{`cmd=b inc=5`, "inc goes with bank: set bank as well"},
		{`cmd=b movetime=5 bank=5`, "movetime and bank exclude each other: choose one"},
		{`cmd=b memory=0`, `memory cannot be "0": `},
		{`cmd=b memory=much`, `memory cannot be "much": try a number and k, m or g, as in 512m`},
		{`cmd=b memory=-5m`, `memory cannot be "-5m"`},
		{`cmd=b memory=99999999999g`, `memory cannot be "99999999999g"`},
		{`cmd=b processes=0`, `processes cannot be "0": give a whole number of processes, 1 to `},
		{`cmd=b processes=x`, `processes cannot be "x"`},
		{"cmd=b name=\xff", "it is not UTF-8"},
	} {
		_, err := ParseSpec(c.line)
		refused(t, err, `bot "`, c.want)
		inOwnWords(t, err)
	}
}

// Whatever is written, an error is printable and nothing panics.
func TestParseSpecAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOf(rapid.OneOf(rapid.SampledFrom([]string{"cmd=", "name=", "args=", "movetime=", "memory=", "'", `"`, " ", `\`, "9"}), rapid.String())).Draw(t, "line"), "")
		if _, err := ParseSpec(line); err != nil && (!utf8.ValidString(err.Error()) || !strings.HasPrefix(err.Error(), `bot "`)) {
			t.Fatalf("%q", err)
		}
	})
}

// What the user says comes before the manifest, and that before the match. A clock is one thing.
func TestOverrides(t *testing.T) {
	dir := newDir(t, "mine", map[string]string{"bot.sh": "", "timba.toml": "run = [\"sh\"]\n[match]\nbank = 9000\nInc = 5\nmemory = \"300m\"\nprocesses = 7\n"})
	match := referee.Clock{Move: time.Second, Margin: 3 * time.Millisecond, Startup: time.Minute}
	for _, c := range []struct {
		line  string
		clock *referee.Clock
		limit sandbox.Limit
	}{
		{"cmd=" + dir, &referee.Clock{Bank: 9 * time.Second, Inc: 5 * time.Millisecond, Margin: match.Margin, Startup: match.Startup}, sandbox.Limit{Memory: 300 << 20, Processes: 7}},
		{"movetime=40 processes=8 cmd=" + dir, &referee.Clock{Move: 40 * time.Millisecond, Margin: match.Margin, Startup: match.Startup}, sandbox.Limit{Memory: 300 << 20, Processes: 8}},
		{"memory=400m cmd=sh", nil, sandbox.Limit{Memory: 400 << 20, Processes: 64}},
		{"cmd=@greedy", nil, sandbox.Limit{Memory: 500 << 20, Processes: 64}},
	} {
		s := kit.Get[BotSpec](t)(ParseSpec(c.line))
		programs := kit.Get[[]Program](t)(withHouse.ResolveAll(t.Context(), []BotSpec{s}, false))
		own := programs[0].Overrides
		if diff := cmp.Diff(c.clock, own.Clock(match)); diff != "" {
			t.Errorf("%s: its clock (-want +got)\n%s", c.line, diff)
		}
		if got := own.Limit(sandbox.Limit{Memory: 500 << 20, Processes: 64}); got != c.limit {
			t.Errorf("%s: its limits are %+v, want %+v", c.line, got, c.limit)
		}
	}
}

// Arguments are added to the command, and make it another program. House bots take none.
func TestArgs(t *testing.T) {
	dir := newDir(t, "mine", map[string]string{"timba.toml": "run = [\"sh\", \"-s\"]"})
	resolve := func(args ...string) Program {
		programs := kit.Get[[]Program](t)(withHouse.ResolveAll(t.Context(), []BotSpec{{Bot: dir, Overrides: Overrides{Args: args}}}, false))
		return programs[0]
	}
	plain, with := resolve(), resolve("-c", "a b")
	if diff := cmp.Diff([]string{"-s", "-c", "a b"}, with.Command[1:]); diff != "" {
		t.Error(diff)
	}
	if plain.Hash == with.Hash || with.Hash == resolve("-c", "a", "b").Hash || with.Hash != resolve("-c", "a b").Hash {
		t.Errorf("the hashes are %s, %s", plain.Hash, with.Hash)
	}
	for _, own := range []Overrides{{Args: []string{"x"}}, {Memory: 1 << 30}, {Processes: 3}} {
		_, err := withHouse.ResolveAll(t.Context(), []BotSpec{{Bot: "@greedy", Overrides: own}}, false)
		refused(t, err, `bot "@greedy": a house bot has no args, memory or processes of its own`)
	}
}

// Whoever forgets the quotes around a command names an interpreter and a file.
func TestInterpreterAlone(t *testing.T) {
	_, err := withHouse.ResolveAll(t.Context(), []BotSpec{{Bot: "python3"}, {Bot: "@random"}}, false)
	refused(t, err, `"python3" runs no file`, "in quotes")
	if isBareInterpreter("./bot") {
		t.Error("a program is taken for an interpreter")
	}
}

// docs/matches.md, "Bots of a local match": every key of a bot and of [match].
func TestSpecKeysAreDocumented(t *testing.T) {
	page := kit.Get[[]byte](t)(os.ReadFile("../../docs/matches.md"))
	_, section, _ := strings.Cut(string(page), "\n## Bots of a local match\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var keys, own []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| [^|]+ \\| (yes )?").FindAllStringSubmatch(section, -1) {
		keys = append(keys, row[1])
		if row[2] != "" {
			own = append(own, row[1])
		}
	}
	if !slices.Equal(keys, specKeys) || !slices.Equal(own, overrideKeys) {
		t.Errorf("the keys are %q and %q, the page has %q and %q", specKeys, overrideKeys, keys, own)
	}
}
