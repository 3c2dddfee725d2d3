package cluster

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/cluster/clustertest"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sandbox"
)

// TestMain lets the test binary be a house bot or a worker.
func TestMain(m *testing.M) {
	flag.Set("test.parallel", "8") // the tests mostly wait for processes and heartbeats
	refereetest.Main(m, refereetest.Modes{"bot": refereetest.RunHouseBot, "worker": workerProcess, clustertest.Mode: clustertest.Main}, nil)
}

// ackTime replaces AckTime in tests: it is so long that no attempt is lost because the machine is busy.
const ackTime = 2 * time.Hour

// patience is the timeout for what must happen: only the deadline of the test run ends the wait.
const patience = time.Hour

// arena is a Dispatcher with its keys, bots and log.
type arena struct {
	*Dispatcher
	keys      *Keys // nil with an existing cluster
	t         testing.TB
	dir       string
	bots      string // directory of the built bots, each under its hash
	log       *kit.Output
	address   string               // where workers connect, also after the dispatcher is opened again
	forwardTo func(address string) // makes address lead to another one
}

// newArena opens a Dispatcher that accepts workers on a free port.
func newArena(t testing.TB, change func(*DispatcherOptions)) *arena {
	t.Helper()
	kit.Slow(t)
	a := &arena{t: t, dir: t.TempDir(), bots: t.TempDir(), log: new(kit.Output)}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the log:\n%s", a.log)
		}
	})
	a.address, a.forwardTo = kit.Forward(t)
	a.open(change)
	return a
}

