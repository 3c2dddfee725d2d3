package remote

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/web/admission"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/socket"
)

// Handler returns the handler of the WebSockets at Path. It identifies clients with m, and must be wrapped by
// m.Wrap.
func (h *Registry) Handler(m *middleware.Middleware) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		middleware.RequestOf(r).Route = "GET " + Path
		err := m.Bearer(w, r)
		if err == nil {
			err = checkRequest(r)
		}
		if err == nil {
			err = h.serve(m, w, r)
		}
		if err != nil {
			m.Fail(w, r, err)
		}
	})
}

// checkRequest returns an error unless r asks for a WebSocket and has a token with a sufficient scope.
func checkRequest(r *http.Request) error {
	if r.Method != http.MethodGet {
		return ladder.Errorf(middleware.MethodNotAllowed, "try GET", "%s does not support this method", Path)
	}
	if err := middleware.RequestOf(r).CheckScope(ladder.ScopeSubmit, Path); err != nil {
		return err
	}
	if !websocket.IsWebSocketUpgrade(r) {
		return ladder.Errorf(ladder.Invalid, "connect with timba connect", "%s is the address of a WebSocket", Path)
	}
	return nil
}

var plainInstance = regexp.MustCompile(`^[A-Za-z0-9]{16,64}$`)

// connectRequest has what a client asks for in its query parameters: the bot, and the version with which it plays.
// instance identifies the client's process.
type connectRequest struct {
	store.RemoteVersion
	instance string
}

func parseRequest(q url.Values) (a connectRequest, err error) {
	a.Bot, a.Label, a.ForceNew, a.instance = q.Get(paramBot), q.Get(paramLabel), q.Get(paramNew) == "1", q.Get(paramInstance)
	if !plainInstance.MatchString(a.instance) {
		return a, ladder.Errorf(ladder.Invalid, "connect with timba connect", "instance cannot be %.80q", a.instance)
	}
	if err := ladder.CheckBotName(a.Bot); err != nil {
		return a, err
	}
	if text := q.Get(paramGames); text != "" {
		for _, name := range strings.Split(text, ",") {
			claim, _, err := games.CanonicalClaim(name)
			if err != nil {
				return a, ladder.Errorf(ladder.Invalid, "", "%w", err)
			}
			a.Games = append(a.Games, claim)
		}
	}
	return a, nil
}

// serve turns a request into a WebSocket of a bot, and serves it until it ends. If it returns an error, it has not
// answered the request.
func (h *Registry) serve(m *middleware.Middleware, w http.ResponseWriter, r *http.Request) error {
	v := middleware.RequestOf(r)
	ask, err := parseRequest(r.URL.Query())
	if err != nil {
		return err
	}
	h.awaitOldLink(ask, v.Person.ID)
	if err := h.checkPlace(ask, v.Person.ID); err != nil {
		return err
	}
	version, err := h.Store.Versions.ConnectRemote(r.Context(), v.Person.ID, ask.RemoteVersion, h.Bounds)
	if err != nil {
		return err
	}
	b, err := h.reservePlace(version, ask)
	if err != nil {
		return err
	}
	var l *link
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if l == nil || !l.admitted {
			b.pendingLinks--
		}
	}()
	c, err := m.Upgrade(w, r, socketLimits)
	if err != nil {
		return err
	}
	h.Log.Info("remote bot connected", "bot", version.Bot, "version", version.Number, "person", v.Person.ID, "address", v.Address.String())
	l = newLink(c)
	why := h.serveLink(b, l, ask)
	l.Shut(websocket.ClosePolicyViolation, why.Error())
	h.mu.Lock()
	h.recordAbsence(b, l)
	h.mu.Unlock()
	h.Log.Info("remote bot disconnected", "bot", version.Bot, "version", version.Number, "why", why)
	return nil
}

// endWait is the longest time that a new client waits for an earlier client of the same bot to disconnect.
const endWait = time.Second

// awaitOldLink waits, for at most endWait, until an earlier client of the bot in ask has disconnected. That is
// another process of the same owner, which awaitOldLink itself does not disconnect. person is the owner's ID.
func (h *Registry) awaitOldLink(ask connectRequest, person int64) {
	var old *link
	h.mu.Lock()
	for _, b := range h.bots {
		if b.version.Bot == ask.Bot && b.version.Owner == person && b.instance != ask.instance && b.isConnected() {
			old = b.link
		}
	}
	h.mu.Unlock()
	if old == nil {
		return
	}
	select {
	case <-old.Done():
	case <-time.After(endWait):
	}
}

// isConnected reports whether a bot is connected. The caller holds the registry's lock.
func (b *bot) isConnected() bool {
	if b.link == nil {
		return false
	}
	select {
	case <-b.link.Done():
		return false
	default:
		return true
	}
}

// checkPlace does the same as checkPlaceLocked, for callers that do not hold h.mu.
func (h *Registry) checkPlace(ask connectRequest, person int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.checkPlaceLocked(ask, person)
}

