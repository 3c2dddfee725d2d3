package site_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/socket"
	"github.com/timba-arena/timba/web/webtest"
)

// playBothSeats plays the seats of two people at random to the end of their game.
func playBothSeats(a, b *webtest.Tab) {
	a.T.Helper()
	kit.Until(a.T, "the game is over", func() bool {
		for _, tab := range []*webtest.Tab{a, b} {
			switch webtest.Eval[string](tab, clickRandomMove) {
			case "trick":
				tab.Click("#board") // goes on at once
			case "covered":
				tab.T.Fatal("a move is covered by others")
			}
		}
		return a.Count(`.over`) > 0 && b.Count(`.over`) > 0
	})
}

// A person and a guest play at a table with two bots, from the invite to the result, with clocks. Each sees
// who is present and who is away. Others can watch, but see no hands.
func TestPlayPeople(t *testing.T) {
	t.Parallel()
	in, other, third := webtest.Start(t), webtest.Start(t), webtest.Start(t)
	w := webtest.New(t, playRules, 0)
	a := webtest.Open(t, in, w.URL+"/play?lang=en")
	a.Look(1280, 900, false)
	a.Go(playAddress(w, "@random", "brisca", 0, "players=4 teams=yes") + "&bot2=%2B&bank=5")
	kit.Until(t, "the scripts have run", func() bool { return webtest.Eval[string](a, "document.readyState") == "complete" })
	a.Picture(*screens, "play-invite")
	if text := a.Text(`label:has([name="bank"][value=""])`); !strings.Contains(text, "2 minutes a move") || a.Count(`form.choose [data-people="no"]:not([hidden])`) != 0 {
		t.Errorf("who plays with people without a clock has %q", text)
	}
	a.Click(`form.choose > button`)
	a.Wait(`#link`)
	link := webtest.Eval[string](a, `document.getElementById('link').value`)
	a.RequireAccessible()
	a.Picture(*screens, "waiting-opener")

	b := webtest.Open(t, other, link+"?lang=ca")
	b.Look(390, 844, true)
	b.Wait(`form[action$="/sit"]`)
	if text := b.Text("main"); !strings.Contains(text, "4 jugadors") || !strings.Contains(text, "5 minuts per persona") || !strings.Contains(text, "lliure") || strings.Contains(text, "players") {
		t.Errorf("the page of the invite says %q", text)
	}
	b.RequireAccessible()
	b.Picture(*screens, "waiting-invited-phone-dark")
	signIn(b, w, w.Token)
	b.Go(link)
	b.Click(`form[action$="/sit"] button`)
	b.Wait(`#board svg`)
	a.Wait(`#board svg`)
	if text := webtest.Eval[string](a, "document.querySelector('.seats').innerText"); !strings.Contains(text, "admin") || !strings.Contains(text, "a guest\n(you)") || strings.Count(text, "(you)") != 1 || !strings.Contains(text, "5:00") && !strings.Contains(text, "4:5") {
		t.Errorf("the table has the seats %q", text)
	}
	a.Wait(`#board[data-turn="yes"]`)
	b.Wait(`#board [data-seat="0"][data-turn="yes"]`)
	if got := strings.Join(b.Attributes(`[data-clock]`, "data-clock"), " "); got != "0 2" || !regexp.MustCompile(`^[45]:\d\d$`).MatchString(b.Text(`[data-plate="0"] [data-clock]`)) {
		t.Errorf("the plates of the seats %q have clocks, and that of seat 0 says %q", got, b.Text(`[data-plate="0"]`))
	}
	if text := b.Text("#state"); text != "Juga una persona convidada…" || a.Count(`#board [data-turn="yes"]`) != 1 {
		t.Errorf("who is not to move reads %q", text)
	}
	a.RequireAccessible()
	a.Picture(*screens, "table-people")
	playOut(a, 1)
	b.Wait(`#board[data-turn="yes"]`)
	b.RequireAccessible()
	b.Picture(*screens, "table-people-phone-dark")

	c := webtest.Open(t, third, w.URL+"/live?lang=es")
	c.Wait(`#games [data-match] .stage[data-ply] svg`)
	if text := c.Text(`#games h2`); text != "una persona invitada + admin contra random 1 + random 2" {
		t.Errorf("the list of the games in progress has %q", text)
	}
	c.Picture(*screens, "live-people")
	c.Click(`#games a`)
	c.Wait(`#stage[data-ply] svg`)
	c.Wait(`#moves button.move`)
	if text := c.Text("h1") + c.Text(`.watching`); !strings.Contains(text, "una persona invitada + admin") || strings.Contains(text, "guest") || c.Count(faceUpCards) > 0 {
		t.Errorf("who watches sees %q, with %d open cards", text, c.Count(faceUpCards))
	}
	if text := c.Text(`#seats`); !regexp.MustCompile(`[45]:\d\d`).MatchString(text) {
		t.Errorf("who watches sees the clocks %q", text)
	}
	if bots := c.Text(`#seats [data-seat="1"] .clock`) + c.Text(`#seats [data-seat="3"] .clock`); bots != "" {
		t.Errorf("who watches sees the clocks %q of bots, which have no bank", bots)
	}
	c.RequireAccessible()
	c.Picture(*screens, "watch-people")
	for _, width := range []int64{1280, 375} {
		c.Look(width, 900, false)
		c.Wait(fmt.Sprintf(`#stage svg[width="%d"]`, webtest.Eval[int64](c, `document.getElementById('stage').clientWidth`)))
		if names := webtest.Eval[string](c, `[...document.querySelectorAll('.plate .name')].map((e) => e.textContent).join()`); strings.Count(names, "una persona invitada") != 1 || strings.Contains(names, "…") {
			t.Errorf("at a width of %d the plates have the names %q", width, names)
		}
	}
	kit.Until(t, "the players see that somebody watches", func() bool { return strings.Contains(a.Text(`.seats`), "1 watching") })

	b.Go(w.URL + "/")
	kit.Until(t, "the other is away, for all", func() bool {
		return strings.Contains(a.Text(`.seats`), "away") && strings.Contains(a.Text(`[data-plate="2"]`), "away") && strings.Contains(c.Text(`[data-plate="2"]`), "ausente")
	})
	b.Go(link)
	kit.Until(t, "the other is back, for all", func() bool {
		return !strings.Contains(a.Text(`.seats`), "away") && !strings.Contains(a.Text(`[data-plate="2"]`), "away") && !strings.Contains(c.Text(`#stage`), "ausente")
	})

	playBothSeats(a, b)
	c.Wait(`#watch[data-over="finished"]`)
	kit.Until(t, "the result is shown", func() bool {
		return strings.Contains(c.Text(`#over`), "ha") && !strings.Contains(c.Text(`#over`), "La partida ha acabado.")
	})
	c.Look(390, 844, true)
	if wide := webtest.Eval[int64](c, "document.documentElement.scrollWidth"); wide > 390 {
		t.Errorf("on a phone the page of who watches is %d wide", wide)
	}
	c.RequireAccessible()
	c.Picture(*screens, "watched-people-phone-dark")
	c.Click(`#over a`)
	c.Wait(`#player svg`)
	c.RequireQuiet()
	for name, tab := range map[string]*webtest.Tab{"over-people": a, "over-people-phone-dark": b} {
		tab.RequireAccessible()
		tab.Picture(*screens, name)
	}
	a.Click(`form[action$="/rematch"] button`)
	a.Wait(`#link`)
	if text := a.Text(`.lead`); !strings.HasPrefix(text, "You have offered a rematch to admin: ") || a.Count(`.lead a[href="`+strings.TrimPrefix(link, w.URL)+`"]`) != 1 {
		t.Errorf("who offers a rematch reads %q", text)
	}
	b.Wait(`.offer button`)
	b.RequireAccessible()
	b.Picture(*screens, "offer-phone-dark")
	b.Click(`.offer button`)
	a.Wait(`#board svg`)
	if text := a.Text(`.seats`); !strings.HasPrefix(strings.Join(strings.Fields(text), " "), "Seat 0 random") {
		t.Errorf("the rematch has the seats %q", text)
	}
	a.Wait(`#board[data-turn="yes"]`)
	b.Click(`[data-opens="resign"]`)
	b.Click(`#resign form button`)
	b.Wait(`main:has(#board):not(:has([data-opens="resign"]))`) // the page that the form leads to
	kit.Until(t, "who has resigned reads that the others play on", func() bool {
		return b.Text(`#state`) == "Has abandonat. Els altres continuen jugant…"
	})
	own := w.Client()
	w.SignIn(own, w.Token)
	if page := w.Get(own, "/account").Body; !strings.Contains(page, `href="`+strings.TrimPrefix(link, w.URL)+`"`) {
		t.Error("the account of who came by the link does not have the game")
	}
	a.RequireQuiet()
	b.RequireQuiet()
}

