package live

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/web/socket"
)

// match is a match in progress, or a game of people. Who plays it leaves each position in positions. A goroutine that
// runs while somebody watches takes the newest from there, so that the match does not wait.
type match struct {
	hub       *Hub
	info      Game
	variant   *rules.Variant
	deals     int // of a match
	listed    bool
	moved     func()      // is called when somebody begins or ends to watch
	ended     atomic.Bool // no more positions come, perhaps for a while
	positions positions

	sending  sync.Mutex // guards what follows
	watchers map[*subscriber]struct{}
	shown    *feed           // nil while nobody watches
	whole    *socket.Message // all that the feed has
	stop     context.CancelFunc
	gone     bool // those who watched it have been told how it ended
}

// snapshot is the record of a game so far. A copy of it stays valid; see referee.Game. What
// bots say about their moves (ReplayMove.Info) is neither read nor safe to read.
type snapshot struct {
	number int // of the game, from 1; 0: none
	replay referee.Replay
	left   [rules.MaxSeats]time.Duration
	at     time.Time
	over   bool
}

func newMatch(h *Hub, info Game, v *rules.Variant) *match {
	return &match{
		hub: h, info: info, variant: v, watchers: map[*subscriber]struct{}{}, moved: func() {},
		positions: positions{added: make(chan struct{}, 1)},
	}
}

// Position stores a position. It allocates nothing.
func (m *match) Position(g *referee.Game) { m.positions.add(g) }

// positions hands the newest position of a match from the match, which adds positions, to the feed, which reads them.
type positions struct {
	added chan struct{} // receives after a position that an idle feed waits for

	mu       sync.Mutex
	newest   snapshot
	previous snapshot // the game before the newest one, if the feed has not come to its end
	feed     int      // the number of the game that the feed is at
	idle     bool     // the feed has everything
}

// add replaces the newest position.
func (p *positions) add(g *referee.Game) {
	p.mu.Lock()
	now := &p.newest
	over := g.Ended()
	first := len(g.Record.Moves) == 0 && !over
	if first || now.number == 0 || now.over || g.Record.Match != now.replay.Match || len(g.Record.Moves) < len(now.replay.Moves) {
		if now.over && p.feed == now.number {
			p.previous = *now
		}
		now.number++
	}
	now.replay, now.over, now.at = g.Record, over, time.Now()
	for seat := range g.Record.Seats {
		now.left[seat] = g.Left(seat)
	}
	idle := p.idle
	p.idle = false
	p.mu.Unlock()
	if idle {
		select {
		case p.added <- struct{}{}:
		default:
		}
	}
}

// next returns what the feed, which has so many moves of a game, shows next: the rest of that game, or the newest game.
func (p *positions) next(number, moves int, over bool) (s snapshot, news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s = p.newest
	if p.previous.number == number && number > 0 && !over {
		s = p.previous
	} else {
		p.previous = snapshot{}
	}
	p.feed = s.number
	news = s.number > 0 && (s.number != number || len(s.replay.Moves) > moves || s.over != over)
	p.idle = !news
	return s, news
}

// leave is called when there is no feed any more.
func (p *positions) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.feed, p.previous, p.idle = 0, snapshot{}, false
}

// end is called when no more positions come.
func (m *match) end() {
	m.ended.Store(true)
	m.hub.pages.move(topicGames)
}

// join makes a socket watch. It gets all positions of the game, or those that it lacks. It
// reports false if the match is over.
func (m *match) join(w *subscriber, a ask) bool {
	m.sending.Lock()
	defer m.sending.Unlock()
	if m.gone {
		return false
	}
	m.watchers[w] = struct{}{}
	m.moved()
	if m.shown == nil {
		m.shown, m.whole = &feed{match: m}, nil
		m.advance()
		ctx, cancel := context.WithCancel(context.Background())
		m.stop = cancel
		go m.run(ctx)
	}
	if len(m.shown.frames) == 0 {
		return true // it waits for a position
	}
	first := m.shown.base
	if a.Game == m.name(m.shown.number) && a.Ply >= m.shown.base && a.Ply <= m.shown.end() {
		first = a.Ply + 1
	}
	msg := m.whole
	if msg == nil || first != m.shown.base {
		var err error
		if msg, err = m.encode(first); err != nil {
			m.hub.Log.Error("live: a game cannot be encoded", "topic", m.info.Topic, "err", err)
			return true
		}
		if first == m.shown.base {
			m.whole = msg
		}
	}
	w.Put(msg)
	return true
}

