package play_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/laddertest"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/web/play"
	"github.com/timba-arena/timba/web/socket"
)

// four is a game of two people, who are partners, and two bots.
var four = play.Choice{
	Game: "brisca", Options: map[string]string{"players": "4", "teams": "yes"}, OtherPlayers: []string{"@greedy", play.Invited, "@greedy"},
}

// two is a game of two people.
var two = play.Choice{Game: "brisca", OtherPlayers: []string{play.Invited}}

// broken returns why a game was broken.
func (w *world) broken(x *play.Table) ladder.BreakReason {
	w.t.Helper()
	<-x.Done()
	p, err := w.Store.Plays.Find(w.t.Context(), x.ID)
	w.must(err)
	return p.BreakReason
}

// The other players sit at the seats after that of the person who opens the table. In teams the second of
// them is the partner.
func TestPartner(t *testing.T) {
	inWorld(t, limits, func(t *testing.T, w *world) {
		for seat := range 4 {
			c := four
			c.Seat, c.Bank = seat, play.Banks[0]
			who := guest(int64(seat+1), "10.0.0.1")
			x := kit.Get[*play.Table](t)(w.Open(t.Context(), who, c))
			shown := x.SeatViews()
			if next, partner, third := shown[(seat+1)%4], shown[(seat+2)%4], shown[(seat+3)%4]; !next.Bot || !partner.Free || !third.Bot {
				t.Errorf("who opens seat %d has %+v", seat, shown)
			}
			if left := shown[seat].TimeLeft; left != c.Bank {
				t.Errorf("before the game begins who opens seat %d has %v left", seat, left)
			}
			w.must(x.Cancel(who))
		}
	})
}

// A table waits until a second person has claimed a seat by its link. The game is then listed for both, counts in
// the limits of both, and its replay names both. The people are partners, so the bots get no record.
func TestPeople(t *testing.T) {
	inWorld(t, limits, func(t *testing.T, w *world) {
		var who []service.Actor
		for i, name := range []string{"anna", "berta", "carla"} {
			p := kit.Get[ladder.Person](t)(w.Store.People.Add(t.Context(), name, false))
			who = append(who, service.Actor{Person: p, Address: netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)})})
		}
		x := kit.Get[*play.Table](t)(w.Open(t.Context(), who[0], four))
		if shown := x.SeatViews(); !x.Waiting() || shown[0].Name != "anna" || !shown[1].Bot || !shown[2].Free || shown[3].Name != "@greedy" {
			t.Errorf("the table that waits has %+v", shown)
		}
		time.Sleep(limits.Wait - time.Second)
		for range 2 { // the second time she sits there already
			_, err := w.ClaimSeat(t.Context(), x, who[1])
			w.must(err)
		}
		if seat := x.Seat(who[1]); seat != 2 || x.Waiting() {
			t.Errorf("the second person has seat %d, and the table waits: %t", seat, x.Waiting())
		}
		_, err := w.ClaimSeat(t.Context(), x, who[2])
		wantError(t, err, ladder.Conflict, "no seat of this table is free")
		sitAt(w, x, 0, 0)
		sitAt(w, x, 2, 0)
		r := w.kept(x)
		if r.Seats[0].Name != "anna" || r.Seats[1].Name != "@greedy" || r.Seats[2].Name != "berta" || r.Seats[3].Name != "@greedy#2" || len(r.Moves) != 40 {
			t.Errorf("the replay has the seats %+v", r.Seats)
		}
		for _, one := range who[:2] {
			list, err := w.Store.Plays.ListByPerson(t.Context(), one.Person.ID, false, 0, 10)
			w.must(err)
			if len(list) != 1 || len(list[0].People()) != 2 || len(list[0].Bots()) != 2 || list[0].People()[1].Record.Games != 1 {
				t.Errorf("the games of %s are %+v", one.Person.Name, list)
			}
		}
	})
}

