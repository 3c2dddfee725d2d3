package dataset

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/lab/train/run/runtest"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

func mode(t testing.TB, name string) cards.Mode {
	t.Helper()
	return kit.Get[cards.Mode](t)(cards.ParseMode(name))
}

// write generates a data set in a new directory and returns the path of its file.
func write(t testing.TB, c *Config) string {
	t.Helper()
	dir, r := runtest.Train[SetSize](t, c)
	if r.Games != c.Games() {
		t.Errorf("%d games, not %d", r.Games, c.Games())
	}
	return filepath.Join(dir, File)
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	return kit.Get[[]byte](t)(os.ReadFile(path))
}

// TestEveryMode checks that data sets of every mode have games with every combination of rules, and that Load
// accepts them.
func TestEveryMode(t *testing.T) {
	for _, m := range cards.Modes() {
		p := &Config{Mode: m.String(), GamesPerRules: 30, Seed: 1}
		path := write(t, p)
		set := kit.Get[*Set](t)(Load(path, 0))
		count := make([]int, len(m.Rules()))
		var g GameRecord
		for i := range set.Header.Games {
			set.Game(i, &g)
			count[g.Rules]++
			if int(g.NumMoves) != set.Len(i) {
				t.Fatalf("%v: game %d has %d moves, not %d", m, i, g.NumMoves, set.Len(i))
			}
		}
		for bits, n := range count {
			if n != p.GamesPerRules || set.Header.Games != p.Games() {
				t.Errorf("%v: %d games of rules %b of %d in all", m, n, bits, set.Header.Games)
			}
		}
		if part, err := Load(path, 7); err != nil || part.Header.Games != 7 || part.Len(6) != set.Len(6) {
			t.Errorf("%v: the first games: %v", m, err)
		}
	}
}

// TestSameFile checks that the file depends only on the seed, not on the workers or on an interruption.
func TestSameFile(t *testing.T) {
	p := Config{Mode: "tute2", GamesPerRules: 400, Seed: 5}
	want := read(t, write(t, &p))
	for _, workers := range []int{1, 3} {
		dir := filepath.Join(t.TempDir(), "run")
		ctx, cancel := context.WithCancel(t.Context())
		_, err := run.Run(ctx, dir, &p, run.Input{Workers: workers}, false, func(games, all int) {
			if games >= 3000 {
				cancel()
			}
		})
		if err == nil {
			t.Fatal("it was not interrupted")
		}
		cancel()
		for range 2 { // a data set that is complete stays as it is
			kit.Get[run.TrainingResult](t)(run.Run(t.Context(), dir, &p, run.Input{Workers: workers}, true, func(int, int) {}))
			if !bytes.Equal(read(t, filepath.Join(dir, File)), want) {
				t.Errorf("with %d workers and an interruption the file differs", workers)
			}
		}
	}
	if most := 60 * p.Games(); len(want) > most {
		t.Errorf("%d bytes, more than %d: they are not compressed", len(want), most)
	}
	p.Seed++
	if bytes.Equal(read(t, write(t, &p)), want) {
		t.Error("another seed makes the same file")
	}
}

