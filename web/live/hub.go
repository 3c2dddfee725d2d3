// Package live shows games in progress to those who watch them over WebSockets, and moves the
// pages of a site with what happens in a competition. A message is encoded once for all who get
// it. Nobody who watches makes a match wait: each socket has a bounded queue, and one that is too
// slow is ended and comes back from the position that it has.
//
// What is shown of a game in progress is what every seat sees; see board.PublicFrames.
package live

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/web/admission"
	"github.com/timba-arena/timba/web/socket"
)

// Options are the parts of a Hub. All but Hold and Log are required.
type Options struct {
	Store  *store.Store
	Limits Limits
	Hold   time.Duration // how long the end of a game is shown before the next game; 0: DefaultHold
	Log    *slog.Logger  // nil: none
}

// Limits bound what visitors who watch may cost. DefaultLimits returns the usual ones.
type Limits struct {
	Sockets admission.Limits
	Topics  int // topics of one socket
	Pages   int // topics of pages that are watched, in all languages

	Message  int // bytes of a message of a client
	Messages int // of a client in a second on average, and as many and Topics more at once

	Frames  int // messages a second about one match
	Backlog int // positions of a game that one who comes late gets, the latest ones
	Renders int // parts of pages that are rendered in a second, in all

	Queues socket.QueueLimits // of messages to the sockets; a message to several counts for each

	Write   time.Duration // to take one message
	Silence time.Duration // without a sign of life, after which a socket ends
}

// DefaultLimits returns the limits of a hub with so many sockets.
func DefaultLimits(total int) Limits {
	return Limits{
		Sockets: admission.Limits{
			Person: 32, Address: max(128, total/16), Total: total,
			Subject: phrase.New("sockets that watch"), Hint: phrase.New("close a page that watches, or try again later"),
		},
		Topics: 24, Pages: 512,
		Message: 512, Messages: 16, Frames: 5, Backlog: 512, Renders: 20,
		Queues: socket.QueueLimits{Length: 32, Each: 512 << 10, All: 128 << 20},
		Write:  10 * time.Second, Silence: 90 * time.Second,
	}
}

// DefaultHold is long enough to see how a game has ended.
const DefaultHold = 4 * time.Second

// Hub has the matches and games of people in progress, and the sockets that watch. Run makes it work.
type Hub struct {
	Options
	// Render returns the parts of a page, in a language; see Parts. It is set before Run; without it
	// pages have none.
	Render func(ctx context.Context, topic, lang string) (Parts, error)

	boot   string // names this process, so that positions of another one are not resumed
	queues socket.Queues
	places *admission.Places
	pages  *pages

	mu      sync.Mutex
	closed  bool
	matches map[string]*match // by topic, as games of people
	sockets map[*subscriber]struct{}
}

// Topics that are not those of a page. A match is topicMatch and its ID, a game of people topicTable and its ID.
const (
	topicGames = "games"
	topicMatch = "match/"
	topicTable = "table/"
)

// NewHub returns a Hub.
func NewHub(o Options) *Hub {
	o.Hold = cmp.Or(o.Hold, DefaultHold)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	h := &Hub{
		Options: o, queues: socket.Queues{QueueLimits: o.Limits.Queues}, places: admission.NewPlaces(o.Limits.Sockets), boot: strconv.FormatUint(rand.Uint64(), 36),
		matches: map[string]*match{}, sockets: map[*subscriber]struct{}{},
	}
	h.pages = &pages{hub: h, wake: make(chan struct{}, 1), all: map[pageKey]*page{}}
	h.Render = func(context.Context, string, string) (Parts, error) { return Parts{}, nil }
	return h
}

// ListedGame is a match in progress, or a game of people, for a list.
type ListedGame struct {
	Topic  string   `json:"topic"`
	URL    string   `json:"url"`    // of its page
	ID     int64    `json:"id"`     // of a match
	Ladder string   `json:"ladder"` // of a match; "" for an unrated one
	Title  string   `json:"title"`  // of the game that people play; "" for a match
	Bots   []string `json:"bots"`   // who plays: by slot, or by seat
	Sides  []int    `json:"sides"`  // of the seats; nil: each of Bots is a side
}

// Games returns what is in progress and shown, the games of people first, and then the matches, the oldest first.
func (h *Hub) Games() []ListedGame {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]ListedGame, 0, len(h.matches))
	for _, m := range h.matches {
		if m.listed && !m.hasEnded.Load() {
			list = append(list, m.info)
		}
	}
	slices.SortFunc(list, func(a, b ListedGame) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Topic, b.Topic)) })
	return list
}