// A table ends without a result when it has waited for too long, when the person who has opened it cancels
// it, and when a person who has claimed a seat does not connect.
func TestPeopleDoNotCome(t *testing.T) {
	inWorld(t, limits, func(t *testing.T, w *world) {
		waits := kit.Get[*play.Table](t)(w.Open(t.Context(), guest(1, "10.0.0.1"), two))
		cancelled := kit.Get[*play.Table](t)(w.Open(t.Context(), guest(2, "10.0.0.2"), two))
		absent := kit.Get[*play.Table](t)(w.Open(t.Context(), guest(3, "10.0.0.3"), two))
		key, err := w.ClaimSeat(t.Context(), absent, service.Actor{Address: netip.MustParseAddr("10.0.0.4")})
		w.must(err)
		if session, _, _, err := w.Store.Sessions.Find(t.Context(), key); err != nil || absent.Seat(service.Actor{Session: session.ID}) != 1 {
			t.Errorf("the guest who has come has no session: %v", err)
		}
		sitAt(w, absent, 0, 0)
		wantError(t, cancelled.Cancel(guest(1, "10.0.0.1")), ladder.Forbidden, "only who has opened a table can cancel it")
		wantError(t, absent.Cancel(guest(3, "10.0.0.3")), ladder.Conflict, "this game has begun")
		w.must(cancelled.Cancel(guest(2, "10.0.0.2")))
		for x, want := range map[*play.Table]ladder.BreakReason{waits: ladder.BrokenByWait, cancelled: ladder.BrokenByCancel, absent: ladder.BrokenByAbsence} {
			if got := w.broken(x); got != want {
				t.Errorf("a game is broken by %q, want %q", got, want)
			}
		}
		_, err = w.ClaimSeat(t.Context(), cancelled, guest(5, "10.0.0.5"))
		if err == nil {
			t.Error("somebody sits down at a table that is gone")
		}
	})
}

// Tables that wait count in the limits of a person, of an address and in total. So do tables at which a
// person has claimed a seat by a link.
func TestOpenTablesLimits(t *testing.T) {
	l := limits
	l.Games, l.Day = 5, 10
	inWorld(t, l, func(t *testing.T, w *world) {
		a, b, c := guest(1, "10.0.0.1"), guest(2, "10.0.0.2"), guest(3, "10.0.0.3")
		first := kit.Get[*play.Table](t)(w.Open(t.Context(), a, two))
		second := kit.Get[*play.Table](t)(w.Open(t.Context(), a, two))
		_, err := w.Open(t.Context(), a, two)
		wantError(t, err, ladder.TooMany, "the limit for one person is 2 games at the same time")
		for _, x := range []*play.Table{first, second} {
			_, err := w.ClaimSeat(t.Context(), x, b)
			w.must(err)
		}
		_, err = w.Open(t.Context(), guest(4, "10.0.0.2"), two)
		wantError(t, err, ladder.TooMany, "the limit for one address is 2 games at the same time")
		third := kit.Get[*play.Table](t)(w.Open(t.Context(), c, two))
		_, err = w.ClaimSeat(t.Context(), third, b)
		wantError(t, err, ladder.TooMany, "the limit for one person is 2 games at the same time")
		if seat := third.Seat(b); seat >= 0 || !third.Waiting() {
			t.Errorf("who is refused has seat %d", seat)
		}
		_, err = w.ClaimSeat(t.Context(), third, guest(5, "10.0.0.5"))
		w.must(err)
	})
}

// Games in which a person has claimed a seat by a link count in the limit of games a day.
func TestSittingCountsInADay(t *testing.T) {
	inWorld(t, limits, func(t *testing.T, w *world) {
		b := guest(2, "10.0.0.2")
		for range limits.Day {
			x := kit.Get[*play.Table](t)(w.Open(t.Context(), guest(1, "10.0.0.1"), two))
			_, err := w.ClaimSeat(t.Context(), x, b)
			w.must(err)
			near, _ := w.pipes()
			x.Resign(0)
			go x.Attach(0, near)
			near, _ = w.pipes()
			go x.Attach(1, near)
			<-x.Done()
		}
		x := kit.Get[*play.Table](t)(w.Open(t.Context(), guest(3, "10.0.0.3"), two))
		_, err := w.ClaimSeat(t.Context(), x, b)
		wantError(t, err, ladder.TooMany, "games were begun from your address within a day")
		if seat := x.Seat(b); seat >= 0 || !x.Waiting() {
			t.Errorf("who is refused has seat %d", seat)
		}
	})
}

