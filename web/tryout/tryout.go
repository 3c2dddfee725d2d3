// Package tryout tests bots in the editor of the site before people submit them. A try-out builds a bot and
// plays some games. The package holds the queue of try-outs and their results in memory, for a limited time.
// Package submission builds and plays the bots when the runner has a free core.
package tryout

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/timba-arena/timba/internal/cutlog"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/runner"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/ladder/submission"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/stats"
	"github.com/timba-arena/timba/web/admission"
)

// Options are what Tryouts needs from the rest of the server. All but Store are required.
type Options struct {
	// Play builds the bot of the try-out t and plays its games, on the processor core with the number core. It
	// returns the output of the build.
	Play func(ctx context.Context, t submission.Tryout, core int) (output string, err error)
	// Memory returns the memory that a try-out needs, in bytes.
	Memory func(submission.Tryout) (int64, error)
	Wake   func() // called when the runner should look for jobs
	Log    *slog.Logger
	Store  *store.Store // says who is blocked; if it is nil, nobody is
}

// Limits bound how many try-outs may wait and run at the same time, for one person and in total.
var Limits = admission.Limits{Person: 1, Total: 60, Subject: phrase.New("tests"), Hint: phrase.New("cancel one, or wait until it is over"), Retry: 10 * time.Second}

const (
	// Retention is how long the results of a finished try-out are available.
	Retention = time.Hour
	// maxFinished is the largest number of finished try-outs in memory.
	maxFinished = 50
	// MaxText is the largest size of a bot's text, in bytes.
	MaxText = 256 << 10
	// maxLog is how many bytes of a bot's stderr are retained for each game. If there are more, the middle is left
	// out.
	maxLog = 32 << 10
)

// TryoutState says how far a try-out is, which is a test of a bot that a person is editing.
type TryoutState string

// The states of a try-out. The last four are final.
const (
	Waiting  TryoutState = "waiting"
	Building TryoutState = "building"
	Playing  TryoutState = "playing"
	Over     TryoutState = "over"
	Failed   TryoutState = "failed" // because of the bot
	Broken   TryoutState = "broken" // because of the server
	Stopped  TryoutState = "stopped"
)

// TryoutGame is a finished game of a try-out, the test of a bot that a person is editing.
type TryoutGame struct {
	Replay []byte
	Score  float64 // of the tested bot against its strongest opponent: 1, 0.5 or 0
	Faults []submission.TryoutFault
	Stderr []string
}

// TryoutProgress is the state of a try-out (the test of a bot that a person is editing), with the results that it
// has so far.
type TryoutProgress struct {
	Opponent    string
	Deal        *submission.PlayedDeal // the deal that is played again; nil if there is an opponent
	State       TryoutState
	Place       int         // place in the queue; 1 is next, 0 means that it does not wait
	Reason      phrase.Text // why the bot failed, in the state Failed
	Line        int         // the line of the edited file at which the bot failed; 0 if it is not known
	BuildOutput string      // output of the build
	Games       []TryoutGame
	Check       *submission.TryoutCheck // nil if the check has not run
	Revision    int                     // increases with every change
}

// IsDone reports whether the try-out, a test of a bot, has ended.
func (p TryoutProgress) IsDone() bool {
	return p.State != Waiting && p.State != Building && p.State != Playing
}

// Tryouts holds the try-outs that wait or run, and those that ended recently. The runner gets jobs from it.
type Tryouts struct {
	Options
	places *admission.Places
	mu     sync.Mutex
	all    []*tryout // the oldest first
	closed bool
}

type tryout struct {
	id     string
	owner  service.Actor
	memory int64
	ctx    context.Context
	cancel context.CancelFunc
	leave  func() // returns its place within Limits

	// Tryouts.mu guards the fields below.

	bot submission.Tryout
	TryoutProgress
	changeSignal chan struct{} // closed at the next change
}

func New(o Options) *Tryouts { return &Tryouts{Options: o, places: admission.NewPlaces(Limits)} }

