package site_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/gorilla/websocket"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/socket"
	"github.com/timba-arena/timba/web/webtest"
)

// faceUpCards is a selector of the face-up cards in hands.
const faceUpCards = `[data-hand] [data-card]:not([data-card="?"])`

// The page of all matches and the page of one match show games in progress with the cards face down.
func TestLivePages(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	w := webtest.New(t, webtest.Quiet, 0)
	id, _ := w.ConnectHeldBot("brisca", 1)
	b := webtest.Open(t, in, w.URL+"/live")
	b.Wait(`#games [data-match] .stage[data-ply] [data-card="?"]`)
	b.Picture(*screens, "live")
	b.Go(fmt.Sprintf("%s/live/%d", w.URL, id))
	b.Wait(`#stage[data-ply] svg`)
	b.Wait(`#moves button.move`)
	b.Wait(`#status[data-on="yes"]`)
	if n := b.Count(faceUpCards); n > 0 {
		t.Errorf("%d cards in hands are open", n)
	}
	b.Picture(*screens, "watch")
	b.RequireAccessible()
	b.Look(390, 844, true)
	if wide := webtest.Eval[int64](b, "document.documentElement.scrollWidth"); wide > 390 {
		t.Errorf("on a phone the page is %d wide", wide)
	}
	b.Picture(*screens, "watch-phone-dark")
	b.RequireQuiet()
}

// When a watched match ends, the page links to the match and to the replay of the last game.
func TestWatchToTheEnd(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	w := webtest.New(t, webtest.Quiet, 0)
	id, free := w.ConnectHeldBot("brisca", 1)
	b := webtest.Open(t, in, fmt.Sprintf("%s/live/%d", w.URL, id))
	b.Wait(`#stage[data-ply] svg`)
	free()
	b.Wait(`#watch[data-over="finished"] #over:not([hidden])`)
	if n := b.Count(faceUpCards); n > 0 {
		t.Errorf("%d cards in hands are open at the end", n)
	}
	if got := b.Attribute("#over a:not(#replay)", "href"); got != fmt.Sprintf("/matches/%d", id) {
		t.Errorf("the link is %q", got)
	}
	b.Picture(*screens, "watched")
	b.Click("#replay:not([hidden])")
	b.Wait("#player svg")
	if at := webtest.Eval[string](b, "location.pathname"); !strings.HasPrefix(at, "/games/") {
		t.Errorf("the replay is at %q", at)
	}
	b.Go(fmt.Sprintf("%s/live/%d", w.URL, id))
	b.Wait("body.page-match") // that of a match that has ended
	b.RequireQuiet()
}

// When the home page shows another match, nothing of the match before remains.
func TestHomeLetsGo(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	w := webtest.New(t, webtest.Quiet, 0)
	_, free := w.ConnectHeldBot("brisca", 1)
	b := webtest.Open(t, in, w.URL+"/bots")
	webtest.Call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		window.observed = new Set();
		window.ResizeObserver = class extends ResizeObserver {
			observe(e) { super.observe(e); observed.add(this); }
			disconnect() { super.disconnect(); observed.delete(this); }
		};
		const later = setTimeout; // skip the time for which a finished match stays
		window.setTimeout = (f, ms) => later(() => {
			f();
			if (ms === 6000) document.documentElement.dataset.gone = 'yes';
		}, ms === 6000 ? 0 : ms);`})
	b.Go(w.URL + "/")
	b.Wait(`#now:not([hidden]) .stage[data-ply] svg`)
	if n := webtest.Eval[int](b, "observed.size"); n != 1 {
		t.Errorf("%d boards are drawn", n)
	}
	free()
	b.Wait(`html[data-gone]`)
	if n := webtest.Eval[int](b, "observed.size"); n != 0 {
		t.Errorf("%d boards are drawn of a match that has gone", n)
	}
	b.RequireQuiet()
}

// Pages reconnect by themselves when the server is back.
func TestReconnect(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	w := webtest.New(t, webtest.Quiet, 0)
	w.FixAddress()
	w.ConnectHeldBot("brisca", 1)
	b := webtest.Open(t, in, w.URL+"/live")
	b.Wait(`#games [data-match] .stage[data-ply] svg`)
	game := b.Attribute("#games .stage", "data-game")
	w.Stop()
	b.Wait(`#status[data-on="no"]`)
	w.Restart()
	b.Wait(`#status[data-on="yes"]`)
	b.Wait(fmt.Sprintf(`#games .stage[data-game]:not([data-game^="%s-"])`, strings.Split(game, "-")[0]))
	b.ClearConsole() // of the tries to connect
	b.RequireQuiet()
}

// Events update the home page, the standings and the page of a bot, in the language of the page.
func TestPagesMove(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	s := webtest.NewStaticWorld(t, nil)
	s.PlayEach(2)
	greedy, random := s.Version("@greedy"), s.Version("@random")
	play := func() {
		t.Helper()
		s.Play("brisca", []int64{greedy, random}, map[int64]webtest.Player{greedy: webtest.House("greedy")})
	}
	b := webtest.Open(t, in, s.URL+"/ladders/brisca?lang=ca")
	column := func(n int) []string {
		return webtest.Eval[[]string](b, fmt.Sprintf(`[...document.querySelectorAll('tbody tr')].map((e) => e.children[%d].textContent)`, n))
	}
	games := column(5)
	play()
	b.Wait(`tbody tr[data-moved]`)
	if got := column(5); strings.Join(got, " ") == strings.Join(games, " ") || len(got) != 3 {
		t.Errorf("the games are %q, and were %q", got, games)
	}
	if ranks := column(0); !slices.IsSorted(ranks) || ranks[0] != "1" {
		t.Errorf("the ranks are %q", ranks)
	}
	b.Go(s.URL + "/")
	play()
	b.Wait(`[data-part="finished"][data-moved]`)
	if text := b.Text(`[data-part="finished"]`); !strings.Contains(text, "ha guanyat") {
		t.Errorf("the part that has moved is not in Catalan: %q", text)
	}
	b.Go(s.URL + "/bots/@random")
	play()
	b.Wait(`[data-part="matches"][data-moved]`)
	b.Wait(`[data-part="places"][data-moved]`)
	b.RequireQuiet()
}