// Only the opener can cancel a table. A visitor who came by the link then sees that it is canceled.
func TestPlayCancel(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, playRules, 0)
	first, second := w.Client(), w.Client()
	table := w.Post(first, "/play", "game=tebes&bot=%2B&seat=0").Header.Get("Location")
	if a := w.Get(second, table); a.Status != http.StatusOK || !strings.Contains(a.Body, `action="`+table+`/sit"`) || !strings.Contains(a.Body, "drawn after 400 moves") || strings.Contains(a.Body, "/cancel") || a.Header.Get("Set-Cookie") != "" {
		t.Errorf("the page of the link answers %d: %s", a.Status, a.Body)
	}
	if a := w.Post(second, table+"/cancel", ""); a.Status != http.StatusForbidden {
		t.Errorf("somebody else's cancel answers %d", a.Status)
	}
	if _, status := dial(w, first, table, nil); status != http.StatusConflict {
		t.Errorf("the socket of a table that waits answers %d", status)
	}
	if a := w.Post(first, table+"/resign", ""); a.Status != http.StatusConflict {
		t.Errorf("resigning at a table that waits answers %d", a.Status)
	}
	watch, _ := dial(w, second, "/watch", nil)
	watch.WriteJSON(map[string]string{"watch": strings.TrimPrefix(table, "/"), "lang": "en"})
	var shown struct{ Parts map[string]string }
	w.Must(watch.ReadJSON(&shown))
	if part := shown.Parts["waiting"]; !strings.Contains(part, "free") || strings.Contains(part, "data-begun") {
		t.Errorf("a table that waits is shown as %+v", shown)
	}
	if a := w.Post(first, table+"/cancel", ""); a.Status != http.StatusSeeOther {
		t.Errorf("cancel answers %d: %s", a.Status, a.Body)
	}
	shown.Parts = nil
	w.Must(watch.ReadJSON(&shown))
	if !strings.Contains(shown.Parts["waiting"], "data-begun") { // the page is loaded again
		t.Errorf("a table that is cancelled is shown as %+v", shown)
	}
	for _, c := range []*http.Client{first, second} {
		if a := w.Get(c, table); !strings.Contains(a.Body, "This table was cancelled by who had opened it.") {
			t.Errorf("the page of the table says %s", a.Body)
		}
	}
	if a := w.Post(second, table+"/sit", ""); a.Status != http.StatusSeeOther {
		t.Errorf("sitting down there answers %d", a.Status)
	}
}