// TestResumeWithoutGames checks that a run cannot be resumed if its file of games is missing.
func TestResumeWithoutGames(t *testing.T) {
	dir, p := filepath.Join(t.TempDir(), "run"), &Config{Mode: "brisca2", GamesPerRules: 200, Seed: 1}
	ctx, cancel := context.WithCancel(t.Context())
	run.Run(ctx, dir, p, run.Input{Workers: 1}, false, func(games, _ int) {
		if games > 0 {
			cancel()
		}
	})
	kit.Must(t, os.Truncate(filepath.Join(dir, File), 100))
	_, err := run.Run(t.Context(), dir, p, run.Input{Workers: 1}, true, func(int, int) {})
	if err == nil || !strings.Contains(err.Error(), "100 bytes, fewer than") {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	p := &Config{Mode: "brisca3", GamesPerRules: 20, Seed: 1}
	good := read(t, write(t, p))
	head := bytes.IndexByte(good[len(magic):], '\n') + len(magic) + 1
	for _, test := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "is this a file of timba-lab train data"},
		{"another file", []byte("PK\x03\x04 and more of it"), "is this a file of timba-lab train data"},
		{"cut in the header", good[:head-5], "header"},
		{"cut in the games", good[:len(good)-40], "game"},
		{"no games", good[:head], "game 1 of 160"},
		{"more games", append(bytes.Clone(good), good[head:]...), "does not end"},
		{"another mode", bytes.Replace(good, []byte("brisca3"), []byte("brisca2"), 1), "game 1 of 160"},
		{"an unknown mode", bytes.Replace(good, []byte("brisca3"), []byte("brisca7"), 1), `"brisca7"`},
		{"too many games", bytes.Replace(good, []byte(`"games":160`), []byte(`"games":999999999`), 1), "999999999"},
	} {
		if _, err := Read(bytes.NewReader(test.data), 0); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	for i := head; i < len(good); i += 97 {
		bad := bytes.Clone(good)
		bad[i] ^= 4
		if _, err := Read(bytes.NewReader(bad), 0); err == nil {
			t.Errorf("byte %d changed: no error", i)
		}
	}
	p.GamesPerRules = MaxGames
	if err := p.Check(); err == nil || !strings.Contains(err.Error(), "each") {
		t.Errorf("%d games each: %v", p.GamesPerRules, err)
	}
}

// TestCheck checks that a game that violates the rules is an error.
func TestCheck(t *testing.T) {
	m := mode(t, "tute2")
	p := &Config{Mode: m.String(), GamesPerRules: 1, Seed: 3}
	raw := kit.Get[[]byte](t)(randomGames(p)(t.Context(), 0, 1, nil))
	for _, test := range []struct {
		change func(*GameRecord)
		want   string
	}{
		{func(*GameRecord) {}, ""},
		{func(g *GameRecord) { g.Rules = 16 }, "the rules 16"},
		{func(g *GameRecord) { g.Pack[0] = g.Pack[1] }, "a card twice"},
		{func(g *GameRecord) { g.Moves[3] = g.Moves[0] }, "is not legal"},
		{func(g *GameRecord) { g.NumMoves-- }, "before its end"},
	} {
		var g GameRecord
		if n, err := g.Decode(raw); err != nil || n != len(raw) {
			t.Fatal(n, err)
		}
		test.change(&g)
		err := CheckGame(m, m.Rules(), &g)
		if err == nil != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v", test.want, err)
		}
	}
}

// TestExchanges checks that random moves make half of the possible exchanges.
func TestExchanges(t *testing.T) {
	set := kit.Get[*Set](t)(Load(write(t, &Config{Mode: "brisca3", GamesPerRules: 300, Seed: 1}), 0))
	made, possible := 0, 0
	var g GameRecord
	for i := range set.Header.Games {
		set.Game(i, &g)
		var p cards.Position
		p.Layout(set.Mode, set.Mode.Rules()[g.Rules], g.Pack)
		for _, action := range g.Moves[:g.NumMoves] {
			if _, ok := cards.FindMove(cards.ExchangeAction, p.Legal(nil)); ok {
				possible++
			}
			if action == cards.ExchangeAction {
				made++
			}
			p.Play(Move(&p, action))
		}
	}
	if possible < 1000 || made < possible*45/100 || made > possible*55/100 {
		t.Errorf("%d of %d exchanges are made", made, possible)
	}
}

func TestCost(t *testing.T) {
	p := &Config{Mode: "brisca2", GamesPerRules: 8000, Seed: 1}
	c, err := run.Estimate(t.Context(), "games", p, run.Input{Workers: 2})
	if err != nil || c.Work != 128000 || c.Time <= 0 || c.Disk < 5<<20 || c.Disk > 20<<20 {
		t.Errorf("%+v, %v", c, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(read(f, write(f, &Config{Mode: "brisca2", GamesPerRules: 1, Seed: 1})))
	f.Fuzz(func(_ *testing.T, data []byte) { Read(bytes.NewReader(data), 100) })
}

func BenchmarkRandom(b *testing.B) {
	for _, name := range []string{"brisca2", "tute2"} {
		b.Run(name, func(b *testing.B) {
			games := randomGames(&Config{Mode: name, GamesPerRules: 1, Seed: 1})
			var memory []byte
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				memory, _ = games(context.Background(), i, i+1, memory[:0])
			}
		})
	}
}