// When a page reconnects and gets the same rows, it does not replace them.
func TestRowsStay(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	s := webtest.NewStaticWorld(t, nil)
	s.PlayEach(2)
	b := webtest.Open(t, in, s.URL+"/bots")
	webtest.Call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		let sockets = 0;
		window.WebSocket = class extends WebSocket {
			constructor(...given) {
				super(...given);
				window.socket = this;
				sockets += 1;
				this.addEventListener('message', () => { document.documentElement.dataset.heard = sockets; });
			}
		};`})
	b.Go(s.URL + "/ladders/brisca")
	b.Wait(`html[data-heard="1"]`)
	if n := b.Count(`tr[data-moved]`); n > 0 {
		t.Errorf("%d rows have moved, and nothing has happened", n)
	}
	greedy, random := s.Version("@greedy"), s.Version("@random")
	s.Play("brisca", []int64{greedy, random}, map[int64]webtest.Player{greedy: webtest.House("greedy")})
	b.Wait(`tr[data-moved]`)
	webtest.Eval[bool](b, `document.querySelectorAll('tbody tr').forEach((e) => { e.old = true; }); socket.close(); true`)
	b.Wait(`html[data-heard="2"]`)
	if n := webtest.Eval[int](b, `[...document.querySelectorAll('tbody tr')].filter((e) => !e.old).length`); n > 0 {
		t.Errorf("%d rows are drawn anew, and nothing has happened", n)
	}
	b.RequireQuiet()
}

// closeCode reads a WebSocket to its end and returns the code with which it was closed.
func closeCode(t *testing.T, ws *websocket.Conn) int {
	t.Helper()
	for {
		_, _, err := ws.ReadMessage()
		var end *websocket.CloseError
		if errors.As(err, &end) {
			return end.Code
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// When a session ends, only the sockets that it has opened are closed, at once.
func TestWatchEnds(t *testing.T) {
	t.Parallel()
	s := webtest.NewStaticWorld(t, nil)
	goesOn := func(what string, ws *websocket.Conn) {
		t.Helper()
		s.Must(ws.WriteMessage(websocket.TextMessage, []byte(`{"watch":"match/1"}`)))
		if _, data, err := ws.ReadMessage(); err != nil || !json.Valid(data) {
			t.Errorf("%s: another socket gets %s, %v", what, data, err)
		}
	}
	for what, end := range map[string]func(p ladder.Person, token ladder.Token, c, another *http.Client){
		"sign-out": func(_ ladder.Person, _ ladder.Token, c, _ *http.Client) { s.Post(c, "/sign-out", "") },
		"ended": func(_ ladder.Person, _ ladder.Token, _, c *http.Client) {
			s.Post(c, "/account/sessions/end-others", "")
		},
		"sign-in-anew": func(_ ladder.Person, _ ladder.Token, c, _ *http.Client) { s.SignIn(c, s.AdaToken) },
		"token-revoked": func(p ladder.Person, k ladder.Token, _, _ *http.Client) {
			s.Must(s.Store.Sessions.RevokeToken(t.Context(), p.ID, k.ID))
		},
		"person-blocked": func(p ladder.Person, _ ladder.Token, _, _ *http.Client) {
			s.Must(s.Store.People.SetBlocked(t.Context(), p.ID, true))
		},
	} {
		p := s.Ladder.AddPerson(what, false)
		browsers, sockets := [2]*http.Client{}, [2]*websocket.Conn{}
		var first ladder.Token
		for i := range browsers {
			key, token, err := s.Store.Sessions.AddToken(t.Context(), p.ID, "", ladder.ScopeAll, time.Time{})
			s.Must(err)
			browsers[i] = s.Client()
			s.SignIn(browsers[i], key)
			sockets[i], _ = dial(&s.World, browsers[i], "/watch", nil)
			if i == 0 {
				first = token
			}
		}
		nobody, _ := dial(&s.World, s.Client(), "/watch", nil)
		end(p, first, browsers[0], browsers[1])
		if code := closeCode(t, sockets[0]); code != socket.CloseRefused {
			t.Errorf("%s: the socket ends with %d", what, code)
		}
		goesOn(what, nobody)
		if what != "person-blocked" {
			goesOn(what, sockets[1])
		}
	}
}

// Pages of other sites cannot open the socket.
func TestWatchSocket(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, webtest.Calm, 0)
	address := "ws" + strings.TrimPrefix(w.URL, "http") + "/ws/watch"
	_, resp, err := websocket.DefaultDialer.Dial(address, http.Header{"Origin": {"https://elsewhere.example"}})
	if err == nil || resp == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("a foreign origin gets %v, %v", resp, err)
	}
	if a := w.Get(w.Client(), "/ws/watch"); a.Status != http.StatusUnprocessableEntity && a.Status != http.StatusBadRequest {
		t.Errorf("a request that is no WebSocket gets %d", a.Status)
	}
}