// Who is challenged can decline, and both then read that.
func TestPlayDecline(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, playRules, 0)
	first, second := w.Client(), w.Client()
	w.SignIn(first, w.Token)
	p := kit.Get[ladder.Person](t)(w.Server.Store.People.Add(t.Context(), "berta", false))
	token, _, err := w.Server.Store.Sessions.AddToken(t.Context(), p.ID, "", ladder.ScopeAll, time.Time{})
	w.Must(err)
	w.SignIn(second, token)
	table := w.Post(first, "/play", "game=tebes&bot=%2Bberta&seat=0").Header.Get("Location")
	decline := `action="` + table + `/cancel"`
	if a := w.Get(second, table); !strings.Contains(a.Body, decline) || !strings.Contains(a.Body, "Decline") {
		t.Errorf("the page of who is challenged is %s", a.Body)
	}
	if a := w.Get(w.Client(), table); strings.Contains(a.Body, decline) {
		t.Error("anybody can decline")
	}
	w.Post(second, table+"/cancel", "")
	for _, c := range []*http.Client{first, second} {
		if a := w.Get(c, table); !strings.Contains(a.Body, "The person for whom a seat was kept has declined.") {
			t.Errorf("the page of the table says %s", a.Body)
		}
	}
}

// A visitor who comes by the link of a table sits down by the form. Both people then get the page of the
// game, with clocks.
func TestPlaySit(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, playRules, 0)
	first, second := w.Client(), w.Client()
	table := w.Post(first, "/play", "game=brisca&bot=%2B&seat=0&bank=5").Header.Get("Location")
	invitation := w.Get(second, table).Body
	if !strings.Contains(invitation, "ratings of people") {
		t.Errorf("who is invited does not read what the game counts for: %s", invitation)
	}
	// A guest who clicks twice has no cookie yet at the second click, and is one guest all the same.
	once := regexp.MustCompile(`/sit"><input type="hidden" name="once" value="(\w+)"`).FindStringSubmatch(invitation)
	if once == nil {
		t.Fatalf("the form to sit down may not be sent twice: %s", invitation)
	}
	again := w.Client()
	if a := w.Post(again, table+"/sit", "once="+once[1]); a.Status != http.StatusSeeOther {
		t.Fatalf("sitting down answers %d: %s", a.Status, a.Body)
	}
	if a := w.Post(second, table+"/sit", "once="+once[1]); a.Status != http.StatusSeeOther || a.Header.Get("Location") != table {
		t.Fatalf("sitting down answers %d: %s", a.Status, a.Body)
	}
	for _, c := range []*http.Client{first, second} {
		if a := w.Get(c, table); a.Status != http.StatusOK || !strings.Contains(a.Body, `<ul class="seats" data-part="seats">`) || strings.Count(a.Body, "data-left=") != 2 {
			t.Errorf("the page of the table answers %d: %s", a.Status, a.Body)
		}
	}
	third := w.Client()
	if a := w.Post(third, table+"/sit", ""); a.Status != http.StatusConflict {
		t.Errorf("a third person is answered with %d", a.Status)
	}
	for language, want := range map[string][2]string{"en": {"guest 1", "guest 2"}, "ca": {"convidat 1", "convidat 2"}} {
		w.Get(third, "/?lang="+language)
		if page := w.Get(third, table).Body; !strings.Contains(page, want[0]) || !strings.Contains(page, want[1]) {
			t.Errorf("who watches two guests does not read %q: %s", want, page)
		}
	}
}

