package play

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/person"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/rules"
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

	tables *Tables
	memory int64
	bots   []match.Bot
	end    context.CancelCauseFunc
	came   chan struct{} // closed when all people have come
	over   chan struct{} // closed when the game has ended and is kept

	mu     sync.Mutex // of Seat.Who and what is private in Seats
	giving sync.Mutex // so that who sits there does not change while the game is kept
}

// Seat is a seat at a table: that of a person, or of a version.
type Seat struct {
	Who     service.Actor // a guest has a session, once the table is open
	Version ladder.Version

	line  *socket.Stream // of a person; nil: a version plays
	came  bool
	timer *time.Timer // of the person's turn; nil: it is not theirs
	until time.Time
}

// prepare makes the bots, whose files stay until the context has ended.
func (x *Table) prepare(ctx context.Context) error {
	taken := map[string]int{}
	for _, s := range x.Seats {
		if s.line != nil {
			x.bots = append(x.bots, match.Bot{Hash: person.Hash(), Untimed: true, Serve: s.line.Serve})
			continue
		}
		b, err := x.tables.Resolve(ctx, s.Version)
		if err != nil {
			return err
		}
		if b.Sandbox = nil; !s.Version.House() {
			b.Sandbox = x.tables.Sandbox
		}
		b.Name = s.Version.Bot
		if taken[b.Name]++; taken[b.Name] > 1 {
			b.Name = fmt.Sprintf("%s#%d", b.Name, taken[b.Name])
		}
		x.bots = append(x.bots, b)
	}
	x.bots[x.Choice.Seat].Name = x.called()
	return nil
}

// called returns what the person is called in the replay: as nobody else.
func (x *Table) called() string {
	name := cmp.Or(x.who().Person.Name, ladder.GuestName)
	for i := range x.bots {
		if x.Seats[i].line == nil && x.bots[i].Name == name {
			return name + " (person)"
		}
	}
	return name
}

// who returns who has opened the table.
func (x *Table) who() service.Actor {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.Seats[x.Choice.Seat].Who
}

// store adds the game to the store, and returns the key of the session of a guest who is new.
func (x *Table) store(ctx context.Context) (key string, err error) {
	who := x.who()
	newGuest := who.Person.ID == 0 && who.Session == 0
	key, session, err := x.tables.Store.AddPlay(ctx, x.play(), who.Address, x.tables.Limits.Day, newGuest)
	if newGuest {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.Seats[x.Choice.Seat].Who.Session = session
	}
	return key, err
}

// give makes the game of a guest that of the person as whom they have signed in.
func (x *Table) give(ctx context.Context, who service.Actor) error {
	x.giving.Lock()
	defer x.giving.Unlock()
	was := x.who()
	if was.Person.ID != 0 {
		return nil
	}
	if err := x.tables.Store.GivePlay(ctx, x.ID, who.Person.ID, was.Address, x.tables.Limits.Day); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.Seats[x.Choice.Seat].Who.Person = who.Person
	return nil
}

// play returns the table as it is stored.
func (x *Table) play() ladder.Play {
	who := x.who()
	p := ladder.Play{
		ID: x.ID, PersonID: who.Person.ID, Session: who.Session, Game: x.Choice.Game, Options: x.Variant.Settings.Map(), Seat: x.Choice.Seat,
		Commitment: referee.Commitment(x.Seed).String(),
	}
	for i, s := range x.Seats {
		if v := s.Version; s.line == nil {
			p.Bots = append(p.Bots, ladder.PlaySeat{Seat: i, Version: v.ID, BotID: v.BotID, Bot: v.Bot, Number: v.Number})
		}
	}
	return p
}

// Seat returns the seat at which somebody plays, -1 if there is none.
func (x *Table) Seat(who service.Actor) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.IndexFunc(x.Seats, func(s *Seat) bool { return s.Who.Same(who) })
}

// Names returns who sits at each seat, as somebody at one of them sees it; you is what they are
// called.
func (x *Table) Names(seat int, you string) (names []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, s := range x.Seats {
		name := cmp.Or(s.Version.Bot, s.Who.Person.Name, ladder.GuestName)
		if i == seat {
			name = you
		}
		names = append(names, name)
	}
	return names
}

// Attach carries the lines of a person's seat over a connection; see socket.Stream. The game begins
// when all people have come. When it is over Attach waits until it is kept.
func (x *Table) Attach(ctx context.Context, seat int, c socket.Wire) error {
	s := x.Seats[seat]
	x.mu.Lock()
	first := !s.came
	s.came = true
	if first && !slices.ContainsFunc(x.Seats, func(s *Seat) bool { return s.line != nil && !s.came }) {
		close(x.came)
	}
	x.mu.Unlock()
	return s.line.Attach(waiting{c, ctx, x.over})
}

// waiting is a connection that closes, after the end of a game, when the game is kept.
type waiting struct {
	socket.Wire
	ctx  context.Context
	over <-chan struct{}
}

