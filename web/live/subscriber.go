package live

import (
	"context"
	"errors"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/admission"
	"github.com/timba-arena/timba/web/socket"
)

// subscriber is the WebSocket of an open page. It watches topics, which are games and pages of the site.
type subscriber struct {
	*socket.Queue
	hub     *Hub
	address netip.Addr
	release func()            // returns the socket's place within the limits
	topics  map[string]func() // watched topics, with the function that stops watching each; used by the reader only
}

// Serve opens a WebSocket, which watches games and pages, by calling upgrade. visitor is the client. It returns an
// error if the visitor has too many sockets or upgrade fails. Otherwise it returns at once, and the socket stays
// open.
func (h *Hub) Serve(visitor admission.Visitor, upgrade func(socket.Limits) (*socket.Conn, error)) error {
	w := &subscriber{Queue: h.queues.New(), hub: h, address: visitor.Address, topics: map[string]func(){}}
	if err := h.admit(w, visitor); err != nil {
		return err
	}
	var c *socket.Conn
	defer func() {
		if c == nil {
			h.removeSocket(w)
		}
	}()
	l := h.Limits
	c, err := upgrade(socket.Limits{
		Frame: int64(l.Message), Frames: float64(l.Messages), Burst: l.Messages + l.Topics, Silence: l.Silence, Send: l.Write,
	})
	if err != nil {
		return err
	}
	go w.Run(c)
	go w.read(c)
	return nil
}

// admit adds socket w of the given visitor. It returns an error if a limit is reached or the server stops.
func (h *Hub) admit(w *subscriber, visitor admission.Visitor) (err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ladder.Errorf(ladder.Unavailable, "try again in some seconds", "the server stops")
	}
	if w.release, err = h.places.Enter(visitor); err == nil {
		h.sockets[w] = struct{}{}
	}
	return err
}

func (h *Hub) removeSocket(w *subscriber) {
	h.mu.Lock()
	delete(h.sockets, w)
	h.mu.Unlock()
	for _, leave := range w.topics {
		leave()
	}
	w.release()
}

// errMessage is the error for a message that no page of the site sends.
var errMessage = errors.New("this message is not understood")

// read handles the messages of the client until the socket closes.
func (w *subscriber) read(c *socket.Conn) {
	defer w.hub.removeSocket(w)
	for {
		var a clientMessage
		err := c.Read(&a)
		if err == nil {
			err = w.handle(a)
		}
		if err != nil {
			w.End(socket.CloseBroken, err.Error())
			return
		}
	}
}

// clientMessage is a message of a page that wants to start or to stop watching a topic, a game or page. Exactly
// one of Watch and Leave is set, to the topic.
type clientMessage struct {
	Watch string `json:"watch"`
	Leave string `json:"leave"`
	Game  string `json:"game"` // the gameDoc.GameID of the game whose positions the client already has; "" if there is none
	Ply   int    `json:"ply"`  // the last ply of that game that the client has
	Lang  string `json:"lang"` // the language in which to render the page
}

// gameTopic matches the topics (names) of matches and games of people that can be watched.
var gameTopic = regexp.MustCompile(`^(` + topicMatch + `[1-9][0-9]{0,17}|` + topicTable + `[A-Z0-9]{1,40})$`)

var pageTopic = regexp.MustCompile(`^(games|home|lobby|ladder/[a-z0-9-]{1,40}|bot/[!-.0-~]{1,64}|play/[A-Z0-9]{1,40})$`)

func (w *subscriber) handle(a clientMessage) error {
	if (a.Watch == "") == (a.Leave == "") {
		return errMessage
	}
	if a.Leave != "" {
		leave, ok := w.topics[a.Leave]
		if !ok {
			return errMessage
		}
		delete(w.topics, a.Leave)
		leave()
		return nil
	}
	if _, twice := w.topics[a.Watch]; twice || len(w.topics) >= w.hub.Limits.Topics {
		return errMessage
	}
	leave, err := w.watch(a)
	if err == nil {
		w.topics[a.Watch] = leave
	}
	return err
}

// watch starts to watch the game or page that message a names. It returns the function that stops watching.
func (w *subscriber) watch(a clientMessage) (leave func(), err error) {
	switch {
	case gameTopic.MatchString(a.Watch):
		if a.Ply < 0 {
			return nil, errMessage
		}
		return w.hub.watchMatch(w, a), nil
	case pageTopic.MatchString(a.Watch):
		return w.hub.pages.watch(w, a.Watch, a.Lang)
	}
	return nil, errMessage
}

// watchMatch makes socket w watch the match or game of people that message a names. leave ends that. If the match is
// not in progress, watchMatch only sends its state to w.
func (h *Hub) watchMatch(w *subscriber, a clientMessage) (leave func()) {
	h.mu.Lock()
	m := h.matches[a.Watch]
	h.mu.Unlock()
	if m != nil && m.join(w, a) {
		return func() { m.leave(w) }
	}
	ctx, cancel := context.WithTimeout(context.Background(), h.Limits.Write)
	defer cancel()
	if m, err := socket.Encode(overDoc{a.Watch, h.state(ctx, a.Watch)}); err == nil {
		w.Put(m)
	}
	return func() {}
}

// state returns the stored state of the match or game of people that topic names. It returns "" if there is none.
func (h *Hub) state(ctx context.Context, topic string) string {
	if id, table := strings.CutPrefix(topic, topicTable); table {
		p, _ := h.Store.Plays.Find(ctx, id)
		return string(p.State)
	}
	id, _ := strconv.ParseInt(strings.TrimPrefix(topic, topicMatch), 10, 64)
	m, _ := h.Store.Matches.Find(ctx, id)
	return string(m.State)
}
