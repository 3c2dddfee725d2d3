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
	ID       string // random, so that only people who know the link find a table that is not listed
	Choice   Choice
	Variant  *rules.Variant
	Seats    []*Seat
	Seed     rules.Seed // secret until the game ends
	OpenedAt time.Time

	tables  *Tables
	solo    bool    // one person plays against bots without a clock, and may take hours
	memory  int64   // of the bots, in bytes
	watcher Watcher // set when the seats are taken; nil if nobody watches
	end     context.CancelCauseFunc
	moments moments

	mu          sync.Mutex // guards turn, position, the unexported fields of Seats, and Seat.Player
	turn        turn
	position    rules.State // a copy while a person is to move, for Refusal; otherwise nil
	ownershipMu sync.Mutex  // held while the game is stored and while a seat changes to another person
}

// moments has channels that are closed when a game of people reaches certain points.
type moments struct {
	openFinished chan struct{} // the table is stored, or could not be
	allSeated    chan struct{} // no seat waits for a person
	allConnected chan struct{} // every person has connected
	gameStored   chan struct{} // the game has ended and is stored
}

func newMoments() moments {
	return moments{make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})}
}

// turn is the turn of a game: the seat that has to move, and when its turn began.
type turn struct {
	seat      int // -1 if no seat is to move
	startedAt time.Time
}

// Seat is a seat at a table, of a person or of a version of a bot.
type Seat struct {
	Player      service.Actor // person or guest at the seat; a guest has a session once the seat is stored
	ReservedFor service.Actor // for whom the free seat is reserved; zero means anybody
	Version     ladder.Version

	stream       *socket.LineStream // of a person; nil if a bot plays
	taken        bool               // by a person, perhaps not stored yet
	seatStored   bool               // the person's seat is stored
	arrived      bool               // the person has connected once, or has resigned
	connections  int                // number of open connections of the person
	resigned     bool               // the person has resigned and can send no more moves
	forfeited    bool               // the seat has forfeited the game
	bankLeft     time.Duration      // the time left to the person at the start of the turn
	timer        *time.Timer        // ends the game at moveDeadline; nil unless the person has to move and has no bank
	moveDeadline time.Time          // when the person, without a bank, has to have moved
}

// prepare returns the players of all seats as contestants for the referee: bots in their sandboxes, and people behind
// their connections. The files of the bots exist until ctx ends.
func (x *Table) prepare(ctx context.Context) (bots []match.Contestant, err error) {
	for _, s := range x.Seats {
		if s.stream != nil {
			b := match.Contestant{Hash: match.PersonHash(), Untimed: true, Follows: true, Serve: s.stream.Serve}
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

// bankMargin is how much a person may exceed the total time for a game, because moves travel over the network.
const bankMargin = time.Second

// Names returns the name of each seat's player, as in the replay. No two seats have the same name.
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

func (x *Table) player(seat int) service.Actor {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.Seats[seat].Player
}

func (x *Table) hasGuestFrom(address netip.Addr) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.ContainsFunc(x.Seats, func(s *Seat) bool { return s.taken && s.Player.Person.ID == 0 && s.Player.Address == address })
}

// reserveSeat reserves a free seat for actor, a person or guest, and returns its number. It prefers a seat that is
// reserved for actor to one that is reserved for nobody. It returns an error if there is none. The caller must call
// finishClaim afterwards.
func (x *Table) reserveSeat(actor service.Actor) (seat int, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	free := func(kept bool) int {
		return slices.IndexFunc(x.Seats, func(s *Seat) bool {
			return s.stream != nil && !s.taken && (kept && s.ReservedFor.IsSame(actor) || !kept && s.ReservedFor == service.Actor{})
		})
	}
	if seat = free(true); seat < 0 {
		seat = free(false)
	}
	if seat < 0 {
		return -1, ladder.Errorf(ladder.Conflict, "watch the game, or open a table", "no seat of this table is free")
	}
	x.Seats[seat].Player, x.Seats[seat].taken = actor, true
	return seat, nil
}

// finishClaim completes the reservation of a seat by reserveSeat. stored reports whether the store now has the player
// of the seat; if not, finishClaim frees the seat. session is the ID of the guest's session, or 0 for a person with
// an account.
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

func (x *Table) hasFreeSeat() bool {
	return slices.ContainsFunc(x.Seats, func(s *Seat) bool { return s.stream != nil && !s.seatStored })
}

// Waiting reports whether the table waits for people.
func (x *Table) Waiting() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.hasFreeSeat()
}

// WaitMinutes returns the largest number of minutes for which the table waits for people.
func (x *Table) WaitMinutes() int { return int(x.tables.Limits.Wait.Minutes()) }

// StateFor returns the state of the table for the person at seat: "waiting" if the table waits for people, "begins" if
// the game begins when this person's page connects, "turn" if the person is to move, "over" if the person has no more
// turns, and otherwise "others".
func (x *Table) StateFor(seat int) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch s := x.Seats[seat]; {
	case s.resigned || s.forfeited:
		return "over"
	case x.hasFreeSeat():
		return "waiting"
	case !s.arrived:
		return "begins"
	case x.turn.seat == seat:
		return "turn"
	}
	return "others"
}

