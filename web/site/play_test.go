package site_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/web/play"
	"github.com/timba-arena/timba/web/site"
	"github.com/timba-arena/timba/web/socket"
	"github.com/timba-arena/timba/web/webtest"
)

// playRules is a configuration that allows guests at tables and plays no matches.
const playRules = webtest.Calm + `
[play]
games = 10
guests = true
think = "1m"
`

// clickRandomMove is a script that clicks on a random move and returns "moved". It returns "over" at the end of the
// game, "trick" for a finished trick that waits for a click, "covered" if something covers the move, and ""
// if there is no move.
const clickRandomMove = `(() => {
	if (document.querySelector('.over, main .notice:not(noscript *)')) return 'over';
	const board = document.getElementById('board');
	if (board?.dataset.trick === 'ended') return 'trick';
	if (board?.dataset.turn !== 'yes' || board.dataset.sent !== undefined) return '';
	const all = [...board.querySelectorAll('.choice.to, .playable, .words button')];
	const from = [...board.querySelectorAll('.choice.from')];
	const pick = (list) => list[Math.floor(Math.random() * list.length)];
	const e = pick(all.length > 0 ? all : from);
	if (!e) return '';
	e.scrollIntoView({ block: 'center' });
	const box = e.getBoundingClientRect();
	for (const part of [0.5, 0.25, 0.12, 0.06]) {
		const x = box.left + box.width * part, y = box.top + box.height / 2;
		if ((` + webtest.ClickAt + `)(e, x, y)) return 'moved';
	}
	return 'covered';
})()`

// playOut plays at random to the end of the game.
func playOut(b *webtest.Tab, moves int) {
	b.T.Helper()
	for n := 0; moves == 0 || n < moves; {
		switch webtest.Eval[string](b, clickRandomMove) {
		case "over":
			return
		case "":
			b.Wait(`#board[data-turn="yes"]:not([data-sent]), #board[data-trick="ended"], .over, main .notice`)
		case "trick":
			b.Click("#board") // goes on at once
		case "covered":
			b.T.Fatalf("a move is covered by others")
		default:
			n++
		}
	}
}

// playAddress returns the address of the form of a game with options, such as "size=4 opening=0".
func playAddress(w *webtest.World, bot, game string, seat int, options string) string {
	address := fmt.Sprintf("%s/play?bot=%s&game=%s&seat=%d", w.URL, bot, game, seat)
	for option := range strings.FieldsSeq(options) {
		address += "&set-" + option
	}
	return address
}

func openTableByForm(b *webtest.Tab, w *webtest.World, game, options string) {
	b.T.Helper()
	b.Go(playAddress(w, "@random", game, 0, options))
	b.Click(`form.choose > button`)
	b.Wait(`#board svg`)
}

// Card games and board games can be played to their ends by clicks, and their replays exist.
func TestPlayGames(t *testing.T) {
	t.Parallel()
	playGames(t, []chosen{{"brisca", ""}, {"tebes", "size=4"}})
}

// chosen is a game with its options.
type chosen struct{ game, options string }

func playGames(t *testing.T, games []chosen) {
	in := webtest.Start(t)
	w := webtest.New(t, playRules, 0)
	for _, c := range games {
		t.Run(c.game, func(t *testing.T) {
			b := webtest.Open(t, in, w.URL+"/play")
			b.Look(390, 844, false)
			openTableByForm(b, w, c.game, c.options)
			if wide := webtest.Eval[int64](b, "document.documentElement.scrollWidth"); wide > 390 {
				t.Errorf("the page is %d wide", wide)
			}
			b.Wait(`#board[data-turn="yes"]`)
			b.RequireAccessible()
			b.Picture(*screens, "table-"+c.game)
			playOut(b, 0)
			b.Wait(`.over`)
			if covers := webtest.Eval[bool](b, `document.querySelector('.over').getBoundingClientRect().top < document.querySelector('#board svg').getBoundingClientRect().bottom`); covers {
				t.Error("the card covers the position that has decided")
			}
			if seen := webtest.Eval[float64](b, `innerHeight - document.querySelector('.over h2').getBoundingClientRect().bottom`); seen < 0 {
				t.Errorf("the result is %v below the screen", -seen)
			}
			if board := webtest.Eval[float64](b, `document.getElementById('board').getBoundingClientRect().top - document.querySelector('.at').getBoundingClientRect().top`); board > 100 {
				t.Errorf("the card has moved the board %v down", board)
			}
			b.Picture(*screens, "over-"+c.game)
			b.RequireAccessible()
			card := b.Text(`.over`)
			b.Go(webtest.Eval[string](b, "location.href"))
			b.Wait(`#player svg`)
			if again := b.Text(`.over`); again != card || card == "" {
				t.Errorf("the card says %q, and %q when the page is loaded again", card, again)
			}
			b.RequireAccessible()
			b.Picture(*screens, "played-"+c.game)
			b.RequireQuiet()
		})
	}
	r, err := w.Server.Store.Plays.RecordAgainstPeople(t.Context(), botID(t, w, "@random"))
	w.Must(err)
	if r.Games != len(games) {
		t.Errorf("the record against people has %d games, want %d", r.Games, len(games))
	}
	b := webtest.Open(t, in, w.URL+"/bots/@random?lang=en")
	if n := b.Count(`.plays a[href^="/play/"]`); n != min(10, len(games)) {
		t.Errorf("the page of the bot has %d games", n)
	}
	b.Look(1280, 900, false)
	b.Picture(*screens, "bot-plays")
	b.RequireQuiet()
}

