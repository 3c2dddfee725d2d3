package play

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/web/socket"
)

// Table is one game of people and bots.
type Table struct {
	ID      string // cannot be guessed
	Choice  Choice
	Variant *rules.Variant
	Seats   []*Seat
	Seed    rules.Seed // secret until the end
	Began   time.Time

	tables  *Tables
	memory  int64   // in bytes, of the bots
	watch   Watcher // of the game once it has begun; nil if nobody sees it
	end     context.CancelCauseFunc
	moments moments

	mu     sync.Mutex // guards turn, the unexported fields of Seats, and Seat.Who
	turn   turn
	giving sync.Mutex // guards who sits at the seats while the game is stored
}

// moments are channels that are closed when a table has come so far.
type moments struct {
	opened   chan struct{} // the table is stored, or cannot be
	full     chan struct{} // no seat waits for a person
	complete chan struct{} // every person has connected
	stored   chan struct{} // the game has ended and is stored
}

func newMoments() moments {
	return moments{make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})}
}

// turn is whose turn it is.
type turn struct {
	seat  int // -1 if it is nobody's
	began time.Time
}

// Seat is a seat at a table: that of a person, or of a version.
type Seat struct {
	Who     service.Actor // a guest has a session, once the seat is theirs
	Kept    service.Actor // for whom a seat that is not taken is kept; zero: anybody
	Version ladder.Version

	line     *socket.Stream // of a person; nil: a version plays
	taken    bool           // by a person, or soon
	sat      bool           // the person's seat is stored
	came     bool
	there    int  // connections
	resigned bool // and lines come no more
	out      bool // it has forfeited the game
	left     time.Duration
	timer    *time.Timer // of the person's turn; nil: it is not theirs, or they have a bank
	until    time.Time
}

// prepare makes the bots, whose files stay until the context has ended.
func (x *Table) prepare(ctx context.Context) (bots []match.Bot, err error) {
	for _, s := range x.Seats {
		if s.line != nil {
			b := match.Bot{Hash: match.PersonHash(), Untimed: true, Follows: true, Serve: s.line.Serve}
			if x.Choice.Bank != 0 {
				b.Untimed, b.Clock = false, &referee.Clock{Bank: x.Choice.Bank, Margin: bankMargin, Startup: time.Minute}
			}
			bots = append(bots, b)
			continue
		}
		b, err := x.tables.Resolve(ctx, s.Version)
		if err != nil {
			return nil, err
		}
		bots = append(bots, b)
	}
	return bots, nil
}

// bankMargin is what a person with a bank has beyond it, for the way of the last move.
const bankMargin = time.Second

// Names returns what the seats are called in the replay: each as no other.
func (x *Table) Names() (list []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	taken := map[string]int{}
	for _, s := range x.Seats {
		name := s.Version.Bot
		if s.line != nil {
			name = cmp.Or(s.Who.Person.Name, ladder.GuestName)
			if slices.ContainsFunc(x.Seats, func(other *Seat) bool { return other.Version.Bot == name }) {
				name += " (person)"
			}
		}
		if taken[name]++; taken[name] > 1 {
			name = fmt.Sprintf("%s#%d", name, taken[name])
		}
		list = append(list, name)
	}
	return list
}

// who returns who sits at a seat.
func (x *Table) who(seat int) service.Actor {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.Seats[seat].Who
}

// from reports whether a guest at the table came from an address.
func (x *Table) from(address netip.Addr) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.ContainsFunc(x.Seats, func(s *Seat) bool { return s.taken && s.Who.Person.ID == 0 && s.Who.Address == address })
}

// reserve takes a free seat for somebody: one that is kept for them, or one that is kept for nobody.
func (x *Table) reserve(who service.Actor) (seat int, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	free := func(kept bool) int {
		return slices.IndexFunc(x.Seats, func(s *Seat) bool {
			return s.line != nil && !s.taken && (kept && s.Kept.Same(who) || !kept && s.Kept == service.Actor{})
		})
	}
	if seat = free(true); seat < 0 {
		seat = free(false)
	}
	if seat < 0 {
		return -1, ladder.Errorf(ladder.Conflict, "watch the game, or open a table", "no seat of this table is free")
	}
	x.Seats[seat].Who, x.Seats[seat].taken = who, true
	return seat, nil
}