// IsReservedFor reports whether a free seat is reserved for actor.
func (x *Table) IsReservedFor(actor service.Actor) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.ContainsFunc(x.Seats, func(s *Seat) bool { return !s.taken && s.ReservedFor.IsSame(actor) })
}

// Cancel ends a table that waits for people. It returns an error unless actor has opened the table or declines a seat
// that is reserved for actor, or if the game has started.
func (x *Table) Cancel(actor service.Actor) error {
	why := errCancel
	switch isOpener := x.Seat(actor) == x.Choice.Seat; {
	case !isOpener && x.IsReservedFor(actor):
		why = errDecline
	case !isOpener:
		return ladder.Errorf(ladder.Forbidden, "", "only who has opened a table can cancel it")
	case !x.Waiting():
		return ladder.Errorf(ladder.Conflict, "resign", "this game has begun")
	}
	x.end(why)
	<-x.moments.gameStored
	return nil
}

// People returns the seats of the people who have sat down.
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

// store adds the game to the store of the server. If the person who opened the table is a guest without a
// session, it creates one and returns its key; otherwise key is "".
func (x *Table) store(ctx context.Context) (key string, err error) {
	actor := x.player(x.Choice.Seat)
	p := ladder.Play{
		ID: x.ID, Game: x.Choice.Game, Options: x.Variant.Settings.Map(), Opener: x.Choice.Seat, Bank: x.Choice.Bank,
		Commitment: referee.Commitment(x.Seed).String(), Seats: []ladder.PlaySeat{{Seat: x.Choice.Seat, PersonID: actor.Person.ID, Session: actor.Session}},
	}
	for i, s := range x.Seats {
		if s.stream == nil {
			p.Seats = append(p.Seats, ladder.PlaySeat{Seat: i, Version: s.Version.ID, BotID: s.Version.BotID})
		}
	}
	key, session, err := x.tables.Store.Plays.Add(ctx, p, actor.Address, x.tables.Limits.Day, actor.Person.ID == 0 && actor.Session == 0)
	if err == nil {
		x.finishClaim(x.Choice.Seat, session, true)
	}
	return key, err
}

// assignSeat gives the seat of a guest to the person as whom the guest has signed in. actor has the session of the
// guest and the ID of the person. It does nothing if the guest has no seat here, or if the person already has another
// one.
func (x *Table) assignSeat(ctx context.Context, actor service.Actor) error {
	x.ownershipMu.Lock()
	defer x.ownershipMu.Unlock()
	seat := x.Seat(actor)
	if seat < 0 { // the guest has no seat here
		return nil
	}
	was := x.player(seat)
	if was.Person.ID != 0 || x.Seat(service.Actor{Person: actor.Person}) >= 0 {
		return nil
	}
	if err := x.tables.Store.Plays.ClaimSeat(ctx, x.ID, seat, actor.Person.ID, was.Address, x.tables.Limits.Day); err != nil {
		return err
	}
	x.mu.Lock()
	x.Seats[seat].Player.Person = actor.Person
	x.mu.Unlock()
	x.tables.OnChange(x.ID)
	return nil
}

// Seat returns the number of actor's seat, or -1 if actor has none.
func (x *Table) Seat(actor service.Actor) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.IndexFunc(x.Seats, func(s *Seat) bool { return s.taken && s.Player.IsSame(actor) })
}

