package play_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/laddertest"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/web/play"
	"github.com/timba-arena/timba/web/socket"
)

func TestMain(m *testing.M) {
	refereetest.Main(m, refereetest.Modes{"bot": refereetest.RunHouseBot}, nil)
}

// limits are those of tests.
var limits = play.Limits{
	PlayLimits: ladder.PlayLimits{Games: 3, Day: 4, Guests: true, Think: 10 * time.Second, Move: time.Minute},
	Memory:     3 * ladder.HouseMemory, Person: 2, Address: 2, Wait: 20 * time.Minute, ReturnTime: time.Minute, Idle: 8 * time.Hour, Spare: 10 * time.Minute,
}

// world has Tables that run until the test ends or stop is called.
type world struct {
	t *testing.T
	*play.Tables
	stop func()
}

// inWorld runs a test in a synctest bubble with Tables of its own.
func inWorld(t *testing.T, l play.Limits, f func(t *testing.T, w *world)) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) { f(t, newWorld(t, laddertest.Dir(t), l)) })
}

func newWorld(t *testing.T, dir string, l play.Limits) *world {
	t.Helper()
	kit.Slow(t)
	w := &world{t: t}
	s, err := store.Open(dir, store.Options{Server: true, NoSync: true})
	w.must(err)
	resolver := program.Resolver{}
	greedy, err := resolver.Resolve(t.Context(), "@greedy")
	w.must(err)
	w.must(s.Bots.SyncHouse(t.Context(), []store.HouseBot{{Name: "@greedy", Label: house.Version, Hash: greedy.Hash}}))
	_, err = s.Plays.BreakAll(t.Context())
	w.must(err)
	w.Tables = play.New(play.Options{
		Store: s, Limits: l, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Resolve: func(ctx context.Context, v ladder.Version) (match.Contestant, error) {
			p, err := resolver.Resolve(ctx, v.Bot)
			return p.Contestant, err
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	w.stop = func() {
		if cancel == nil {
			return
		}
		cancel()
		cancel = nil
		if err := <-ended; err != nil {
			t.Error(err)
		}
		found, err := s.Verify(context.Background(), nil) // every game that is kept can be played again
		if err := errors.Join(err, s.Close()); err != nil || len(found) > 0 {
			t.Errorf("verify: %v, %v", found, err)
		}
	}
	t.Cleanup(w.stop)
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// Open opens a table. It gives a guest a session.
func (w *world) Open(ctx context.Context, who service.Actor, c play.Choice) (*play.Table, error) {
	x, _, err := w.Tables.Open(ctx, who, c)
	return x, err
}

func guest(session int64, address string) service.Actor {
	return service.Actor{Session: session, Address: netip.MustParseAddr(address)}
}

var brisca = play.Choice{Game: "brisca", OtherPlayers: []string{"@greedy"}}

// wantError checks the code of an error and a part of its text.
func wantError(t *testing.T, err error, code ladder.ErrorCode, part string) {
	t.Helper()
	if ladder.CodeOf(err) != code || !strings.Contains(err.Error(), part) {
		t.Errorf("the error is %v, want %s with %q", err, code, part)
	}
}

// pipe is one end of a connection within this process.
type pipe struct {
	in, out chan socket.Frame
	closed  context.Context
	close   func()
}

// pipes returns the ends of a connection, which closes at the end of the test.
func (w *world) pipes() (a, b pipe) {
	ctx, cancel := context.WithCancel(context.Background())
	w.t.Cleanup(cancel)
	x, y := make(chan socket.Frame, 16), make(chan socket.Frame, 16)
	return pipe{x, y, ctx, cancel}, pipe{y, x, ctx, cancel}
}

func (p pipe) Send(f socket.Frame) error {
	select {
	case p.out <- f:
		return nil
	case <-p.closed.Done():
		return io.ErrClosedPipe
	}
}

func (p pipe) Receive() (socket.Frame, error) {
	select {
	case f := <-p.in:
		return f, nil
	case <-p.closed.Done():
		return socket.Frame{}, io.EOF
	}
}

func (p pipe) Close(string) { p.close() }

func (p pipe) Done() <-chan struct{} { return p.closed.Done() }

// sit plays the first person's seat as a program. From the turn silent on, it does not answer.
func sit(w *world, x *play.Table, silent int) { sitAt(w, x, 0, silent) }

func sitAt(w *world, x *play.Table, seat, silent int) {
	near, far := w.pipes()
	go x.Attach(seat, near)
	end := socket.NewLineStream(socket.LineStreamOptions{})
	toBot, fromSeat := io.Pipe()
	toSeat, fromBot := io.Pipe()
	w.t.Cleanup(func() {
		end.Close(nil)
		fromSeat.Close()
		fromBot.Close()
	})
	turns := 0
	go protocol.Serve(toBot, fromBot, "", "", func(t *protocol.Turn) protocol.Answer {
		if turns++; turns == silent {
			<-x.Done()
		}
		return protocol.Answer{Move: []byte(t.Moves.Strings()[0])}
	})
	go end.Serve(toSeat, fromSeat)
	go end.Attach(far)
}

// awaitTurn waits until nothing happens at a table, and fails if it is not the turn of seat 0.
func awaitTurn(t *testing.T, x *play.Table) {
	t.Helper()
	bubble.Settle()
	if !x.SeatViews()[0].Turn {
		t.Error("it is not the person's turn")
	}
}

// kept returns the stored replay of a finished game.
func (w *world) kept(x *play.Table) *referee.Replay {
	w.t.Helper()
	<-x.Done()
	data, err := w.Store.Plays.Replay(w.t.Context(), x.ID)
	w.must(err)
	r, err := referee.DecodeReplay(data)
	w.must(err)
	return r
}

// A finished game is stored with its seed and counted. A person who is too slow, resigns or stays away
// forfeits with a fault of that kind.
func TestGames(t *testing.T) {
	// limit: play.think, play.move
	for _, c := range []struct {
		name   string
		silent int
		resign bool
		want   fault.Kind
	}{
		{"whole", 0, false, ""},
		{"slow", 1, false, fault.Late},
		{"resigned", 3, true, fault.Resigned},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, limits, func(t *testing.T, w *world) {
				choice := brisca
				if c.want == fault.Late {
					choice = play.Choice{Game: "brisca", Options: map[string]string{"players": "3"}, OtherPlayers: []string{play.Invited, "@greedy"}}
				}
				x, err := w.Open(t.Context(), guest(1, "10.0.0.1"), choice)
				w.must(err)
				if x.Waiting() {
					_, err := w.ClaimSeat(t.Context(), x, guest(2, "10.0.0.2"))
					w.must(err)
					sitAt(w, x, 1, 0)
				}
				sit(w, x, c.silent)
				if c.resign {
					awaitTurn(t, x)
					x.Resign(0)
				}
				began := time.Now()
				r := w.kept(x)
				if took := time.Since(began); c.want == fault.Late && took != limits.Move {
					t.Errorf("the person is late after %v, with %v a move", took, limits.Move)
				}
				switch {
				case c.want == "" && (len(r.Faults) > 0 || len(r.Moves) != 40):
					t.Errorf("%d moves, faults %v", len(r.Moves), r.Faults)
				case c.want != "" && (len(r.Faults) != 1 || r.Faults[0].Reason.Kind != c.want || r.Faults[0].Seat != 0):
					t.Errorf("the faults are %v, want %s", r.Faults, c.want)
				}
				if r.Match.Seed == nil || *r.Match.Seed != referee.Hex(x.Seed) || r.Commitment != referee.Commitment(x.Seed) {
					t.Errorf("the seed is %v, of the commitment %v", r.Match.Seed, r.Commitment)
				}
				bot, err := w.Store.Bots.Find(t.Context(), "@greedy")
				w.must(err)
				record, err := w.Store.Plays.RecordAgainstPeople(t.Context(), bot.ID)
				w.must(err)
				if alone := len(r.Seats) == 2; record.Games != 1 || c.want != "" && alone && record.Wins != 1 { // of two others either may win
					t.Errorf("the record against people is %+v", record)
				}
				if c.want != "" && r.Ranks[0] != slices.Max(r.Ranks) {
					t.Errorf("who forfeits is not the last: the ranks are %v", r.Ranks)
				}
			})
		})
	}
}

// If a house bot fails, the game is broken, and the bot is named as the cause.
func TestHouseFails(t *testing.T) {
	inWorld(t, limits, func(t *testing.T, w *world) {
		resolve := w.Resolve
		w.Resolve = func(ctx context.Context, v ladder.Version) (match.Contestant, error) {
			b, err := resolve(ctx, v)
			b.Serve = func(in io.Reader, out io.Writer) error {
				io.WriteString(out, "ready\nmove\n")
				io.Copy(io.Discard, in)
				return nil
			}
			return b, err
		}
		x, err := w.Open(t.Context(), guest(1, "10.0.0.1"), brisca)
		w.must(err)
		sit(w, x, 0)
		<-x.Done()
		p, err := w.Store.Plays.Find(t.Context(), x.ID)
		w.must(err)
		if cause, bot := p.BreakReason.Cause(); p.State != ladder.PlayBroken || cause != ladder.BrokenByBot || bot != x.Seats[1].Version.Bot || p.Seats[0].Session != 1 {
			t.Errorf("the game of session %d is %s by %q", p.Seats[0].Session, p.State, p.BreakReason)
		}
	})
}

// A house bot that is late loses, and the game is stored.
func TestHouseLate(t *testing.T) {
	inWorld(t, limits, func(t *testing.T, w *world) {
		resolve := w.Resolve
		w.Resolve = func(ctx context.Context, v ladder.Version) (match.Contestant, error) {
			b, err := resolve(ctx, v)
			b.Serve = func(in io.Reader, out io.Writer) error {
				io.WriteString(out, "ready\n")
				io.Copy(io.Discard, in)
				return nil
			}
			return b, err
		}
		x, err := w.Open(t.Context(), guest(1, "10.0.0.1"), brisca)
		w.must(err)
		sit(w, x, 0)
		if r := w.kept(x); len(r.Faults) != 1 || r.Faults[0].Reason.Kind != fault.Late || r.Faults[0].Seat != 1 {
			t.Errorf("the faults are %v", r.Faults)
		}
		if p, err := w.Store.Plays.Find(t.Context(), x.ID); err != nil || p.State != ladder.PlayFinished {
			t.Errorf("the game is %q, %v", p.State, err)
		}
	})
}

// A person who loses the connection and stays away forfeits. If a person never connects, there is no game.
func TestAway(t *testing.T) {
	l := limits
	l.Move = time.Hour
	inWorld(t, l, func(t *testing.T, w *world) {
		never, err := w.Open(t.Context(), guest(1, "10.0.0.1"), brisca)
		w.must(err)
		away, err := w.Open(t.Context(), guest(2, "10.0.0.2"), two)
		w.must(err)
		_, err = w.ClaimSeat(t.Context(), away, guest(3, "10.0.0.3"))
		w.must(err)
		sitAt(w, away, 1, 0)
		near, far := w.pipes()
		go away.Attach(0, near)
		far.Send(socket.Frame{Lines: []string{"ready"}})
		awaitTurn(t, away)
		far.Close("")
		if r := w.kept(away); len(r.Faults) != 1 || r.Faults[0].Reason.Kind != fault.ConnectionLost {
			t.Errorf("the faults are %v", r.Faults)
		}
		<-never.Done()
		if p, err := w.Store.Plays.Find(t.Context(), never.ID); err != nil || p.State != ladder.PlayBroken || p.BreakReason != ladder.BrokenByNobody {
			t.Errorf("the game that nobody came to is %q by %q, %v", p.State, p.BreakReason, err)
		}
	})
}

// A person who plays against bots alone and has no clock may be away for hours. Then the game ends without a result, and
// before that if another game needs its place.
func TestSolo(t *testing.T) {
	inWorld(t, limits, func(t *testing.T, w *world) {
		open := func(session int64) *play.Table {
			x, err := w.Open(t.Context(), guest(session, fmt.Sprintf("10.0.0.%d", session)), brisca)
			w.must(err)
			near, far := w.pipes()
			go x.Attach(0, near)
			far.Send(socket.Frame{Lines: []string{"ready"}})
			awaitTurn(t, x)
			far.Close("")
			return x
		}
		x := open(1)
		if left, ok := x.TimeLeft(0); ok || x.MoveLimit() != 0 || x.SeatViews()[0].HasClock {
			t.Errorf("the person has %v left", left)
		}
		if got := x.StateFor(0); got != "turn" {
			t.Errorf("the state for the person who is to move is %q", got)
		}
		time.Sleep(limits.Idle - time.Second)
		select {
		case <-x.Done():
			t.Fatal("the game ends before its time")
		default:
		}
		if got := w.broken(x); got != ladder.BrokenByIdling {
			t.Errorf("the game is broken by %q", got)
		}
		long := open(2)
		time.Sleep(limits.Spare - time.Second)
		open(3)
		open(4)
		_, err := w.Open(t.Context(), guest(5, "10.0.0.5"), brisca)
		wantError(t, err, ladder.TooMany, "the limit is 3 games at the same time")
		time.Sleep(2 * time.Second)
		open(5)
		if got := w.broken(long); got != ladder.BrokenByIdling {
			t.Errorf("the game that waits longest is broken by %q", got)
		}
	})
}

// Each limit is exceeded while other games continue.
func TestLimits(t *testing.T) {
	// limit: play.games
	inWorld(t, limits, func(t *testing.T, w *world) {
		open := func(who service.Actor, c play.Choice) (*play.Table, error) { return w.Open(t.Context(), who, c) }
		a, b, c := guest(1, "10.0.0.1"), guest(2, "10.0.0.1"), guest(3, "10.0.0.3")
		first, err := open(a, brisca)
		w.must(err)
		_, err = open(b, brisca)
		w.must(err)
		_, err = open(b, brisca)
		wantError(t, err, ladder.TooMany, "the limit for one address is 2 games at the same time")
		far := a
		far.Address = netip.MustParseAddr("10.0.0.2")
		_, err = open(far, brisca)
		w.must(err)
		far.Address = netip.MustParseAddr("10.0.0.4")
		_, err = open(far, brisca)
		wantError(t, err, ladder.TooMany, "the limit for one person is 2 games at the same time")
		_, err = open(c, brisca)
		wantError(t, err, ladder.TooMany, "the limit is 3 games at the same time")
		_, err = open(c, play.Choice{Game: "podrida", Options: map[string]string{"players": "6"}, OtherPlayers: []string{"@greedy"}})
		wantError(t, err, ladder.Invalid, "the bots of this game may need 480 MiB")
		sit(w, first, 0)
		if r := w.kept(first); len(r.Faults) > 0 {
			t.Errorf("the faults are %v", r.Faults)
		}
		_, err = open(c, play.Choice{Game: "podrida", Options: map[string]string{"players": "4"}, OtherPlayers: []string{"@greedy"}})
		wantError(t, err, ladder.Unavailable, "no memory for the bots")
		_, err = open(c, brisca)
		w.must(err)
	})
}

// Guests leave the last quarter of the games to people with an account, but sit down at tables of people.
func TestGuestsLeaveGames(t *testing.T) {
	l := limits
	l.Games, l.Memory = 4, 0
	inWorld(t, l, func(t *testing.T, w *world) {
		for n := range int64(3) {
			_, err := w.Open(t.Context(), guest(n+1, fmt.Sprintf("10.0.0.%d", n+1)), two)
			w.must(err)
		}
		_, err := w.Open(t.Context(), guest(4, "10.0.0.4"), two)
		wantError(t, err, ladder.TooMany, "the limit is 3 games at the same time")
		p := kit.Get[ladder.Person](t)(w.Store.People.Add(t.Context(), "anna", false))
		x, err := w.Open(t.Context(), service.Actor{Person: p, Address: netip.MustParseAddr("10.0.0.4")}, two)
		w.must(err)
		_, err = w.ClaimSeat(t.Context(), x, guest(4, "10.0.0.4"))
		w.must(err)
	})
}

// Thirty people behind one address play at the same time, each as many games as a single person may. A guest
// at that address has the limit of the address.
func TestClassBehindOneAddress(t *testing.T) {
	l := limits
	l.Games, l.Memory = 100, 0
	inWorld(t, l, func(t *testing.T, w *world) {
		near := guest(1, "10.0.0.1")
		for n := range 30 {
			p, err := w.Store.People.Add(t.Context(), fmt.Sprintf("pupil-%d", n), false)
			w.must(err)
			who := service.Actor{Person: p, Address: near.Address}
			for range limits.Person {
				_, err = w.Open(t.Context(), who, two)
				w.must(err)
			}
			who.Address = netip.MustParseAddr("10.0.0.2")
			_, err = w.Open(t.Context(), who, two)
			wantError(t, err, ladder.TooMany, "the limit for one person is 2 games at the same time")
		}
		for range limits.Address {
			_, err := w.Open(t.Context(), near, two)
			w.must(err)
			near.Session++
		}
		_, err := w.Open(t.Context(), near, two)
		wantError(t, err, ladder.TooMany, "the limit for one address is 2 games at the same time")
	})
}

// The games of a day are limited for a person and for an address without an account, also after a restart.
func TestGamesADay(t *testing.T) {
	// limit: play.day
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		dir := laddertest.Dir(t)
		w := newWorld(t, dir, limits)
		p, err := w.Store.People.Add(t.Context(), "anna", false)
		w.must(err)
		for name, who := range map[string]service.Actor{
			"within a day":                   {Person: p, Address: netip.MustParseAddr("10.0.0.2")},
			"from your address within a day": guest(1, "10.0.0.1"),
		} {
			for range limits.Day {
				x, err := w.Open(t.Context(), who, brisca)
				w.must(err)
				near, _ := w.pipes()
				x.Resign(0)
				go x.Attach(0, near)
				<-x.Done()
			}
			_, err := w.Open(t.Context(), who, brisca)
			wantError(t, err, ladder.TooMany, name)
			_, err = w.Open(t.Context(), guest(2, "10.0.0.3"), brisca) // others play
			w.must(err)
			w.stop()
			w = newWorld(t, dir, limits) // and a server that starts again remembers
			_, err = w.Open(t.Context(), who, brisca)
			wantError(t, err, ladder.TooMany, name)
		}
	})
}

