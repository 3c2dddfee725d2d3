package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/seat"
)

// CloseSlow is the code with which a socket ends that has not taken its messages. Its client
// connects again and asks from the position that it has.
const CloseSlow = 4000

// endTime is how long a socket may take to end.
const endTime = time.Second

// watcher is a socket that watches topics.
type watcher struct {
	hub     *Hub
	conn    *websocket.Conn
	person  int64 // 0: nobody is signed in
	address netip.Addr
	release func()       // gives its place back
	waiting atomic.Int64 // bytes

	mu    sync.Mutex
	ended bool
	queue chan *message

	done chan struct{} // closed when the socket is to end, with what follows
	once sync.Once
	code int
	text string

	left   chan struct{}     // closed when it has left all topics
	topics map[string]func() // those that it watches, and how it leaves them; of its reader
}

// buffers are for the few messages that are not prepared.
var buffers sync.Pool

// Serve makes a request a socket that watches, for a person or, with 0, for nobody who is signed
// in. Once it is one, the socket goes on when Serve has returned. An error means that nothing has
// been answered. The origin of the request has to be its host.
func (h *Hub) Serve(rw http.ResponseWriter, r *http.Request, person int64, address netip.Addr) error {
	w := &watcher{
		hub: h, person: person, address: address, queue: make(chan *message, h.Limits.Queue),
		done: make(chan struct{}), left: make(chan struct{}), topics: map[string]func(){},
	}
	if err := h.admit(w); err != nil {
		return err
	}
	var refused error
	up := websocket.Upgrader{
		ReadBufferSize: 256, WriteBufferSize: 256, WriteBufferPool: &buffers,
		Error: func(_ http.ResponseWriter, _ *http.Request, status int, reason error) {
			code := ladder.Invalid
			if status == http.StatusForbidden {
				code = ladder.Forbidden
			}
			refused = ladder.Errorf(code, "connect a WebSocket from a page of this site", "%s", strings.TrimPrefix(reason.Error(), "websocket: "))
		},
	}
	conn, err := up.Upgrade(seat.LimitShort(rw, h.messages()), r, nil)
	if err != nil {
		h.forget(w)
		if refused != nil {
			return refused
		}
		h.Log.Debug("live: a socket failed at once", "err", err)
		return nil // the connection is gone
	}
	w.mu.Lock()
	w.conn = conn
	w.mu.Unlock()
	go w.write()
	go w.read()
	return nil
}

// messages returns a limit of what a client sends.
func (h *Hub) messages() *rate.Limiter {
	return rate.NewLimiter(rate.Limit(h.Limits.Messages), h.Limits.Messages+h.Limits.Topics)
}

// end ends the socket with a code. It does not wait.
func (w *watcher) end(code int, text string) {
	w.once.Do(func() {
		w.code, w.text = code, text
		close(w.done)
		time.AfterFunc(endTime, func() { // where a write goes on
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.conn != nil {
				w.conn.Close()
			}
		})
	})
}

// send queues a message, or ends the socket if too much waits.
func (w *watcher) send(m *message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	if w.tooMuch(m.size) {
		w.end(CloseSlow, "slow")
		return
	}
	select {
	case w.queue <- m:
		w.waiting.Add(m.size)
		w.hub.waiting.Add(m.size)
	default:
		w.end(CloseSlow, "slow")
	}
}

// tooMuch reports whether a message of that size is too much beside what waits. Where too much
// waits for all sockets, it is too much for those that have more than an equal share of it: who
// takes what comes is not ended for others who do not.
func (w *watcher) tooMuch(size int64) bool {
	l, own := w.hub.Limits, w.waiting.Load()
	return own+size > l.Waiting || own > 0 && own+size > w.hub.share() && w.hub.waiting.Load()+size > l.All
}

// taken counts a message that waits no more.
func (w *watcher) taken(m *message) {
	w.waiting.Add(-m.size)
	w.hub.waiting.Add(-m.size)
}