func botID(t *testing.T, w *webtest.World, name string) int64 {
	t.Helper()
	bot := kit.Get[ladder.Bot](t)(w.Server.Store.Bots.Find(t.Context(), name))
	return bot.ID
}

// A guest who signs in during a game plays on, and can end the session from the account page and by signing out.
func TestPlaySignIn(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	w := webtest.New(t, playRules, 0)
	w.SignIn(w.Client(), w.Token)
	b := webtest.Open(t, in, w.URL+"/play")
	b.Look(390, 844, true)
	openTableByForm(b, w, "brisca", "")
	playOut(b, 2)
	table := webtest.Eval[string](b, "location.pathname")
	signIn(b, w, w.Token)
	if n := b.Count(`form[action="/account/sessions/end"]`); n != 1 {
		t.Errorf("the account has %d other sessions", n)
	}
	b.RequireAccessible()
	b.Picture(*screens, "sessions-phone-dark")
	b.Go(w.URL + table)
	b.Wait(`#board[data-turn="yes"]`)
	playOut(b, 0)
	b.Wait(`.over`)
	b.Look(1280, 900, false)
	b.Go(w.URL + "/account")
	b.Picture(*screens, "sessions-desk-light")
	b.Click(`form[action="/account/sessions/end-others"] button`)
	awaitSelector(b, `section[aria-labelledby="sessions"]:not(:has(form))`)
	b.Picture(*screens, "sessions-one-desk-light")
	b.Click(`form[action="/sign-out"] button`)
	awaitSelector(b, `.who > a[href^="/sign-in"]`)
	b.RequireQuiet()
}

// A page that is loaded again, or loses its connection, keeps the seat and says whose turn it is. Then the
// person resigns and plays again. A move that does not reach the server is shown on the page all the same.
func TestPlayReload(t *testing.T) {
	t.Parallel()
	w, b := webtest.Browse(t, playRules, "/play")
	examine(b, w.URL+"/play", "play")
	openTableByForm(b, w, "brisca", "")
	playOut(b, 2)
	b.Wait(`#board[data-turn="yes"]`)
	before := webtest.Eval[string](b, `[...document.querySelectorAll('[data-hand="0"] [data-card]')].map((e) => e.dataset.card).join()`)
	b.Go(webtest.Eval[string](b, "location.href"))
	b.Wait(`#board[data-turn="yes"]`)
	after := webtest.Eval[string](b, `[...document.querySelectorAll('[data-hand="0"] [data-card]')].map((e) => e.dataset.card).join()`)
	if before != after || before == "" {
		t.Errorf("the hand is %q, and %q when the page is loaded again", before, after)
	}
	if text := b.Text("#state"); text != "Your turn" {
		t.Errorf("the page says %q", text)
	}
	if text := b.Text("#clock"); text != "" {
		t.Errorf("without a clock the page says %q", text)
	}
	playOut(b, 1)
	b.Wait(`#board[data-turn="yes"]`)
	b.Click(`[data-opens="resign"]`)
	b.Click(`form[action$="/resign"] button`)
	b.Wait(`.over.loss`)
	b.Click(`form[action$="/rematch"] button`)
	b.Wait(`#board[data-turn="yes"]`)
	webtest.Eval[bool](b, `(window.WebSocket.prototype.send = () => {}, true)`)
	playOut(b, 1)
	kit.Until(t, "the page says whose move it waits for", func() bool { return b.Text("#state") == "random plays…" })
	b.RequireQuiet()
}

// A page that has lost its seat to another page of the same person offers no moves. A button takes the seat
// back; the other page does not take it again by itself.
func TestPlayHere(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	w := webtest.New(t, playRules, 0)
	b := webtest.Open(t, in, w.URL+"/play")
	b.Look(375, 667, true)
	openTableByForm(b, w, "tebes", "")
	b.Wait(`#board[data-turn="yes"]`)
	c := webtest.Open(t, in, webtest.Eval[string](b, "location.href"))
	c.Wait(`#board[data-turn="yes"]`)
	b.Wait(`#here:not([hidden])`)
	if text := b.Text("#state"); text != "This game is open in another window." || b.Count(`.choice`) > 0 || b.Count(`#board[data-turn="yes"]`) > 0 {
		t.Errorf("the first page says %q, with %d moves", text, b.Count(`.choice`))
	}
	b.RequireAccessible()
	b.Picture(*screens, "taken-phone-dark")
	playOut(c, 1)
	b.Click(`#here`)
	c.Wait(`#here:not([hidden])`)
	b.Wait(`#board[data-turn="yes"]`)
	playOut(b, 1)
	b.Wait(`#board[data-turn="yes"]`)
	if c.Count(`#here:not([hidden])`) != 1 || b.Count(`#here[hidden]`) != 1 {
		t.Error("the pages do not agree on which of them plays")
	}
	b.RequireQuiet()
	c.RequireQuiet()
}

