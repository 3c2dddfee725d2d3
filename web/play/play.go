// Package play runs the games that people play on the site. A Table is one game, which the referee plays with
// people in browsers at one or more seats and bots at the others. These games do not change the ratings of
// ladders. Their bots have a memory budget and a priority of their own, and the number of games is limited for
// each person, for each address and in total.
//
// A table with seats for more people waits until they have come by its link; see Tables.ClaimSeat.
package play

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/web/admission"
	"github.com/timba-arena/timba/web/socket"
)

// Options are what Tables needs from the rest of the server. All but OnChange and NewWatcher are required.
type Options struct {
	Store   *store.Store
	Limits  Limits
	Room    ladder.MemoryBudget                                             // computes the memory that the bots of a game need, as for ladders
	Resolve func(context.Context, ladder.Version) (match.Contestant, error) // returns a version as a bot in its sandbox
	Log     *slog.Logger
	// OnChange, unless nil, is called with the ID of a table whose page has changed. It must not block.
	OnChange func(id string)
	// NewWatcher, unless nil, is called when all seats of a table are taken. It returns the Watcher that gets the
	// game.
	NewWatcher func(*Table) Watcher
}

// Watcher passes a game on to the people who watch it. Its methods must not block.
type Watcher interface {
	// Position is called with the game after each change of its position; see match.Observer.
	Position(*referee.Game)
	// End is called when the game has ended and is stored.
	End(ladder.PlayState)
}

// Tables holds all games of people that are being played or wait for people. Run must be called.
type Tables struct {
	Options
	memory *semaphore.Weighted // memory of the bots at all tables, in bytes
	mu     sync.Mutex
	tables map[string]*Table
	closed bool
	group  sync.WaitGroup
	ctx    context.Context
	stop   context.CancelCauseFunc
}

// Limits bound the games of people on a server. LimitsOf returns the usual values.
type Limits struct {
	ladder.PlayLimits
	Memory     int64         // of the bots of all games, in bytes; 0 means no limit
	Person     int           // simultaneous games of one person or guest
	Address    int           // simultaneous games of guests from one address
	Wait       time.Duration // how long a table waits for people to come by its link
	ReturnTime time.Duration // how long a person may take to connect, and to connect again
	// Idle and Spare are for games of one person against bots without a clock. Such a game ends without a result if the
	// person makes no move for Idle, or for Spare if another game needs its place.
	Idle, Spare time.Duration
	Frames      int           // messages that a page may send in a second on average; four times this number at once
	Silence     time.Duration // a connection without a message for this long is closed
}

// LimitsOf returns the limits of the games of people. l has the limits in the server's configuration. memory is the
// limit for the bots of all these games, in bytes.
func LimitsOf(l ladder.PlayLimits, memory int64) Limits {
	return Limits{
		PlayLimits: l, Memory: memory, Person: 2, Address: max(4, l.Games/2),
		Wait: 20 * time.Minute, ReturnTime: time.Minute, Idle: 8 * time.Hour, Spare: 10 * time.Minute, Frames: 50, Silence: 90 * time.Second,
	}
}

// New returns Tables without games. Run must be called.
func New(o Options) *Tables {
	if o.OnChange == nil {
		o.OnChange = func(string) {}
	}
	memory := semaphore.NewWeighted(cmp.Or(o.Limits.Memory, math.MaxInt64))
	t := &Tables{Options: o, memory: memory, tables: map[string]*Table{}}
	t.ctx, t.stop = context.WithCancelCause(context.Background())
	return t
}

// breakError is the error of a game that ends without a result.
type breakError struct {
	cause ladder.BreakReason
	text  string
}

func (e *breakError) Error() string { return e.text }