// sit completes what reserve has begun, once the seat is stored, or gives the seat back.
func (x *Table) sit(seat int, session int64, stored bool) {
	x.mu.Lock()
	s := x.Seats[seat]
	s.sat, s.taken = stored, stored
	if s.Who.Session = session; !stored {
		s.Who = service.Actor{}
	}
	if stored && !x.waits() {
		close(x.moments.full)
	}
	x.mu.Unlock()
	x.tables.Changed(x.ID)
}

// waits reports whether a seat waits for a person, under the lock.
func (x *Table) waits() bool {
	return slices.ContainsFunc(x.Seats, func(s *Seat) bool { return s.line != nil && !s.sat })
}

// Waiting reports whether the table waits for people.
func (x *Table) Waiting() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.waits()
}

// Minutes returns for how long at most the table waits for people.
func (x *Table) Minutes() int { return int(x.tables.Limits.Wait.Minutes()) }

// Cancel gives up a table that waits for people, for who has opened it.
func (x *Table) Cancel(who service.Actor) error {
	switch {
	case x.Seat(who) != x.Choice.Seat:
		return ladder.Errorf(ladder.Forbidden, "", "only who has opened a table can cancel it")
	case !x.Waiting():
		return ladder.Errorf(ladder.Conflict, "resign", "this game has begun")
	}
	x.end(errCancel)
	<-x.moments.stored
	return nil
}

// People returns the seats of people who have sat down.
func (x *Table) People() (seats []int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, s := range x.Seats {
		if s.sat {
			seats = append(seats, i)
		}
	}
	return seats
}

// store adds the game to the store, and returns the key of the session of a guest who is new.
func (x *Table) store(ctx context.Context) (key string, err error) {
	who := x.who(x.Choice.Seat)
	p := ladder.Play{
		ID: x.ID, Game: x.Choice.Game, Options: x.Variant.Settings.Map(), Opener: x.Choice.Seat, Bank: x.Choice.Bank,
		Commitment: referee.Commitment(x.Seed).String(), Seats: []ladder.PlaySeat{{Seat: x.Choice.Seat, PersonID: who.Person.ID, Session: who.Session}},
	}
	for i, s := range x.Seats {
		if s.line == nil {
			p.Seats = append(p.Seats, ladder.PlaySeat{Seat: i, Version: s.Version.ID, BotID: s.Version.BotID})
		}
	}
	key, session, err := x.tables.Store.Plays.Add(ctx, p, who.Address, x.tables.Limits.Day, who.Person.ID == 0 && who.Session == 0)
	if err == nil {
		x.sit(x.Choice.Seat, session, true)
	}
	return key, err
}

// give makes the seat of a guest that of the person as whom they have signed in, unless that person has another one.
func (x *Table) give(ctx context.Context, who service.Actor) error {
	x.giving.Lock()
	defer x.giving.Unlock()
	seat := x.Seat(who)
	if seat < 0 { // it was not to be had
		return nil
	}
	was := x.who(seat)
	if was.Person.ID != 0 || x.Seat(service.Actor{Person: who.Person}) >= 0 {
		return nil
	}
	if err := x.tables.Store.Plays.Give(ctx, x.ID, seat, who.Person.ID, was.Address, x.tables.Limits.Day); err != nil {
		return err
	}
	x.mu.Lock()
	x.Seats[seat].Who.Person = who.Person
	x.mu.Unlock()
	x.tables.Changed(x.ID)
	return nil
}

// Seat returns the seat at which somebody plays, -1 if there is none.
func (x *Table) Seat(who service.Actor) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.IndexFunc(x.Seats, func(s *Seat) bool { return s.taken && s.Who.Same(who) })
}

// Shown is what all see of a seat.
type Shown struct {
	Seat      int
	Team      int    // from 1
	Name      string // "" of a guest
	Bot       bool
	Free      bool
	Kept      bool   // a free seat is kept for somebody
	KeptFor   string // their name, "" of a guest
	Away      bool
	Resigned  bool
	Forfeited bool // by a fault, perhaps of the partner, while the others play on
	Turn      bool
	Left      time.Duration // of a bank, at the beginning of the turn
	Until     time.Time     // when the bank of the seat to move is empty
}

