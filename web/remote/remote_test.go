package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/web/remote"
	"github.com/timba-arena/timba/web/site/sitetest"
)

func TestMain(m *testing.M) {
	refereetest.Main(m, refereetest.Modes{"bot": refereetest.House, "held": held}, nil)
}

// held is a bot that plays at random. If there is a file when it begins, it writes "held" there, and
// waits with its moves until the file is gone.
func held(file string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return house.Run("random", os.Stdin, os.Stdout)
	}
	if err != nil {
		return err
	}
	if _, err := f.WriteString("held"); err != nil {
		return err
	}
	for {
		if _, err := os.Stat(file); err != nil {
			return house.Run("random", os.Stdin, os.Stdout)
		}
		time.Sleep(time.Millisecond)
	}
}

const worldTOML = `
[limits]
anonymous = 100000
requests = 100000
[remote]
comeback = %d
allowance = 700
person = %d
address = %d
total = %d
[[ladder]]
name = "tebes"
game = "tebes"
options = {size = "4"}
deals = 2
clock = {movetime = 10000, startup = 60000}
house = ["@random"]
`

func world(t *testing.T, comeback, person, address, total int) *sitetest.World {
	return sitetest.New(t, fmt.Sprintf(worldTOML, comeback, person, address, total), 0)
}

// far is a client that runs until the end of the test.
type far struct {
	*remote.Client
	ended  chan error
	states chan remote.State
	cancel context.CancelFunc
}

