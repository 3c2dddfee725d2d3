package remote

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/web/socket"
)

// Options are the parts of a Hub. Store is required.
type Options struct {
	Store  *store.Store
	Limits ladder.RemoteLimits
	Bounds ladder.Limits // of people: bots and versions
	Log    *slog.Logger
}

// Hub has the remote bots of a server.
type Hub struct {
	Options
	began   time.Time
	changes chan struct{}

	mu       sync.Mutex
	closed   bool
	sessions int64          // the last one
	bots     map[int64]*bot // by version, those that have come and are not away for too long
}

// bot is one remote version.
type bot struct {
	version      ladder.Version
	instance     string    // of its client
	link         *link     // nil while it is away
	pendingLinks int       // how many connections are about to be its link
	leaving      bool      // it wants no more matches
	reserved     bool      // it plays a match, or is about to
	since        time.Time // it is away, or wants no more matches
	sessions     map[int64]*session
}

// session is one process of a bot.
type session struct {
	Opening
	seat        *socket.Stream
	announcedTo string // the instance that was told of it
}

// New returns a hub. Run has to be called.
func New(o Options) *Hub {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Hub{Options: o, began: time.Now(), changes: make(chan struct{}, 1), bots: map[int64]*bot{}}
}

// IsReady reports whether a remote version can begin a match: it is connected, wants more matches and plays
// none.
func (h *Hub) IsReady(version int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.bots[version].isReady()
}

func (b *bot) isReady() bool { return b != nil && b.link != nil && !b.leaving && !b.reserved }

// IsGone reports whether a remote version is away, or wants no more matches, for longer than a match waits
// for it. One that has not come counts from the start of the server.
func (h *Hub) IsGone(version int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	since := h.began
	if b := h.bots[version]; b != nil {
		if b.link != nil && !b.leaving {
			return false
		}
		since = b.since
	}
	return time.Since(since) > h.Limits.Comeback
}

// Reserve takes a remote version for a match, until Release. It reports false if the version is not ready.
func (h *Hub) Reserve(version int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.bots[version]
	if !b.isReady() {
		return false
	}
	b.reserved = true
	return true
}

// Release ends a reservation. A bot that is leaving hears that no match of it is left.
func (h *Hub) Release(version int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.bots[version]
	b.reserved = false
	if b.leaving {
		go b.link.send(frame{Left: true})
	}
}

// Changes receives after remote versions have become ready or gone.
func (h *Hub) Changes() <-chan struct{} { return h.changes }

func (h *Hub) signalChange() {
	select {
	case h.changes <- struct{}{}:
	default: // it is known already
	}
}

// Online reports whether a remote version is connected.
func (h *Hub) Online(version int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.bots[version]
	return b != nil && b.link != nil
}

// Bot returns a remote version as a program that plays a match.
func (h *Hub) Bot(v ladder.Version, m *ladder.Match) match.Bot {
	return match.Bot{Version: v.Label, Hash: v.Hash, Serve: func(lines io.Reader, answers io.Writer) error {
		s, err := h.openSession(v, m)
		if err != nil {
			return err
		}
		defer h.endSession(v.ID, s)
		return s.seat.Serve(lines, answers)
	}}
}

// openSession begins a session.
func (h *Hub) openSession(v ladder.Version, m *ladder.Match) (*session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.bots[v.ID]
	if b == nil || len(b.sessions) >= maxSessions {
		return nil, socket.LostReason(h.Limits.Comeback)
	}
	h.sessions++
	s := &session{
		Opening: Opening{Session: h.sessions, Match: m.ID, Ladder: m.Ladder, Game: m.Game, Bots: m.Bots},
		seat:    socket.NewStream(socket.StreamOptions{ReturnTime: h.Limits.Comeback, SlowAfter: slowTime(h.Limits.Allowance)}),
	}
	b.sessions[s.Session] = s
	if b.link != nil && b.link.ready {
		h.announceSession(b, s)
	}
	return s, nil
}

// slowTime returns the time after which a line that has not arrived stops the clock: well before
// any move is late.
func slowTime(allowance time.Duration) time.Duration {
	return max(min(allowance/2, 200*time.Millisecond), 5*time.Millisecond)
}

// announceSession tells a bot of a session and attaches it, under the lock.
func (h *Hub) announceSession(b *bot, s *session) {
	l := b.link
	c := l.newConn(s.Session)
	s.announcedTo = b.instance
	go func() {
		if l.send(frame{Open: &s.Opening}) == nil {
			s.seat.Attach(c)
		}
	}()
}

// endSession ends a session.
func (h *Hub) endSession(version int64, s *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.bots[version].sessions, s.Session)
}