// When the server restarts during a game, the page reconnects by itself and says, in its language, that the
// game has ended without a result. The person can play again.
func TestPlayRestart(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	w := webtest.New(t, playRules, 0)
	w.FixAddress()
	b := webtest.Open(t, in, w.URL+"/play?lang=ca")
	openTableByForm(b, w, "brisca", "")
	playOut(b, 2)
	b.Wait(`#board[data-turn="yes"]`)
	if text := b.Text("#events"); !strings.Contains(text, "juga") || strings.Contains(text, "plays") {
		t.Errorf("what happened is told as %q", text)
	}
	w.Stop()
	away := `(() => { const text = document.getElementById('state')?.textContent ?? ''; return text.includes('no respon') || text.includes('perdut'); })()`
	kit.Until(t, "the page says that the server is away", func() bool { return webtest.Eval[bool](b, away) })
	w.Restart()
	b.Wait(`main .notice`)
	if text := b.Text("main"); !strings.Contains(text, "ningú") {
		t.Errorf("the page says %q", text)
	}
	if n := webtest.Eval[int64](b, `document.querySelectorAll('h1').length`); n != 1 {
		t.Errorf("the page has %d titles", n)
	}
	b.Click(`form[action$="/rematch"] button`)
	b.Wait(`#board[data-turn="yes"]`)
	b.ClearConsole() // of the tries to connect
	b.RequireQuiet()
}

// The form offers only numbers of players and options that go together, described as in the rules, and only
// bots that play the game. Choosing another game keeps the bot and who begins.
func TestPlayChoices(t *testing.T) {
	t.Parallel()
	w, b := webtest.Browse(t, playRules+teams, "/play?lang=es")
	examine(b, w.URL+"/play?game=podrida&bot=@random", "play-podrida")
	b.Look(1280, 900, false)
	for game, want := range map[string]string{"brisca": "2 3 4", "tute": "2 3 4", "podrida": "3 4 5 6 7 8 9 10 11 12", "tebes": "", "teeko": ""} {
		b.Go(w.URL + "/play?game=" + game)
		if got := strings.Join(b.Attributes(`[name="set-players"]`, "value"), " "); got != want {
			t.Errorf("%s: %q players are offered", game, got)
		}
	}
	b.Go(w.URL + "/play?game=brisca")
	b.Picture(*screens, "play-brisca-es")
	for _, c := range []struct{ players, options string }{
		{"2", "set-exchange set-last10 set-blackhand set-hunt3"}, {"3", "set-exchange set-last10 set-blackhand set-without2"}, {"4", "set-teams set-exchange set-last10 set-blackhand"},
	} {
		b.Click(`[name="set-players"][value="` + c.players + `"]`)
		if got := webtest.Eval[string](b, `[...document.querySelectorAll('.option:not([hidden]) input:enabled')].map((e) => e.name).join(' ')`); got != c.options {
			t.Errorf("with %s players the options are %s", c.players, got)
		}
		if more := b.Count(`.others:not([hidden])`); more != map[string]int{"2": 0, "3": 1, "4": 1}[c.players] {
			t.Errorf("with %s players there are %d choices of other bots", c.players, more)
		}
	}
	if text := b.Text(`.option:has([name="set-last10"])`); text != "la última baza vale 10 puntos más." {
		t.Errorf("an option is described as %q", text)
	}
	b.Click(`.presets li:nth-child(2) a`)
	b.Wait(`.presets li:nth-child(2) [aria-current]`)
	kit.Until(t, "the scripts have run", func() bool { return webtest.Eval[string](b, "document.readyState") == "complete" })
	if n := b.Count(`[name="set-players"][value="4"]:checked, [name="set-teams"]:checked`); n != 2 {
		t.Errorf("the rules of a ladder choose %d of two options", n)
	}
	b.Click(`.levels label:nth-child(6)`)
	b.Click(`label:has([name="seat"][value="0"])`)
	b.Click(`.games a[href*="tebes"]`)
	b.Wait(`[name="set-size"]`)
	if n := b.Count(`[value="@champion:level=6"]:checked, [name="seat"][value="0"]:checked`); n != 2 {
		t.Errorf("another game keeps %d of two choices", n)
	}
	b.Picture(*screens, "play-tebes-es")
	if value := b.Attribute(`[name="set-opening"]`, "value"); value != "0" {
		t.Errorf("openings have %s moves", value)
	}
	b.RequireQuiet()
}

const teams = `
[[ladder]]
name = "teams"
title = "Brisca, two against two"
game = "brisca"
options = {players = "4", teams = "yes"}
house = ["@random", "@brisca-basic", "@first", "@greedy"]
deals = 1
clock = {movetime = 60000, startup = 60000}
`

// The form offers only bots that play the game, and does not choose another one.
func TestPlayBots(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, playRules+teams, 0)
	c := w.Client()
	for game, want := range map[string]bool{"brisca": true, "tute": false, "teeko": false} {
		a := w.Get(c, "/play?game="+game+"&bot=@brisca-basic")
		if got := strings.Contains(a.Body, `<option value="@brisca-basic"`); got != want {
			t.Errorf("%s: a bot of Brisca is offered: %t", game, got)
		}
		if got := strings.Contains(a.Body, `<option value="@brisca-basic" selected`); got != want {
			t.Errorf("%s: a bot of Brisca is chosen: %t", game, got)
		}
	}
}