// If a guest signs in during a game, the game becomes that of the person: in the limits, in the store and in
// its replay.
func TestGuestSignsIn(t *testing.T) {
	inWorld(t, limits, func(t *testing.T, w *world) {
		x, err := w.Open(t.Context(), guest(1, "10.0.0.1"), brisca)
		w.must(err)
		p, err := w.Store.People.Add(t.Context(), "anna", false)
		w.must(err)
		w.ClaimGuestGames(t.Context(), service.Actor{Person: p, Session: 1, Address: netip.MustParseAddr("10.0.0.1")})
		away := service.Actor{Person: p, Address: netip.MustParseAddr("10.0.0.2")}
		if seat := x.Seat(away); seat != 0 {
			t.Errorf("the person has seat %d", seat)
		}
		_, err = w.Open(t.Context(), away, brisca)
		w.must(err)
		_, err = w.Open(t.Context(), away, brisca)
		wantError(t, err, ladder.TooMany, "the limit for one person is 2 games at the same time")
		sit(w, x, 0)
		if r := w.kept(x); r.Seats[0].Name != "anna" {
			t.Errorf("in the replay the person is %q", r.Seats[0].Name)
		}
		if list, err := w.Store.Plays.ListByPerson(t.Context(), p.ID, false, 0, 10); err != nil || len(list) != 2 {
			t.Errorf("the person's games are %+v, %v", list, err)
		}
	})
}