func (m *match) leave(w *subscriber) {
	m.sending.Lock()
	defer m.sending.Unlock()
	delete(m.watchers, w)
	m.moved()
	m.rest()
}

// rest drops the feed if nobody watches.
func (m *match) rest() {
	if len(m.watchers) == 0 && m.shown != nil {
		m.stop()
		m.shown, m.whole = nil, nil
		m.positions.leave()
	}
}

// run sends what comes, at most Limits.Frames messages a second, and keeps the end of a game in
// sight for a while.
func (m *match) run(ctx context.Context) {
	pause := time.Second / time.Duration(m.hub.Limits.Frames)
	for {
		m.sending.Lock()
		if ctx.Err() != nil {
			m.sending.Unlock()
			return
		}
		before := m.shown.mark()
		news := m.advance()
		if news {
			m.broadcast(before)
		}
		wait := pause
		if m.shown.over {
			wait = m.hub.Hold
		}
		m.sending.Unlock()
		if !news {
			select {
			case <-ctx.Done():
				return
			case <-m.positions.added:
			}
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// advance brings the feed to the newest position, and reports whether there is one.
func (m *match) advance() bool {
	f := m.shown
	s, news := m.positions.next(f.number, f.end(), f.over)
	if !news {
		return false
	}
	if err := f.advance(s); err != nil {
		m.hub.Log.Error("live: a game cannot be shown", "topic", m.info.Topic, "err", err)
		*f = feed{match: m, number: s.number, failed: true}
		f.skip(s)
	}
	m.whole = nil
	return true
}

// broadcast sends what has been added to a feed that was in a state.
func (m *match) broadcast(before mark) {
	if m.shown.failed {
		return
	}
	first := m.shown.base
	if before.number == m.shown.number && before.end >= m.shown.base {
		first = before.end + 1
	}
	msg, err := m.encode(first)
	if err != nil {
		m.hub.Log.Error("live: a game cannot be encoded", "topic", m.info.Topic, "err", err)
		return
	}
	if first == m.shown.base {
		m.whole = msg
	}
	for w := range m.watchers {
		w.Put(msg)
	}
}

// encode returns the frames from first on as a message: with the head of the game if that is
// its base, and else as what follows.
func (m *match) encode(first int) (*socket.Message, error) {
	doc := m.shown.doc(first)
	doc.Topic, doc.At = m.info.Topic, m.name(m.shown.number)
	return socket.Encode(doc)
}

// name identifies a game of the match in this process.
func (m *match) name(number int) string { return fmt.Sprintf("%s-%d", m.hub.boot, number) }

// overDoc tells those who watch a match or a game of people that it is over: the state that it has now, "" if it
// does not exist.
type overDoc struct {
	Topic string `json:"topic"`
	Over  string `json:"over"`
}

// over tells those who watch how the match has ended.
func (m *match) over(state string) {
	msg, err := socket.Encode(overDoc{m.info.Topic, state})
	m.sending.Lock()
	defer m.sending.Unlock()
	if m.shown != nil && m.shown.number > 0 {
		before := m.shown.mark()
		for m.advance() { // to the end of the last game
			m.broadcast(before)
			before = m.shown.mark()
		}
	}
	m.gone = true
	for w := range m.watchers {
		if err == nil {
			w.Put(msg)
		}
		delete(m.watchers, w)
	}
	m.rest()
}