// A person finds a waiting table in the list of /play, which moves by itself, and sits down. While people are on other
// pages, a bar says whose turn it is and leads to the table, also when the browser goes back to an earlier page.
func TestPlayLobby(t *testing.T) {
	t.Parallel()
	in, other := webtest.Start(t), webtest.Start(t)
	w := webtest.New(t, playRules+`move = "1h"`, 0)
	b := webtest.Open(t, other, w.URL+"/play?lang=en")
	b.Look(390, 844, true)
	b.Wait(`html[data-live="yes"]`)
	a := webtest.Open(t, in, w.URL+"/play?lang=en")
	a.Look(1280, 900, false)
	a.Go(playAddress(w, "%2A", "brisca", 0, ""))
	a.Click(`form.choose > button`)
	a.Wait(`#link`)
	webtest.Eval[bool](a, `(navigator.share = (given) => { window.shared = given.url; return Promise.resolve(); }, true)`)
	a.Click(`[data-copy="link"]`)
	if shared, link := webtest.Eval[string](a, "window.shared"), webtest.Eval[string](a, "location.href"); shared != link {
		t.Errorf("%q is shared, want %q", shared, link)
	}
	a.Go(w.URL + "/ladders")
	bar := func(tab *webtest.Tab, want string) {
		t.Helper()
		kit.Until(t, "the bar says "+want, func() bool { return strings.Contains(tab.Text("#ongoing"), want) })
	}
	bar(a, "Your table of Brisca waits for players")
	b.Wait(`.lobby form`)
	if text := b.Text(`.lobby`); !strings.Contains(text, "a guest") || !strings.Contains(text, "2 players") {
		t.Errorf("the list of tables says %q", text)
	}
	b.RequireAccessible()
	b.Picture(*screens, "lobby-phone-dark")
	webtest.Eval[bool](b, `(addEventListener('submit', ({ target }) => { sessionStorage.claim = target.elements.once.value; }), true)`)
	b.Click(`.lobby form button`)
	b.Wait(`#board`)
	if claim := webtest.Eval[string](b, "sessionStorage.claim"); len(claim) < 20 {
		t.Errorf("the form in the list of tables has the value %q against a second click", claim)
	}
	bar(a, "Brisca begins: come to the table")
	a.Click(`#ongoing a`)
	a.Wait(`#board[data-turn="yes"]`)
	a.Go(w.URL + "/play")
	bar(a, "Your turn in Brisca")
	if text := a.Text("#ongoing"); !regexp.MustCompile(`[56]\d:\d\d left`).MatchString(text) {
		t.Errorf("the bar says %q", text)
	}
	if n := a.Count(`.lobby`); n != 0 {
		t.Error("a table that is full is in the list of those that wait")
	}
	a.RequireAccessible()
	a.Picture(*screens, "ongoing-desk-light")
	a.Click(`#ongoing a`)
	a.Wait(`#board[data-turn="yes"]`)
	if text := a.Text("#ongoing"); text != "" {
		t.Errorf("at the table the bar says %q", text)
	}
	b.Go(w.URL + "/")
	bar(b, "Your game of Brisca goes on")
	playOut(a, 1)
	bar(b, "Your turn in Brisca")
	b.RequireAccessible()
	b.Picture(*screens, "ongoing-phone-dark")
	a.Back()
	a.Wait(`form.choose`)
	bar(a, "Your game of Brisca goes on")
	a.RequireQuiet()
	b.RequireQuiet()
}

