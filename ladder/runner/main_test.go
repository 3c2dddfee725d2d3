package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/attempt/attempttest"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/laddertest"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/sandbox"
)

// TestMain lets the test binary be a house bot.
func TestMain(m *testing.M) {
	flag.Set("test.parallel", "8") // the tests mostly wait for backoffs and bots
	refereetest.Main(m, refereetest.Modes{"bot": refereetest.RunHouseBot}, nil)
}

// world is a competition with one person, whose bots are shell scripts.
type world struct {
	*laddertest.World
	t      testing.TB
	person ladder.Person
	bots   string            // the directory of the scripts
	log    *strings.Builder  // under mu
	broken map[string]string // errors of bots that cannot be resolved, by name
	mu     sync.Mutex
	here   func(context.Context, *play, attempt.Job) attempt.Result // plays attempts on the server's machine; nil means playLocal
}

// tiny is a ladder with very short matches. Its clock is long because other tests use the machine at the same time.
const tiny = `[[ladder]]
name = "tebes"
game = "tebes"
options = {size = "4"}
deals = 1
clock = {movetime = 600000, startup = 600000}
house = ["@random", "@first", "@greedy"]
`

func newWorld(t testing.TB, text string) *world {
	t.Helper()
	kit.Slow(t)
	w := &world{World: laddertest.New(t, text, store.Options{}), t: t, bots: t.TempDir(), log: &strings.Builder{}, broken: map[string]string{}}
	w.SyncHouseBots(func(name string) string {
		p := kit.Get[program.Program](t)(program.Resolver{}.Resolve(t.Context(), name))
		return p.Hash
	})
	w.person = w.AddPerson("anna", false)
	return w
}

// bot makes a live version of a bot that runs the script.
func (w *world) bot(name, script string) ladder.Version {
	w.t.Helper()
	kit.Files(w.t, filepath.Join(w.bots, name), map[string]string{"bot.sh": script})
	hash := hashOf(script)
	v := w.Submit(w.person.ID, name, hash)
	return w.MakeLive(v.ID, store.BuildInfo{Hash: hash, Language: "Bash", Command: []string{"sh", "bot.sh"}})
}

func (w *world) resolve(ctx context.Context, v ladder.Version) (match.Contestant, error) {
	w.mu.Lock()
	why := w.broken[v.Bot]
	w.mu.Unlock()
	if why != "" {
		return match.Contestant{}, fmt.Errorf("%s", why)
	}
	if v.IsHouse() {
		p, err := program.Resolver{}.Resolve(ctx, v.Bot)
		return p.Contestant, err
	}
	return match.Contestant{Command: v.Command, Dir: filepath.Join(w.bots, v.Bot), Hash: v.Hash, Version: v.Label}, nil
}

// Write collects the log of the runner.
func (w *world) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(p)
}

func (w *world) logText() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.String()
}

// runningRunner is a runner that runs. stop stops it and waits for its end.
type runningRunner struct {
	*Runner
	events <-chan events.Event
	stop   func()
	world  *world
}

// runnerParts has the options of a runner and the fakes behind them, which a test can change.
type runnerParts struct {
	Options
	programs *laddertest.Programs
	host     *host
	tryouts  Source
	submit   func(ctx context.Context, version int64, core int) error
}

// host is a Host with the answers of a test.
type host struct {
	soundHost
	check func(context.Context) error
	has   func(interpreter string) bool
}

func (h *host) Check(ctx context.Context) error {
	if h.check == nil {
		return nil
	}
	return h.check(ctx)
}

func (h *host) HasInterpreter(name string) bool { return h.has != nil && h.has(name) }

// newRunner returns a runner with n cores, which does not run. change can edit its parts.
func (w *world) newRunner(n int, change func(*runnerParts)) *Runner {
	w.t.Helper()
	o := runnerParts{programs: &laddertest.Programs{Start: w.resolve, Box: &match.Sandbox{Level: sandbox.Probe().Level, Limit: w.Config.BotLimit()}}, host: &host{}}
	o.Options = Options{
		Store: NewStore(w.Store), Ladders: w.Config.Ladders, Programs: o.programs, Host: o.host,
		Local:      attempt.WorkerInfo{Cores: slices.Repeat([]int{cores.Any}, n)},
		Limits:     Limits{Grace: time.Minute},
		Registerer: prometheus.NewRegistry(),
		Log:        slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if change != nil {
		change(&o)
	}
	r := kit.Get[*Runner](w.t)(New(o.Options))
	if o.tryouts != nil {
		r.Register(o.tryouts)
	}
	if o.submit != nil {
		r.Register(r.Submissions(o.submit))
	}
	r.charges.share = 0.5 // high, so that few matches show the effect
	return r
}

// startRunner starts a runner with some cores. change can edit its parts. The test stops it at its end.
func (w *world) startRunner(cores int, change func(*runnerParts)) *runningRunner {
	w.t.Helper()
	r := w.newRunner(cores, change)
	if w.here != nil {
		r.player = w.here
	}
	told, untell := w.Store.Events().Subscribe(10_000, nil)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		err := r.Run(ctx)
		untell()
		ended <- err
	}()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
	})
	w.t.Cleanup(stop)
	return &runningRunner{Runner: r, events: told, stop: stop, world: w}
}

// awaitEvent reads events until is returns true, and returns that event. It never times out by itself.
func (r *runningRunner) awaitEvent(what string, is func(events.Event) bool) events.Event {
	r.world.t.Helper()
	for e := range r.events {
		if is(e) {
			return e
		}
	}
	r.world.t.Fatalf("it stopped before %s:\n%s", what, r.world.logText())
	panic("unreachable")
}

// awaitMatches waits until n more matches are finished.
func (r *runningRunner) awaitMatches(n int) {
	r.world.t.Helper()
	r.awaitEvent(fmt.Sprintf("%d matches are finished", n), func(e events.Event) bool {
		if e.Kind == events.MatchFinished {
			n--
		}
		return n == 0
	})
}

// matches returns all matches, the oldest first.
func (w *world) matches() []ladder.Match {
	w.t.Helper()
	list := kit.Get[[]ladder.Match](w.t)(w.Store.Matches.List(context.Background(), store.MatchFilter{Limit: 100_000}))
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// player is a script that always plays the first legal move. BEFORE is replaced by a command to run for each line.
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

// playScripts plays a job with the scripts of the world, as a worker on another machine does.
func (w *world) playScripts(ctx context.Context, j attempt.Job) attempt.Result {
	return attempt.Play(ctx, j, attempt.Options{Program: func(ctx context.Context, slot int) (match.Contestant, error) {
		v, err := w.Store.Versions.Find(ctx, j.Bots[slot].Version)
		if err != nil {
			return match.Contestant{}, err
		}
		return w.resolve(ctx, v)
	}})
}

// requestMatches adds n endless matches between the versions, requested by a person.
func (w *world) requestMatches(by int64, n int, versions ...int64) (ids []int64) {
	w.t.Helper()
	for range n {
		m := kit.Get[ladder.Match](w.t)(w.Store.Matches.Add(w.t.Context(), store.NewMatch{
			Versions: versions, Game: "teeko", Options: map[string]string{"limit": "0"}, Clock: referee.Clock{Move: 10 * time.Minute, Startup: 10 * time.Minute}, Deals: 100, RequestedBy: by,
		}))
		ids = append(ids, m.ID)
	}
	return ids
}

// playAtRandom makes the server's machine play random moves without starting bots.
func (w *world) playAtRandom() {
	w.here = func(_ context.Context, _ *play, j attempt.Job) attempt.Result { return attempttest.PlayAtRandom(j) }
}