// A guest gets a session together with the first table, and not before.
func TestNewGuest(t *testing.T) {
	inWorld(t, limits, func(t *testing.T, w *world) {
		who := service.Actor{Address: netip.MustParseAddr("10.0.0.1")}
		for range limits.Address {
			x, key, err := w.Tables.Open(t.Context(), who, brisca)
			w.must(err)
			session, _, _, err := w.Store.Sessions.Find(t.Context(), key)
			w.must(err)
			if seat := x.Seat(service.Actor{Session: session.ID}); seat != 0 {
				t.Errorf("the guest has seat %d", seat)
			}
		}
		_, key, err := w.Tables.Open(t.Context(), who, brisca)
		wantError(t, err, ladder.TooMany, "the limit for one address is 2")
		if key != "" {
			t.Errorf("who is refused has the key %q", key)
		}
	})
}

// A server that stops ends its games without a result. Games of a server that was killed are ended by the next one.
func TestRestart(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		dir := laddertest.Dir(t)
		w := newWorld(t, dir, limits)
		x, err := w.Open(t.Context(), guest(1, "10.0.0.1"), brisca)
		w.must(err)
		near, far := w.pipes()
		go x.Attach(0, near)
		far.Send(socket.Frame{Lines: []string{"ready"}})
		awaitTurn(t, x)
		killed := ladder.Play{ID: "KILLED", Game: "brisca", Options: map[string]string{}, Commitment: strings.Repeat("0", 64), Seats: []ladder.PlaySeat{{}}}
		_, _, err = w.Store.Plays.Add(t.Context(), killed, netip.Addr{}, 0, false)
		w.must(err)
		w.stop()
		w = newWorld(t, dir, limits)
		for _, id := range []string{x.ID, killed.ID} {
			if p, err := w.Store.Plays.Find(t.Context(), id); err != nil || p.State != ladder.PlayBroken || p.BreakReason != ladder.BrokenByStop {
				t.Errorf("the game is %q by %q, %v", p.State, p.BreakReason, err)
			}
		}
		bot, err := w.Store.Bots.Find(t.Context(), "@greedy")
		w.must(err)
		if r, err := w.Store.Plays.RecordAgainstPeople(t.Context(), bot.ID); err != nil || r.Games != 0 {
			t.Errorf("the record against people is %+v, %v", r, err)
		}
	})
}

// The limits of people's connections are those of the configuration.
func TestSocket(t *testing.T) {
	t.Parallel()
	l := limits
	l.Frames, l.Silence = 10, 4*time.Second
	s := play.New(play.Options{Limits: l}).SocketLimits()
	if s.Frames != 10 || s.Burst != 40 || s.Silence != 4*time.Second || s.Frame != socket.DefaultLimits.Frame {
		t.Errorf("the limits are %+v", s)
	}
}