// Shown returns what all see of the seats.
func (x *Table) Shown() (list []Shown) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, s := range x.Seats {
		shown := Shown{
			Seat: i, Team: 1 + x.Variant.Side(i), Name: s.Version.Bot, Bot: s.line == nil, Forfeited: s.out, Turn: x.turn.seat == i,
		}
		if s.line != nil {
			shown.Name, shown.Free = s.Who.Person.Name, !s.sat
			shown.Kept, shown.KeptFor = s.Kept != service.Actor{}, s.Kept.Person.Name
			shown.Resigned, shown.Away = s.resigned, s.came && s.there == 0 && !s.resigned
			if x.Choice.Bank != 0 {
				shown.Left, shown.Until = s.left, x.turn.began.Add(s.left)
			}
		}
		list = append(list, shown)
	}
	return list
}

// Connection is that of a person's page.
type Connection interface {
	socket.Wire
	Done() <-chan struct{} // is closed when the connection is
}

// Attach carries the lines of a person's seat over a connection; see socket.Stream. The game begins
// when all people have come. When it is over Attach waits until it is kept.
func (x *Table) Attach(seat int, c Connection) error {
	s := x.Seats[seat]
	x.mu.Lock()
	x.comes(s)
	s.there++
	x.mu.Unlock()
	x.tables.Changed(x.ID)
	defer func() {
		x.mu.Lock()
		s.there--
		x.mu.Unlock()
		x.tables.Changed(x.ID)
	}()
	return s.line.Attach(waiting{c, x.moments.stored})
}

// waiting is a connection that closes, after the end of a game, when the game is kept.
type waiting struct {
	Connection
	over <-chan struct{}
}

func (w waiting) Close(why string) {
	if why == socket.ErrEnded.Error() {
		select {
		case <-w.over:
		case <-w.Done():
		}
	}
	w.Connection.Close(why)
}

// comes notes that a person has come, or will not. The game begins after the last one. The caller has locked x.mu.
func (x *Table) comes(s *Seat) {
	if s.came {
		return
	}
	s.came = true
	if !slices.ContainsFunc(x.Seats, func(s *Seat) bool { return s.line != nil && !s.came }) {
		close(x.moments.complete)
	}
}

// Resign gives the game up for a person's seat. It loses when it is its turn.
func (x *Table) Resign(seat int) {
	x.mu.Lock()
	x.Seats[seat].resigned = true
	x.comes(x.Seats[seat])
	x.mu.Unlock()
	x.Seats[seat].line.Close(fault.Reason{Kind: fault.Resigned})
	x.tables.Changed(x.ID)
}

// Resigned reports whether the game was given up for a seat.
func (x *Table) Resigned(seat int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.Seats[seat].resigned
}

// close ends the lines of all people.
func (x *Table) close(why error) {
	for _, s := range x.Seats {
		if s.line != nil {
			s.line.Close(why)
		}
	}
}

// Over is closed when the game has ended and is kept.
func (x *Table) Over() <-chan struct{} { return x.moments.stored }

// Left returns the time that a person has left for their move; ok is false if it is not their turn.
func (x *Table) Left(seat int) (left time.Duration, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.Seats[seat]
	if x.Choice.Bank != 0 {
		return max(0, time.Until(x.turn.began.Add(s.left))), x.turn.seat == seat
	}
	return max(0, time.Until(s.until)), s.timer != nil
}

// clock is that of the bots. They have the lowest priority, so the margin is wide.
func (x *Table) clock() referee.Clock {
	return referee.Clock{Move: x.tables.Limits.Think, Margin: 5 * time.Second, Startup: time.Minute}
}

var (
	turnVerb = []byte("turn ")
	moveVerb = []byte("move ")
)

// saw notes whose turn it is, who has forfeited, and what is left of the banks, and shows the position to those who
// watch.
func (x *Table) saw(g *referee.Game) {
	x.mu.Lock()
	x.turn = turn{g.Turn(), time.Now()}
	if g.Over() {
		x.turn.seat = -1
	}
	changed := x.Choice.Bank != 0
	for seat, s := range x.Seats {
		out := g.Forfeited(seat)
		changed = changed || out != s.out
		s.left, s.out = g.Left(seat), out
	}
	x.mu.Unlock()
	if x.watch != nil {
		x.watch.Position(g)
	}
	if changed {
		x.tables.Changed(x.ID)
	}
}

// overhear runs the clocks of people without banks: from the lines of a turn to the move.
func (x *Table) overhear(t referee.Traffic) {
	s := x.Seats[t.Seat]
	switch {
	case s.line == nil || x.Choice.Bank != 0:
	case !t.FromBot && (bytes.HasPrefix(t.Lines, turnVerb) || bytes.Contains(t.Lines, append([]byte("\n"), turnVerb...))):
		x.startClock(s)
	case t.FromBot && bytes.HasPrefix(t.Lines, moveVerb):
		x.stopClock(s)
	}
}