// Add adds the try-out t of the person actor to the queue and returns its ID. Earlier try-outs of actor that have
// finished are discarded. It returns an error if actor has no right to submit bots, the try-out needs too much memory,
// or a limit is reached.
func (x *Tryouts) Add(actor service.Actor, t submission.Tryout) (id string, err error) {
	if err := actor.CheckScope(ladder.ScopeSubmit, "to test a bot"); err != nil {
		return "", err
	}
	memory, err := x.Memory(t)
	if err != nil {
		return "", err
	}
	n := &tryout{bot: t, id: rand.Text(), owner: actor, memory: memory, changeSignal: make(chan struct{})}
	n.TryoutProgress = TryoutProgress{Opponent: t.Opponent.Bot, Deal: t.Deal, State: Waiting}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return "", ladder.Errorf(ladder.Unavailable, "", "the server stops")
	}
	if n.leave, err = x.places.Enter(admission.Visitor{Person: actor.Person.ID}); err != nil {
		return "", err
	}
	x.all = slices.DeleteFunc(x.all, func(o *tryout) bool { return o.owner.IsSame(actor) && o.IsDone() })
	x.all = append(x.all, n)
	x.Wake()
	return n.id, nil
}

// Next returns a job for the first waiting try-out (test of a bot) whose owner has no other job in progress. The
// job is a *runner.TryoutJob, or nil if there is no such try-out. The try-out stays in the queue until the runner
// calls the job's Run.
func (x *Tryouts) Next(_ context.Context, c runner.Core) (runner.Job, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, n := range x.all {
		if n.State == Waiting && !slices.Contains(c.BusyOwners, n.owner.Person.ID) {
			return &runner.TryoutJob{Owner: n.owner.Person.ID, Memory: n.memory, Run: func(ctx context.Context, core int) { x.run(ctx, n, core) }}, nil
		}
	}
	return nil, nil
}

// RecordStart does nothing, because a try-out starts when the runner calls its Run.
func (x *Tryouts) RecordStart(runner.Job) {}

// update changes try-out n by calling do, and wakes the callers of Await that wait for n. If n has already ended, it
// does nothing. If n was waiting in the queue, update also wakes the callers that wait for other waiting try-outs,
// because their places in the queue may change. If do ends n, update frees the resources of n.
func (x *Tryouts) update(n *tryout, do func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n.IsDone() {
		return
	}
	waited := n.State == Waiting
	do()
	for _, o := range x.all {
		if o == n || waited && o.State == Waiting {
			o.Revision++
			close(o.changeSignal)
			o.changeSignal = make(chan struct{})
		}
	}
	if n.IsDone() {
		n.cancel()
		n.leave()
		n.bot = submission.Tryout{}
		id := n.id
		time.AfterFunc(Retention, func() { x.remove(id) }) // refers to the ID only, so that n can be freed before
		x.dropOldest()
	}
}

// dropOldest removes the oldest finished try-outs until at most maxFinished are left. The caller holds x.mu.
func (x *Tryouts) dropOldest() {
	over := len(x.all) - x.places.Count()
	x.all = slices.DeleteFunc(x.all, func(o *tryout) bool {
		if !o.IsDone() || over <= maxFinished {
			return false
		}
		over--
		return true
	})
}

func (x *Tryouts) remove(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.all = slices.DeleteFunc(x.all, func(o *tryout) bool { return o.id == id })
}

func (x *Tryouts) run(ctx context.Context, n *tryout, core int) {
	stop := context.AfterFunc(ctx, n.cancel)
	defer stop()
	var t submission.Tryout
	x.update(n, func() { n.State, t = Building, n.bot })
	if t.Game == "" { // it was cancelled a moment ago
		return
	}
	t.OnBuilt = func() { x.update(n, func() { n.State = Playing }) }
	t.OnGame = func(g *referee.GameResult, faults []submission.TryoutFault) {
		game := newGame(g, t.Slot())
		game.Faults = faults
		x.update(n, func() {
			n.Games = append(n.Games, game)
			for _, f := range faults {
				n.Line = cmp.Or(n.Line, f.Line)
			}
		})
	}
	t.OnCheck = func(c submission.TryoutCheck) { x.update(n, func() { n.Check = &c }) }
	said, err := x.Play(n.ctx, t, core)
	x.update(n, func() {
		n.BuildOutput = said
		switch {
		case err == nil:
			n.State = Over
		case ladder.CodeOf(err) == ladder.Invalid:
			n.State, n.Reason = Failed, phrase.FromError(err)
			n.Line = cmp.Or(n.Line, fault.FailedLine([]string{fault.BuildCause(fault.Lines([]byte(said)))}, t.File))
		case n.ctx.Err() != nil:
			n.State = Stopped
		default:
			n.State = Broken
			x.Log.Error("a test of a bot failed because of the server", "err", err)
		}
	})
}

