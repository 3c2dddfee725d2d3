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

// Options are the parts of a Registry. Store is required.
type Options struct {
	Store  *store.Store
	Limits ladder.RemoteLimits
	Bounds ladder.Limits // how many bots and versions a person may have
	Log    *slog.Logger
}

// Registry has the remote bots of a server. Its methods are safe for concurrent use.
type Registry struct {
	Options
	began   time.Time
	changes chan struct{}

	mu       sync.Mutex
	closed   bool
	sessions int64          // ID of the last session
	bots     map[int64]*bot // by version: bots that are connected, or were until recently
}

// bot is one remote version.
type bot struct {
	version      ladder.Version
	instance     string    // identifies the client
	link         *link     // nil while the bot is not connected
	pendingLinks int       // connections that are about to become its link
	leaving      bool      // the bot wants no more matches
	reserved     bool      // the bot plays a match or is about to
	since        time.Time // when its connection, absence or leaving began
	sessions     map[int64]*session
}

// session is one process of a bot.
type session struct {
	Opening
	seat        *socket.LineStream
	announcedTo string // instance that was sent the Opening; "" before that
}

// New returns a Registry. Run must be called.
func New(o Options) *Registry {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Registry{Options: o, began: time.Now(), changes: make(chan struct{}, 1), bots: map[int64]*bot{}}
}

// IsReady reports whether a remote version can start a match: its bot is connected, wants more matches and
// plays none.
func (h *Registry) IsReady(version int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.bots[version].isReady()
}

func (b *bot) isReady() bool { return b != nil && b.link != nil && !b.leaving && !b.reserved }

// IsGone reports whether the bot of a remote version has been away, or has wanted no more matches, for longer
// than a match waits for it. For a version that has never connected, the time counts from the start of the
// server.
func (h *Registry) IsGone(version int64) bool {
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

// Reserve reserves a remote version for a match, until Release. It returns false if the version is not ready.
func (h *Registry) Reserve(version int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.bots[version]
	if !b.isReady() {
		return false
	}
	b.reserved = true
	return true
}

// Release ends a reservation. A bot that is leaving is then told that it has no more matches.
func (h *Registry) Release(version int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.bots[version]
	b.reserved = false
	if b.leaving {
		go b.link.send(frame{Left: true})
	}
}

// Changes returns a channel that receives after remote versions have become ready or gone.
func (h *Registry) Changes() <-chan struct{} { return h.changes }

func (h *Registry) signalChange() {
	select {
	case h.changes <- struct{}{}:
	default: // a signal is pending already
	}
}

// Online reports whether a remote version is connected.
func (h *Registry) Online(version int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.bots[version]
	return b != nil && b.link != nil
}

// Bot returns a contestant for match m that plays on the machine of the connected version v.
func (h *Registry) Bot(v ladder.Version, m *ladder.Match) match.Contestant {
	return match.Contestant{Version: v.Label, Hash: v.Hash, Serve: func(lines io.Reader, answers io.Writer) error {
		s, err := h.openSession(v, m)
		if err != nil {
			return err
		}
		defer h.endSession(v.ID, s)
		return s.seat.Serve(lines, answers)
	}}
}

func (h *Registry) openSession(v ladder.Version, m *ladder.Match) (*session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.bots[v.ID]
	if b == nil || len(b.sessions) >= maxSessions {
		return nil, socket.LostReason(h.Limits.Comeback)
	}
	h.sessions++
	s := &session{
		Opening: Opening{Session: h.sessions, Match: m.ID, Ladder: m.Ladder, Game: m.Game, Bots: m.Bots},
		seat:    socket.NewLineStream(socket.LineStreamOptions{ReturnTime: h.Limits.Comeback, SlowAfter: slowTime(h.Limits.Allowance)}),
	}
	b.sessions[s.Session] = s
	if b.link != nil && b.link.ready {
		h.announceSession(b, s)
	}
	return s, nil
}

// slowTime returns how long a line may wait for its acknowledgement before the clock stops. It is well below
// allowance, so that no move is late for that reason.
func slowTime(allowance time.Duration) time.Duration {
	return max(min(allowance/2, 200*time.Millisecond), 5*time.Millisecond)
}

// announceSession sends the Opening of a session to a bot, and attaches the session to the bot's link. The
// caller holds the lock.
func (h *Registry) announceSession(b *bot, s *session) {
	l := b.link
	c := l.newConn(s.Session)
	s.announcedTo = b.instance
	go func() {
		if l.send(frame{Open: &s.Opening}) == nil {
			s.seat.Attach(c)
		}
	}()
}

func (h *Registry) endSession(version int64, s *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.bots[version].sessions, s.Session)
}

// Run sends bots the results of their matches, and ends the connections of versions that are no longer live,
// until ctx ends.
func (h *Registry) Run(ctx context.Context) error {
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

// checkTime is the interval of the checks whether the versions are still live. An event may be missed.
const checkTime = 3 * time.Second

// reportResult sends the result of a match to its connected bots.
func (h *Registry) reportResult(e events.Event) {
	if len(e.Changes) > 0 && !slices.ContainsFunc(e.Changes, func(c ladder.Change) bool { return h.Online(c.VersionID) }) {
		return // most matches have no connected bot
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

func resultOf(m ladder.Match, slot int, text string) *Result {
	r := &Result{Match: m.ID, Ladder: m.Ladder, Text: text}
	for _, c := range m.Changes {
		if c.Slot == slot {
			r.Score, r.Before, r.After = c.Score, c.EloBefore, c.EloAfter
		}
	}
	return r
}

// reportEnded sends a bot that has connected again the results of the matches that ended meanwhile.
func (h *Registry) reportEnded(version int64, l *link, matches []int64) {
	for _, id := range matches {
		m, err := h.Store.Matches.Find(context.Background(), id)
		if err != nil || m.State != ladder.Finished && m.State != ladder.Dropped {
			continue // the result follows when the match ends
		}
		if slot := slices.Index(m.Versions, version); slot >= 0 {
			l.send(frame{Result: resultOf(m, slot, m.Reason.String())})
		}
	}
}

// checkVersions ends the connections of versions that are no longer live and play nothing. It removes bots
// that have been away for longer than a match waits.
func (h *Registry) checkVersions(ctx context.Context) {
	h.mu.Lock()
	var list []*bot
	for id, b := range h.bots {
		switch {
		case b.link != nil || len(b.sessions) > 0 || b.reserved:
			list = append(list, b)
		case b.pendingLinks == 0 && time.Since(b.since) > h.Limits.Comeback: // nothing waits for the bot
			delete(h.bots, id)
			h.signalChange() // matches that wait for it are canceled
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
func (h *Registry) disconnect(b *bot, why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l := b.link; l != nil && len(b.sessions) == 0 {
		h.recordAbsence(b, l)
		go l.Shut(socket.CloseRefused, why)
	}
}

// recordLeave excludes a bot from further matches. It tells the bot when no match is left (see Release), as
// one may be about to start of which the bot does not know.
func (h *Registry) recordLeave(b *bot, l *link) {
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

// recordAbsence records that a bot has lost its link l. The caller holds the lock.
func (h *Registry) recordAbsence(b *bot, l *link) {
	if b.link == l {
		b.link, b.since, b.leaving = nil, time.Now(), false
	}
}

// Close ends all connections. Their clients will connect to the next server.
func (h *Registry) Close() {
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

// closeRestart is the close code of a server that goes away (RFC 6455, section 7.4.1).
const closeRestart = 1001