func (w waiting) Close(why string) {
	if why == socket.ErrEnded.Error() {
		select {
		case <-w.over:
		case <-w.ctx.Done():
		}
	}
	w.Wire.Close(why)
}

// Resign gives the game up for a person's seat.
func (x *Table) Resign(seat int) { x.Seats[seat].line.Close(fault.Reason{Kind: fault.Resigned}) }

// close ends the lines of all people.
func (x *Table) close(why error) {
	for _, s := range x.Seats {
		if s.line != nil {
			s.line.Close(why)
		}
	}
}

// Over is closed when the game has ended and is kept.
func (x *Table) Over() <-chan struct{} { return x.over }

// Left returns the time that a person has left for their move; ok is false if it is not their turn.
func (x *Table) Left(seat int) (left time.Duration, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.Seats[seat]
	return max(0, time.Until(s.until)), s.timer != nil
}

// clock is that of the bots. They have the lowest priority, so the margin is wide.
func (x *Table) clock() referee.Clock {
	return referee.Clock{Move: x.tables.Limits.Think, Margin: 5 * time.Second, Startup: time.Minute}
}

var (
	viewVerb = []byte("view ")
	moveVerb = []byte("move ")
)

// overhear runs the clocks of people: from the lines of a turn to the move.
func (x *Table) overhear(t referee.Traffic) {
	s := x.Seats[t.Seat]
	switch {
	case s.line == nil:
	case !t.FromBot && (bytes.HasPrefix(t.Lines, viewVerb) || bytes.Contains(t.Lines, append([]byte("\n"), viewVerb...))):
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
func (x *Table) run(ctx context.Context) {
	defer x.end(nil)
	stop := context.AfterFunc(ctx, func() { x.close(context.Cause(ctx)) })
	defer stop()
	game, err := x.game(ctx)
	if err == nil {
		err = x.keep(game)
	}
	if err != nil {
		why := breaking(err)
		if cause, _ := why.Cause(); cause == ladder.BrokenByBot || cause == ladder.BrokenByFailure {
			x.tables.Log.Warn("a game of a person is broken", "game", x.ID, "err", err)
		}
		if err := x.tables.Store.BreakPlay(context.WithoutCancel(ctx), x.ID, why); err != nil {
			x.tables.Log.Error("a game of a person cannot be ended", "game", x.ID, "err", err)
		}
	}
	x.tables.dismiss(x)
	close(x.over)
	x.close(err)
}

// failedBot is the error of a game in which a house bot has failed.
type failedBot struct {
	bot   string
	fault fault.Fault
}

func (e *failedBot) Error() string { return fmt.Sprintf("house bot %q failed: %v", e.bot, e.fault) }

// breaking returns why a game is broken that ended with an error.
func breaking(err error) ladder.Breaking {
	var failed *failedBot
	switch {
	case errors.Is(err, errStopped):
		return ladder.BrokenByStop
	case errors.Is(err, errBlocked):
		return ladder.BrokenByBlock
	case errors.Is(err, errNobody):
		return ladder.BrokenByNobody
	case errors.As(err, &failed):
		return ladder.BrokenByBot + ":" + ladder.Breaking(failed.bot)
	}
	return ladder.BrokenByFailure
}

// game plays the game once all people have come.
func (x *Table) game(ctx context.Context) (game *referee.Result, err error) {
	wait := time.NewTimer(x.tables.Limits.Back)
	defer wait.Stop()
	select {
	case <-x.came:
	case <-wait.C:
		return nil, errNobody
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	m := match.Match{
		Variant: x.Variant, Bots: x.bots, Deals: 1, Only: []int{0}, Seed: x.Seed, Clock: x.clock(), Low: true,
		Trace: x.overhear,
		Done:  func(g *referee.Result) error { game = g; return nil },
		Void: func(_, _ int, err error) {
			x.tables.Log.Warn("a game of a person is void", "game", x.ID, "err", err)
			x.end(err)
		},
	}
	if err := m.Play(ctx); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, err
	}
	return game, nil
}

// keep stores a finished game, but one in which a house bot has failed.
func (x *Table) keep(g *referee.Result) error {
	x.giving.Lock()
	defer x.giving.Unlock()
	p := x.play()
	for _, f := range g.Faults {
		if s := x.Seats[f.Seat]; s.line == nil && s.Version.House() && program.HouseFailed(f) {
			return &failedBot{s.Version.Bot, f}
		}
	}
	g.Reveal(x.Seed)
	g.Seats[p.Seat].Name = x.called()
	result := ladder.PlayResult(rules.RecordOf(x.Variant, g.Ranks, x.Choice.Seat))
	return x.tables.Store.FinishPlay(context.WithoutCancel(x.tables.ctx), x.ID, result, g.Encode(), p.Records(x.Variant, g.Ranks))
}
