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

// match is a match in progress or a game of people, while it can be watched. The goroutine that plays it stores each
// position in the field positions, without waiting. While somebody watches, another goroutine reads the newest
// position from there.
type match struct {
	hub              *Hub
	info             ListedGame
	variant          *rules.Variant
	deals            int // of a match; 0 for a game of people
	listed           bool
	onAudienceChange func()      // called when somebody starts or stops watching
	hasEnded         atomic.Bool // the last position has come, unless the match is tried again
	positions        positions

	sending     sync.Mutex // guards the fields below
	watchers    map[*subscriber]struct{}
	feed        *feed             // nil while nobody watches
	fullMessage *socket.Broadcast // everything that the feed has; nil if it is not encoded
	stop        context.CancelFunc
	closed      bool // the final state has been sent
}

// snapshot is the record of a game up to some position. A copy of the struct stays valid while the game goes on; see
// referee.Game. But the field Info of the moves in replay must not be read while the game goes on, because that is a
// data race.
type snapshot struct {
	number    int // counts the games of the match from 1; 0 before the first game
	replay    referee.Replay
	timeLeft  [rules.MaxSeats]time.Duration
	turnStart time.Time
	over      bool
}

func newMatch(h *Hub, info ListedGame, v *rules.Variant) *match {
	return &match{
		hub: h, info: info, variant: v, watchers: map[*subscriber]struct{}{}, onAudienceChange: func() {},
		positions: positions{wake: make(chan struct{}, 1)},
	}
}

// Position stores the current position of g as the newest one. It does not allocate memory.
func (m *match) Position(g *referee.Game) { m.positions.add(g) }

// positions passes the newest position of a match from one goroutine to another. The goroutine that plays the match
// calls add. The goroutine that sends the positions to watchers calls next.
type positions struct {
	wake chan struct{} // gets a value when a position arrives and the feed is idle

	mu       sync.Mutex
	newest   snapshot
	previous snapshot // end of the game before the newest one, unless the feed has reached it
	feed     int      // number of the game that the feed shows
	idle     bool     // the feed has the newest position and waits for wake
}

func (p *positions) add(g *referee.Game) {
	p.mu.Lock()
	now := &p.newest
	over := g.HasEnded()
	first := len(g.Record.Moves) == 0 && !over
	if first || now.number == 0 || now.over || g.Record.Match != now.replay.Match || len(g.Record.Moves) < len(now.replay.Moves) {
		if now.over && p.feed == now.number {
			p.previous = *now
		}
		now.number++
	}
	now.replay, now.over, now.turnStart = g.Record, over, time.Now()
	for seat := range g.Record.Seats {
		now.timeLeft[seat] = g.TimeLeft(seat)
	}
	idle := p.idle
	p.idle = false
	p.mu.Unlock()
	if idle {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
}

// next returns the next snapshot to show. The parameters describe what the watchers have seen: the number of the game
// in the match, the number of its moves, and whether they saw its end. If they did not see its end, the snapshot is
// of the same game, otherwise of the newest one. If there is nothing new, news is false.
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

func (p *positions) detachFeed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.feed, p.previous, p.idle = 0, snapshot{}, false
}

func (m *match) markEnded() {
	m.hasEnded.Store(true)
	m.hub.pages.markStale(topicGames)
}

// join adds w to the sockets that watch the match, and sends to w the positions that its page lacks. The message a
// says which positions the page has. join returns false if the match is over.
func (m *match) join(w *subscriber, a clientMessage) bool {
	m.sending.Lock()
	defer m.sending.Unlock()
	if m.closed {
		return false
	}
	m.watchers[w] = struct{}{}
	m.onAudienceChange()
	if m.feed == nil {
		m.feed, m.fullMessage = &feed{match: m}, nil
		m.advance()
		ctx, cancel := context.WithCancel(context.Background())
		m.stop = cancel
		go m.run(ctx)
	}
	if len(m.feed.frames) == 0 {
		return true // the socket waits for the first position
	}
	first := m.feed.base
	if a.Game == m.gameID(m.feed.number) && a.Ply >= m.feed.base && a.Ply <= m.feed.lastPly() {
		first = a.Ply + 1
	}
	msg := m.fullMessage
	if msg == nil || first != m.feed.base {
		var err error
		if msg, err = m.encode(first); err != nil {
			m.hub.Log.Error("live: a game cannot be encoded", "topic", m.info.Topic, "err", err)
			return true
		}
		if first == m.feed.base {
			m.fullMessage = msg
		}
	}
	w.Put(msg)
	return true
}