// A bot that the address names is chosen even if there are more bots than the form offers.
func TestPlayManyBots(t *testing.T) {
	t.Parallel()
	limits := play.LimitsOf(ladder.PlayLimits{Games: 1, Guests: true}, 0)
	s := webtest.NewStaticWorld(t, func(o *site.Options) {
		o.Play = play.New(play.Options{Store: o.Middleware.Service.Store, Limits: limits})
	})
	s.Ladder.Config.Limits.Bots, s.Ladder.Config.Limits.Versions = 1000, 1000
	for i := range 500 {
		s.MakeLive(fmt.Sprintf("bot-%d", i), store.BuildInfo{Games: []string{"brisca"}})
	}
	for _, field := range []string{"bot", "bot2"} {
		a := s.Get(s.Client(), "/play?game=brisca&"+field+"=bot-499")
		if !strings.Contains(a.Body, `<option value="bot-499" selected>`) {
			t.Errorf("%s: the newest bot is not chosen: status %d", field, a.Status)
		}
	}
	if a := s.Get(s.Client(), "/play?game=teeko&bot=bot-499"); strings.Contains(a.Body, `value="bot-499"`) {
		t.Error("a bot is offered for a game that it does not play")
	}
}

// The form works without scripts, and the page of a finished game links to the form with the same choices.
func TestPlayForm(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, playRules, 0)
	c := w.Client()
	a := w.Post(c, "/play", "game=brisca&bot=@champion:level%3D2&other=&bot2=@random&bot3=&seat=1&set-players=4&set-teams=yes&set-last10=yes")
	if a.Status != http.StatusSeeOther {
		t.Fatalf("the form answers %d: %s", a.Status, a.Body)
	}
	table := a.Header.Get("Location")
	w.Post(c, table+"/resign", "")
	page := ""
	kit.Until(t, "the game is over", func() bool {
		page = w.Get(c, table).Body
		return strings.Contains(page, "/rematch")
	})
	if !strings.Contains(page, "You resigned.") {
		t.Errorf("who resigns before the page of the table connects reads %s", page)
	}
	_, rest, _ := strings.Cut(page, `href="/play?`)
	query, _, _ := strings.Cut(rest, `"`)
	page = w.Get(c, "/play?"+strings.ReplaceAll(query, "&amp;", "&")).Body
	for _, want := range []string{
		`name="set-players" value="4" checked`, `name="set-teams" value="yes" checked`, `name="set-last10" value="yes" checked`, `name="set-exchange" value="yes">`,
		`value="@champion:level=2" checked`, `<option value="@random" selected`, `name="seat" value="1" checked`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("after a game its choices lack %s", want)
		}
	}
}

// A game begins as its rules say for people, by the form and by a link, which choose the same options. A random beginning
// is a choice.
func TestPlayBegins(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, playRules, 0)
	c := w.Client()
	for query, want := range map[string]string{
		"game=teeko":                                `name="set-start" value="drop" checked><input type="hidden" name="set-start" value="random">`,
		"game=teeko&set-start=drop":                 `name="set-start" value="drop" checked><input type="hidden" name="set-start" value="random">`,
		"game=teeko&set-start=random&set-opening=6": `name="set-start" value="drop"><input type="hidden" name="set-start" value="random">`,
		"game=tebes":                                `name="set-opening" value="0"`,
		"game=tebes&set-cycles=allow&set-opening=6": `name="set-opening" value="6"`,
	} {
		if page := w.Get(c, "/play?"+query).Body; !strings.Contains(page, want) {
			t.Errorf("the form of %s has not %s", query, want)
		}
	}
	for form, want := range map[string]string{
		"game=teeko&bot=@random&seat=0":                                 "start=drop squares=standard limit=200 opening=0",
		"game=teeko&bot=@random&seat=0&set-start=drop&set-start=random": "start=drop squares=standard limit=200 opening=0",
		"game=teeko&bot=@random&seat=0&set-start=random&set-opening=6":  "start=random squares=standard limit=200 opening=6",
		"game=tebes&bot=@random&seat=0":                                 "size=6 board=standard cycles=forbid limit=400 opening=0",
		"game=tebes&bot=@random&seat=0&set-cycles=allow&set-opening=6":  "size=6 board=standard cycles=allow limit=400 opening=6",
	} {
		own := w.Client()
		table := w.Post(own, "/play", form).Header.Get("Location")
		w.Post(own, table+"/resign", "")
		var replay struct{ Options map[string]string }
		kit.Until(t, "the game is over", func() bool {
			a := w.Get(own, table+"/replay.json")
			return a.Status == http.StatusOK && json.Unmarshal([]byte(a.Body), &replay) == nil
		})
		for option := range strings.FieldsSeq(want) {
			if name, value, _ := strings.Cut(option, "="); replay.Options[name] != value {
				t.Errorf("%s begins with %v, want %s", form, replay.Options, want)
			}
		}
	}
}