// newGame returns the finished game g as a TryoutGame without faults. tested is the index of the tested bot in
// g.Bots. The result includes what this bot wrote to stderr, cut to maxLog bytes for each seat.
func newGame(g *referee.GameResult, tested int) TryoutGame {
	bot := func(seat int) int { return g.Bots[seat] }
	var result stats.DealResult
	result.Add(stats.Seats(g.Bots, bot, g.Ranks, g.Points))
	game := TryoutGame{Replay: g.Encode(), Score: 1}
	for _, d := range result.Deal() {
		switch tested {
		case d.A:
			game.Score = min(game.Score, d.Score)
		case d.B:
			game.Score = min(game.Score, 1-d.Score)
		}
	}
	for seat, log := range g.Logs {
		if bot(seat) != tested {
			continue
		}
		game.Stderr = append(game.Stderr, ladder.Plain(string(cutlog.Cut(log, maxLog))))
	}
	return game
}

// find returns the try-out (test of a bot) with this ID. It returns an error if there is none or if it belongs to
// somebody other than actor. The caller holds x.mu.
func (x *Tryouts) find(actor service.Actor, id string) (*tryout, error) {
	for _, n := range x.all {
		if n.id == id && n.owner.IsSame(actor) {
			return n, nil
		}
	}
	return nil, ladder.Errorf(ladder.NotFound, "test the bot again", "this test does not exist, or was over an hour ago")
}

// Await waits until a try-out of actor changes, and returns its progress. revision is the Revision of the progress
// that the caller already knows: Await returns when the try-out has another one. It also returns when the try-out has
// ended, the server stops, or ctx ends.
func (x *Tryouts) Await(ctx context.Context, actor service.Actor, id string, revision int) (TryoutProgress, error) {
	for {
		x.mu.Lock()
		n, err := x.find(actor, id)
		if err != nil {
			x.mu.Unlock()
			return TryoutProgress{}, err
		}
		p, changed := n.TryoutProgress, n.changeSignal
		if p.State == Waiting {
			for _, o := range x.all[:slices.Index(x.all, n)+1] {
				if o.State == Waiting {
					p.Place++
				}
			}
		}
		over := p.Revision != revision || p.IsDone() || x.closed || ctx.Err() != nil
		x.mu.Unlock()
		if over {
			return p, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// Cancel stops a try-out of actor, whether it waits or runs.
func (x *Tryouts) Cancel(actor service.Actor, id string) error {
	x.mu.Lock()
	n, err := x.find(actor, id)
	x.mu.Unlock()
	if err == nil {
		x.update(n, func() { n.State = Stopped })
		x.Wake()
	}
	return err
}

// Run ends the try-outs of people who are blocked. When ctx ends, it ends all try-outs and returns.
func (x *Tryouts) Run(ctx context.Context) error {
	var ended <-chan events.Event
	if x.Store != nil {
		news, unsubscribe := x.Store.Events().Subscribe(1, func(e events.Event) bool { return e.Kind == events.AccessEnded })
		defer unsubscribe()
		ended = news
	}
	for {
		select {
		case _, more := <-ended: // an event may stand for several
			if !more { // the server stops
				ended = nil
				continue
			}
			x.endAll(func(n *tryout) bool {
				p, err := x.Store.People.Find(ctx, n.owner.Person.ID)
				return err == nil && !p.BlockedAt.IsZero()
			})
		case <-ctx.Done():
			x.mu.Lock()
			x.closed = true
			x.mu.Unlock()
			x.endAll(func(*tryout) bool { return true })
			return nil
		}
	}
}

// endAll stops the try-outs for which isUnwanted returns true.
func (x *Tryouts) endAll(isUnwanted func(*tryout) bool) {
	x.mu.Lock()
	all := slices.Clone(x.all)
	x.mu.Unlock()
	for _, n := range all {
		if isUnwanted(n) {
			x.update(n, func() { n.State = Stopped })
		}
	}
}