// write sends what is queued, until the socket ends.
func (w *watcher) write() {
	ping := time.NewTicker(w.hub.Limits.Silence / 3)
	defer ping.Stop()
	defer w.finish()
	for {
		select {
		case <-w.done:
			return
		default:
		}
		select {
		case <-w.done:
			return
		case m := <-w.queue:
			w.conn.SetWriteDeadline(time.Now().Add(w.hub.Limits.Write))
			err := w.conn.WritePreparedMessage(m.PreparedMessage)
			w.taken(m)
			if err != nil {
				w.end(CloseSlow, "slow")
				return
			}
		case <-ping.C:
			if w.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(w.hub.Limits.Write)) != nil {
				w.end(CloseSlow, "slow")
				return
			}
		}
	}
}

// finish closes the connection, and waits until the socket has left its topics.
func (w *watcher) finish() {
	w.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(w.code, w.text), time.Now().Add(endTime))
	w.conn.Close()
	<-w.left
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	for {
		select {
		case m := <-w.queue:
			w.taken(m)
		default:
			return
		}
	}
}

// errMessage is the end of a socket whose client sends what no client of this site sends.
var errMessage = errors.New("message")

// read handles the messages of the client, until the socket ends.
func (w *watcher) read() {
	defer func() {
		w.end(websocket.CloseNormalClosure, "")
		w.hub.forget(w)
		close(w.left)
	}()
	l := w.hub.Limits
	patience := func() { w.conn.SetReadDeadline(time.Now().Add(l.Silence)) }
	patience()
	w.conn.SetReadLimit(int64(l.Message))
	w.conn.SetPongHandler(func(string) error { patience(); return nil })
	w.conn.SetPingHandler(func(string) error { return errMessage })
	asks := w.hub.messages()
	for {
		kind, data, err := w.conn.ReadMessage()
		switch {
		case errors.Is(err, seat.ErrTooFast), err == nil && !asks.Allow():
			w.end(websocket.ClosePolicyViolation, "too many messages")
			return
		case err != nil:
			return
		case kind == websocket.TextMessage:
			err = w.handle(data)
		default:
			err = errMessage
		}
		if err != nil {
			w.end(websocket.ClosePolicyViolation, "this message is not understood")
			return
		}
	}
}

// ask is a message of a client: to watch a topic, or to leave one.
type ask struct {
	Watch string `json:"watch"`
	Leave string `json:"leave"`
	Game  string `json:"game"` // of a match: that of which the client has positions, "" for none
	Ply   int    `json:"ply"`  // the last one that it has
	Lang  string `json:"lang"` // of a page
}

// pageTopic is the form of the topics of pages.
var pageTopic = regexp.MustCompile(`^(home|ladder/[a-z0-9-]{1,40}|bot/[!-.0-~]{1,64})$`)

func (w *watcher) handle(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var a ask
	if err := d.Decode(&a); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF || (a.Watch == "") == (a.Leave == "") {
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

// watch begins to watch a topic, and returns how to leave it.
func (w *watcher) watch(a ask) (leave func(), err error) {
	h := w.hub
	switch id, match := strings.CutPrefix(a.Watch, topicMatch); {
	case match:
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil || n < 1 || strconv.FormatInt(n, 10) != id || a.Ply < 0 {
			return nil, errMessage
		}
		return h.watchMatch(w, n, a), nil
	case a.Watch == topicGames:
		h.mu.Lock()
		defer h.mu.Unlock()
		if m := h.list(); m != nil {
			w.send(m)
		}
		h.lists[w] = struct{}{}
		return func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			delete(h.lists, w)
		}, nil
	case pageTopic.MatchString(a.Watch):
		return h.pages.watch(w, a.Watch, a.Lang)
	}
	return nil, errMessage
}

// leaveAll leaves all topics. Nothing is sent to the socket any more.
func (w *watcher) leaveAll() {
	for topic, leave := range w.topics {
		leave()
		delete(w.topics, topic)
	}
}

// watchMatch begins to watch a match. Of one that is not in progress it tells the state.
func (h *Hub) watchMatch(w *watcher, id int64, a ask) (leave func()) {
	h.mu.Lock()
	m := h.matches[id]
	h.mu.Unlock()
	if m != nil && m.join(w, a) {
		return func() { m.leave(w) }
	}
	ctx, cancel := context.WithTimeout(context.Background(), h.Limits.Write)
	defer cancel()
	state := ladder.MatchState("")
	if now, err := h.Store.Match(ctx, id); err == nil {
		state = now.State
	}
	if m, err := encode(overDoc{a.Watch, string(state)}); err == nil {
		w.send(m)
	}
	return func() {}
}