func (m *match) leave(w *subscriber) {
	m.sending.Lock()
	defer m.sending.Unlock()
	delete(m.watchers, w)
	m.onAudienceChange()
	m.dropIdleFeed()
}

func (m *match) dropIdleFeed() {
	if len(m.watchers) == 0 && m.feed != nil {
		m.stop()
		m.feed, m.fullMessage = nil, nil
		m.positions.detachFeed()
	}
}

// run sends new positions to the watchers until ctx ends, in at most Limits.Frames messages a second. After the end
// of a game it waits for Options.Hold before it shows the next one.
func (m *match) run(ctx context.Context) {
	pause := time.Second / time.Duration(m.hub.Limits.Frames)
	for {
		m.sending.Lock()
		if ctx.Err() != nil {
			m.sending.Unlock()
			return
		}
		before := m.feed.mark()
		news := m.advance()
		if news {
			m.broadcast(before)
		}
		wait := pause
		if m.feed.over {
			wait = m.hub.Hold
		}
		m.sending.Unlock()
		if !news {
			select {
			case <-ctx.Done():
				return
			case <-m.positions.wake:
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

// advance updates the feed to the newest position. It returns false if there is nothing new.
func (m *match) advance() bool {
	f := m.feed
	s, news := m.positions.next(f.number, f.lastPly(), f.over)
	if !news {
		return false
	}
	if err := f.advance(s); err != nil {
		m.hub.Log.Error("live: a game cannot be shown", "topic", m.info.Topic, "err", err)
		*f = feed{match: m, number: s.number, failed: true}
		f.skipTo(s)
	}
	m.fullMessage = nil
	return true
}

// broadcast sends all frames that are newer than the mark to all watchers.
func (m *match) broadcast(before mark) {
	if m.feed.failed {
		return
	}
	first := m.feed.base
	if before.number == m.feed.number && before.lastPly >= m.feed.base {
		first = before.lastPly + 1
	}
	msg, err := m.encode(first)
	if err != nil {
		m.hub.Log.Error("live: a game cannot be encoded", "topic", m.info.Topic, "err", err)
		return
	}
	if first == m.feed.base {
		m.fullMessage = msg
	}
	for w := range m.watchers {
		w.Put(msg)
	}
}

// encode returns a message with the latest frames of the game. The argument first is the ply (number of moves) of the
// first of them. If that is the oldest frame of the feed, the message also describes the game.
func (m *match) encode(first int) (*socket.Broadcast, error) {
	doc := m.feed.doc(first)
	doc.Topic, doc.GameID = m.info.Topic, m.gameID(m.feed.number)
	return socket.Encode(doc)
}

func (m *match) gameID(number int) string { return fmt.Sprintf("%s-%d", m.hub.boot, number) }

// overDoc is the message that says that a match or a game of people is over. State is its final state, or "" if there
// is no such match or game.
type overDoc struct {
	Topic string `json:"topic"`
	State string `json:"over"`
}

// announceEnd sends the remaining positions and the final state to all sockets that watch. Then it removes
// these sockets from the match.
func (m *match) announceEnd(state string) {
	msg, err := socket.Encode(overDoc{m.info.Topic, state})
	m.sending.Lock()
	defer m.sending.Unlock()
	if m.feed != nil && m.feed.number > 0 {
		before := m.feed.mark()
		for m.advance() { // up to the end of the last game
			m.broadcast(before)
			before = m.feed.mark()
		}
	}
	m.closed = true
	for w := range m.watchers {
		if err == nil {
			w.Put(msg)
		}
		delete(m.watchers, w)
	}
	m.dropIdleFeed()
}