// The form offers the levels in order and by their translated names. It chooses the middle level unless the
// address names a bot. A game against the chosen level starts.
func TestPlayLevels(t *testing.T) {
	t.Parallel()
	w, b := webtest.Browse(t, playRules, "/play")
	const (
		levels = `[...document.querySelectorAll('.levels label')].map((e) => e.querySelector('input').value + ' ' + e.textContent.trim()).join()`
		bot    = `(() => { const f = new FormData(document.querySelector('form.choose')); return f.get('bot') + ' ' + f.get('other'); })()`
	)
	for language, want := range map[string]string{
		"en": "beginner learner amateur intermediate advanced expert master champion",
		"es": "principiante aprendiz aficionado intermedio avanzado experto maestro campeón",
		"ca": "principiant aprenent aficionat intermedi avançat expert mestre campió",
	} {
		var options []string
		for i, name := range strings.Fields(want) {
			options = append(options, "@"+house.Levels()[i].Spec+" "+name)
		}
		b.Go(w.URL + "/play?lang=" + language)
		if got := webtest.Eval[string](b, levels); got != strings.Join(options, ",") {
			t.Errorf("%s: %s", language, got)
		}
		if got := webtest.Eval[string](b, bot); got != "@champion:level=4 " {
			t.Errorf("%s: %s is chosen at first", language, got)
		}
	}
	b.Go(w.URL + "/play?lang=en&bot=@random")
	if got := webtest.Eval[string](b, bot); got != "other @random" {
		t.Errorf("%s is chosen where the address names @random", got)
	}
	b.Click(`.games a[href*="teeko"]`)
	b.Wait(`[name="set-squares"]`)
	b.Click(`.levels label:nth-child(2)`)
	b.Click(`form.choose > button`)
	b.Wait(`#board svg`)
	playOut(b, 3)
	b.Wait(`#board[data-turn="yes"], .over`)
	if text := b.Text("main"); !strings.Contains(text, "learner, level 2") {
		t.Errorf("the page of the table says %q", text)
	}
	b.RequireQuiet()
}

// Where only people with an account play, the buttons that lead to a game say so and lead to the form that signs in,
// and from there to the game.
func TestPlayRefused(t *testing.T) {
	t.Parallel()
	w, b := webtest.Browse(t, strings.Replace(playRules, "guests = true", "guests = false", 1), "/play?lang=en")
	examine(b, w.URL+"/play", "play-refused")
	if text := b.Text("main"); !strings.Contains(text, "people with an account") || !strings.Contains(text, "How to play Brisca") {
		t.Errorf("the page says %q", text)
	}
	if n := b.Count(`main a[href^="/sign-in"], main a[href="/join?next=/play"], main a[href="/live"]`); n != 3 {
		t.Errorf("the page has %d of three links", n)
	}
	for path, next := range map[string]string{"/rules/teeko": "/play?game=teeko", "/bots/@random": "/play?bot=%40random", "/": "/play"} {
		b.Go(w.URL + path)
		if got := webtest.Eval[[]string](b, `[...document.querySelectorAll('main a[href^="/sign-in?next="]')].map((e) => e.textContent + ' ' + new URL(e.href).searchParams.get('next'))`); len(got) != 1 || got[0] != "Sign in to play "+next {
			t.Errorf("%s has the links %q, want one to %s", path, got, next)
		}
		if n := b.Count(`main a[href^="/play"]:not(.crumbs a)`); n != 0 {
			t.Errorf("%s has %d links to a refusal", path, n)
		}
	}
	b.Go(w.URL)
	b.Click(`.hero a[href^="/sign-in"]`)
	fill(b, "#token", w.Token)
	b.Click(`form.stack button`)
	b.Wait(`form.choose`)
	b.RequireQuiet()
	w = webtest.New(t, strings.Replace(playRules, "games = 10", "games = 0", 1), 0)
	if a := w.Get(w.Client(), "/play"); !strings.Contains(a.Body, `href="/live" class`) && !strings.Contains(a.Body, `<a class="button quiet" href="/live">`) || strings.Contains(a.Body, "<form class=\"choose\"") {
		t.Errorf("without games the page is %s", a.Body)
	}
}

// openTable opens a table without a browser and returns the answer, which has its address.
func openTable(w *webtest.World, c *http.Client, form string) webtest.Answer {
	w.T.Helper()
	return w.Post(c, "/play", form)
}

const briscaForm = "game=brisca&bot=@random&seat=0"

func dial(w *webtest.World, c *http.Client, path string, header http.Header) (*websocket.Conn, int) {
	w.T.Helper()
	d := websocket.Dialer{Jar: c.Jar}
	ws, resp, err := d.Dial("ws"+strings.TrimPrefix(w.URL, "http")+"/ws"+path, header)
	if err == nil {
		w.T.Cleanup(func() { ws.Close() })
		return ws, http.StatusSwitchingProtocols
	}
	if resp == nil {
		w.T.Fatal(err)
	}
	return nil, resp.StatusCode
}