func (x *Table) startClock(s *Seat) {
	x.mu.Lock()
	defer x.mu.Unlock()
	limit := x.tables.Limits.Move
	s.until = time.Now().Add(limit)
	s.timer = time.AfterFunc(limit, func() {
		s.line.Close(fault.Reason{Kind: fault.Late, Limit: limit.Milliseconds()})
	})
}

func (x *Table) stopClock(s *Seat) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}

// run plays the game and keeps it.
func (x *Table) run(ctx context.Context, bots []match.Bot) {
	defer x.end(nil)
	stop := context.AfterFunc(ctx, func() { x.close(context.Cause(ctx)) })
	defer stop()
	game, err := x.game(ctx, bots)
	if err == nil {
		err = x.keep(game)
	}
	state := ladder.PlayFinished
	if err != nil {
		state = ladder.PlayBroken
		why := ladder.BrokenByFailure
		var known *broken
		if errors.As(err, &known) {
			why = known.why
		}
		if cause, _ := why.Cause(); cause == ladder.BrokenByBot || cause == ladder.BrokenByFailure {
			x.tables.Log.Warn("a game of a person is broken", "game", x.ID, "err", err)
		}
		if err := x.tables.Store.Plays.Break(context.WithoutCancel(ctx), x.ID, why); err != nil {
			x.tables.Log.Error("a game of a person cannot be ended", "game", x.ID, "err", err)
		}
	}
	x.tables.dismiss(x)
	close(x.moments.stored)
	x.close(err)
	x.tables.Changed(x.ID)
	if x.watch != nil {
		x.watch.End(state)
	}
	if x.Choice.After != "" {
		x.tables.Changed(x.Choice.After)
	}
}

// await waits for something that is to happen in time.
func await(ctx context.Context, what <-chan struct{}, in time.Duration, late error) error {
	select {
	case <-what:
		return nil
	case <-time.After(in):
		return late
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// game plays the game once all people have sat down and come.
func (x *Table) game(ctx context.Context, bots []match.Bot) (game *referee.Result, err error) {
	if err := await(ctx, x.moments.full, x.tables.Limits.Wait, errWait); err != nil {
		return nil, err
	}
	if x.Choice.After != "" {
		x.tables.Changed(x.Choice.After) // which offers it no longer
	}
	if x.tables.Watch != nil {
		x.watch = x.tables.Watch(x)
	}
	late := errNobody
	if len(x.People()) > 1 {
		late = errAbsent
	}
	if err := await(ctx, x.moments.complete, x.tables.Limits.Back, late); err != nil {
		return nil, err
	}
	for seat, name := range x.Names() {
		bots[seat].Name = name
	}
	m := match.Match{
		Variant: x.Variant, Bots: bots, Seed: x.Seed, Clock: x.clock(),
		Resources: match.Resources{Low: true},
		Observer:  match.Observer{Trace: x.overhear, Watch: x.saw, Trouble: x.trouble},
	}
	if game, err = m.PlayGame(ctx); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, err
	}
	return game, nil
}

// trouble ends a void game.
func (x *Table) trouble(err error) {
	if v, ok := errors.AsType[*match.Void](err); ok {
		x.tables.Log.Warn("a game of a person is void", "game", x.ID, "err", v.Err)
		x.end(v.Err)
	}
}

// keep stores a finished game, but one in which a house bot has failed.
func (x *Table) keep(g *referee.Result) error {
	x.giving.Lock()
	defer x.giving.Unlock()
	for _, f := range g.Faults {
		if s := x.Seats[f.Seat]; s.line == nil && s.Version.House() && f.HouseFailed() {
			return &broken{
				ladder.BrokenByBot + ":" + ladder.Breaking(s.Version.Bot),
				fmt.Sprintf("house bot %q failed: %v", s.Version.Bot, f),
			}
		}
	}
	g.Reveal(x.Seed)
	g.Seats = slices.Clone(g.Seats) // which those who watch read
	for seat, name := range x.Names() {
		g.Seats[seat].Name = name // a guest may have signed in
	}
	return x.tables.Store.Plays.Finish(context.WithoutCancel(x.tables.ctx), x.ID, x.Variant, g.Ranks, g.Encode())
}