// The errors with which a game ends without a result.
var (
	errStopped = &breakError{ladder.BrokenByStop, "the server stops"}
	errBlocked = &breakError{ladder.BrokenByBlock, "the person is blocked"}
	errNobody  = &breakError{ladder.BrokenByNobody, "nobody came to the table"}
	errAbsent  = &breakError{ladder.BrokenByAbsence, "somebody who had sat down did not come to the table"}
	errWait    = &breakError{ladder.BrokenByWait, "the table has waited for people for too long"}
	errIdle    = &breakError{ladder.BrokenByIdling, "the person has made no move for hours"}
	errCancel  = &breakError{ladder.BrokenByCancel, "who had opened the table has cancelled it"}
	errDecline = &breakError{ladder.BrokenByRefusal, "a person for whom a seat was reserved has declined"}
)

// Run ends the games of people who are blocked while they play. When ctx ends, it ends all games and returns.
// Before it starts, store.Plays.BreakAll must have ended the games of an earlier run of the server.
func (t *Tables) Run(ctx context.Context) error {
	ended, unsubscribe := t.Store.Events().Subscribe(1, func(e events.Event) bool { return e.Kind == events.AccessEnded })
	defer unsubscribe()
	for {
		select {
		case _, more := <-ended: // an event may stand for several
			if !more { // the server stops
				ended = nil
				continue
			}
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

// endBlocked ends the games of people who have been blocked. If several people play, the blocked person
// resigns instead.
func (t *Tables) endBlocked(ctx context.Context) {
	for _, x := range t.all() {
		people := x.People()
		for _, seat := range people {
			id := x.player(seat).Person.ID
			if id == 0 {
				continue
			}
			if p, err := t.Store.People.Find(ctx, id); err != nil || p.BlockedAt.IsZero() {
				continue
			}
			if len(people) > 1 && !x.Waiting() {
				x.Resign(seat)
			} else {
				x.end(errBlocked)
			}
		}
	}
}

func (t *Tables) all() []*Table {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.DeleteFunc(slices.Collect(maps.Values(t.tables)), func(x *Table) bool { return !x.isOpened() })
}

// Table returns the table with the given ID, or nil if its game has ended or never existed.
func (t *Tables) Table(id string) *Table {
	t.mu.Lock()
	defer t.mu.Unlock()
	if x := t.tables[id]; x != nil && x.isOpened() {
		return x
	}
	return nil
}

// TablesOf returns the tables (games of people) at which actor, a person or guest, has a seat.
func (t *Tables) TablesOf(actor service.Actor) []*Table {
	return slices.DeleteFunc(t.all(), func(x *Table) bool { return x.Seat(actor) < 0 })
}

// ListWaiting returns the tables that anybody may find and that wait for people, in the order in which they were opened.
func (t *Tables) ListWaiting() []*Table {
	list := slices.DeleteFunc(t.all(), func(x *Table) bool { return !x.Choice.Listed || !x.Waiting() })
	slices.SortFunc(list, func(a, b *Table) int { return a.OpenedAt.Compare(b.OpenedAt) })
	return list
}

// Offers returns the tables that reserve a free seat for actor, unless actor already sits there.
func (t *Tables) Offers(actor service.Actor) []*Table {
	return slices.DeleteFunc(t.all(), func(x *Table) bool { return !x.IsReservedFor(actor) || x.Seat(actor) >= 0 })
}

// Rematch returns the table at which a rematch of the finished game with this ID waits for people, or nil if there is
// none.
func (t *Tables) Rematch(id string) *Table {
	for _, x := range t.all() {
		if x.Choice.After == id && x.Waiting() {
			return x
		}
	}
	return nil
}

// CheckPlayer returns an error if actor may not play on this server at all: the server has no games for people,
// or actor is a guest (without an account) and the server has none for guests.
func (t *Tables) CheckPlayer(actor service.Actor) error {
	switch {
	case t.Limits.Games == 0:
		return ladder.Errorf(ladder.Forbidden, "", "this server has no games for people")
	case actor.Person.ID == 0 && !t.Limits.Guests:
		return ladder.Errorf(ladder.Unauthorized, "sign in", "games are for people with an account")
	}
	return nil
}

// ClaimGuestGames gives a guest's games in progress to the person's account, after the guest has signed in. actor
// has the session of the guest and the ID of the person. If a game cannot be given to the person, the guest keeps
// it, and the error is logged.
func (t *Tables) ClaimGuestGames(ctx context.Context, actor service.Actor) {
	for _, x := range t.TablesOf(actor) {
		if err := x.assignSeat(ctx, actor); err != nil {
			t.Log.Warn("a game stays that of a guest", "game", x.ID, "person", actor.Person.Name, "err", err)
		}
	}
}

// Open opens a table with the choice c for actor, and prepares its bots. The game starts when all people have sat
// down and connected. If actor is a guest without a session, Open creates a session and returns its key; otherwise
// key is "". If c is a rematch for which another person has already opened a table, actor gets a seat at that table
// instead.
func (t *Tables) Open(ctx context.Context, actor service.Actor, c Choice) (x *Table, key string, err error) {
	if err := t.CheckPlayer(actor); err != nil {
		return nil, "", err
	}
	x = &Table{
		ID: rand.Text(), Choice: c, tables: t, Seed: referee.NewSeed(), OpenedAt: time.Now(),
		turn: turn{seat: -1}, moments: newMoments(),
	}
	if err := x.resolveChoice(ctx, actor); err != nil {
		return nil, "", err
	}
	within, cancel := context.WithCancelCause(t.ctx)
	x.end = cancel
	other, err := t.admit(x)
	for err != nil && t.releaseIdle(ctx, x) {
		other, err = t.admit(x)
	}
	if other != nil || err != nil {
		cancel(err)
		if other != nil {
			return t.joinRematch(ctx, other, actor, c)
		}
		return nil, "", err
	}
	bots, err := x.prepare(within)
	if err == nil {
		key, err = x.store(ctx)
	}
	if err != nil {
		cancel(err)
		t.remove(x)
		t.group.Done()
	}
	close(x.moments.openFinished)
	if err != nil {
		return nil, "", err
	}
	go func() {
		defer t.group.Done()
		x.run(within, bots)
	}()
	t.OnChange(x.ID)
	if c.After != "" {
		t.OnChange(c.After)
	}
	return x, key, nil
}

// joinRematch waits until another person has finished opening a table for the same rematch, and gives actor a seat
// there. other is that table. If the other person fails to open it, joinRematch opens a table with the choice c for
// actor.
func (t *Tables) joinRematch(ctx context.Context, other *Table, actor service.Actor, c Choice) (*Table, string, error) {
	select {
	case <-other.moments.openFinished:
	case <-ctx.Done():
		return nil, "", ctx.Err()
	}
	if t.Table(other.ID) == nil {
		return t.Open(ctx, actor, c)
	}
	key, err := t.ClaimSeat(ctx, other, actor)
	return other, key, err
}

// ClaimSeat gives actor a free seat at table x. If actor has a seat there already, it does nothing. If actor
// is a guest without a session, ClaimSeat creates one and returns its key; otherwise key is "". The game
// starts when the last seat is taken and all people have connected.
func (t *Tables) ClaimSeat(ctx context.Context, x *Table, actor service.Actor) (key string, err error) {
	if err := t.CheckPlayer(actor); err != nil {
		return "", err
	}
	seat, err := t.reserveSeat(x, actor)
	if err != nil || seat < 0 {
		return "", err
	}
	newGuest := actor.Person.ID == 0 && actor.Session == 0
	key, session, err := t.Store.Plays.SitDown(ctx, x.ID, ladder.PlaySeat{Seat: seat, PersonID: actor.Person.ID, Session: actor.Session}, actor.Address, t.Limits.Day, newGuest)
	x.finishClaim(seat, session, err == nil)
	return key, err
}

// reserveSeat reserves a free seat at x for actor, a person or guest, and returns its number. It returns -1 if actor
// already has a seat, and an error if no seat is free or actor has reached a limit.
func (t *Tables) reserveSeat(x *Table, actor service.Actor) (seat int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if x.Seat(actor) >= 0 {
		return -1, nil
	}
	if err := t.checkLimits(actor, x); err != nil {
		return -1, err
	}
	return x.reserveSeat(actor)
}

// SocketLimits returns the limits of the WebSockets through which people play.
func (t *Tables) SocketLimits() socket.Limits {
	l := socket.DefaultLimits
	l.Frames, l.Burst, l.Silence = float64(t.Limits.Frames), 4*t.Limits.Frames, t.Limits.Silence
	return l
}

// admit adds table x to t, and reserves memory for its bots. It returns an error if a limit is reached or the server
// stops. If there is already another table that waits for people for the same rematch, admit returns that table and
// does not add x.
func (t *Tables) admit(x *Table) (other *Table, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, ladder.Errorf(ladder.Unavailable, "try again in some seconds", "the server stops")
	}
	for _, other := range t.tables {
		if other.Choice.After != "" && other.Choice.After == x.Choice.After && other.Waiting() {
			return other, nil
		}
	}
	if err := t.checkLimits(x.player(x.Choice.Seat), x); err != nil {
		return nil, err
	}
	if !t.memory.TryAcquire(x.memory) {
		return nil, ladder.Errorf(ladder.Unavailable, "try again in a few minutes, or with fewer players",
			"the other games leave no memory for the bots of this one")
	}
	t.tables[x.ID] = x
	t.group.Add(1)
	return nil, nil
}

// releaseIdle makes room for the table x, which would exceed the limits, by ending an idle game. It waits until that
// game is stored. In an idle game, a person plays only against bots, without a clock, and has made no move for
// Limits.Spare. Among the idle games whose end would make room, it chooses the one that has been idle for the longest
// time. It returns false if there is none, or if ctx ends first.
func (t *Tables) releaseIdle(ctx context.Context, x *Table) bool {
	t.mu.Lock()
	var longest *Table
	actor, since := x.player(x.Choice.Seat), time.Now().Add(-t.Limits.Spare)
	for _, other := range slices.Collect(maps.Values(t.tables)) {
		began, ok := other.soloTurn()
		if !ok || other.Seat(actor) >= 0 || !began.Before(since) {
			continue
		}
		delete(t.tables, other.ID)
		if t.checkLimits(actor, x) == nil {
			longest, since = other, began
		}
		t.tables[other.ID] = other
	}
	t.mu.Unlock()
	if longest == nil {
		return false
	}
	longest.end(errIdle)
	select {
	case <-longest.moments.gameStored:
		return true
	case <-ctx.Done():
		return false
	}
}

// isOpened reports whether Tables.Open has finished opening the table, successfully or not. If it has failed,
// x.tables no longer contains the table.
func (x *Table) isOpened() bool {
	select {
	case <-x.moments.openFinished:
		return true
	default:
		return false
	}
}

// checkLimits returns an error if a further seat for actor at a table would exceed a limit on the number of games:
// that of the person, of the network address or of the server. A guest cannot open a table while the server has three
// quarters of the games that it allows. The caller holds t.mu.
func (t *Tables) checkLimits(actor service.Actor, table *Table) error {
	own, near, all := 0, 0, 0
	l := admission.Limits{Person: t.Limits.Person, Address: t.Limits.Address, Total: t.Limits.Games, Subject: phrase.New("games"), Hint: phrase.New("end one, or try again later")}
	if _, exists := t.tables[table.ID]; actor.Person.ID == 0 && !exists {
		l.Total -= l.Total / 4 // what is left is for people with an account
	}
	for _, x := range t.tables {
		if x == table {
			continue
		}
		all++
		if x.Seat(actor) >= 0 {
			own++
		}
		if actor.Person.ID == 0 && x.hasGuestFrom(actor.Address) {
			near++
		}
	}
	return l.Check(own, near, all)
}

func (t *Tables) remove(x *Table) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.tables, x.ID)
	t.memory.Release(x.memory)
}