// awaitLine reads frames until a line with a prefix comes.
func awaitLine(t *testing.T, ws *websocket.Conn, begins string) {
	t.Helper()
	for {
		var f socket.Frame
		if err := ws.ReadJSON(&f); err != nil {
			t.Fatalf("waiting for %q: %v", begins, err)
		}
		for _, line := range f.Lines {
			if strings.HasPrefix(line, begins) {
				return
			}
		}
	}
}

// Nobody else can enter a table. The number of tables is limited for each visitor, while others can play on;
// TestLimits of web/play tests all limits.
func TestPlayBounds(t *testing.T) {
	// limit: play.games
	t.Parallel()
	w := webtest.New(t, playRules, 0)
	first, second := w.Client(), w.Client()
	a := openTable(w, first, briscaForm)
	table := a.Header.Get("Location")
	if a.Status != http.StatusSeeOther || !strings.HasPrefix(table, "/play/") {
		t.Fatalf("a table is not opened: %d %s", a.Status, a.Body)
	}
	ws, _ := dial(w, first, table, nil)
	ws.WriteJSON(socket.Frame{Lines: []string{"ready"}})
	awaitLine(t, ws, "turn ")

	t.Run("others", func(t *testing.T) {
		if a := w.Get(second, "/play"); a.Header.Get("Set-Cookie") != "" {
			t.Errorf("a page begins a session: %q", a.Header.Get("Set-Cookie"))
		}
		if a := w.Get(second, table); a.Status != http.StatusOK || !strings.Contains(a.Body, `data-match="table/`) || strings.Contains(a.Body, "/resign") {
			t.Errorf("the page of somebody else's table answers %d: %s", a.Status, a.Body)
		}
		if a := w.Get(second, "/live"); strings.Contains(a.Body, table) {
			t.Error("a game of one person is listed")
		}
		if _, status := dial(w, second, table, nil); status != http.StatusForbidden {
			t.Errorf("the socket of somebody else's table answers %d", status)
		}
		if _, status := dial(w, first, table, http.Header{"Origin": {"https://elsewhere.example"}}); status != http.StatusForbidden {
			t.Errorf("a socket of another origin answers %d", status)
		}
		if _, status := dial(w, first, "/play/AAAA", nil); status != http.StatusNotFound {
			t.Errorf("a guessed table answers %d", status)
		}
		if a := w.Post(second, table+"/resign", ""); a.Status != http.StatusForbidden {
			t.Errorf("resigning for somebody else answers %d", a.Status)
		}
	})
	t.Run("limits", func(t *testing.T) {
		if a := openTable(w, first, briscaForm); a.Status != http.StatusSeeOther {
			t.Errorf("the second table answers %d", a.Status)
		}
		if a := openTable(w, first, briscaForm); a.Status != http.StatusTooManyRequests || !strings.Contains(a.Body, "the limit for one person is 2 games at the same time") {
			t.Errorf("the third table answers %d", a.Status)
		}
		if a := openTable(w, second, briscaForm); a.Status != http.StatusSeeOther {
			t.Errorf("another guest's table answers %d", a.Status)
		}
	})
	for form, want := range map[string]string{
		"game=chess&bot=@random&seat=0":                "chess",
		"game=brisca&bot=@nobody&seat=0":               "does not exist",
		"game=brisca&bot=@champion:level%3D9&seat=0":   "option level cannot be &#34;9&#34;: try 1 to 8",
		"game=brisca&bot=@sl:model%3D/x&seat=0":        "option model cannot be &#34;/x&#34;: try built-in",
		"game=teeko&bot=@greedy:noise%3D1&seat=0":      "only people with an account may add it",
		"game=brisca&seat=0":                           "nobody to play against",
		"game=brisca&bot=@random&seat=2":               "seat 2 does not exist",
		"game=brisca&bot=other&other=@nobody&seat=0":   "does not exist",
		"game=brisca&bot=@random&bot2=@greedy&seat=0":  "too many for 2 seats",
		"game=brisca&bot=@random&seat=me":              "seat cannot be",
		"game=brisca&bot=@random&seat=0&set-players=9": "try 2 to 4",
		"game=brisca&bot=@random&seat=0&set-teams=yes": "teams",
		"game=brisca&bot=@brisca-mcts&seat=0":          "does not exist",
	} {
		a := openTable(w, w.Client(), form)
		if a.Status/100 != 4 || !strings.Contains(a.Body, want) {
			t.Errorf("%s answers %d, want %q on it", form, a.Status, want)
		}
		if cookie := a.Header.Get("Set-Cookie"); cookie != "" {
			t.Errorf("%s begins a session: %q", form, cookie)
		}
	}
	// The first game goes on, also if the guest signs in. It is then theirs in other browsers, too.
	w.SignIn(first, w.Token)
	if a := w.Get(first, table); a.Status != http.StatusOK {
		t.Errorf("the table of a guest who has signed in answers %d", a.Status)
	}
	again, _ := dial(w, first, table, nil)
	w.Must(again.Close())
	w.SignIn(second, w.Token)
	if a := w.Get(second, table); a.Status != http.StatusOK {
		t.Errorf("the guest's table answers the same person at another browser with %d", a.Status)
	}
	if a := w.Get(second, "/account"); strings.Count(a.Body, `href="/play/`) < 3 {
		t.Errorf("the account does not have the games of both browsers: %s", a.Body)
	}
	ws, _ = dial(w, first, table, nil)
	ws.WriteJSON(socket.Frame{Number: 1, Lines: []string{"# still here"}})
	var f socket.Frame
	for f.Ack < 2 {
		w.Must(ws.ReadJSON(&f))
	}
}