// Run tells the bots how their matches end, and ends the connections of versions that are no longer
// live, until the context ends.
func (h *Hub) Run(ctx context.Context) error {
	news, stop := h.Store.Events().Subscribe(256, func(e events.Event) bool {
		return e.Kind == events.MatchFinished || e.Kind == events.MatchBroken || e.Kind == events.VersionChanged
	})
	defer stop()
	check := time.Tick(checkTime)
	for {
		select {
		case e, ok := <-news:
			if !ok {
				news = nil
				continue
			}
			if e.Kind == events.VersionChanged {
				h.checkVersions(ctx)
			} else {
				h.reportResult(e)
			}
		case <-check:
			h.checkVersions(ctx)
		case <-ctx.Done():
			return nil
		}
	}
}

// checkTime is how often it is checked whether the versions are live, without being told.
const checkTime = 3 * time.Second

// reportResult tells the bots of a match how it has ended.
func (h *Hub) reportResult(e events.Event) {
	if len(e.Changes) > 0 && !slices.ContainsFunc(e.Changes, func(c ladder.Change) bool { return h.Online(c.VersionID) }) {
		return // of most matches, none is here
	}
	m, err := h.Store.Matches.Find(context.Background(), e.Match)
	if err != nil {
		h.Log.Error("reading a match", "match", e.Match, "err", err)
		return
	}
	text := e.Text
	if e.Kind == events.MatchFinished {
		text = m.Reason.String()
	}
	for slot, id := range m.Versions {
		h.mu.Lock()
		var l *link
		if b := h.bots[id]; b != nil {
			l = b.link
		}
		h.mu.Unlock()
		if l != nil {
			go l.send(frame{Result: resultOf(m, slot, text)})
		}
	}
}

// resultOf returns how a match has ended for the bot of a slot.
func resultOf(m ladder.Match, slot int, text string) *Result {
	r := &Result{Match: m.ID, Ladder: m.Ladder, Text: text}
	for _, c := range m.Changes {
		if c.Slot == slot {
			r.Score, r.Before, r.After = c.Score, c.EloBefore, c.EloAfter
		}
	}
	return r
}

// reportEnded tells a bot that is back how matches have ended that it awaits the results of.
func (h *Hub) reportEnded(version int64, l *link, matches []int64) {
	for _, id := range matches {
		m, err := h.Store.Matches.Find(context.Background(), id)
		if err != nil || m.State != ladder.Finished && m.State != ladder.Dropped {
			continue // it is told when it ends
		}
		if slot := slices.Index(m.Versions, version); slot >= 0 {
			l.send(frame{Result: resultOf(m, slot, m.Reason.String())})
		}
	}
}

// checkVersions ends the connections of versions that are no longer live and play nothing.
func (h *Hub) checkVersions(ctx context.Context) {
	h.mu.Lock()
	var list []*bot
	for id, b := range h.bots {
		switch {
		case b.link != nil || len(b.sessions) > 0 || b.reserved:
			list = append(list, b)
		case b.pendingLinks == 0 && time.Since(b.since) > h.Limits.Comeback: // nothing awaits it any more
			delete(h.bots, id)
			h.signalChange() // matches that wait for it are given up
		}
	}
	h.mu.Unlock()
	for _, b := range list {
		v, err := h.Store.Versions.Find(ctx, b.version.ID)
		if err == nil && v.State != ladder.Live {
			h.disconnect(b, fmt.Sprintf("version %d of %s is %s: it plays no more", v.Number, v.Bot, v.State))
		}
	}
}

// disconnect ends the connection of a bot for good, unless it plays.
func (h *Hub) disconnect(b *bot, why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l := b.link; l != nil && len(b.sessions) == 0 {
		h.recordAbsence(b, l)
		go l.Shut(socket.CloseRefused, why)
	}
}

// recordLeave takes a bot out of matchmaking, and tells it when no match of it is left (see Release): one may be
// about to begin of which it has not heard.
func (h *Hub) recordLeave(b *bot, l *link) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b.link != l || b.leaving {
		return
	}
	b.leaving, b.since = true, time.Now()
	if !b.reserved {
		go l.send(frame{Left: true})
	}
}

// recordAbsence notes that a bot is away, under the lock.
func (h *Hub) recordAbsence(b *bot, l *link) {
	if b.link == l {
		b.link, b.since, b.leaving = nil, time.Now(), false
	}
}

// Close ends all connections; their clients come back to the next server.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, b := range h.bots {
		if l := b.link; l != nil {
			h.recordAbsence(b, l)
			go l.Shut(closeRestart, "the server is stopping")
		}
	}
}

// closeRestart is the code of RFC 6455 for a server that goes away.
const closeRestart = 1001
