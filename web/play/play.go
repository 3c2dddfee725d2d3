// Package play has the games of people against bots: tables at which the referee plays one game,
// with a person in the browser at one seat and live versions at the others. They are not rated,
// have memory and priority of their own, and are bounded for each person, each address and in total.
package play

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"math"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/web/admission"
	"github.com/timba-arena/timba/web/socket"
)

// Options are the parts of a Tables. All are required.
type Options struct {
	Store   *store.Store
	Limits  Limits
	Room    ladder.Room // for the memory of one bot
	Resolve func(context.Context, ladder.Version) (match.Bot, error)
	Sandbox *match.Sandbox // of all but house bots; nil: none
	Log     *slog.Logger
}

// Tables are all games of people against bots that are played now.
type Tables struct {
	Options
	memory *semaphore.Weighted // of the bots at all tables
	mu     sync.Mutex
	tables map[string]*Table
	closed bool
	group  sync.WaitGroup
	ctx    context.Context
	stop   context.CancelCauseFunc
}

// Limits bound the games. LimitsOf returns usual ones.
type Limits struct {
	ladder.PlayLimits
	Memory  int64         // bytes of all their bots; 0: as much as they want
	Person  int           // at the same time, of one person or guest
	Address int           // at the same time, from one address
	Back    time.Duration // for a person to come back
	Frames  int           // a second that a page may send on average, and four times as many at once
	Silence time.Duration // without a sign of life, after which a connection ends
}

// LimitsOf returns the limits that an operator has configured.
func LimitsOf(l ladder.PlayLimits, memory int64) Limits {
	return Limits{
		PlayLimits: l, Memory: memory, Person: 2, Address: max(4, l.Games/2),
		Back: time.Minute, Frames: 50, Silence: 90 * time.Second,
	}
}

// New returns no tables. Run has to run.
func New(o Options) *Tables {
	memory := o.Limits.Memory
	if memory == 0 {
		memory = math.MaxInt64
	}
	t := &Tables{Options: o, memory: semaphore.NewWeighted(memory), tables: map[string]*Table{}}
	t.ctx, t.stop = context.WithCancelCause(context.Background())
	return t
}

// The causes of games that the server ends, for nobody.
var (
	errStopped = errors.New("the server stops")
	errBlocked = errors.New("the person is blocked")
	errNobody  = errors.New("nobody came to the table")
)

// Run ends the games of people who are blocked, and all games when the context ends. Those
// that an earlier server left are ended before, by Store.BreakPlays.
func (t *Tables) Run(ctx context.Context) error {
	ended, unsubscribe := t.Store.Events().Subscribe(1, func(e events.Event) bool { return e.Kind == events.AccessEnded })
	defer unsubscribe()
	for {
		select {
		case <-ended: // it may have missed others
			t.endBlocked(ctx)
		case <-ctx.Done():
			t.mu.Lock()
			t.closed = true
			t.mu.Unlock()
			t.stop(errStopped)
			t.group.Wait()
			return nil
		}
	}
}

// endBlocked ends the games of all people who are blocked.
func (t *Tables) endBlocked(ctx context.Context) {
	t.mu.Lock()
	var all []*Table
	for _, x := range t.tables {
		all = append(all, x)
	}
	t.mu.Unlock()
	for _, x := range all {
		if id := x.who().Person.ID; id != 0 {
			if p, err := t.Store.Person(ctx, id); err != nil || !p.Blocked.IsZero() {
				x.end(errBlocked)
			}
		}
	}
}

// Table returns the table of a game that is played; nil if there is none.
func (t *Tables) Table(id string) *Table {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tables[id]
}

// Of returns the tables of somebody.
func (t *Tables) Of(who service.Actor) (list []*Table) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.tables {
		if x.Seat(who) >= 0 {
			list = append(list, x)
		}
	}
	return list
}

// Allowed returns an error if somebody may not play at all.
func (t *Tables) Allowed(who service.Actor) error {
	switch {
	case t.Limits.Games == 0:
		return ladder.Errorf(ladder.Forbidden, "", "this server has no games against bots")
	case who.Person.ID == 0 && !t.Limits.Guests:
		return ladder.Errorf(ladder.Unauthorized, "sign in", "games against bots are for people with an account")
	}
	return nil
}

// SignedIn makes the games of a guest theirs who has signed in.
func (t *Tables) SignedIn(ctx context.Context, who service.Actor) {
	for _, x := range t.Of(who) {
		if err := x.give(ctx, who); err != nil {
			t.Log.Warn("a game stays that of a guest", "game", x.ID, "person", who.Person.Name, "err", err)
		}
	}
}

// Open lays a table and takes its bots from their versions. The game begins when the person comes. A guest
// without a session gets one, whose key Open returns.
func (t *Tables) Open(ctx context.Context, who service.Actor, c Choice) (x *Table, key string, err error) {
	if err := t.Allowed(who); err != nil {
		return nil, "", err
	}
	x = &Table{ID: rand.Text(), Choice: c, tables: t, Seed: referee.NewSeed(), Began: time.Now(), came: make(chan struct{}), over: make(chan struct{})}
	if err := x.choose(ctx, who); err != nil {
		return nil, "", err
	}
	within, cancel := context.WithCancelCause(t.ctx)
	x.end = cancel
	if err := t.admit(x); err != nil {
		cancel(err)
		return nil, "", err
	}
	if err = x.prepare(within); err == nil {
		key, err = x.store(ctx)
	}
	if err != nil {
		cancel(err)
		t.dismiss(x)
		t.group.Done()
		return nil, "", err
	}
	go func() {
		defer t.group.Done()
		x.run(within)
	}()
	return x, key, nil
}

// Socket returns the limits of the connections of people.
func (t *Tables) Socket() socket.Limits {
	l := socket.DefaultLimits
	l.Frames, l.Burst, l.Alive = float64(t.Limits.Frames), 4*t.Limits.Frames, t.Limits.Silence
	return l
}

// admit takes a table in, or returns the limit that it breaks.
func (t *Tables) admit(x *Table) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return ladder.Errorf(ladder.Unavailable, "", "the server stops")
	}
	who, own, near := x.who(), 0, 0
	for _, other := range t.tables {
		if other.Seat(who) >= 0 {
			own++
		}
		if other.who().Address == who.Address {
			near++
		}
	}
	l := admission.Limits{Person: t.Limits.Person, Address: t.Limits.Address, Total: t.Limits.Games, What: "games against bots", Hint: "end one, or try again later"}
	if err := l.Check(own, near, len(t.tables)); err != nil {
		return err
	}
	if !t.memory.TryAcquire(x.memory) {
		return ladder.Errorf(ladder.Unavailable, "try again in a few minutes, or with fewer players", "the other games leave no memory for the bots of this one")
	}
	t.tables[x.ID] = x
	t.group.Add(1)
	return nil
}

// dismiss forgets a table.
func (t *Tables) dismiss(x *Table) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.tables, x.ID)
	t.memory.Release(x.memory)
}