// A connection that sends too much is closed. The game waits for another connection, and other games go on.
func TestPlaySockets(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, strings.Replace(playRules, "think = 60000", "think = 60000\nframes = 10", 1), 0)
	sit := func(c *http.Client) (string, *websocket.Conn) {
		table := openTable(w, c, briscaForm).Header.Get("Location")
		ws, _ := dial(w, c, table, nil)
		ws.WriteJSON(socket.Frame{Lines: []string{"ready"}})
		awaitLine(t, ws, "turn ")
		return table, ws
	}
	_, other := sit(w.Client())
	c := w.Client()
	table, fast := sit(c)
	for fast.WriteJSON(socket.Frame{Number: 1}) == nil {
	}
	var f socket.Frame
	for fast.ReadJSON(&f) == nil {
	}
	again, _ := dial(w, c, table, nil)
	again.WriteJSON(socket.Frame{})
	awaitLine(t, again, "turn ")
	other.WriteJSON(socket.Frame{Number: 1, Lines: []string{"# still here"}})
	for f.Ack = 0; f.Ack < 2; {
		w.Must(other.ReadJSON(&f))
	}
}

// When a session ends, its connection to a game is closed at once and cannot return. The person can play on
// in another session.
func TestPlaySessionEnds(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, playRules, 0)
	first, second := w.Client(), w.Client()
	w.SignIn(first, w.Token)
	w.SignIn(second, w.Token)
	table := openTable(w, first, briscaForm).Header.Get("Location")
	ws, _ := dial(w, first, table, nil)
	ws.WriteJSON(socket.Frame{Lines: []string{"ready"}})
	awaitLine(t, ws, "turn ")
	w.Post(second, "/account/sessions/end-others", "")
	if code := closeCode(t, ws); code != socket.CloseRefused {
		t.Errorf("the connection ends with %d", code)
	}
	again, _ := dial(w, first, table, nil) // as if the page had not been told why
	if code := closeCode(t, again); code != socket.CloseRefused {
		t.Errorf("the browser whose session has ended comes back, and its connection ends with %d", code)
	}
	if _, status := dial(w, first, table, nil); status != http.StatusForbidden {
		t.Errorf("then, without a session, the answer is %d", status)
	}
	again, _ = dial(w, second, table, nil)
	again.WriteJSON(socket.Frame{})
	awaitLine(t, again, "turn ")
}

// The page of a table and a page that watches say that their session has ended. The latter continues without
// a session.
func TestSessionEndsOnPages(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	w := webtest.New(t, playRules, 0)
	c := w.Client()
	w.SignIn(c, w.Token)
	b := webtest.Open(t, in, w.URL+"/play")
	b.Look(390, 844, true)
	signIn(b, w, w.Token)
	openTableByForm(b, w, "brisca", "")
	b.Wait(`#board[data-turn="yes"]`)
	w.Post(c, "/account/sessions/end-others", "")
	kit.Until(t, "the page says that its session has ended", func() bool { return strings.HasPrefix(b.Text("#state"), "Your session here has ended.") })
	b.RequireAccessible()
	b.Picture(*screens, "table-session-ended")
	signIn(b, w, w.Token)
	b.Go(w.URL + "/live")
	b.Wait(`#status[data-on="yes"]`)
	w.Post(c, "/account/sessions/end-others", "")
	b.Wait(`#ended:not([hidden])`)
	b.Wait(`#status[data-on="yes"]`)
	b.RequireAccessible()
	b.Picture(*screens, "live-session-ended")
	b.RequireQuiet()
}

// When a person is blocked, their game ends at once without a result. Guests can play only if the server
// allows them.
func TestPlayBlocked(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, strings.Replace(playRules, "guests = true", "guests = false", 1), 0)
	guest := w.Client()
	if a := w.Get(guest, "/play"); a.Status != http.StatusOK || strings.Contains(a.Body, `action="/play"`) {
		t.Errorf("a guest gets the form, with %d", a.Status)
	}
	if a := w.Post(guest, "/play", briscaForm); a.Status != http.StatusUnauthorized {
		t.Errorf("a guest's table answers %d", a.Status)
	}
	p, err := w.Server.Store.People.Add(t.Context(), "anna", false)
	w.Must(err)
	token, _, err := w.Server.Store.Sessions.AddToken(t.Context(), p.ID, "test", ladder.ScopeAll, time.Time{})
	w.Must(err)
	c := w.Client()
	w.SignIn(c, token)
	table := openTable(w, c, briscaForm).Header.Get("Location")
	ws, _ := dial(w, c, table, nil)
	ws.WriteJSON(socket.Frame{Lines: []string{"ready"}})
	awaitLine(t, ws, "turn ")
	if a := w.Get(c, "/account"); !strings.Contains(a.Body, `href="`+table+`"`) {
		t.Errorf("the account does not have the game: %s", a.Body)
	}
	r, err := http.NewRequest(http.MethodPut, w.URL+"/api/v1/admin/people/anna/block", nil)
	w.Must(err)
	r.Header.Set("Authorization", "Bearer "+w.Token)
	resp, err := http.DefaultClient.Do(r)
	w.Must(err)
	resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		t.Fatalf("blocking answers %s", resp.Status)
	}
	for {
		var f socket.Frame
		if ws.ReadJSON(&f) != nil {
			break
		}
	}
	kit.Until(t, "the game is broken", func() bool {
		game, err := w.Server.Store.Plays.Find(t.Context(), strings.TrimPrefix(table, "/play/"))
		return err == nil && game.State == ladder.PlayBroken
	})
	if a := w.Get(guest, table); !strings.Contains(a.Body, "The operator blocked the person who played. Nobody has lost.") {
		t.Errorf("the page says %s", a.Body)
	}
	record, err := w.Server.Store.Plays.RecordAgainstPeople(t.Context(), botID(t, w, "@random"))
	w.Must(err)
	if record.Games != 0 {
		t.Errorf("the bot has %d games", record.Games)
	}
}