// ShowMatch is for runner.Options.Watch. The runner leaves out the matches that nobody may watch
// before they end.
func (h *Hub) ShowMatch(info *ladder.Match) (position func(*referee.Game), end func()) {
	v, err := info.Variant()
	if err != nil {
		return nil, nil
	}
	id := strconv.FormatInt(info.ID, 10)
	m := newMatch(h, ListedGame{Topic: topicMatch + id, URL: "/live/" + id, ID: info.ID, Ladder: info.Ladder, Bots: info.Bots}, v)
	m.deals, m.listed = info.Deals, true
	m = h.addMatch(m)
	return m.Position, m.markEnded
}

// addMatch begins to show a match, or goes on to show that of its topic. Once the hub is closed nobody sees it.
func (h *Hub) addMatch(m *match) *match {
	h.mu.Lock()
	defer h.mu.Unlock()
	if known := h.matches[m.info.Topic]; known != nil {
		m = known
	}
	h.matches[m.info.Topic] = m
	m.hasEnded.Store(false)
	h.pages.markStale(topicGames)
	return m
}

// Table is a game of people that is shown.
type Table struct{ *match }

// ShowTable shows a game of people from now on to who has its link, and in the list if it is listed. moved is called, if
// somebody begins or ends to watch it.
func (h *Hub) ShowTable(id string, v *rules.Variant, names []string, listed bool, moved func()) Table {
	info := ListedGame{Topic: topicTable + id, URL: "/play/" + id, Title: v.Game.Display.Title, Bots: names}
	for seat := range names {
		info.Sides = append(info.Sides, v.Side(seat))
	}
	m := newMatch(h, info, v)
	m.listed, m.onAudienceChange = listed, moved
	return Table{h.addMatch(m)}
}

// End tells those who watch the game what became of it.
func (t Table) End(state ladder.PlayState) {
	t.hub.mu.Lock()
	delete(t.hub.matches, t.info.Topic)
	t.hub.mu.Unlock()
	t.hub.pages.markStale(topicGames)
	t.announceEnd(string(state))
}

// WatcherCount returns how many watch a game of people.
func (h *Hub) WatcherCount(id string) int {
	h.mu.Lock()
	m := h.matches[topicTable+id]
	h.mu.Unlock()
	if m == nil {
		return 0
	}
	m.sending.Lock()
	defer m.sending.Unlock()
	return len(m.watchers)
}

// eventBuffer is how many events wait for Run.
const eventBuffer = 1024

// Run sends what happens until the context ends. Then it ends all sockets.
func (h *Hub) Run(ctx context.Context) error {
	defer h.close()
	happened, stop := h.Store.Events().Subscribe(eventBuffer, nil)
	defer stop()
	go h.pages.run(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-happened:
			if !ok {
				happened = nil // the runner has ended, and so will the context
				continue
			}
			h.handleEvent(ctx, e)
		}
	}
}

// handleEvent handles an event.
func (h *Hub) handleEvent(ctx context.Context, e events.Event) {
	if e.Kind == events.MatchFinished || e.Kind == events.MatchBroken || e.MissedEvents > 0 {
		h.closeEndedMatches(ctx)
	}
	h.pages.markByEvent(ctx, e)
}

// closeEndedMatches tells those who watch matches that have ended what became of them, as soon as the store
// knows.
func (h *Hub) closeEndedMatches(ctx context.Context) {
	h.mu.Lock()
	var ended []*match
	for _, m := range h.matches {
		if m.hasEnded.Load() {
			ended = append(ended, m)
		}
	}
	h.mu.Unlock()
	for _, m := range ended {
		now, err := h.Store.Matches.Find(ctx, m.info.ID)
		if err != nil || now.State == ladder.Running {
			continue
		}
		h.mu.Lock()
		gone := h.matches[m.info.Topic] == m && m.hasEnded.Load() // else it has begun again meanwhile
		if gone {
			delete(h.matches, m.info.Topic)
			h.pages.markStale(topicGames)
		}
		h.mu.Unlock()
		if gone {
			m.announceEnd(string(now.State))
		}
	}
}

// close ends all sockets, which will come back to the next server.
func (h *Hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for w := range h.sockets {
		w.End(websocket.CloseGoingAway, "the server stops")
	}
}

// SocketCount returns how many sockets watch.
func (h *Hub) SocketCount() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sockets)
}
