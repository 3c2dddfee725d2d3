package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sandbox"
)

// TestMain lets the test binary be a house bot.
func TestMain(m *testing.M) {
	sandbox.MaybeInit()
	if len(os.Args) == 3 && os.Args[1] == "bot" {
		if err := house.Run(os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else house bots sleep a second at their end
	os.Exit(m.Run())
}

// world is a competition whose bots of people are scripts for the shell.
type world struct {
	t      testing.TB
	store  *store.Store
	config *ladder.Config
	person ladder.Person
	bots   string            // the folder of the scripts
	log    *strings.Builder  // under mu
	broken map[string]string // bots that cannot be had, and why
	mu     sync.Mutex
}

// tiny is a ladder of the shortest matches. Its clock is long: the machine is
// busy with other tests.
const tiny = `[[ladder]]
name = "tebes"
game = "tebes"
options = {size = "4"}
deals = 1
clock = {movetime = 20000, startup = 60000}
house = ["@random", "@first", "@greedy"]
`

func newWorld(t testing.TB, config string) *world {
	t.Helper()
	w := &world{t: t, bots: t.TempDir(), log: &strings.Builder{}, broken: map[string]string{}}
	var err error
	if w.config, err = ladder.ParseConfig("test", []byte(config)); err != nil {
		t.Fatal(err)
	}
	if w.store, err = store.Open(t.TempDir(), store.Options{Server: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx := context.Background()
	w.must(w.store.SyncLadders(ctx, w.config.Ladders))
	var bots []store.HouseBot
	for _, name := range w.config.Ladders[0].House {
		p, err := program.Resolve(name, io.Discard)
		w.must(err)
		bots = append(bots, store.HouseBot{Name: name, Label: house.Version, Hash: p.Hash})
	}
	w.must(w.store.SyncHouse(ctx, bots))
	w.person, err = w.store.AddPerson(ctx, "anna", false)
	w.must(err)
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// bot makes a live version of a script.
func (w *world) bot(name, script string) ladder.Version {
	w.t.Helper()
	ctx := context.Background()
	dir := filepath.Join(w.bots, name)
	w.must(os.MkdirAll(dir, 0o755))
	w.must(os.WriteFile(filepath.Join(dir, "bot.sh"), []byte(script), 0o644))
	hash := hashOf(script)
	v, err := w.store.AddVersion(ctx, w.person.ID, store.NewVersion{Bot: name, Bundle: hash}, w.config.Limits)
	w.must(err)
	w.must(w.store.SetBuilt(ctx, v.ID, store.Built{Hash: hash, Language: "Bash", Command: []string{"sh", "bot.sh"}}))
	w.must(w.store.Promote(ctx, v.ID))
	v, err = w.store.Version(ctx, v.ID)
	w.must(err)
	return v
}

func (w *world) resolve(_ context.Context, v ladder.Version) (referee.Bot, error) {
	w.mu.Lock()
	why := w.broken[v.Bot]
	w.mu.Unlock()
	if why != "" {
		return referee.Bot{}, fmt.Errorf("%s", why)
	}
	if v.House() {
		p, err := program.Resolve(v.Bot, io.Discard)
		return p.Bot, err
	}
	return referee.Bot{Command: v.Command, Dir: filepath.Join(w.bots, v.Bot), Hash: v.Hash, Version: v.Label}, nil
}

// Write takes the log.
func (w *world) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(p)
}

func (w *world) logged() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.String()
}

// run is a runner at work; stop ends it and waits.
type run struct {
	*Runner
	events <-chan Event
	stop   func()
	world  *world
}

// run starts a runner on some cores, changed by the test.
func (w *world) run(cores int, change func(*Options)) *run {
	w.t.Helper()
	o := Options{
		Store: w.store, Ladders: w.config.Ladders, Resolve: w.resolve,
		Hold:       &referee.Hold{Limit: w.config.Limits.Hold()},
		Grace:      time.Minute,
		Registerer: prometheus.NewRegistry(),
		Log:        slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for range cores {
		o.Cores = append(o.Cores, referee.AnyCore)
	}
	if change != nil {
		change(&o)
	}
	r, err := New(o)
	w.must(err)
	events, _ := r.Subscribe(10_000)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
	})
	w.t.Cleanup(stop)
	return &run{Runner: r, events: events, stop: stop, world: w}
}

// until reads events up to one that the test waits for.
func (r *run) until(what string, is func(Event) bool) Event {
	r.world.t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case e, more := <-r.events:
			if !more {
				r.world.t.Fatalf("it stopped before %s:\n%s", what, r.world.logged())
			}
			if is(e) {
				return e
			}
		case <-late:
			r.world.t.Fatalf("not in a minute: %s\n%s", what, r.world.logged())
		}
	}
}

// finished waits for so many matches.
func (r *run) finished(n int) {
	r.world.t.Helper()
	r.until(fmt.Sprintf("%d matches are finished", n), func(e Event) bool {
		if e.Kind == MatchFinished {
			n--
		}
		return n == 0
	})
}

// matches are all of the world's, the first one first.
func (w *world) matches() []ladder.Match {
	w.t.Helper()
	list, err := w.store.Matches(context.Background(), store.MatchFilter{Limit: 100_000})
	w.must(err)
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// player is a script that plays the first move; BEFORE runs at each line.
const player = `while read -r verb ply left move rest; do
	BEFORE
	case $verb in
	timba) echo "ready script 1" ;;
	turn) echo "move $move" ;;
	bye) exit ;;
	esac
done
`

func script(before string) string { return strings.ReplaceAll(player, "BEFORE", before) }

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