func start(t *testing.T, c *remote.Client) *far {
	ctx, cancel := context.WithCancel(context.Background())
	f := &far{c, make(chan error, 1), make(chan remote.State, 10000), cancel}
	c.Tell = func(s remote.State) { f.states <- s }
	c.Stderr = io.Discard
	done := make(chan struct{})
	go func() {
		f.ended <- c.Run(ctx)
		close(done)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return f
}

// await returns the next state that is wanted.
func (f *far) await(t *testing.T, what string, wanted func(remote.State) bool) remote.State {
	t.Helper()
	timeout := time.After(2 * time.Minute)
	for {
		select {
		case s := <-f.states:
			if wanted(s) {
				return s
			}
		case err := <-f.ended:
			f.ended <- err
			t.Fatalf("the client ended while %s was awaited: %v", what, err)
		case <-timeout:
			t.Fatalf("%s did not come", what)
		}
	}
}

func online(s remote.State) bool  { return s.Online != nil }
func playing(s remote.State) bool { return s.Playing != nil }
func over(s remote.State) bool    { return s.Result != nil }

func bot(w *sitetest.World, token, name string, mode ...string) *remote.Client {
	if len(mode) == 0 {
		mode = []string{"bot", "random"}
	}
	return &remote.Client{URL: w.URL, Token: token, Bot: name, Command: append([]string{os.Args[0]}, mode...)}
}

// person adds somebody and returns a token of theirs.
func person(t *testing.T, w *sitetest.World, name string, scope ladder.Scope) (ladder.Person, string) {
	t.Helper()
	p, err := w.Server.Store.AddPerson(t.Context(), name, false)
	w.Must(err)
	token, _, err := w.Server.Store.AddToken(t.Context(), p.ID, "", scope, time.Time{})
	w.Must(err)
	return p, token
}

func verify(t *testing.T, w *sitetest.World) {
	t.Helper()
	found, err := w.Server.Store.Verify(t.Context(), nil)
	w.Must(err)
	for _, d := range found {
		t.Error(d)
	}
}

func games(t *testing.T, w *sitetest.World, match int64) (ladder.Match, []ladder.Game) {
	t.Helper()
	m, err := w.Server.Store.Match(t.Context(), match)
	w.Must(err)
	list, err := w.Server.Store.Games(t.Context(), match)
	w.Must(err)
	return m, list
}

// A remote bot plays rated matches beside the house bots, and goes on with its rating when it
// connects again.
func TestPlays(t *testing.T) {
	w := world(t, 30, 3, 10, 10)
	f := start(t, bot(w, w.Token, "far"))
	if s := f.await(t, "online", online); s.Online.Version != 1 || s.Online.Allowance != 700 || s.Online.Comeback != 30 {
		t.Errorf("online as %+v", s.Online)
	}
	s := f.await(t, "a result", over)
	m, list := games(t, w, s.Result.Match)
	if m.State != ladder.Finished || m.Reason != "" || len(list) != 4 || m.Clock.Margin != 750*time.Millisecond || s.Result.After == 0 {
		t.Errorf("match %+v has %d games, and the client was told %+v", m, len(list), s.Result)
	}
	for _, g := range list {
		for _, seat := range g.Seats {
			if seat.Fault != "" {
				t.Errorf("deal %d, rotation %d, seat %d: %s", g.Deal, g.Rotation, seat.Seat, seat.Fault)
			}
		}
	}
	f.Leave()
	if err := <-f.ended; err != nil {
		t.Fatalf("after Leave: %v", err)
	}
	f.ended <- nil
	table, err := w.Server.Store.Standings(t.Context(), "tebes")
	w.Must(err)
	i := slices.IndexFunc(table, func(s ladder.Standing) bool { return s.Bot == "far" })
	if i < 0 || !table[i].Remote || table[i].Matches == 0 {
		t.Fatalf("the standings are %+v", table)
	}
	again := bot(w, w.Token, "far")
	again.Once = true
	f = start(t, again)
	if s := f.await(t, "online again", online); s.Online.Version != 1 {
		t.Errorf("online as %+v", s.Online)
	}
	s = f.await(t, "another result", over)
	if s.Result.Before != table[i].Elo {
		t.Errorf("the rating begins anew: %+v", s.Result)
	}
	if err := <-f.ended; err != nil {
		t.Errorf("after one match: %v", err)
	}
	f.ended <- nil
	fresh := bot(w, w.Token, "far")
	fresh.New, fresh.Label, fresh.Games = true, "2.0", []string{"tebes"}
	f = start(t, fresh)
	if s := f.await(t, "a new version", online); s.Online.Version != 2 || s.Online.Label != "2.0" || !slices.Equal(s.Online.Games, []string{"tebes"}) {
		t.Errorf("online as %+v", s.Online)
	}
	verify(t, w)
}

// A bot that leaves while a match of its own begins, of which it has not heard, plays it first.
func TestLeavesWhileMatched(t *testing.T) {
	w := world(t, 30, 3, 10, 10)
	p := newProxy(t, w, 0)
	letGo := p.holdAfter("}}\n") // the end of the welcome
	defer letGo()
	c := bot(w, w.Token, "far")
	c.URL = "http://" + p.Addr().String()
	f := start(t, c)
	f.await(t, "online", online)
	var match int64
	kit.Until(t, "a match has begun", func() bool {
		list, err := w.Server.Store.Running(t.Context())
		w.Must(err)
		for _, r := range list {
			match = r.Match
		}
		return match != 0
	})
	f.Leave()
	f.await(t, "leaving", func(s remote.State) bool { return s.Leaving })
	select {
	case err := <-f.ended:
		f.ended <- err
		t.Fatalf("the client ended while match %d began: %v", match, err)
	case <-time.After(time.Second):
	}
	letGo()
	if s := f.await(t, "the match", playing); s.Playing.Match != match {
		t.Errorf("it plays %+v, not match %d", s.Playing, match)
	}
	if s := f.await(t, "the result", over); s.Result.Match != match {
		t.Errorf("it was told %+v, not of match %d", s.Result, match)
	}
	if err := <-f.ended; err != nil {
		t.Errorf("after Leave: %v", err)
	}
	f.ended <- nil
	m, list := games(t, w, match)
	if m.State != ladder.Finished || m.Reason != "" || len(list) != 4 {
		t.Errorf("match %+v has %d games", m, len(list))
	}
}

// proxy is a network that breaks.
type proxy struct {
	net.Listener
	to    string
	mu    sync.Mutex
	conns []net.Conn
	made  int
	limit int // bytes to the client before a connection breaks; 0: none
	shut  bool
	last  []byte        // that reaches the client until held is closed
	held  chan struct{} // nil: all does
}

func newProxy(t *testing.T, w *sitetest.World, limit int) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	w.Must(err)
	p := &proxy{Listener: l, to: strings.TrimPrefix(w.URL, "http://"), limit: limit}
	t.Cleanup(func() {
		l.Close()
		p.cut(true)
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.carry(c)
		}
	}()
	return p
}

func (p *proxy) carry(c net.Conn) {
	s, err := net.Dial("tcp", p.to)
	p.mu.Lock()
	if err != nil || p.shut {
		p.mu.Unlock()
		c.Close()
		return
	}
	p.conns = append(p.conns, c, s)
	p.made++
	limit := p.limit
	p.mu.Unlock()
	go func() {
		io.Copy(s, c)
		s.Close()
	}()
	if limit > 0 {
		io.CopyN(down{c, p}, s, int64(limit))
	} else {
		io.Copy(down{c, p}, s)
	}
	c.Close()
	s.Close()
}

