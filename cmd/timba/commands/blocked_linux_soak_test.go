//go:build soak && linux

package commands

import (
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/web/socket"
	"github.com/timba-arena/timba/web/webtest"
)

// socket opens a WebSocket of a browser.
func (s *served) socket(t *testing.T, browser *http.Client, path string) *websocket.Conn {
	t.Helper()
	d := websocket.Dialer{Jar: browser.Jar}
	ws, _, err := d.Dial("ws"+strings.TrimPrefix(s.url, "http")+path, nil)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

// ends reads a socket until it is closed and returns the close code, 0 if there is none.
func ends(t *testing.T, what string, ws *websocket.Conn) int {
	t.Helper()
	ws.SetReadDeadline(time.Now().Add(time.Minute))
	for {
		_, _, err := ws.ReadMessage()
		var code *websocket.CloseError
		var timeout net.Error
		switch {
		case errors.As(err, &code):
			return code.Code
		case errors.As(err, &timeout) && timeout.Timeout():
			t.Fatalf("%s goes on", what)
		case err != nil:
			return 0
		}
	}
}

// A command that blocks a person next to a running server ends what this person does: the socket of a page, a
// game against a bot, and a remote bot with its match. Other people are not affected.
func TestBlockedBeside(t *testing.T) {
	t.Parallel()
	a := newArena(t, connectLadders)
	s := a.serve(t, "--workers", "2", "--grace", "0s")
	w := &webtest.World{T: t, URL: s.url}
	names := []string{"mel", "ann"}
	pages, tables, games := map[string]*websocket.Conn{}, map[string]*websocket.Conn{}, map[string]string{}
	bots := map[string]*running{}
	for _, name := range names {
		token := s.join(t, name).Token
		browser := w.Client()
		w.SignIn(browser, token)
		pages[name] = s.socket(t, browser, "/ws/watch")
		opened := w.Post(browser, "/play", "game=brisca&bot=@first&seat=0")
		games[name] = strings.TrimPrefix(opened.Header.Get("Location"), "/play/")
		tables[name] = s.socket(t, browser, "/ws/play/"+games[name])
		tables[name].WriteJSON(socket.Frame{Lines: []string{"ready"}})
		bots[name] = connectBot(t, s, token, name+"-far", held(t))
		bots[name].await(t, `playing match \d+`)
	}
	a.timba(t, "", "admin", "block", "mel", "--data", a.dir)
	if code := ends(t, "the page", pages["mel"]); code != socket.CloseRefused {
		t.Errorf("the page ends with %d", code)
	}
	ends(t, "the game", tables["mel"])
	bots["mel"].exits(t, cli.ExitError)
	bots["mel"].await(t, `person "mel" is blocked`)
	match, _ := strconv.ParseInt(bots["mel"].await(t, `playing match (\d+)`)[1], 10, 64)
	a.look(t, func(st *store.Store) {
		until(t, "the match is dropped", func() bool {
			m, err := st.Matches.Find(t.Context(), match)
			return err == nil && m.State == ladder.Dropped
		})
		until(t, "the game is broken", func() bool {
			p, err := st.Plays.Find(t.Context(), games["mel"])
			return err == nil && p.State == ladder.PlayBroken
		})
		if p, err := st.Plays.Find(t.Context(), games["ann"]); err != nil || p.State != ladder.PlayOpen {
			t.Errorf("the other game is %s, %v", p.State, err)
		}
	})
	pages["ann"].WriteMessage(websocket.TextMessage, []byte(`{"watch":"games"}`))
	pages["ann"].SetReadDeadline(time.Now().Add(time.Minute))
	if _, data, err := pages["ann"].ReadMessage(); err != nil || !strings.Contains(string(data), `"matches"`) {
		t.Errorf("the other page gets %s, %v", data, err)
	}
	if bots["ann"].over() {
		t.Errorf("the other bot has ended:\n%s", bots["ann"].out.String())
	}
	a.kill(t, s)
}
