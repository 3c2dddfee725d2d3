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
	watcher Watcher // of the game once it has begun; nil if nobody sees it
	end     context.CancelCauseFunc
	moments moments

	mu          sync.Mutex // guards turn, the unexported fields of Seats, and Seat.Who
	turn        turn
	ownershipMu sync.Mutex // guards who sits at the seats while the game is stored
}

// moments are channels that are closed when a table has come so far.
type moments struct {
	openFinished chan struct{} // the table is stored, or cannot be
	allSeated    chan struct{} // no seat waits for a person
	allConnected chan struct{} // every person has connected
	gameStored   chan struct{} // the game has ended and is stored
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
	Player      service.Actor // a guest has a session, once the seat is theirs
	ReservedFor service.Actor // for whom a seat that is not taken is kept; zero: anybody
	Version     ladder.Version

	stream       *socket.Stream // of a person; nil: a version plays
	taken        bool           // by a person, or soon
	seatStored   bool           // the person's seat is stored
	arrived      bool
	connections  int  // connections
	resigned     bool // and lines come no more
	forfeited    bool // it has forfeited the game
	bankLeft     time.Duration
	timer        *time.Timer // of the person's turn; nil: it is not theirs, or they have a bank
	moveDeadline time.Time
}

// prepare makes the bots, whose files stay until the context has ended.
func (x *Table) prepare(ctx context.Context) (bots []match.Bot, err error) {
	for _, s := range x.Seats {
		if s.stream != nil {
			b := match.Bot{Hash: match.PersonHash(), Untimed: true, Follows: true, Serve: s.stream.Serve}
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
		if s.stream != nil {
			name = cmp.Or(s.Player.Person.Name, ladder.GuestName)
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

// player returns who sits at a seat.
func (x *Table) player(seat int) service.Actor {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.Seats[seat].Player
}

// hasGuestFrom reports whether a guest at the table came from an address.
func (x *Table) hasGuestFrom(address netip.Addr) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.ContainsFunc(x.Seats, func(s *Seat) bool { return s.taken && s.Player.Person.ID == 0 && s.Player.Address == address })
}

// reserveSeat takes a free seat for somebody: one that is kept for them, or one that is kept for nobody.
func (x *Table) reserveSeat(who service.Actor) (seat int, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	free := func(kept bool) int {
		return slices.IndexFunc(x.Seats, func(s *Seat) bool {
			return s.stream != nil && !s.taken && (kept && s.ReservedFor.IsSame(who) || !kept && s.ReservedFor == service.Actor{})
		})
	}
	if seat = free(true); seat < 0 {
		seat = free(false)
	}
	if seat < 0 {
		return -1, ladder.Errorf(ladder.Conflict, "watch the game, or open a table", "no seat of this table is free")
	}
	x.Seats[seat].Player, x.Seats[seat].taken = who, true
	return seat, nil
}

// finishClaim completes what reserve has begun, once the seat is stored, or gives the seat back.
func (x *Table) finishClaim(seat int, session int64, stored bool) {
	x.mu.Lock()
	s := x.Seats[seat]
	s.seatStored, s.taken = stored, stored
	if s.Player.Session = session; !stored {
		s.Player = service.Actor{}
	}
	if stored && !x.hasFreeSeat() {
		close(x.moments.allSeated)
	}
	x.mu.Unlock()
	x.tables.OnChange(x.ID)
}

// hasFreeSeat reports whether a seat waits for a person, under the lock.
func (x *Table) hasFreeSeat() bool {
	return slices.ContainsFunc(x.Seats, func(s *Seat) bool { return s.stream != nil && !s.seatStored })
}

// Waiting reports whether the table waits for people.
func (x *Table) Waiting() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.hasFreeSeat()
}

// WaitMinutes returns for how long at most the table waits for people.
func (x *Table) WaitMinutes() int { return int(x.tables.Limits.Wait.Minutes()) }

// Cancel gives up a table that waits for people, for who has opened it.
func (x *Table) Cancel(who service.Actor) error {
	switch {
	case x.Seat(who) != x.Choice.Seat:
		return ladder.Errorf(ladder.Forbidden, "", "only who has opened a table can cancel it")
	case !x.Waiting():
		return ladder.Errorf(ladder.Conflict, "resign", "this game has begun")
	}
	x.end(errCancel)
	<-x.moments.gameStored
	return nil
}

// People returns the seats of people who have sat down.
func (x *Table) People() (seats []int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, s := range x.Seats {
		if s.seatStored {
			seats = append(seats, i)
		}
	}
	return seats
}

// store adds the game to the store, and returns the key of the session of a guest who is new.
func (x *Table) store(ctx context.Context) (key string, err error) {
	who := x.player(x.Choice.Seat)
	p := ladder.Play{
		ID: x.ID, Game: x.Choice.Game, Options: x.Variant.Settings.Map(), Opener: x.Choice.Seat, Bank: x.Choice.Bank,
		Commitment: referee.Commitment(x.Seed).String(), Seats: []ladder.PlaySeat{{Seat: x.Choice.Seat, PersonID: who.Person.ID, Session: who.Session}},
	}
	for i, s := range x.Seats {
		if s.stream == nil {
			p.Seats = append(p.Seats, ladder.PlaySeat{Seat: i, Version: s.Version.ID, BotID: s.Version.BotID})
		}
	}
	key, session, err := x.tables.Store.Plays.Add(ctx, p, who.Address, x.tables.Limits.Day, who.Person.ID == 0 && who.Session == 0)
	if err == nil {
		x.finishClaim(x.Choice.Seat, session, true)
	}
	return key, err
}

// assignSeat makes the seat of a guest that of the person as whom they have signed in, unless that person has another one.
func (x *Table) assignSeat(ctx context.Context, who service.Actor) error {
	x.ownershipMu.Lock()
	defer x.ownershipMu.Unlock()
	seat := x.Seat(who)
	if seat < 0 { // it was not to be had
		return nil
	}
	was := x.player(seat)
	if was.Person.ID != 0 || x.Seat(service.Actor{Person: who.Person}) >= 0 {
		return nil
	}
	if err := x.tables.Store.Plays.ClaimSeat(ctx, x.ID, seat, who.Person.ID, was.Address, x.tables.Limits.Day); err != nil {
		return err
	}
	x.mu.Lock()
	x.Seats[seat].Player.Person = who.Person
	x.mu.Unlock()
	x.tables.OnChange(x.ID)
	return nil
}

// Seat returns the seat at which somebody plays, -1 if there is none.
func (x *Table) Seat(who service.Actor) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.IndexFunc(x.Seats, func(s *Seat) bool { return s.taken && s.Player.IsSame(who) })
}

// SeatView is what all see of a seat.
type SeatView struct {
	Seat        int
	Team        int    // from 1
	Name        string // "" of a guest
	Bot         bool
	Free        bool
	Reserved    bool   // a free seat is kept for somebody
	ReservedFor string // their name, "" of a guest
	Absent      bool
	Resigned    bool
	Forfeited   bool // by a fault, perhaps of the partner, while the others play on
	Turn        bool
	BankLeft    time.Duration // of a bank, at the beginning of the turn
	Until       time.Time     // when the bank of the seat to move is empty
}

// SeatViews returns what all see of the seats.
func (x *Table) SeatViews() (list []SeatView) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, s := range x.Seats {
		shown := SeatView{
			Seat: i, Team: 1 + x.Variant.Side(i), Name: s.Version.Bot, Bot: s.stream == nil, Forfeited: s.forfeited, Turn: x.turn.seat == i,
		}
		if s.stream != nil {
			shown.Name, shown.Free = s.Player.Person.Name, !s.seatStored
			shown.Reserved, shown.ReservedFor = s.ReservedFor != service.Actor{}, s.ReservedFor.Person.Name
			shown.Resigned, shown.Absent = s.resigned, s.arrived && s.connections == 0 && !s.resigned
			if x.Choice.Bank != 0 {
				shown.BankLeft, shown.Until = s.bankLeft, x.turn.began.Add(s.bankLeft)
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
	x.recordArrival(s)
	s.connections++
	x.mu.Unlock()
	x.tables.OnChange(x.ID)
	defer func() {
		x.mu.Lock()
		s.connections--
		x.mu.Unlock()
		x.tables.OnChange(x.ID)
	}()
	return s.stream.Attach(heldConnection{c, x.moments.gameStored})
}

// heldConnection is a connection that closes, after the end of a game, when the game is kept.
type heldConnection struct {
	Connection
	gameStored <-chan struct{}
}

func (w heldConnection) Close(why string) {
	if why == socket.ErrEnded.Error() {
		select {
		case <-w.gameStored:
		case <-w.Done():
		}
	}
	w.Connection.Close(why)
}

// recordArrival notes that a person has come, or will not. The game begins after the last one. The caller has locked x.mu.
func (x *Table) recordArrival(s *Seat) {
	if s.arrived {
		return
	}
	s.arrived = true
	if !slices.ContainsFunc(x.Seats, func(s *Seat) bool { return s.stream != nil && !s.arrived }) {
		close(x.moments.allConnected)
	}
}

// Resign gives the game up for a person's seat. It loses when it is its turn.
func (x *Table) Resign(seat int) {
	x.mu.Lock()
	x.Seats[seat].resigned = true
	x.recordArrival(x.Seats[seat])
	x.mu.Unlock()
	x.Seats[seat].stream.Close(fault.Reason{Kind: fault.Resigned})
	x.tables.OnChange(x.ID)
}

// HasResigned reports whether the game was given up for a seat.
func (x *Table) HasResigned(seat int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.Seats[seat].resigned
}

// closeStreams ends the lines of all people.
func (x *Table) closeStreams(why error) {
	for _, s := range x.Seats {
		if s.stream != nil {
			s.stream.Close(why)
		}
	}
}

// Done is closed when the game has ended and is kept.
func (x *Table) Done() <-chan struct{} { return x.moments.gameStored }

// TimeLeft returns the time that a person has left for their move; ok is false if it is not their turn.
func (x *Table) TimeLeft(seat int) (left time.Duration, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.Seats[seat]
	if x.Choice.Bank != 0 {
		return max(0, time.Until(x.turn.began.Add(s.bankLeft))), x.turn.seat == seat
	}
	return max(0, time.Until(s.moveDeadline)), s.timer != nil
}

// botClock is that of the bots. They have the lowest priority, so the margin is wide.
func (x *Table) botClock() referee.Clock {
	return referee.Clock{Move: x.tables.Limits.Think, Margin: 5 * time.Second, Startup: time.Minute}
}

var (
	turnVerb = []byte("turn ")
	moveVerb = []byte("move ")
)

// recordPosition notes whose turn it is, who has forfeited, and what is left of the banks, and shows the position to those who
// watch.
func (x *Table) recordPosition(g *referee.Game) {
	x.mu.Lock()
	x.turn = turn{g.Turn(), time.Now()}
	if g.Over() {
		x.turn.seat = -1
	}
	changed := x.Choice.Bank != 0
	for seat, s := range x.Seats {
		out := g.Forfeited(seat)
		changed = changed || out != s.forfeited
		s.bankLeft, s.forfeited = g.Left(seat), out
	}
	x.mu.Unlock()
	if x.watcher != nil {
		x.watcher.Position(g)
	}
	if changed {
		x.tables.OnChange(x.ID)
	}
}

// runMoveClock runs the clocks of people without banks: from the lines of a turn to the move.
func (x *Table) runMoveClock(t referee.Traffic) {
	s := x.Seats[t.Seat]
	switch {
	case s.stream == nil || x.Choice.Bank != 0:
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
	s.moveDeadline = time.Now().Add(limit)
	s.timer = time.AfterFunc(limit, func() {
		s.stream.Close(fault.Reason{Kind: fault.Late, Limit: limit.Milliseconds()})
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
	stop := context.AfterFunc(ctx, func() { x.closeStreams(context.Cause(ctx)) })
	defer stop()
	game, err := x.playGame(ctx, bots)
	if err == nil {
		err = x.storeResult(game)
	}
	state := ladder.PlayFinished
	if err != nil {
		state = ladder.PlayBroken
		why := ladder.BrokenByFailure
		var known *breakError
		if errors.As(err, &known) {
			why = known.cause
		}
		if cause, _ := why.Cause(); cause == ladder.BrokenByBot || cause == ladder.BrokenByFailure {
			x.tables.Log.Warn("a game of a person is broken", "game", x.ID, "err", err)
		}
		if err := x.tables.Store.Plays.Break(context.WithoutCancel(ctx), x.ID, why); err != nil {
			x.tables.Log.Error("a game of a person cannot be ended", "game", x.ID, "err", err)
		}
	}
	x.tables.remove(x)
	close(x.moments.gameStored)
	x.closeStreams(err)
	x.tables.OnChange(x.ID)
	if x.watcher != nil {
		x.watcher.End(state)
	}
	if x.Choice.After != "" {
		x.tables.OnChange(x.Choice.After)
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

// playGame plays the game once all people have sat down and come.
func (x *Table) playGame(ctx context.Context, bots []match.Bot) (playGame *referee.Result, err error) {
	if err := await(ctx, x.moments.allSeated, x.tables.Limits.Wait, errWait); err != nil {
		return nil, err
	}
	if x.Choice.After != "" {
		x.tables.OnChange(x.Choice.After) // which offers it no longer
	}
	if x.tables.NewWatcher != nil {
		x.watcher = x.tables.NewWatcher(x)
	}
	late := errNobody
	if len(x.People()) > 1 {
		late = errAbsent
	}
	if err := await(ctx, x.moments.allConnected, x.tables.Limits.ReturnTime, late); err != nil {
		return nil, err
	}
	for seat, name := range x.Names() {
		bots[seat].Name = name
	}
	m := match.Match{
		Variant: x.Variant, Bots: bots, Seed: x.Seed, Clock: x.botClock(),
		Resources: match.Resources{Low: true},
		Observer:  match.Observer{Trace: x.runMoveClock, Watch: x.recordPosition, Trouble: x.reportVoid},
	}
	if playGame, err = m.PlayGame(ctx); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, err
	}
	return playGame, nil
}

// reportVoid ends a void game.
func (x *Table) reportVoid(err error) {
	if v, ok := errors.AsType[*match.Void](err); ok {
		x.tables.Log.Warn("a game of a person is void", "game", x.ID, "err", v.Err)
		x.end(v.Err)
	}
}

// storeResult stores a finished game, but one in which a house bot has failed.
func (x *Table) storeResult(g *referee.Result) error {
	x.ownershipMu.Lock()
	defer x.ownershipMu.Unlock()
	for _, f := range g.Faults {
		if s := x.Seats[f.Seat]; s.stream == nil && s.Version.IsHouse() && f.HouseFailed() {
			return &breakError{
				ladder.BrokenByBot + ":" + ladder.BreakReason(s.Version.Bot),
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
