package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/sandbox"
)

func TestDefaultLadders(t *testing.T) {
	c := Default()
	type row struct {
		Name, Game, Options string
		Bots                int
		Sides               []int
	}
	two, teams, four := []int{0, 1}, []int{0, 1, 0, 1}, []int{0, 1, 2, 3}
	want := []row{
		{"brisca-2", "brisca", "players=2 teams=no exchange=no last10=no blackhand=no hunt3=no without2=no", 2, two},
		{"brisca-2-all-rules", "brisca", "players=2 teams=no exchange=yes last10=yes blackhand=yes hunt3=yes without2=no", 2, two},
		{"brisca-4-teams", "brisca", "players=4 teams=yes exchange=no last10=no blackhand=no hunt3=no without2=no", 4, teams},
		{"tute-2", "tute", "players=2 teams=no exchange=no last10=no blackhand=no hunt3=no without2=no followonly=no", 2, two},
		{"tute-2-followonly", "tute", "players=2 teams=no exchange=no last10=no blackhand=no hunt3=no without2=no followonly=yes", 2, two},
		{"tute-4-teams", "tute", "players=4 teams=yes exchange=no last10=no blackhand=no hunt3=no without2=no followonly=no", 4, teams},
		{"podrida-4", "podrida", "players=4 deck=48 rounds=up", 4, four},
		{"tebes-4", "tebes", "size=4 board=standard cycles=forbid limit=400 opening=6", 2, two},
		{"tebes-6", "tebes", "size=6 board=standard cycles=forbid limit=400 opening=6", 2, two},
		{"tebes-6-random", "tebes", "size=6 board=random cycles=forbid limit=400 opening=0", 2, two},
		{"teeko", "teeko", "start=random squares=standard limit=200 opening=0", 2, two},
	}
	var got []row
	for _, l := range c.Ladders {
		v, err := l.Variant()
		if err != nil {
			t.Fatalf("%s: %v", l.Name, err)
		}
		sides, err := l.Sides()
		if err != nil {
			t.Fatalf("%s: %v", l.Name, err)
		}
		got = append(got, row{l.Name, l.Game, v.Settings.String(), l.Bots, sides})
		if !v.HasChance {
			t.Errorf("%s: every deal is the same", l.Name)
		}
		if len(l.Options) != len(v.Settings) {
			t.Errorf("%s: options are %v, not every one", l.Name, l.Options)
		}
		if err := referee.Clock(l.Clock).Check(); err != nil {
			t.Errorf("%s: %v", l.Name, err)
		}
		if !slices.Contains(l.House, ladder.Anchor) || !slices.Contains(l.House, "@greedy") || !slices.Contains(l.House, "@champion") || len(l.House) > 9 {
			t.Errorf("%s: house is %q", l.Name, l.House)
		}
		if named := l; resolveHouse(&named) != nil {
			t.Errorf("%s: house is %q, which a file cannot name: %v", l.Name, l.House, resolveHouse(&named))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c.HasOpenRegistration() || c.Workers != 0 || c.Sandbox != sandbox.LevelReduced || c.Limits.Memory != 512<<20 || c.BotLimit().Memory != 512<<20 {
		t.Errorf("the rest is %+v", c)
	}
}

// TestDefaultFile checks that the default file means the same as no file.
func TestDefaultFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), datadir.ConfigFile)
	none := kit.Get[*Config](t)(Read(path))
	kit.Must(t, os.WriteFile(path, DefaultTOML(), 0o600))
	file := kit.Get[*Config](t)(Read(path))
	if diff := cmp.Diff(none, file); diff != "" {
		t.Error(diff)
	}
}

