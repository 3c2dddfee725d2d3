package remote

import (
	"cmp"
	"context"
	"crypto/rand"
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

// Options are what a Registry needs from the rest of the server. Store is required.
type Options struct {
	Store  *store.Store
	Limits ladder.RemoteLimits
	Bounds ladder.Limits // how many bots and versions a person may have
	Log    *slog.Logger
}

// Registry holds the remote bots of a server, which run on their owners' machines. Its methods are safe for
// concurrent use.
type Registry struct {
	Options
	process string // identifies this process to clients
	began   time.Time
	changes chan struct{}

	mu       sync.Mutex
	closed   bool
	sessions int64          // ID of the last session
	bots     map[int64]*bot // by the ID of the version: bots that are connected, or were until recently
}

// bot is a version that runs on its owner's machine.
type bot struct {
	version      ladder.Version
	instance     string    // identifies the client's process that connected last
	link         *link     // nil while the bot is not connected
	pendingLinks int       // connections that are about to become its link
	leaving      bool      // the bot wants no more matches
	reserved     bool      // the bot plays a match or is about to
	since        time.Time // when its connection, absence or leaving began
	sessions     map[int64]*session
}

// session is one process of a bot in a match, as the server sees it.
type session struct {
	Opening
	seat *socket.LineStream
	// announcedTo is the client, identified by its instance, to which the Opening was sent and which so has the
	// process. It is "" if there is none. The session continues over a new connection only if that is of the same
	// client; see admitLink.
	announcedTo string
}

// New returns a Registry without bots. Run must be called.
func New(o Options) *Registry {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Registry{Options: o, process: rand.Text(), began: time.Now(), changes: make(chan struct{}, 1), bots: map[int64]*bot{}}
}

// IsReady reports whether the remote version with this ID can start a match: its bot is connected, wants more
// matches, and is not reserved for one.
func (h *Registry) IsReady(version int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.bots[version].isReady()
}

func (b *bot) isReady() bool { return b != nil && b.link != nil && !b.leaving && !b.reserved }

// IsGone reports whether the bot of the remote version with this ID has been disconnected or leaving for
// longer than Limits.Comeback, the time for which matches wait for a bot. For a bot that has never connected,
// this time is counted from the start of the server.
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

// Reserve reserves the remote version with this ID for a match, until Release. It returns false and does
// nothing if the version is not ready; see IsReady.
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

// Release ends the reservation of the remote version with this ID. If the bot is leaving, Release confirms to
// its client that no match is left.
func (h *Registry) Release(version int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.bots[version]
	b.reserved = false
	if b.leaving {
		go b.link.send(frame{Left: true})
	}
}

// Changes returns a channel that receives a value after a version has connected, or has been disconnected for
// longer than Limits.Comeback. Release, after which a version may be ready again, sends no value.
func (h *Registry) Changes() <-chan struct{} { return h.changes }

func (h *Registry) signalChange() {
	select {
	case h.changes <- struct{}{}:
	default: // a signal is pending already
	}
}

// Online reports whether the remote version with this ID is connected.
func (h *Registry) Online(version int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.bots[version]
	return b != nil && b.link != nil
}

// Bot returns the player of version v in match m. The version runs on its owner's machine and plays over the
// network. While the version is not connected, the game waits for up to Limits.Comeback. If the registry does not
// know the version, the player fails at once, as after a lost connection.
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

// slowTime returns how long a line to a bot may remain unacknowledged before the bot's clock is stopped. allowance is
// the time that remote bots get in addition to the margin of the clock. The result is well below allowance, so that
// no move is late because of the network.
func slowTime(allowance time.Duration) time.Duration {
	return max(min(allowance/2, 200*time.Millisecond), 5*time.Millisecond)
}

// announceSession sends to bot b the frame that starts session s, and connects s to the current link of b. The caller
// holds h.mu.
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

// Run sends bots the results of their matches, and disconnects versions with which their bots no longer play,
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

// checkTime is the interval at which Run checks whether the bots still play with these versions, in case an event
// was missed.
const checkTime = 3 * time.Second

// reportResult handles event e, the end of a match: it sends the result to each bot of the match that is connected.
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
	r := &Result{Match: m.ID, Over: m.State == ladder.Finished, Ladder: m.Ladder, Text: text}
	for _, c := range m.Changes {
		if c.Slot == slot {
			r.Score, r.Before, r.After = c.Score, c.EloBefore, c.EloAfter
		}
	}
	return r
}

// reportEnded sends results to a bot that has connected again. version is the ID of the bot's version, and l its
// connection. matches has the IDs of the matches whose results the bot lacks. It sends the results of those that have
// ended.
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

// checkVersions disconnects versions with which their bots no longer play, unless they are in a match. It also
// removes bots that have been disconnected for longer than Limits.Comeback.
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
			why := "it plays no more"
			if v.State == ladder.Suspended {
				why = "repair the bot, then connect with --new-version"
			}
			h.disconnect(b, fmt.Sprintf("version %d of %s is %s: %s", v.Number, v.Bot, v.State, why))
		}
	}
}

// disconnect closes the connection of a bot. It sends why, the text of the reason, and a close code that forbids the
// client to connect again. It does nothing while the bot plays.
func (h *Registry) disconnect(b *bot, why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l := b.link; l != nil && len(b.sessions) == 0 {
		h.recordAbsence(b, l)
		go l.Shut(socket.CloseRefused, why)
	}
}

// recordLeave records that bot b is to get no further matches, because its client has asked for that over link l. If
// b is in no match, recordLeave confirms the request to the client at once. Otherwise Release confirms it when the
// match is over.
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

// recordAbsence records that bot b has lost its connection l. It does nothing if b has a newer one. The
// caller holds h.mu.
func (h *Registry) recordAbsence(b *bot, l *link) {
	if b.link == l {
		b.link, b.since, b.leaving = nil, time.Now(), false
	}
}

// Close closes all connections and refuses new ones. Their clients then connect to the server that is started next.
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
