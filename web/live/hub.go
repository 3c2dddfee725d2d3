// Package live shows games in progress over WebSockets to the people who watch them, and updates open pages
// of the site when something changes in a competition. A message is encoded once for all sockets that get it.
// Watching never delays a match: each socket has a bounded queue, and a socket that is too slow is closed.
// Its client connects again and continues from the last position that it has got.
//
// Of a game in progress, people see what all seats see; see board.PublicFrames.
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

// Options are what a Hub needs from the rest of the server. All but Hold and Log are required.
type Options struct {
	Store  *store.Store
	Limits Limits
	Hold   time.Duration // how long the end of a game is shown before the next game; 0 means DefaultHold
	Log    *slog.Logger  // if nil, nothing is logged
}

// Limits bound the resources of the server that people who watch may use. DefaultLimits returns the usual values.
type Limits struct {
	Sockets admission.Limits
	Topics  int // pages and games that one socket may watch
	Pages   int // pages that are watched, each language counted as one

	Message  int // largest size of a message from a client, in bytes
	Messages int // messages from a client in a second on average; this number plus Topics at once

	Frames  int // largest number of messages about one match in a second
	Backlog int // number of the latest positions of a game that are sent to a new watcher
	Renders int // largest number of pages that the hub renders in a second

	Queues socket.QueueLimits // for messages to the sockets; a message to several sockets counts for each

	Write   time.Duration // longest time to send one message
	Silence time.Duration // after which a silent socket is closed
}

// DefaultLimits returns the usual limits of a hub that accepts at most total sockets.
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

// DefaultHold is how long the end of a game usually stays visible before the next game is shown.
const DefaultHold = 4 * time.Second

// Hub sends the matches and the games of people in progress to the sockets that watch them, and updates to
// open pages. Run must be called.
type Hub struct {
	Options
	// Render returns the parts of a page that may change, in the language lang. topic names the page, such as
	// "bot/lola". Render may be set before Run is called. By default, pages have no such parts.
	Render func(ctx context.Context, topic, lang string) (Parts, error)

	boot   string // random; clients that were connected to an earlier process begin anew
	queues socket.Queues
	places *admission.Places
	pages  *pages

	mu      sync.Mutex
	closed  bool
	matches map[string]*match // by topic; games of people too
	sockets map[*subscriber]struct{}
}

// A topic names what a page can watch. topicGames is the list of games in progress. topicMatch with the ID of a match
// names the match. topicTable with the ID of a table names a game of people.
const (
	topicGames = "games"
	topicMatch = "match/"
	topicTable = "table/"
)

// NewHub returns a Hub. Run must be called.
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

// ListedGame is an entry in the list of games to watch: a match in progress, or a game of people.
type ListedGame struct {
	Topic  string   `json:"topic"`
	URL    string   `json:"url"`    // of the page that shows it
	ID     int64    `json:"id"`     // of the match; 0 for a game of people
	Ladder string   `json:"ladder"` // of the match; "" for an unrated match or a game of people
	Title  string   `json:"title"`  // of a game of people; "" for a match
	Bots   []string `json:"bots"`   // names of those who play, by slot in a match or by seat in a game of people
	Sides  []int    `json:"sides"`  // of the seats; if nil, each of Bots is a side of its own
}

// Games returns the listed games in progress: first the games of people, then the matches, the oldest first.
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

// ShowMatch starts to show the match info to people who watch. The caller must call position after each change of the
// position in a game, and end after the last game. Both functions are nil if the match cannot be shown. The method
// can be used as runner.Options.Watch.
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

// addMatch adds m and returns it. If the hub already has this match, because an earlier try to play it failed,
// addMatch returns the existing entry instead.
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

// TableFeed is a game of people that others can watch.
type TableFeed struct{ *match }

// ShowTable starts to show a game of people to everybody who has its link and, if listed is true, in the list
// of games. id is the ID of the table, and names has the player at each seat. The hub calls onAudienceChange
// when somebody starts or stops watching.
func (h *Hub) ShowTable(id string, v *rules.Variant, names []string, listed bool, onAudienceChange func()) TableFeed {
	info := ListedGame{Topic: topicTable + id, URL: "/play/" + id, Title: v.Game.Display.Title, Bots: names}
	for seat := range names {
		info.Sides = append(info.Sides, v.Side(seat))
	}
	m := newMatch(h, info, v)
	m.listed, m.onAudienceChange = listed, onAudienceChange
	return TableFeed{h.addMatch(m)}
}

// End sends state, the final state of the game, to the people who watch it, and removes the game.
func (t TableFeed) End(state ladder.PlayState) {
	t.hub.mu.Lock()
	delete(t.hub.matches, t.info.Topic)
	t.hub.mu.Unlock()
	t.hub.pages.markStale(topicGames)
	t.announceEnd(string(state))
}

// WatcherCount returns the number of sockets that watch the game of people at the table with this ID.
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

const eventBuffer = 1024

// Run updates the watched pages when the store reports a change. It returns nil when ctx ends, after it has
// closed all WebSockets.
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
				happened = nil // the runner has ended, and ctx will end soon
				continue
			}
			h.handleEvent(ctx, e)
		}
	}
}

func (h *Hub) handleEvent(ctx context.Context, e events.Event) {
	if e.Kind == events.MatchFinished || e.Kind == events.MatchBroken || e.MissedEvents > 0 {
		h.closeEndedMatches(ctx)
	}
	h.pages.markByEvent(ctx, e)
}

// closeEndedMatches sends the final state of each match that has ended and whose result is in the store to the people
// who watch it, and removes the match.
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
		gone := h.matches[m.info.Topic] == m && m.hasEnded.Load() // false if the match has started again
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

// close closes all sockets and refuses new ones. Their clients then connect to the server that is started next.
func (h *Hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for w := range h.sockets {
		w.End(websocket.CloseGoingAway, "the server stops")
	}
}

// SocketCount returns the number of connected sockets.
func (h *Hub) SocketCount() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sockets)
}