func (a *arena) open(change func(*DispatcherOptions)) {
	a.t.Helper()
	o := DispatcherOptions{
		Dir: a.dir, Listen: "127.0.0.1:0", AckTime: ackTime,
		BuildDir: func(_ context.Context, b attempt.Entrant) (string, error) { return filepath.Join(a.bots, b.Hash), nil },
		Sandbox:  &match.Sandbox{Level: sandbox.Probe().Level, Limit: sandbox.DefaultLimit},
		Log:      slog.New(slog.NewTextHandler(a.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if change != nil {
		change(&o)
	}
	var err error
	a.Dispatcher, err = OpenDispatcher(a.t.Context(), o)
	a.must(err)
	if a.embeddedServer != nil {
		a.keys = a.embeddedServer.accounts.keys
	}
	a.forwardTo(a.Address())
	hub := a.Dispatcher
	a.t.Cleanup(hub.Close)
}

// stopMonitor stops the background work of the dispatcher. Its NATS server continues.
func (a *arena) stopMonitor() {
	a.end()
	a.running.Wait()
}

func (a *arena) must(err error) {
	a.t.Helper()
	kit.Must(a.t, err)
}

// creds makes credentials for a worker and returns their file.
func (a *arena) creds(name string) string {
	a.t.Helper()
	text := kit.Get[[]byte](a.t)(a.keys.Add(name))
	file := filepath.Join(a.t.TempDir(), name+".creds")
	a.must(os.WriteFile(file, text, 0o600))
	return file
}

// url returns the URL to which workers connect.
func (a *arena) url() string { return "nats://" + a.address }

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

// bot makes the built files of a bot.
func (a *arena) bot(id int64, script string) attempt.Entrant {
	a.t.Helper()
	sum := sha256.Sum256([]byte(script))
	hash := hex.EncodeToString(sum[:])
	kit.Files(a.t, filepath.Join(a.bots, hash), map[string]string{"bot.sh": script})
	return attempt.Entrant{Version: id, Name: "script" + hash[:8], Hash: hash, Command: []string{"sh", "bot.sh"}, Label: "1", Language: "Bash"}
}

// greedy is a house bot.
var greedy = attempt.Entrant{Version: 1, Name: "@greedy", House: "@greedy", Label: "1"}

// job returns a short match of two bots.
func job(id int64, number int, bots ...attempt.Entrant) attempt.Job {
	seed := referee.Hex(referee.NewSeed())
	return attempt.Job{
		Match: id, Attempt: number, Game: "tebes", Options: map[string]string{"size": "4"}, Deals: 1, Seed: seed,
		Clock: referee.Clock{Move: 10 * time.Minute, Startup: 10 * time.Minute}, Bots: bots, Core: cores.Any,
	}
}

// settings are the options of a worker process.
type settings struct {
	URL, Creds, Dir string
	Cores           int
	Cache           int64
	Protocol        int    `json:",omitempty"`
	Gate            string `json:",omitempty"` // see newGate; if it is empty, the worker does not wait
}

// workerProcess runs a worker in this process. It drains on SIGTERM.
func workerProcess(text string) error {
	var s settings
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	ctx := context.Background()
	link, err := Dial(ctx, s.URL, s.Creds, log)
	if err != nil {
		return err
	}
	defer link.Close()
	w, err := NewWorker(link, s.options(log))
	if err != nil {
		return err
	}
	w.heartbeats.machine.Protocol = cmp.Or(s.Protocol, Protocol)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() {
		<-stop
		w.Drain()
	}()
	return w.Run(ctx)
}

func (s settings) options(log *slog.Logger) WorkerOptions {
	o := WorkerOptions{Version: "test", Dir: s.Dir, Cache: s.Cache, Log: log, Memory: 1 << 30}
	for range max(1, s.Cores) {
		o.Cores = append(o.Cores, cores.Any)
	}
	if s.Gate != "" {
		o.Play = func(ctx context.Context, j attempt.Job, p attempt.Options) attempt.Result {
			opened := make(chan error, 1)
			go func() {
				f, err := os.Open(s.Gate)
				opened <- errors.Join(err, f.Close())
			}()
			select {
			case err := <-opened:
				if err != nil {
					return attempt.FailedResult(j, err)
				}
				return attempt.Play(ctx, j, p)
			case <-ctx.Done():
				return attempt.FailedResult(j, ctx.Err())
			}
		}
	}
	return o
}

// process is a worker in a process of its own.
type process struct {
	*exec.Cmd
	settings
	log   *kit.Output
	ended chan error
}

// startProcess starts a worker in a process of its own, which the test stops at its end.
func (a *arena) startProcess(s settings) *process {
	a.t.Helper()
	text := kit.Get[[]byte](a.t)(json.Marshal(s))
	p := &process{Cmd: exec.Command(os.Args[0], "worker", string(text)), settings: s, log: new(kit.Output), ended: make(chan error, 1)}
	p.Stderr, p.Stdout = p.log, p.log
	p.Env = append(os.Environ(), "TMPDIR="+a.t.TempDir())
	a.must(p.Start())
	go func() { p.ended <- p.Wait() }()
	a.t.Cleanup(func() {
		p.Process.Kill()
		if a.t.Failed() {
			a.t.Logf("the worker's log:\n%s", p.log)
		}
	})
	return p
}

// startWorkerProcess starts a worker process with new credentials and waits until it is connected. With a
// gate it plays when the gate is open.
func (a *arena) startWorkerProcess(name string, gate ...string) *process {
	a.t.Helper()
	p := a.startProcess(settings{URL: a.url(), Creds: a.creds(name), Dir: a.t.TempDir(), Gate: strings.Join(gate, "")})
	a.awaitMachine(name)
	return p
}

// awaitMachine waits until a machine gets jobs, and returns it.
func (a *arena) awaitMachine(name string) attempt.WorkerInfo {
	a.t.Helper()
	var found attempt.WorkerInfo
	kit.Until(a.t, name+" is there", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		m := a.machines[name]
		if m != nil {
			found = m.WorkerInfo
		}
		return m != nil && m.session != ""
	})
	return found
}

// expireMachine makes a machine and its attempts expire, as if no heartbeat had come for AckTime.
func (a *arena) expireMachine(name string) {
	a.t.Helper()
	a.mu.Lock()
	now := time.Now()
	past := now.Add(-a.AckTime - time.Second)
	if m := a.machines[name]; m != nil {
		m.SeenAt = past
	}
	for _, at := range a.attempts.all {
		if at.machine == name {
			at.namedAt = past
		}
	}
	a.mu.Unlock()
	a.expire(now)
}

// awaitDeparture waits until a machine is no longer connected.
func (a *arena) awaitDeparture(name string) {
	a.t.Helper()
	kit.Until(a.t, name+" is gone", func() bool {
		for _, m := range a.Machines() {
			if m.Name == name {
				return false
			}
		}
		return true
	})
}

// playOutcome has the results of a call of Play.
type playOutcome struct {
	attempt.Result
	err error
}

// Play sends a job to a machine and returns its result.
func (a *arena) Play(ctx context.Context, name string, j attempt.Job) (r attempt.Result, err error) {
	err = a.Dispatcher.Play(ctx, name, j, func(got attempt.Result) error { r = got; return nil })
	return r, err
}

// adopt returns the result of a job that an earlier server has sent.
func (a *arena) adopt(name string, j attempt.Job) (r attempt.Result, err error) {
	e := expectationOf(j)
	e.Seed = referee.Hex{}
	err = a.Adopt(a.t.Context(), name, e.Job, e.Commitment, func(got attempt.Result) error { r = got; return nil })
	return r, err
}

// startPlay calls Play in a goroutine.
func (a *arena) startPlay(ctx context.Context, name string, j attempt.Job) <-chan playOutcome {
	out := make(chan playOutcome, 1)
	go func() {
		r, err := a.Play(ctx, name, j)
		out <- playOutcome{r, err}
	}()
	return out
}

// awaitAttemptOn waits until a machine names an attempt.
func (a *arena) awaitAttemptOn(name string, j attempt.Job) {
	a.t.Helper()
	kit.Until(a.t, name+" has the match", func() bool {
		for _, m := range a.Machines() {
			for _, p := range m.Attempts {
				if m.Name == name && p.Match == j.Match && p.Attempt == j.Attempt {
					return true
				}
			}
		}
		return false
	})
}

// awaitSent waits until a job is sent to its machine.
func (a *arena) awaitSent(match int64, number int) {
	a.t.Helper()
	kit.Until(a.t, "the attempt is sent", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		at := a.attempts.all[attemptKey{match, number}]
		return at != nil && at.state > preparing
	})
}

// checkComplete checks that a result has all games of its job.
func (a *arena) checkComplete(j attempt.Job, r attempt.Result, err error) {
	a.t.Helper()
	a.must(err)
	if r.Failure != nil {
		a.t.Fatalf("match %d failed: %s: %s", j.Match, r.Failure.Kind, r.Failure.Text)
	}
	if len(r.Games) != j.Deals*len(j.Bots) {
		a.t.Fatalf("match %d has %d games, want %d", j.Match, len(r.Games), j.Deals*len(j.Bots))
	}
}

// expectationOf returns what the result of a job is checked against.
func expectationOf(j attempt.Job) Expectation {
	return Expectation{Job: j, Commitment: referee.Commitment(rules.Seed(j.Seed))}
}

var errTest = errors.New("the test ends it")

// greedy2 is another house bot.
var greedy2 = attempt.Entrant{Version: 3, Name: "@first", House: "@first", Label: "1"}

// startWorker starts a worker in the process of the test. With a gate it plays when the gate is open.
func (a *arena) startWorker(name string, gate ...string) *Worker {
	a.t.Helper()
	link := kit.Get[*Link](a.t)(Dial(a.t.Context(), a.url(), a.creds(name), a.DispatcherOptions.Log))
	return a.runWorker(link, settings{Dir: a.t.TempDir(), Gate: strings.Join(gate, "")}.options(a.DispatcherOptions.Log))
}

// runWorker runs a worker over a link until the end of the test.
func (a *arena) runWorker(link *Link, o WorkerOptions) *Worker {
	a.t.Helper()
	w := kit.Get[*Worker](a.t)(NewWorker(link, o))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	a.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			a.t.Error(err)
		}
		link.Close()
	})
	a.awaitMachine(link.Name)
	return w
}