// checkPlaceLocked returns an error if the bot in ask cannot connect now: another process has connected it and
// ask does not force a new version, a limit of connected bots is reached, or the server stops. person is the ID
// of the owner. The caller holds h.mu.
func (h *Registry) checkPlaceLocked(ask connectRequest, person int64) error {
	if h.closed {
		return ladder.Errorf(ladder.Unavailable, "try again in some seconds", "the server is stopping")
	}
	ofPerson, all := 0, 0
	for _, b := range h.bots {
		if !b.isConnected() && b.pendingLinks == 0 {
			continue
		}
		if b.version.Bot == ask.Bot {
			if b.version.Owner == person && b.isConnected() && b.instance != ask.instance && !ask.ForceNew {
				return ladder.Errorf(ladder.Conflict, "end the program that connects it, or wait some seconds if that is gone", "bot %q is connected already", ask.Bot)
			}
			continue
		}
		all++
		if b.version.Owner == person {
			ofPerson++
		}
	}
	l := admission.Limits{
		Person: h.Limits.Person, Total: h.Limits.Total,
		Subject: phrase.New("remote bots"), Hint: phrase.New("end another one, or try again later"), Retry: time.Minute,
	}
	return l.Check(ofPerson, 0, all)
}

// reservePlace returns the bot of version v, and reserves a place for a connection that is about to open, by
// incrementing the bot's pendingLinks. It returns an error if the bot cannot connect now.
func (h *Registry) reservePlace(v ladder.Version, ask connectRequest) (*bot, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.checkPlaceLocked(ask, v.Owner); err != nil { // other bots may have connected meanwhile
		return nil, err
	}
	b := h.bots[v.ID]
	if b == nil {
		b = &bot{sessions: map[int64]*session{}, since: time.Now()}
		h.bots[v.ID] = b
	}
	b.version, b.instance = v, ask.instance
	b.pendingLinks++
	return b, nil
}

// serveLink serves the connection l of bot b until it ends, and returns the reason for its end.
func (h *Registry) serveLink(b *bot, l *link, ask connectRequest) error {
	timer := time.AfterFunc(helloTime, func() { l.Shut(websocket.ClosePolicyViolation, "no hello") })
	var f frame
	err := l.Read(&f)
	timer.Stop()
	if err != nil {
		return err
	}
	if f.Hello == nil || len(f.Hello.Sessions) > maxSessions || len(f.Hello.Matches) > maxSessions {
		return fmt.Errorf("remote: the first frame is not a hello")
	}
	if err := h.admitLink(b, l, ask, f.Hello.Sessions); err != nil {
		return err
	}
	go h.reportEnded(b.version.ID, l, f.Hello.Matches) // ends with the link
	h.signalChange()
	for {
		f = frame{}
		if err := l.Read(&f); err != nil {
			return err
		}
		switch {
		case f.Leave:
			h.recordLeave(b, l)
		case f.Session != 0 && (f.Seat != nil || f.Shut):
			l.deliver(f)
		default:
			return fmt.Errorf("remote: the frame is none that a client sends")
		}
	}
}

// admitLink makes l the current connection of bot b, and closes the previous one. sessions has the IDs of the
// sessions for which the client still has a process. These sessions continue, and so do sessions of which the client
// does not know yet. In all other sessions, the bot forfeits because the connection was lost.
func (h *Registry) admitLink(b *bot, l *link, ask connectRequest, sessions []int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return fmt.Errorf("the server is stopping")
	}
	if old := b.link; old != nil {
		go old.Shut(socket.CloseReplaced, "another connection has taken over")
	}
	b.pendingLinks--
	l.admitted = true
	b.link, b.leaving, b.since = l, false, time.Now()
	w := Welcome{
		Server: h.process, Bot: b.version.Bot, Version: b.version.Number,
		Allowance: h.Limits.Allowance.Milliseconds(), Comeback: int64(h.Limits.Comeback / time.Second),
		Slow: slowTime(h.Limits.Allowance).Milliseconds(), Frames: clientShare * maxFrames, Sessions: []int64{},
	}
	var goOn []func()
	for id, s := range b.sessions {
		switch {
		case slices.Contains(sessions, id) && s.announcedTo == ask.instance:
			c := l.newConn(id)
			goOn = append(goOn, func() { s.seat.Attach(c) })
			w.Sessions = append(w.Sessions, id)
		case s.announcedTo == "" || s.announcedTo == ask.instance && !s.seat.HasHeard():
			s.announcedTo = ""
		default: // its process has ended
			s.seat.Close(fault.Reason{Kind: fault.ConnectionLost})
		}
	}
	go func() {
		if l.send(frame{Welcome: &w}) != nil {
			return
		}
		for _, attach := range goOn {
			go attach()
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if b.link != l {
			return
		}
		l.ready = true
		for _, s := range b.sessions {
			if s.announcedTo == "" {
				h.announceSession(b, s)
			}
		}
	}()
	return nil
}
