package play

import (
	"bytes"
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

// Table is one game between a person and bots.
type Table struct {
	ID       string        // cannot be guessed
	Who      service.Actor // a guest has a session
	Choice   Choice
	Variant  *rules.Variant
	Versions []ladder.Version // by seat, without the person's
	Seed     rules.Seed       // secret until the end
	Began    time.Time

	tables *Tables
	memory int64
	leave  func() // gives its place back
	bots   []match.Bot
	seat   *socket.Stream
	end    context.CancelCauseFunc
	came   chan struct{} // closed when the person has come
	once   sync.Once
	over   chan struct{} // closed when the game has ended and is kept

	mu    sync.Mutex
	timer *time.Timer // of the person's turn; nil: it is not theirs
	until time.Time
}

// prepare makes the bots, whose files stay until the context has ended, and the person's seat.
func (x *Table) prepare(ctx context.Context) error {
	x.came, x.over = make(chan struct{}), make(chan struct{})
	x.seat = socket.NewStream(socket.StreamOptions{Back: x.tables.Limits.Back, Replay: true})
	taken := map[string]int{}
	for _, v := range x.Versions {
		b, err := x.tables.Resolve(ctx, v)
		if err != nil {
			return err
		}
		if b.Sandbox = nil; !v.House() {
			b.Sandbox = x.tables.Sandbox
		}
		b.Name = v.Bot
		if taken[v.Bot]++; taken[v.Bot] > 1 {
			b.Name = fmt.Sprintf("%s#%d", v.Bot, taken[v.Bot])
		}
		x.bots = append(x.bots, b)
	}
	name := x.Who.Person.Name
	if name == "" {
		name = ladder.GuestName
	}
	for slices.ContainsFunc(x.bots, func(b match.Bot) bool { return b.Name == name }) {
		name += " (person)"
	}
	you := match.Bot{Name: name, Hash: person.Hash(), Untimed: true, Serve: x.seat.Serve}
	x.bots = slices.Insert(x.bots, x.Choice.Seat, you)
	return nil
}

// play returns the table as it is stored.
func (x *Table) play() ladder.Play {
	p := ladder.Play{
		ID: x.ID, PersonID: x.Who.Person.ID, Game: x.Choice.Game, Options: x.Variant.Settings.Map(), Seat: x.Choice.Seat,
		Commitment: referee.Commitment(x.Seed).String(),
	}
	for i, v := range x.Versions {
		s := i
		if i >= x.Choice.Seat {
			s++
		}
		p.Bots = append(p.Bots, ladder.PlaySeat{Seat: s, Version: v.ID, BotID: v.BotID, Bot: v.Bot, Number: v.Number})
	}
	return p
}

// Attach carries the person's seat over a connection; see socket.Stream. The game begins with the
// first one. When the game is over Attach waits until it is kept.
func (x *Table) Attach(ctx context.Context, c socket.Wire) error {
	x.once.Do(func() { close(x.came) })
	return x.seat.Attach(waiting{c, ctx, x.over})
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

// Resign gives the game up.
func (x *Table) Resign() { x.seat.Close(fault.Reason{Kind: fault.Resigned}) }

// Over is closed when the game has ended and is kept.
func (x *Table) Over() <-chan struct{} { return x.over }

// Left returns the time that the person has left for their move; ok is false if it is not their
// turn.
func (x *Table) Left() (left time.Duration, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.timer == nil {
		return 0, false
	}
	return max(0, time.Until(x.until)), true
}

// clock is that of the bots. They have the lowest priority, so the margin is wide.
func (x *Table) clock() referee.Clock {
	return referee.Clock{Move: x.tables.Limits.Think, Margin: 5 * time.Second, Startup: time.Minute}
}

var (
	viewVerb = []byte("view ")
	moveVerb = []byte("move ")
)

// overhear runs the person's clock: from the lines of a turn to the move.
func (x *Table) overhear(t referee.Traffic) {
	if t.Seat != x.Choice.Seat {
		return
	}
	switch {
	case !t.FromBot && (bytes.HasPrefix(t.Lines, viewVerb) || bytes.Contains(t.Lines, append([]byte("\n"), viewVerb...))):
		x.startClock()
	case t.FromBot && bytes.HasPrefix(t.Lines, moveVerb):
		x.stopClock()
	}
}

func (x *Table) startClock() {
	x.mu.Lock()
	defer x.mu.Unlock()
	limit := x.tables.Limits.Move
	x.until = time.Now().Add(limit)
	x.timer = time.AfterFunc(limit, func() {
		x.seat.Close(fault.Reason{Kind: fault.Late, Limit: limit.Milliseconds()})
	})
}

func (x *Table) stopClock() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.timer != nil {
		x.timer.Stop()
		x.timer = nil
	}
}

// run plays the game and keeps it.
func (x *Table) run(ctx context.Context) {
	defer x.end(nil)
	stop := context.AfterFunc(ctx, func() { x.seat.Close(context.Cause(ctx)) })
	defer stop()
	game, err := x.game(ctx)
	x.stopClock()
	if err == nil {
		err = x.keep(game)
	}
	if err != nil {
		if !errors.Is(err, errStopped) && !errors.Is(err, errBlocked) && !errors.Is(err, errNobody) {
			x.tables.Log.Warn("a game of a person is broken", "game", x.ID, "err", err)
		}
		if err := x.tables.Store.BreakPlay(context.WithoutCancel(ctx), x.ID); err != nil {
			x.tables.Log.Error("a game of a person cannot be ended", "game", x.ID, "err", err)
		}
	}
	x.tables.dismiss(x)
	close(x.over)
	x.seat.Close(err)
}

// game plays the game once the person has come.
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
	p := x.play()
	for _, f := range g.Faults {
		if f.Seat != x.Choice.Seat && program.HouseFailed(f) && p.Bots[slices.IndexFunc(p.Bots, func(b ladder.PlaySeat) bool { return b.Seat == f.Seat })].Bot[0] == '@' {
			return fmt.Errorf("a house bot failed: %v", f)
		}
	}
	g.Reveal(x.Seed)
	result := ladder.PlayResult(rules.RecordOf(x.Variant, g.Ranks, x.Choice.Seat))
	return x.tables.Store.FinishPlay(context.WithoutCancel(x.tables.ctx), x.ID, result, g.Encode(), p.Records(x.Variant, g.Ranks))
}