// SeatView is what everybody may see of a seat at a table.
type SeatView struct {
	Seat        int
	Team        int    // the team or single seat on whose side it plays, counted from 1
	Name        string // "" for a guest
	Bot         bool
	Free        bool
	Reserved    bool   // a free seat is reserved for a person
	ReservedFor string // name of that person, "" for a guest
	Absent      bool
	Resigned    bool
	Forfeited   bool          // by a fault, perhaps of a team partner, while others play on
	Turn        bool          // the seat is to move
	HasClock    bool          // the person's time is limited now, by a bank or for the move
	TimeLeft    time.Duration // the time left at the start of the turn
	Until       time.Time     // when the time of the seat to move is over
}

// SeatViews returns what everybody may see of each seat, in order.
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
				shown.HasClock, shown.TimeLeft, shown.Until = true, s.bankLeft, x.turn.startedAt.Add(s.bankLeft)
			} else if s.timer != nil && !x.solo {
				shown.HasClock, shown.TimeLeft, shown.Until = true, x.tables.Limits.Move, s.moveDeadline
			}
		}
		list = append(list, shown)
	}
	return list
}

// Connection is the connection of a person's page with the server.
type Connection interface {
	socket.Wire
	Done() <-chan struct{} // closes when the connection closes
}

// Attach connects the page of the person at seat to the game. It exchanges the lines of the protocol over c until c
// closes; see socket.LineStream. The game starts when all people have connected. After the game, Attach does not
// close c before the game has been stored.
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

// heldConnection is a connection that stays open after the end of a game until the game is stored.
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

// recordArrival records that the person at seat s has connected for the first time, or has resigned before
// that. When all people have arrived, the game starts. The caller holds x.mu.
func (x *Table) recordArrival(s *Seat) {
	if s.arrived {
		return
	}
	s.arrived = true
	if !slices.ContainsFunc(x.Seats, func(s *Seat) bool { return s.stream != nil && !s.arrived }) {
		close(x.moments.allConnected)
	}
}

// Resign resigns the game for the person at seat. The seat forfeits when it is its turn to move.
func (x *Table) Resign(seat int) {
	x.mu.Lock()
	x.Seats[seat].resigned = true
	x.recordArrival(x.Seats[seat])
	x.mu.Unlock()
	x.Seats[seat].stream.Close(fault.Reason{Kind: fault.Resigned})
	x.tables.OnChange(x.ID)
}

// HasResigned reports whether a seat has resigned.
func (x *Table) HasResigned(seat int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.Seats[seat].resigned
}

func (x *Table) closeStreams(why error) {
	for _, s := range x.Seats {
		if s.stream != nil {
			s.stream.Close(why)
		}
	}
}

// Done returns a channel that closes when the game has ended and is stored.
func (x *Table) Done() <-chan struct{} { return x.moments.gameStored }

// soloTurn returns when the current turn began. ok is true only if it is the turn of a person who plays only against
// bots and without a clock.
func (x *Table) soloTurn() (began time.Time, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.turn.startedAt, x.solo && x.turn.seat == x.Choice.Seat
}

// MoveLimit returns the time that each person has for a move, or 0 if people have a bank (a time for the whole game) or
// no limit.
func (x *Table) MoveLimit() time.Duration {
	if x.solo || x.Choice.Bank != 0 {
		return 0
	}
	return x.tables.Limits.Move
}

// TimeLeft returns the time that the person at seat has left for the current move. ok is false if it is not the
// person's turn, or if the time has no limit.
func (x *Table) TimeLeft(seat int) (left time.Duration, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.Seats[seat]
	if x.Choice.Bank != 0 {
		return max(0, time.Until(x.turn.startedAt.Add(s.bankLeft))), x.turn.seat == seat
	}
	return max(0, time.Until(s.moveDeadline)), s.timer != nil && !x.solo
}

// Refusal returns the rule of the game that forbids the given move to the person at seat, or nil if no rule forbids
// it. move is in the notation of the protocol. Refusal returns an error if it is not the turn of the seat, or if move
// is not a move at all.
func (x *Table) Refusal(seat int, move string) (*rules.Refusal, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.turn.seat != seat || x.position == nil {
		return nil, ladder.Errorf(ladder.Conflict, "wait for your turn", "another seat is to move")
	}
	m, err := x.position.ParseMove(move)
	if err != nil {
		return nil, ladder.Errorf(ladder.Invalid, "", "%w", err)
	}
	why, _ := errors.AsType[*rules.Refusal](x.position.Check(m))
	return why, nil
}