// holdAfter keeps back what the server sends after the first occurrence of a text, until it is told
// to let it go.
func (p *proxy) holdAfter(text string) (letGo func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.held = []byte(text), make(chan struct{})
	return sync.OnceFunc(func() { close(p.held) })
}

// down is the way to the client.
type down struct {
	net.Conn
	*proxy
}

func (d down) Write(data []byte) (int, error) {
	d.mu.Lock()
	last, held := d.last, d.held
	d.mu.Unlock()
	i := bytes.Index(data, last)
	if held == nil || i < 0 {
		return d.Conn.Write(data)
	}
	if n, err := d.Conn.Write(data[:i+len(last)]); err != nil {
		return n, err
	}
	<-held
	n, err := d.Conn.Write(data[i+len(last):])
	return i + len(last) + n, err
}

// cut breaks all connections, and all that come if it is for good.
func (p *proxy) cut(forGood bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut = forGood
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}

// Connections that break in the middle of games, again and again, cost nothing.
func TestComesBack(t *testing.T) {
	w := world(t, 60, 3, 10, 10)
	p := newProxy(t, w, 3000)
	c := bot(w, w.Token, "far")
	c.URL = "http://" + p.Addr().String()
	c.Once = true
	f := start(t, c)
	s := f.await(t, "a result", over)
	m, list := games(t, w, s.Result.Match)
	if m.Reason != "" || len(list) != 4 {
		t.Errorf("match %+v has %d games", m, len(list))
	}
	for _, g := range list {
		for _, seat := range g.Seats {
			if seat.Fault != "" {
				t.Errorf("deal %d, rotation %d, seat %d: %s", g.Deal, g.Rotation, seat.Seat, seat.Fault)
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.made < 3 {
		t.Errorf("there were %d connections: nothing broke", p.made)
	}
}

// A bot that does not come back loses the game that it was in; the rest of the match is not
// played, the others go on, and so does it when it is back.
func TestLost(t *testing.T) {
	w := world(t, 1, 3, 10, 10)
	p := newProxy(t, w, 0)
	file := t.TempDir() + "/wait"
	c := bot(w, w.Token, "far", "held", file)
	c.URL = "http://" + p.Addr().String()
	f := start(t, c)
	f.await(t, "a first result", over) // without a break
	w.Must(os.WriteFile(file, nil, 0o600))
	kit.Until(t, "a match is held", func() bool {
		data, err := os.ReadFile(file)
		w.Must(err)
		return len(data) > 0
	})
	p.cut(true)
	running, err := w.Server.Store.Running(t.Context())
	w.Must(err)
	if len(running) != 1 {
		t.Fatalf("%+v are running, want the match that is held", running)
	}
	match := running[0].Match
	kit.Until(t, "the match has ended", func() bool {
		m, err := w.Server.Store.Match(t.Context(), match)
		w.Must(err)
		return m.State == ladder.Finished
	})
	m, list := games(t, w, match)
	if !strings.Contains(m.Reason, "far lost the connection") || len(list) == 0 || len(list) >= 4 || m.Distinct < 1 || m.Distinct > 2 {
		t.Errorf("match %+v has %d games", m, len(list))
	}
	replay, err := w.Server.Store.Replay(t.Context(), list[len(list)-1].ID)
	w.Must(err)
	if !bytes.Contains(replay, []byte(fault.ConnectionLost)) {
		t.Errorf("the last game is %s", replay)
	}
	v, err := w.Server.Store.Version(t.Context(), m.Versions[slices.Index(m.Bots, "far")])
	w.Must(err)
	if v.State != ladder.Live {
		t.Errorf("the version is %s", v.State)
	}
	os.Remove(file)
	p.cut(false)
	f.await(t, "online again", online)
	f.await(t, "another result", func(s remote.State) bool { return s.Result != nil && s.Result.Match != match })
	f.Leave()
	<-f.ended
	f.ended <- nil
	verify(t, w)
}

// A blocked person's bot and its match end at once; others go on.
func TestBlocked(t *testing.T) {
	w := world(t, 60, 3, 10, 10)
	p, token := person(t, w, "ann", ladder.ScopeSubmit)
	file := t.TempDir() + "/wait"
	w.Must(os.WriteFile(file, nil, 0o600))
	f := start(t, bot(w, token, "far", "held", file))
	s := f.await(t, "a match", playing)
	a := w.Client()
	r, err := http.NewRequest(http.MethodPut, w.URL+"/api/v1/admin/people/"+p.Name+"/block", nil)
	w.Must(err)
	r.Header.Set("Authorization", "Bearer "+w.Token)
	resp, err := a.Do(r)
	w.Must(err)
	resp.Body.Close()
	err = <-f.ended
	f.ended <- err
	if err == nil || !strings.Contains(err.Error(), `person "ann" is blocked`) {
		t.Errorf("the client ended with %v", err)
	}
	kit.Until(t, "the match is dropped", func() bool {
		m, err := w.Server.Store.Match(t.Context(), s.Playing.Match)
		w.Must(err)
		return m.State == ladder.Dropped
	})
	other := start(t, bot(w, w.Token, "other"))
	other.await(t, "a result", over)
}

// What is over a limit is refused, and says so; who is there goes on.
func TestLimits(t *testing.T) {
	w := world(t, 30, 1, 2, 10)
	first := start(t, bot(w, w.Token, "one"))
	first.await(t, "online", online)
	refused := func(c *remote.Client, want string) {
		t.Helper()
		err := c.Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", c.Bot, err, want)
		}
	}
	refused(bot(w, w.Token, "two"), "the limit for one person is 1 remote bots at the same time")
	refused(bot(w, w.Token, "one"), `bot "one" is connected already`)
	_, ann := person(t, w, "ann", ladder.ScopeSubmit)
	_, ben := person(t, w, "ben", ladder.ScopeSubmit)
	_, reader := person(t, w, "reader", ladder.ScopeRead)
	start(t, bot(w, ann, "three")).await(t, "online", online)
	refused(bot(w, ben, "four"), "the limit for one address is 2 remote bots at the same time")
	refused(bot(w, reader, "five"), `needs the scope "submit"`)
	refused(bot(w, "timba_nonsense", "five"), "the token is not valid")
	refused(bot(w, ben, "one"), "is somebody else's")
	refused(bot(w, ben, "Not A Name"), "name cannot be")
	c := bot(w, ben, "four")
	c.Games = []string{"chess"}
	refused(c, "chess")
	first.await(t, "a result", over)
}

// Frames that no client sends end only the connection that they came by.
func TestHostile(t *testing.T) {
	w := world(t, 30, 1000, 1000, 1000)
	good := start(t, bot(w, w.Token, "good"))
	good.await(t, "online", online)
	_, token := person(t, w, "mallory", ladder.ScopeSubmit)
	address := "ws" + strings.TrimPrefix(w.URL, "http") + remote.Path + "?bot=bad&instance=aaaaaaaaaaaaaaaaaaaa"
	header := http.Header{"Authorization": {"Bearer " + token}}
	foreign := header.Clone()
	foreign.Set("Origin", "https://elsewhere.example")
	if _, resp, err := websocket.DefaultDialer.Dial(address, foreign); err == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("a page of another origin: %v, %v", err, resp)
	}
	first := []string{
		`{}`, `null`, `[]`, `"x"`, `{"hello":7}`, `{"hello":{"sessions":[` + strings.Repeat("1,", 100) + `1]}}`, `{"leave":true}`,
		strings.Repeat("[", 100000), strings.Repeat("x", 200000),
	}
	later := []string{
		`{}`, `{"bye":"x"}`, `{"welcome":{}}`, `{"open":{"session":1}}`, `{"session":1}`, `nonsense`, "\x00\xff",
		`{"session":9007199254740993,"seat":{"n":-1}}`, `{"session":"1"}`,
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		ws, resp, err := websocket.DefaultDialer.Dial(address, header)
		if err != nil {
			if resp != nil && resp.StatusCode == http.StatusConflict { // the one before is about to end
				continue
			}
			t.Fatalf("connection %d: %v", i, err)
		}
		kind := websocket.TextMessage
		if i%7 == 0 {
			kind = websocket.BinaryMessage
		}
		if i%2 == 0 {
			ws.WriteMessage(kind, []byte(first[i/2%len(first)]))
		} else {
			ws.WriteMessage(websocket.TextMessage, []byte(`{"hello":{"sessions":[]}}`))
			for range 200 {
				if ws.WriteMessage(kind, []byte(later[r.IntN(len(later))])) != nil {
					break
				}
			}
		}
		ws.SetReadDeadline(time.Now().Add(time.Minute))
		for err = nil; err == nil; {
			_, _, err = ws.ReadMessage()
		}
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			t.Errorf("connection %d goes on", i)
		}
		ws.Close()
	}
	good.await(t, "a result", over)
}
