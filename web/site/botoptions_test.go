package site_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/web/webtest"
)

// On a new server every house bot plays. The form on the page of one leads to a game and to a match with the chosen
// options, and the bot plays both, also after a restart.
func TestHouseBotWithOptions(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, webtest.Calm, 0)
	guest, member := w.Client(), w.Client()
	w.SignIn(member, w.Token)
	w.FixAddress()
	for _, b := range house.Bots() {
		hasChoice := slices.ContainsFunc(b.ServerOptions(), func(o house.BotOption) bool { return o.IsText() || len(o.Values) != 1 })
		if a := w.Get(guest, "/bots/@"+b.Name); a.Status != http.StatusOK || strings.Contains(a.Body, `id="options"`) != hasChoice {
			t.Errorf("the page of @%s answers %d", b.Name, a.Status)
		}
	}
	const name = "@tebes-minimax:depth=1,h=1"
	form := url.Values{"set-depth": {"01"}, "set-h": {"1"}}.Encode()
	page := w.Get(guest, "/bots/@tebes-minimax").Body
	for _, want := range []string{`name="set-depth" value="5" type="number" min="1"`, `name="set-time" value="0s"`, "positions or iterations for a move", "0s to 1h", "by default"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of @tebes-minimax lacks %q", want)
		}
	}
	for path, want := range map[string]string{
		"/bots/@tebes-minimax?to=play&" + form:       "/play?" + url.Values{"game": {"tebes"}, "bot": {name}}.Encode(),
		"/bots/@tebes-minimax?to=match&" + form:      "/matches/new?" + url.Values{"ladder": {""}, "bot": {name}}.Encode(),
		"/bots/@sl?to=match&set-choice=mean":         "/matches/new?" + url.Values{"ladder": {"brisca"}, "bot": {"@sl:choice=mean"}}.Encode(),
		"/bots/@greedy?to=play&set-noise=0":          "/play?" + url.Values{"bot": {"@greedy"}}.Encode(),
		"/bots/@champion:level=3?to=play":            "/play?" + url.Values{"game": {"brisca"}, "bot": {"@champion:level=3"}}.Encode(),
		"/bots/@champion:level=3?to=play&set-level=": "/play?" + url.Values{"game": {"brisca"}, "bot": {"@champion:level=3"}}.Encode(),
	} {
		if a := w.Get(guest, path); a.Header.Get("Location") != want {
			t.Errorf("%s leads to %q, want %q", path, a.Header.Get("Location"), want)
		}
	}
	a := w.Get(guest, "/bots/@tebes-minimax?to=play&set-depth=99")
	if a.Status != http.StatusBadRequest || !strings.Contains(a.Body, "option depth cannot be &#34;99&#34;: try 1 to ") || !strings.Contains(a.Body, `name="set-depth" value="99"`) {
		t.Errorf("a wrong option answers %d", a.Status)
	}
	if a := w.Get(guest, "/play?game=tebes&bot="+url.QueryEscape("@tebes-minimax:h=1,depth=1")); !strings.Contains(a.Body, `<option value="`+name+`" selected`) {
		t.Error("the form of a game does not offer the bot with its options")
	}
	if a := w.Post(guest, "/play", url.Values{"game": {"tebes"}, "bot": {name}, "seat": {"0"}}.Encode()); a.Status != http.StatusUnauthorized {
		t.Errorf("a guest's game against new options answers %d", a.Status)
	}
	if a := w.Post(member, "/play", url.Values{"game": {"tebes"}, "bot": {name}, "seat": {"0"}}.Encode()); !strings.HasPrefix(a.Header.Get("Location"), "/play/") {
		t.Fatalf("a game against new options answers %d", a.Status)
	}
	a = w.Post(member, "/matches/new", url.Values{"ladder": {"brisca"}, "bot": {"@brisca-weighted:gain=3,cost=1, @net"}, "deals": {"1"}}.Encode())
	match := a.Header.Get("Location")
	kit.Until(t, "the match of house bots is over", func() bool { return strings.Contains(w.Get(guest, match).Body, "/games/") })
	w.Stop()
	w.Restart()
	for _, bot := range []string{name, "@brisca-weighted:gain=3,cost=1"} {
		if v, err := w.Server.Store.Versions.FindLive(t.Context(), bot); err != nil || v.State != ladder.Live || v.Number != 1 {
			t.Errorf("after a restart %s is %+v, %v", bot, v, err)
		}
	}
	if a := w.Post(guest, "/play", url.Values{"game": {"tebes"}, "bot": {name}, "seat": {"0"}}.Encode()); !strings.HasPrefix(a.Header.Get("Location"), "/play/") {
		t.Errorf("a guest's game against options that somebody has chosen answers %d", a.Status)
	}
}