// A person with a bank loses when it is empty, and not before. The others see how much is left, and who is absent.
func TestBank(t *testing.T) {
	inWorld(t, limits, func(t *testing.T, w *world) {
		c := two
		c.Bank = time.Hour
		_, err := w.Open(t.Context(), guest(1, "10.0.0.1"), c)
		wantError(t, err, ladder.Invalid, "the time of a person cannot be 1h0m0s")
		c.Bank = play.Banks[0]
		x := kit.Get[*play.Table](t)(w.Open(t.Context(), guest(1, "10.0.0.1"), c))
		_, err = w.ClaimSeat(t.Context(), x, guest(2, "10.0.0.2"))
		w.must(err)
		near, far := w.pipes()
		go x.Attach(0, near)
		far.Send(socket.Frame{Lines: []string{"ready"}})
		sitAt(w, x, 1, 0)
		awaitTurn(t, x)
		began := time.Now()
		time.Sleep(time.Minute)
		if left, ok := x.TimeLeft(0); !ok || left != c.Bank-time.Minute {
			t.Errorf("the person has %v left, %t", left, ok)
		}
		far.Close("")
		bubble.Settle()
		shown := x.SeatViews()
		if !shown[0].Absent || shown[1].Absent || !shown[0].Turn || shown[0].TimeLeft != c.Bank || !shown[0].Until.Equal(began.Add(c.Bank)) {
			t.Errorf("the seats are %+v", shown)
		}
		near, far = w.pipes()
		go x.Attach(0, near)
		far.Send(socket.Frame{Ack: 0})
		r := w.kept(x)
		if took := time.Since(began); took < c.Bank || took > c.Bank+2*time.Second {
			t.Errorf("the game lasts %v", took)
		}
		if len(r.Faults) != 1 || r.Faults[0].Seat != 0 || r.Faults[0].Reason.Kind != fault.LateBank {
			t.Errorf("the faults are %v", r.Faults)
		}
	})
}

// A rematch reserves the seats for those who have played, also for a guest who has signed in meanwhile.
func TestKeptSeats(t *testing.T) {
	inWorld(t, limits, func(t *testing.T, w *world) {
		a, b := guest(1, "10.0.0.1"), guest(2, "10.0.0.2")
		c := two
		c.After, c.ReservedFor = "BEFORE", map[int]service.Actor{1: b}
		x := kit.Get[*play.Table](t)(w.Open(t.Context(), a, c))
		if w.Rematch("BEFORE") != x || w.Rematch("OTHER") != nil {
			t.Error("the rematch is not found")
		}
		if other := x.SeatViews()[1]; !other.Free || !other.Reserved || other.ReservedFor != "" {
			t.Errorf("a seat that is kept for a guest is shown as %+v", other)
		}
		_, err := w.ClaimSeat(t.Context(), x, guest(3, "10.0.0.3"))
		wantError(t, err, ladder.Conflict, "no seat of this table is free")
		_, err = w.ClaimSeat(t.Context(), x, b)
		w.must(err)
		if w.Rematch("BEFORE") != nil {
			t.Error("the rematch is offered though all have come")
		}
		x.Resign(0)
		for seat := range 2 {
			near, _ := w.pipes()
			go x.Attach(seat, near)
		}
		if r := w.kept(x); r.Seats[0].Name != "guest" || r.Seats[1].Name != "guest#2" {
			t.Errorf("the replay has the seats %+v", r.Seats)
		}
	})
}