func TestConfigOnTopOfDefaults(t *testing.T) {
	c, err := Parse("c", []byte(`
registration = "open"
workers = 3
pause = "5s"
sandbox = "full"
[limits]
upload = "1m"
[[ladder]]
name = "mine"
game = "tute"
options = {players = "04", teams = "yes"}
clock = {bank = 1000, inc = 5, margin = 7}
deals = 2
bots = 2
house = ["@random", "@greedy:noise=00"]
`))
	kit.Must(t, err)
	if !c.HasOpenRegistration() || c.Workers != 3 || c.Pause != 5*time.Second || c.Sandbox != sandbox.LevelFull || c.Limits.Upload != 1<<20 || c.Limits.Bots != 5 || !c.Play.Guests {
		t.Errorf("got %+v", c)
	}
	if len(c.Ladders) != 1 {
		t.Fatalf("there are %d ladders, not 1", len(c.Ladders))
	}
	l := c.Ladders[0]
	sides, err := l.Sides()
	if !slices.Equal(l.House, []string{"@random", "@greedy"}) {
		t.Errorf("house is %q: its bots are not those of the ladder without options", l.House)
	}
	if err != nil || !slices.Equal(sides, []int{0, 1}) || l.Title != "mine" || l.Options["players"] != "4" || l.Options["hunt3"] != "no" {
		t.Errorf("got %+v with sides %v, %v", l, sides, err)
	}
	if got := string(kit.Get[[]byte](t)(l.Clock.MarshalJSON())); got != `{"bank":1000,"inc":5,"margin":7,"startup":10000}` {
		t.Errorf("the clock is %s", got)
	}
}