// botClock returns the clock of the bots. Its margin is wide, because these bots run with the lowest priority.
func (x *Table) botClock() referee.Clock {
	return referee.Clock{Move: x.tables.Limits.Think, Margin: 5 * time.Second, Startup: time.Minute}
}

var (
	turnVerb = []byte("turn ")
	moveVerb = []byte("move ")
)

// recordPosition is called after each change of the game's position. It updates whose turn it is, which seats
// have forfeited and how much time each person has left, and passes the game to the watcher.
func (x *Table) recordPosition(g *referee.Game) {
	x.mu.Lock()
	x.turn, x.position = turn{g.Turn(), time.Now()}, nil
	if g.IsOver() {
		x.turn.seat = -1
	} else if x.Seats[x.turn.seat].stream != nil {
		x.position = g.State.Clone()
	}
	changed := x.Choice.Bank != 0
	for seat, s := range x.Seats {
		out := g.HasForfeited(seat)
		changed = changed || out != s.forfeited
		s.bankLeft, s.forfeited = g.TimeLeft(seat), out
	}
	x.mu.Unlock()
	if x.watcher != nil {
		x.watcher.Position(g)
	}
	if changed {
		x.tables.OnChange(x.ID)
	}
}

// runMoveClock limits the time for each move of a person, unless the person has a total time for the game. The limit
// is Limits.Move, after which the person forfeits the game. In a game of one person against bots it is Limits.Idle,
// after which the game ends without a result. The clock starts when the referee asks for a move, and stops when the
// move arrives: runMoveClock is called with each line t between the referee and a seat.
func (x *Table) runMoveClock(t referee.Traffic) {
	s := x.Seats[t.Seat]
	switch {
	case s.stream == nil || x.Choice.Bank != 0:
	case !t.FromBot && (bytes.HasPrefix(t.Lines, turnVerb) || bytes.Contains(t.Lines, append([]byte("\n"), turnVerb...))):
		x.startClock(s)
		x.tables.OnChange(x.ID)
	case t.FromBot && bytes.HasPrefix(t.Lines, moveVerb):
		x.stopClock(s)
		x.tables.OnChange(x.ID)
	}
}

func (x *Table) startClock(s *Seat) {
	x.mu.Lock()
	defer x.mu.Unlock()
	limit := x.tables.Limits.Move
	s.moveDeadline = time.Now().Add(limit)
	if x.solo {
		s.timer = time.AfterFunc(x.tables.Limits.Idle, func() { x.end(errIdle) })
		return
	}
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

func (x *Table) run(ctx context.Context, bots []match.Contestant) {
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

// await waits until the channel done is closed. If this takes longer than limit, it returns the error in the argument
// late. If ctx ends first, it returns the cause of ctx.
func await(ctx context.Context, done <-chan struct{}, limit time.Duration, late error) error {
	select {
	case <-done:
		return nil
	case <-time.After(limit):
		return late
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// playGame waits until all people have sat down and connected, plays the game and returns it. If people do
// not come in time, it returns an error.
func (x *Table) playGame(ctx context.Context, bots []match.Contestant) (game *referee.GameResult, err error) {
	if err := await(ctx, x.moments.allSeated, x.tables.Limits.Wait, errWait); err != nil {
		return nil, err
	}
	if x.Choice.After != "" {
		x.tables.OnChange(x.Choice.After) // its page no longer offers the rematch
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
	if game, err = m.PlayGame(ctx); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, err
	}
	return game, nil
}

// reportVoid ends the table if err means that the game does not count because the machine was at fault.
func (x *Table) reportVoid(err error) {
	if v, ok := errors.AsType[*match.VoidError](err); ok {
		x.tables.Log.Warn("a game of a person is void", "game", x.ID, "err", v.Err)
		x.end(v.Err)
	}
}

// storeResult stores the finished game g. If a house bot (part of timba) has failed in it, storeResult returns an
// error instead.
func (x *Table) storeResult(g *referee.GameResult) error {
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
	g.Seats = slices.Clone(g.Seats) // watchers read the old slice
	for seat, name := range x.Names() {
		g.Seats[seat].Name = name // a guest may have signed in during the game
	}
	return x.tables.Store.Plays.Finish(context.WithoutCancel(x.tables.ctx), x.ID, x.Variant, g.Ranks, g.Encode())
}
