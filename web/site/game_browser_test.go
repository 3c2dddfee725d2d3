package site_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp/kb"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/web/site"
	"github.com/timba-arena/timba/web/webtest"
)

func at(b *webtest.Tab, ply int) {
	b.T.Helper()
	b.Wait(fmt.Sprintf(`.player[data-ply="%d"]`, ply))
}

// checkGameByKeyboard checks that keys step through a replay, and that the address names the position and opens
// there.
func checkGameByKeyboard(t *testing.T, w *webtest.StaticWorld) {
	in := webtest.Start(t)
	_, games := w.LastFinished("brisca")
	page := fmt.Sprintf("%s/games/%d", w.URL, games[0].ID)
	b := webtest.Open(t, in, page)
	at(b, 0)
	before := webtest.Eval[int](b, "history.length")
	b.Press(kb.ArrowRight, kb.ArrowRight, kb.ArrowRight, kb.ArrowLeft)
	at(b, 2)
	b.Press("1")
	b.Wait(`.player[data-view="1"]`)
	awaitQuery(b, "?ply=2&seat=1")
	b.Press("o", kb.End)
	at(b, games[0].Plies)
	awaitQuery(b, fmt.Sprintf("?ply=%d", games[0].Plies))
	if after := webtest.Eval[int](b, "history.length"); after != before {
		t.Errorf("stepping made %d entries of the history", after-before)
	}
	b.Go(page + "?ply=7&seat=0")
	b.Wait(`.player[data-ply="7"][data-view="0"]`)
	b.Click(`a[hreflang="ca"]`)
	b.Wait(`html[lang="ca"] .player[data-ply="7"]`)
	if got := webtest.Eval[string](b, `document.querySelector('.movespanel h2').textContent`); got != "Jugades" {
		t.Errorf("in Catalan the moves are headed %q", got)
	}
	b.RequireQuiet()
}

// awaitQuery waits until the address has a query.
func awaitQuery(b *webtest.Tab, query string) {
	b.T.Helper()
	kit.Until(b.T, "the address has "+query, func() bool { return webtest.Eval[string](b, "location.search") == query })
}

// checkVerifyMatch checks that the button verifies a match of the server, and that it detects what a forger has
// changed.
func checkVerifyMatch(t *testing.T, w *webtest.StaticWorld) {
	in := webtest.Start(t)
	m, games := w.LastFinished("brisca")
	own := m.Attempts[len(m.Attempts)-1]
	other := strings.Repeat("ab", 32)
	for name, c := range map[string]struct {
		path, from, to string
		state, says    string
	}{
		"true":               {"", "", "", "ok", fmt.Sprintf("All %d games come from the seed: 1 deals,", len(games))},
		"another seed":       {fmt.Sprintf("/matches/%d", m.ID), own.Seed.String(), other, "wrong", "The seed is not the one that was committed to"},
		"another commitment": {fmt.Sprintf("/matches/%d", m.ID), own.Commitment.String(), other, "wrong", "The seed is not the one that was committed to"},
		"another deal":       {fmt.Sprintf("/api/v1/matches/%d/replays", m.ID), gameSeed(w, games[1].ID), other, "wrong", fmt.Sprintf("Game %d was not dealt from the seed", games[0].ID)},
	} {
		t.Run(name, func(t *testing.T) {
			home := startForger(t, w.URL, c.path, c.from, c.to)
			b := webtest.Open(t, in, fmt.Sprintf("%s/matches/%d", home, m.ID))
			b.Wait("#verify:not([hidden])")
			b.Click("#verify")
			b.Wait(`#verdict[data-state="ok"], #verdict[data-state="wrong"]`)
			state := webtest.Eval[string](b, `document.getElementById('verdict').dataset.state`)
			text := webtest.Eval[string](b, `document.getElementById('verdict').textContent`)
			if state != c.state || !strings.Contains(text, c.says) {
				t.Errorf("the verdict is %s: %q, want %s: %q", state, text, c.state, c.says)
			}
			b.RequireQuiet()
		})
	}
}

func gameSeed(w *webtest.StaticWorld, id int64) string {
	w.T.Helper()
	data, err := w.Store.Matches.Replay(w.T.Context(), id)
	w.Must(err)
	_, rest, _ := strings.Cut(string(data), `"seed": "`)
	seed, _, _ := strings.Cut(rest, `"`)
	return seed
}

// startForger starts a proxy of the server that replaces a text in the answers of one path, and returns its
// address.
func startForger(t *testing.T, home, path, from, to string) string {
	t.Helper()
	target, err := url.Parse(home)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Header.Del("Accept-Encoding") },
		ModifyResponse: func(r *http.Response) error {
			if path == "" || r.Request.URL.Path != path {
				return nil
			}
			data, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			if !strings.Contains(string(data), from) {
				t.Errorf("the answer of %s has no %q to forge", path, from)
			}
			text := strings.ReplaceAll(string(data), from, to)
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
			r.Header.Set("Content-Length", fmt.Sprint(len(text)))
			return nil
		},
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL
}

// frames returns the addresses of the documents in the frames of a page. A refused document has an address of
// the browser.
func frames(b *webtest.Tab) map[string]bool {
	b.T.Helper()
	shown := map[string]bool{}
	for _, f := range webtest.Call(b, page.GetFrameTree, cdp.Empty{}).FrameTree.ChildFrames {
		shown[f.Frame.URL] = true
	}
	return shown
}

// A page of another site can show a replay in a frame if the operator allows it, and otherwise not.
func TestEmbed(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	for name, on := range map[string]bool{"on": true, "off": false} {
		t.Run(name, func(t *testing.T) {
			w := webtest.NewStaticWorld(t, func(o *site.Options) { o.Middleware.Service.Config.Site.Embed = on })
			w.PlayEach(1)
			_, games := w.LastFinished("tebes-4")
			path := fmt.Sprintf("/games/%d", games[0].ID)
			a := w.Get(w.Client(), path)
			if offered := strings.Contains(a.Body, "&lt;iframe"); offered != on {
				t.Errorf("the page offers a frame: %v", offered)
			}
			if !strings.Contains(a.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
				t.Error("the page itself may be framed")
			}
			a = w.Get(w.Client(), path+"/embed")
			if framed := a.Status == 200 && strings.Contains(a.Header.Get("Content-Security-Policy"), "frame-ancestors *"); framed != on {
				t.Errorf("the page for frames answers %d with %q", a.Status, a.Header.Get("Content-Security-Policy"))
			}
			if !on {
				return
			}
			if strings.Contains(a.Body, "<form") || a.Header.Get("Set-Cookie") != "" {
				t.Error("the page for frames has a form or a cookie")
			}
			elsewhere := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("Content-Type", "text/html; charset=utf-8")
				for _, path := range []string{path + "/embed?ply=3", path} {
					fmt.Fprintf(rw, `<iframe src="%s%s" width="700" height="700"></iframe>`, w.URL, path)
				}
				fmt.Fprint(rw, `<link rel="icon" href="data:,">`)
			}))
			defer elsewhere.Close()
			b := webtest.Open(t, in, elsewhere.URL)
			b.Wait("iframe")
			shown := frames(b)
			if !shown[w.URL+path+"/embed?ply=3"] || shown[w.URL+path] {
				t.Errorf("the frames shown are %v", shown)
			}
		})
	}
}