func TestConfigErrors(t *testing.T) {
	one := func(lines string) string {
		return "[[ladder]]\nname = \"x\"\ngame = \"brisca\"\nclock = {movetime = 100}\ndeals = 1\n" + lines
	}
	for _, c := range []struct{ name, toml, want string }{
		{"syntax", "workers =", `c: line 1`},
		{"type", "workers = \"two\"", `c: line 1: workers: must be a whole number without quotes, not text in quotes`},
		{"unknown", "worker = 2", `c: unknown key "worker": try certificate, ladder, limits, live, memory, pause, play, registration, remote, sandbox, site, storage, workers`},
		{"unknown without its table", "guests = false", `c: unknown key "guests": write it below the line [play]`},
		{"url with a wrong port", "[site]\nurl = \"https://a.example:99999\"", `c: site.url cannot be "https://a.example:99999": try a port from 1 to 65535, or leave it out`},
		{"unknown limit", "[limits]\nram = 2", `c: unknown key "limits.ram": try bots, house, memory, requests, time, unrated, upload, versions`},
		{"unknown of a ladder", one("deal = 2"), `c: unknown key "ladder.deal": try bots, clock, deals, game, house, name, options, title`},
		{"unknown of a clock", strings.Replace(one(""), "movetime", "move", 1), `c: unknown key "ladder.clock.move": try bank, inc, margin, movetime, startup`},
		{"registration", `registration = "closed"`, `c: registration cannot be "closed": try invite or open`},
		{"pause", `pause = "25h"`, `c: pause cannot be 25h0m0s: try 0s to 24h0m0s`},
		{"pause without a unit", "pause = 60", `c: pause cannot be 60: name its unit, as in "1m30s" or "250ms"`},
		{"pause of words", `pause = "long"`, `c: line 1: pause: `},
		{"storage for negative days", "[storage]\ndays = -1", `c: storage.days cannot be -1: try 0 to 36500`},
		{"storage of too much", `storage = {size = "1048577g"}`, `c: storage.size cannot be 1048577g: try 0 to 1048576g`},
		{"unknown of storage", "[storage]\nday = 1", `c: unknown key "storage.day": try days, room, size`},
		{"url with a path", "[site]\nurl = \"https://a.example/arena\"", `c: site.url cannot be "https://a.example/arena": try the scheme and the host alone, in ASCII (xn--...), such as https://bots.example.org`},
		{"url without a scheme", "[site]\nurl = \"a.example\"", `c: site.url cannot be "a.example": try`},
		{"url of another scheme", "[site]\nurl = \"javascript://a.example\"", `c: site.url cannot be "javascript://a.example": try`},
		{"downloads of a relative path", "[site]\ndownloads = \"dist\"", `c: site.downloads cannot be "dist": try an absolute path, such as /srv/timba/dist`},
		{"downloads that are missing", "[site]\ndownloads = \"/nowhere/dist\"", `c: site.downloads cannot be "/nowhere/dist": there is no such directory that the server can read: `},
		{"downloads of a file", "[site]\ndownloads = \"/dev/null\"", `c: site.downloads cannot be "/dev/null": there is no such directory`},
		{"workers", "workers = -1", `c: workers cannot be -1: try 0 to 1024`},
		{"sandbox", `sandbox = "off"`, `c: sandbox cannot be "off": try reduced or full; strangers' bots are not run with less`},
		{"limit", "[limits]\nmemory = 1", `c: limits.memory cannot be 1: try 16m to 1024g`},
		{"huge limit", "[limits]\nupload = 9223372036854775807", `c: limits.upload cannot be 9223372036854775807: try 1m to 16g`},
		{"size of words", `memory = "much"`, `c: line 1: memory: cannot be "much": try a number and k, m or g`},
		{"negative size", `memory = -1`, `c: line 1: memory: cannot be "-1": `},
		{"no ladders", "ladder = []", `c: ladder cannot be an empty list: name at least one`},
		{"name", `ladder = [{name = "Best Of"}]`, `c: ladder 1, "Best Of": name cannot be "Best Of": try lower-case letters, digits and single hyphens`},
		{"title", one(`title = "a\nb"`), `c: ladder 1, "x": title cannot be "a\nb": try one line`},
		{"twice", one("") + one(""), `c: ladder 2: name "x" is used twice: give each ladder its own`},
		{"game", `ladder = [{name = "x", game = "mus"}]`, `c: ladder 1, "x": game "mus" does not exist: try brisca, tute, podrida, tebes, teeko`},
		{"option", one(`options = {jokers = "2"}`), `c: ladder 1, "x": brisca has no option "jokers": try players, teams`},
		{"value", one(`options = {players = "9"}`), `c: ladder 1, "x": option players cannot be "9": try 2 to 4`},
		{"together", one(`options = {players = "4", hunt3 = "yes"}`), `c: ladder 1, "x": option hunt3 cannot be "yes" with players=4`},
		{"no clock", `ladder = [{name = "x", game = "brisca", deals = 1}]`, `c: ladder 1, "x": clock: neither movetime nor bank is set`},
		{"clock", strings.Replace(one(""), "100", "-100", 1), `c: ladder 1, "x": clock: movetime cannot be -`},
		{"huge clock", strings.Replace(one(""), "100", "9223372036854775807", 1), `c: ladder 1, "x": clock: movetime cannot be `},
		{"deals", strings.Replace(one(""), "deals = 1", "deals = 0", 1), `c: ladder 1, "x": deals cannot be 0: try 1 to 1000`},
		{"one bot", one("bots = 1"), `c: ladder 1, "x": the number of bots cannot be 1 in a game of 2 seats: try 2`},
		{"many bots", one("bots = 3"), `c: ladder 1, "x": the number of bots cannot be 3 in a game of 2 seats: try 2`},
		{"itself", one("bots = 2\noptions = {players = \"3\"}"), `c: ladder 1, "x": the number of bots cannot be 2 in a game of 3 seats, where a bot would play against itself: try 3`},
		{"partners", one("bots = 3\noptions = {players = \"4\", teams = \"yes\"}"), `c: ladder 1, "x": the number of bots cannot be 3 in a game of 4 seats, where a bot would play against itself: try 4`},
		{"house", one(`house = ["@random", "@best"]`), `c: ladder 1, "x": house bot "best" does not exist: try random, first, greedy`},
		{"not house", one(`house = ["random"]`), `c: ladder 1, "x": house cannot have "random": house bots begin with @, such as @random`},
		{"house option", one(`house = ["@random", "@greedy:noise=101"]`), `c: ladder 1, "x": house bot "greedy:noise=101": option noise cannot be "101": try 0 to 100`},
		{"house of another game", one(`house = ["@random", "@teeko-lms:weights=initial"]`), `c: ladder 1, "x": house cannot have "@teeko-lms:weights=initial", which plays teeko: try @random, @`},
		{"house twice", one(`house = ["@random", "@random"]`), `c: ladder 1, "x": house cannot have "@random" twice`},
		{"house twice by other words", one(`house = ["@random", "@champion", "@champion:level=8"]`), `c: ladder 1, "x": house cannot have "@champion" twice`},
		{"no anchor", one(`house = ["@greedy"]`), `c: ladder 1, "x": house cannot be ["@greedy"]: add @random, the anchor of the ratings`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("c", []byte(c.toml))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("says %v, want %s", err, c.want)
			}
			if ladder.CodeOf(err) != ladder.Invalid {
				t.Errorf("the code is %q", ladder.CodeOf(err))
			}
		})
	}
}

func FuzzConfig(f *testing.F) {
	f.Add(DefaultTOML())
	f.Add([]byte("[[ladder]]\nname = \"x\"\ngame = \"tebes\"\nclock = {bank = 5}\ndeals = 2"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("c", data)
		if err != nil {
			return
		}
		for _, l := range c.Ladders {
			if _, err := l.Sides(); err != nil {
				t.Errorf("%s was taken: %v", l.Name, err)
			}
		}
	})
}