// A person for whom a seat is reserved may decline, which ends the table.
func TestDecline(t *testing.T) {
	inWorld(t, limits, func(t *testing.T, w *world) {
		a, b := guest(1, "10.0.0.1"), guest(2, "10.0.0.2")
		c := two
		c.ReservedFor = map[int]service.Actor{1: b}
		x := kit.Get[*play.Table](t)(w.Open(t.Context(), a, c))
		wantError(t, x.Cancel(guest(3, "10.0.0.3")), ladder.Forbidden, "only who has opened a table can cancel it")
		w.must(x.Cancel(b))
		if why := w.broken(x); why != ladder.BrokenByRefusal || len(w.Offers(b)) > 0 {
			t.Errorf("the game was broken by %q, and %d tables wait for who declined", why, len(w.Offers(b)))
		}
	})
}

// Each person gets the moves of others at once, and sees the table before the first turn.
func TestFollows(t *testing.T) {
	inWorld(t, limits, func(t *testing.T, w *world) {
		x := kit.Get[*play.Table](t)(w.Open(t.Context(), guest(1, "10.0.0.1"), two))
		_, err := w.ClaimSeat(t.Context(), x, guest(2, "10.0.0.2"))
		w.must(err)
		var ends []pipe
		for seat := range 2 {
			near, far := w.pipes()
			go x.Attach(seat, near)
			far.Send(socket.Frame{Lines: []string{"ready"}})
			ends = append(ends, far)
		}
		// lines returns what a seat gets until nothing more comes.
		lines := func(seat int) (text string) {
			for {
				bubble.Settle()
				select {
				case f := <-ends[seat].in:
					text += strings.Join(append(f.Lines, ""), "\n")
				default:
					return text
				}
			}
		}
		mine, other := lines(0), lines(1)
		_, turn, _ := strings.Cut(mine, "\nturn ")
		if turn == "" || !strings.Contains(other, "\nview ") || !strings.HasSuffix(other, "\nwait 0\n") || strings.Contains(other, "turn ") {
			t.Fatalf("the one to move gets %q, the other %q", mine, other)
		}
		move := strings.Fields(turn)[2]
		ends[0].Send(socket.Frame{Number: 1, Lines: []string{"move " + move}})
		if other = lines(1); !strings.Contains(other, "event play 0 "+move+"\n") || !strings.Contains(other, "\nturn ") {
			t.Errorf("after the move the other gets %q", other)
		}
		if mine = lines(0); !strings.Contains(mine, "event play 0 "+move+"\nview ") || !strings.HasSuffix(mine, "\nwait 1\n") {
			t.Errorf("who has moved gets %q", mine)
		}
	})
}

// seen is a play.Watcher that records its calls.
type seen struct {
	positions atomic.Int64
	end       chan ladder.PlayState
}

func (s *seen) Position(*referee.Game)     { s.positions.Add(1) }
func (s *seen) End(state ladder.PlayState) { s.end <- state }

// A watcher sees each position of a game once all seats are taken, and the end of the game. It sees nothing
// of a table that waits.
func TestWatch(t *testing.T) {
	inWorld(t, limits, func(t *testing.T, w *world) {
		var watched []*seen
		w.NewWatcher = func(*play.Table) play.Watcher {
			watched = append(watched, &seen{end: make(chan ladder.PlayState, 1)})
			return watched[len(watched)-1]
		}
		waits := kit.Get[*play.Table](t)(w.Open(t.Context(), guest(1, "10.0.0.1"), two))
		x := kit.Get[*play.Table](t)(w.Open(t.Context(), guest(2, "10.0.0.2"), two))
		bubble.Settle()
		if len(watched) > 0 {
			t.Error("a table that waits is watched")
		}
		_, err := w.ClaimSeat(t.Context(), x, guest(3, "10.0.0.3"))
		w.must(err)
		sitAt(w, x, 0, 0)
		sitAt(w, x, 1, 0)
		<-x.Done()
		if end := <-watched[0].end; end != ladder.PlayFinished || watched[0].positions.Load() != 42 { // and the end
			t.Errorf("who watches sees %d positions, and that it is %s", watched[0].positions.Load(), end)
		}
		_, err = w.ClaimSeat(t.Context(), waits, guest(3, "10.0.0.3"))
		w.must(err)
		<-waits.Done() // as nobody comes
		if end := <-watched[1].end; end != ladder.PlayBroken {
			t.Errorf("a game to which nobody comes is %s", end)
		}
	})
}