// Who challenges a person opens a table that keeps a seat for that person, who finds it in the bar of every page.
func TestPlayChallenge(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, playRules, 0)
	p := kit.Get[ladder.Person](t)(w.Server.Store.People.Add(t.Context(), "anna", false))
	token, _, err := w.Server.Store.Sessions.AddToken(t.Context(), p.ID, "test", ladder.ScopeAll, time.Time{})
	w.Must(err)
	admin, anna, guest := w.Client(), w.Client(), w.Client()
	w.SignIn(admin, w.Token)
	w.SignIn(anna, token)
	for c, want := range map[*http.Client]string{admin: `href="/play?bot=%2Banna"`, guest: `href="/sign-in?next=%2fplay%3fbot%3d%252Banna"`} {
		if page := w.Get(c, "/people/anna").Body; !strings.Contains(page, want) {
			t.Errorf("the page of the person does not have %s: %s", want, page)
		}
	}
	if page := w.Get(anna, "/people/anna").Body; strings.Contains(page, "%2Banna") {
		t.Error("a person can challenge herself")
	}
	if page := w.Get(admin, "/play?bot=%2Banna&game=tebes").Body; !strings.Contains(page, `value="&#43;anna" checked>anna`) {
		t.Errorf("the form does not challenge the person: %s", page)
	}
	const form = "game=tebes&bot=%2Banna&seat=1"
	for c, status := range map[*http.Client]int{guest: http.StatusUnauthorized, anna: http.StatusBadRequest} {
		if a := w.Post(c, "/play", form); a.Status != status {
			t.Errorf("a challenge answers %d, want %d", a.Status, status)
		}
	}
	if a := w.Post(admin, "/play", "game=tebes&bot=%2Bnobody&seat=1"); a.Status != http.StatusNotFound {
		t.Errorf("a challenge to nobody answers %d", a.Status)
	}
	table := w.Post(admin, "/play", form).Header.Get("Location")
	if page := w.Get(admin, table).Body; !strings.Contains(page, "You have challenged anna") || !strings.Contains(page, "kept for anna") {
		t.Errorf("who challenges reads %s", page)
	}
	if page := w.Get(anna, "/ladders").Body; !strings.Contains(page, `<a href="`+table+`">admin offers you a game of Tebes</a>`) {
		t.Errorf("who is challenged reads %s", page)
	}
	if page := w.Get(guest, "/play").Body; strings.Contains(page, table) {
		t.Error("others see a table that is kept for a person")
	}
	if a := w.Post(guest, table+"/sit", ""); a.Status != http.StatusConflict {
		t.Errorf("somebody else who sits down is answered with %d", a.Status)
	}
	if a := w.Post(anna, table+"/sit", ""); a.Status != http.StatusSeeOther {
		t.Errorf("who is challenged is answered with %d: %s", a.Status, a.Body)
	}
}

// When a person forfeits and the others play on, all pages say so.
func TestPlayForfeited(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	w := webtest.New(t, playRules, 0)
	first, second := w.Client(), w.Client()
	w.SignIn(first, w.Token)
	const form = "game=brisca&set-players=4&bot=%2B&bot2=@random&bot3=@random&seat=0"
	table := w.Post(first, "/play", form).Header.Get("Location")
	w.Post(second, table+"/sit", "")
	other, _ := dial(w, second, table, nil)
	other.WriteJSON(socket.Frame{Lines: []string{"ready"}})
	b := webtest.Open(t, in, w.URL+"/play")
	signIn(b, w, w.Token)
	b.Go(w.URL + table)
	b.Wait(`#board[data-turn="yes"]`)
	ws, _ := dial(w, first, table, nil)
	ws.WriteJSON(socket.Frame{Number: 1, Lines: []string{"move none"}})
	awaitLine(t, other, "turn ")
	for range 2 { // the page that has lost its seat, and the page that is loaded again
		kit.Until(t, "who has forfeited reads it", func() bool {
			return strings.Contains(b.Text(`.seats [data-seat="0"]`), "forfeited") && b.Count(`#board[data-turn="yes"]`) == 0
		})
		b.Go(w.URL + table)
		b.Wait(`#board svg`)
		kit.Until(t, "it is said instead of whose turn it is", func() bool {
			return b.Text("#state") == "You forfeit the game"
		})
	}
	page := w.Get(second, table).Body
	if !strings.Contains(page, `data-seat="0" data-out>`) || strings.Contains(page, `data-seat="1" data-out>`) {
		t.Errorf("the other sees %s", page)
	}
	b.RequireQuiet()
}