// The seed of a game is secret until the end, and matches the commitment that was shown before.
func TestPlaySeed(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, playRules, 0)
	c := w.Client()
	table := openTable(w, c, briscaForm).Header.Get("Location")
	page := w.Get(c, table)
	_, rest, _ := strings.Cut(page.Body, `<code class="hash">`)
	commitment, _, _ := strings.Cut(rest, "<")
	ws, _ := dial(w, c, table, nil)
	ws.WriteJSON(socket.Frame{Lines: []string{"ready"}})
	awaitLine(t, ws, "turn ")
	if a := w.Get(c, table+"/replay.json"); a.Status != http.StatusNotFound {
		t.Errorf("the replay of a game that is played answers %d", a.Status)
	}
	w.Post(c, table+"/resign", "")
	kit.Until(t, "the game is over", func() bool { return w.Get(c, table+"/replay.json").Status == http.StatusOK })
	var replay struct {
		Commitment string
		Match      struct{ Seed string }
		Faults     []struct{ Reason struct{ Kind string } }
	}
	w.Must(json.Unmarshal([]byte(w.Get(c, table+"/replay.json").Body), &replay))
	if len(commitment) != 64 || len(replay.Match.Seed) != 64 || fmt.Sprint(replay.Faults) != "[{{resigned}}]" {
		t.Errorf("the commitment is %q, the replay %+v", commitment, replay)
	}
	if page := w.Get(c, table).Body; !strings.Contains(page, ">brisca ") {
		t.Error("the page of the game does not have it as a line of text")
	}
}

// The page of a game against bots truncates their info lines.
func TestPlayedInfoIsCut(t *testing.T) {
	t.Parallel()
	s := webtest.NewStaticWorld(t, func(o *site.Options) { o.Play = play.New(play.Options{Store: o.Middleware.Service.Store}) })
	r := refereetest.Replay(t, brisca.Game, nil, 1, nil)
	for i := range r.Moves {
		r.Moves[i].Info = []string{"pv=" + strings.Repeat("x", 60_000)}
	}
	bot := kit.Get[ladder.Bot](t)(s.Store.Bots.Find(t.Context(), "@random"))
	p := ladder.Play{
		ID: "TALK", Game: "brisca", Options: map[string]string{}, Commitment: webtest.Hash,
		Seats: []ladder.PlaySeat{{}, {Seat: 1, Version: s.Version("@random"), BotID: bot.ID}},
	}
	_, _, err := s.Store.Plays.Add(t.Context(), p, netip.Addr{}, 1, false)
	s.Must(err)
	v := kit.Get[*rules.Variant](t)(r.Resolve(brisca.Game))
	s.Must(s.Store.Plays.Finish(t.Context(), p.ID, v, r.Ranks, r.Encode()))
	a := s.Get(s.Client(), "/play/"+p.ID)
	if a.Status != http.StatusOK || !strings.Contains(a.Body, "pv=xxx") || len(a.Body) > 200_000 {
		t.Errorf("status %d, %d bytes: %.2000s", a.Status, len(a.Body), a.Body)
	}
}

// A game that a failure of the server, such as a full disk, has left open is shown as over.
func TestPlayLeftOpen(t *testing.T) {
	t.Parallel()
	s := webtest.NewStaticWorld(t, func(o *site.Options) { o.Play = play.New(play.Options{Store: o.Middleware.Service.Store}) })
	p := ladder.Play{
		ID: "LEFT", Game: "brisca", Options: map[string]string{}, Commitment: webtest.Hash, Seats: []ladder.PlaySeat{{}},
	}
	_, _, err := s.Store.Plays.Add(t.Context(), p, netip.Addr{}, 1, false)
	s.Must(err)
	a := s.Get(s.Client(), "/play/"+p.ID)
	if a.Status != http.StatusOK || !strings.Contains(a.Body, "This game ended by a failure of the server.") {
		t.Errorf("status %d: %s", a.Status, a.Body)
	}
}