// A person who claims a seat twice at the same time has one seat.
func TestSitOnce(t *testing.T) {
	l := limits
	l.Day = 0
	inWorld(t, l, func(t *testing.T, w *world) {
		four := play.Choice{Game: "brisca", Options: map[string]string{"players": "4"}, OtherPlayers: []string{play.Invited}}
		for range 40 {
			x := kit.Get[*play.Table](t)(w.Open(t.Context(), guest(1, "10.0.0.1"), four))
			begin, done := make(chan struct{}), make(chan error)
			for range 50 {
				go func() {
					<-begin
					_, err := w.ClaimSeat(t.Context(), x, guest(2, "10.0.0.2"))
					done <- err
				}()
			}
			close(begin)
			for range 50 {
				w.must(<-done)
			}
			if n := len(x.People()); n != 2 {
				t.Fatalf("two people have %d seats", n)
			}
			w.must(x.Cancel(guest(1, "10.0.0.1")))
		}
	})
}

// Two people who offer each other a rematch at the same moment share one table, and nobody sees it before it
// is stored.
func TestOneRematch(t *testing.T) {
	inWorld(t, limits, func(t *testing.T, w *world) {
		a, b := guest(1, "10.0.0.1"), guest(2, "10.0.0.2")
		resolve, ready := w.Resolve, make(chan struct{})
		w.Resolve = func(ctx context.Context, v ladder.Version) (match.Contestant, error) {
			<-ready
			return resolve(ctx, v)
		}
		rematch := func(seat int, other service.Actor) play.Choice {
			c := four
			c.Seat, c.After, c.ReservedFor = seat, "BEFORE", map[int]service.Actor{(seat + 2) % 4: other}
			return c
		}
		var tables [2]*play.Table
		var opened sync.WaitGroup
		opened.Go(func() { tables[0] = kit.Get[*play.Table](t)(w.Open(t.Context(), a, rematch(0, b))) })
		bubble.Settle()
		if len(w.TablesOf(a)) > 0 || w.Rematch("BEFORE") != nil {
			t.Error("a table is seen before it is kept")
		}
		opened.Go(func() { tables[1] = kit.Get[*play.Table](t)(w.Open(t.Context(), b, rematch(2, a))) })
		bubble.Settle()
		close(ready)
		opened.Wait()
		if x := tables[0]; x != tables[1] || x.Waiting() || x.Seat(a) != 0 || x.Seat(b) != 2 {
			t.Errorf("the tables are %p and %p", tables[0], tables[1])
		}
	})
}

// A rematch that cannot be opened does not prevent the next one.
func TestRematchFails(t *testing.T) {
	inWorld(t, limits, func(t *testing.T, w *world) {
		resolve, fail := w.Resolve, make(chan error)
		w.Resolve = func(ctx context.Context, v ladder.Version) (match.Contestant, error) {
			if err := <-fail; err != nil {
				return match.Contestant{}, err
			}
			return resolve(ctx, v)
		}
		c := four
		c.After, c.ReservedFor = "BEFORE", map[int]service.Actor{2: guest(2, "10.0.0.2")}
		failed, opened := make(chan error, 1), make(chan *play.Table, 1)
		go func() {
			_, err := w.Open(t.Context(), guest(1, "10.0.0.1"), c)
			failed <- err
		}()
		bubble.Settle()
		go func() { opened <- kit.Get[*play.Table](t)(w.Open(t.Context(), guest(2, "10.0.0.2"), c)) }()
		bubble.Settle()
		fail <- errors.New("the disk is broken")
		if err := <-failed; err == nil {
			t.Error("a bot that cannot be resolved plays")
		}
		close(fail)
		if x := <-opened; w.Rematch("BEFORE") != x || x.Seat(guest(2, "10.0.0.2")) != 0 {
			t.Error("who comes next does not open the rematch")
		}
	})
}

// A database that does not answer does not block other people.
func TestBlockedUnknown(t *testing.T) {
	inWorld(t, limits, func(t *testing.T, w *world) {
		options := store.Options{Server: true, NoSync: true}
		good, closed := w.Store, kit.Get[*store.Store](t)(store.Open(laddertest.Dir(t), options))
		w.must(closed.Close())
		p := kit.Get[ladder.Person](t)(good.People.Add(t.Context(), "anna", false))
		anna := service.Actor{Person: p, Address: netip.MustParseAddr("10.0.0.1")}
		x := kit.Get[*play.Table](t)(w.Open(t.Context(), anna, two))
		_, err := w.ClaimSeat(t.Context(), x, guest(2, "10.0.0.2"))
		w.must(err)
		bubble.Settle()
		w.Tables.Store = closed
		good.Events().Publish(events.Event{Kind: events.AccessEnded, Person: p.ID})
		bubble.Settle()
		w.Tables.Store = good
		if x.HasResigned(0) {
			t.Error("somebody has resigned who is not blocked")
		}
		w.must(good.People.SetBlocked(t.Context(), p.ID, true))
		bubble.Settle()
		if !x.HasResigned(0) {
			t.Error("somebody who is blocked plays on")
		}
	})
}

// The connection of a person who has resigned ends when the client closes it, not only when the game of the
// others ends.
func TestResignedLeaves(t *testing.T) {
	inWorld(t, limits, func(t *testing.T, w *world) {
		x := kit.Get[*play.Table](t)(w.Open(t.Context(), guest(1, "10.0.0.1"), two))
		_, err := w.ClaimSeat(t.Context(), x, guest(2, "10.0.0.2"))
		w.must(err)
		x.Resign(1)
		near, far := w.pipes()
		left := make(chan error, 1)
		go func() { left <- x.Attach(1, near) }()
		far.Send(socket.Frame{})
		bubble.Settle()
		select {
		case <-left:
			t.Error("the connection ends before the game")
		default:
		}
		gone := time.Now()
		far.Close("")
		if <-left; time.Since(gone) != 0 {
			t.Errorf("the connection ends %v after it is gone", time.Since(gone))
		}
	})
}

// All see which seat has forfeited while the others play on.
func TestForfeited(t *testing.T) {
	inWorld(t, limits, func(t *testing.T, w *world) {
		c := play.Choice{
			Game: "brisca", Options: map[string]string{"players": "4"}, OtherPlayers: []string{play.Invited, "@greedy", "@greedy"},
		}
		x := kit.Get[*play.Table](t)(w.Open(t.Context(), guest(1, "10.0.0.1"), c))
		_, err := w.ClaimSeat(t.Context(), x, guest(2, "10.0.0.2"))
		w.must(err)
		var changes atomic.Int64
		w.OnChange = func(string) { changes.Add(1) }
		sitAt(w, x, 0, 2)
		sitAt(w, x, 1, 1)
		bubble.Settle()
		if shown := x.SeatViews(); shown[1].Forfeited {
			t.Errorf("before the fault the seats are %+v", shown)
		}
		before := changes.Load()
		time.Sleep(limits.Move)
		bubble.Settle()
		if shown := x.SeatViews(); shown[0].Forfeited || !shown[1].Forfeited || changes.Load() == before {
			t.Errorf("after the fault the seats are %+v", shown)
		}
		select {
		case <-x.Done():
			t.Error("the game is over")
		default:
		}
	})
}

// When no more events arrive, as after the end of the runner, the games continue, and Run does not poll the store.
func TestNoEvents(t *testing.T) {
	inWorld(t, limits, func(t *testing.T, w *world) {
		x := kit.Get[*play.Table](t)(w.Open(t.Context(), guest(1, "10.0.0.1"), brisca))
		w.Store.Events().Close()
		bubble.Settle()
		sit(w, x, 0)
		if r := w.kept(x); len(r.Faults) > 0 {
			t.Errorf("the faults are %v", r.Faults)
		}
	})
}
