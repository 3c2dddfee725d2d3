package site_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/web/play"
	"github.com/timba-arena/timba/web/site"
	"github.com/timba-arena/timba/web/webtest"
)

// openPlay adds an unfinished game of people. A person without an ID stands for @random.
func openPlay(s *webtest.StaticWorld, id, game string, people ...ladder.Person) *rules.Variant {
	s.T.Helper()
	g := kit.Get[*rules.Game](s.T)(games.Find(game))
	v := kit.Get[*rules.Variant](s.T)(g.Resolve(nil))
	bot := kit.Get[ladder.Bot](s.T)(s.Store.Bots.Find(s.T.Context(), "@random"))
	p := ladder.Play{ID: id, Game: game, Options: v.Settings.Map(), Commitment: webtest.Hash, Seats: []ladder.PlaySeat{{PersonID: people[0].ID}}}
	other := ladder.PlaySeat{Seat: 1, PersonID: people[1].ID}
	if people[1].ID == 0 {
		other = ladder.PlaySeat{Seat: 1, Version: s.Version("@random"), BotID: bot.ID}
		p.Seats = append(p.Seats, other)
	}
	_, _, err := s.Store.Plays.Add(s.T.Context(), p, netip.Addr{}, 0, false)
	s.Must(err)
	if people[1].ID != 0 {
		_, _, err = s.Store.Plays.SitDown(s.T.Context(), id, other, netip.Addr{}, 0, false)
		s.Must(err)
	}
	return v
}

// addAdasGames creates games of ada: twenty against bob, of which she wins fourteen, one against carla, one against
// @random, and an unfinished one.
func addAdasGames(s *webtest.StaticWorld) {
	s.T.Helper()
	bob, carla := s.Ladder.AddPerson("bob", false), s.Ladder.AddPerson("carla", false)
	finish := func(id, game string, ranks []int, people ...ladder.Person) {
		s.Must(s.Store.Plays.Finish(s.T.Context(), id, openPlay(s, id, game, people...), ranks, nil))
	}
	for n := range 20 {
		finish(fmt.Sprint("BOB", n), "teeko", []int{1 + n%3/2, 2 - n%3/2}, s.Ada, bob)
	}
	finish("CARLA", "tebes", []int{2, 1}, s.Ada, carla)
	finish("RANDOM", "tebes", []int{1, 2}, s.Ada, ladder.Person{})
	openPlay(s, "OPEN", "teeko", s.Ada, bob)
}

// The page of ratings names a game even if nobody has a rating.
func TestPeopleUnrated(t *testing.T) {
	t.Parallel()
	s := webtest.NewStaticWorld(t, nil)
	requireTexts(t, "/people", s.Get(s.Client(), "/people").Body, "Nobody has a rating in Brisca yet.", `href="/play?game=brisca&amp;bot=%2B"`)
}

// Strangers see the ratings of people and the profile of a person.
func TestPeoplePages(t *testing.T) {
	t.Parallel()
	s := webtest.NewStaticWorld(t, func(o *site.Options) { o.Play = play.New(play.Options{Store: o.Middleware.Service.Store}) })
	addAdasGames(s)
	v := openPlay(s, "CARDS", "brisca", s.Ada, kit.Get[ladder.Person](t)(s.Store.People.FindByName(t.Context(), "bob")))
	r := refereetest.Replay(t, brisca.Game, nil, 1, nil)
	s.Must(s.Store.Plays.Finish(t.Context(), "CARDS", v, r.Ranks, r.Encode()))
	c := s.Client()
	for _, x := range []struct {
		path, lang string
		status     int
		has, lacks []string
	}{
		{"/people?game=teeko", "en", 200, []string{`<td class="number">1</td><th scope="row"><a href="/people/ada">ada</a>`, `href="/people/bob"`, "14 / 0 / 6", `aria-current="true">Teeko`, `href="/people?game=tebes"`}, []string{"carla", `<span class="tag">provisional`}},
		{"/people?game=tebes", "ca", 200, []string{`<td class="number">–</td><th scope="row"><a href="/people/carla">`, "1662", `<span class="tag">provisional`, "Puntuacions de les persones"}, nil},
		{"/people", "en", 200, []string{`aria-current="true">Brisca`}, nil},
		{"/people?game=podrida", "en", 200, []string{"Nobody has a rating in La Podrida yet.", `href="/play?game=podrida&amp;bot=%2B"`}, []string{"<table"}},
		{"/people?game=chess", "en", 400, []string{"game cannot be"}, nil},
		{"/people/ada", "en", 200, []string{`href="/people?game=teeko"`, "14 / 0 / 6", "people <span class=\"soft\">rated 1500 on average</span></td>", `href="/play/CARDS">`, `href="/play/RANDOM">Won</a> · Tebes ·`, `href="/play/CARLA">Lost</a>`, `title="@random"`}, []string{"/play/OPEN", "/play/BOB0\""}},
		{"/people/carla", "es", 200, []string{`>Victoria</a>`, "personas"}, []string{"Todavía no ha enviado"}},
		{"/people/ada?played=x", "en", 400, []string{"played"}, nil},
		{"/play", "en", 200, []string{`href="/people?game=`}, nil},
		{"/ladders", "en", 200, []string{`href="/people"`}, nil},
		{"/play/CARDS", "en", 200, []string{"1662 (&#43;162)", "1338 (-162)"}, nil},
	} {
		a := s.Get(c, x.path, "Accept-Language", x.lang)
		if a.Status != x.status {
			t.Errorf("%s answers %d", x.path, a.Status)
		}
		requireTexts(t, x.path, a.Body, x.has...)
		forbidTexts(t, x.path, a.Body, x.lacks...)
	}
	next := regexp.MustCompile(`rel="next" href="([^"]*played=[^"]*)"`).FindStringSubmatch(s.Get(c, "/people/ada").Body)
	if next == nil {
		t.Fatal("the games of a person have no second page")
	}
	if a := s.Get(c, next[1]); a.Status != http.StatusOK || !strings.Contains(a.Body, `href="/play/BOB0"`) || strings.Contains(a.Body, "/play/CARDS") {
		t.Errorf("the second page answers %d: %s", a.Status, a.Body)
	}
	if a := s.Get(c, "/people/ada"); strings.Count(a.Body, `href="/play/`) != 15 {
		t.Errorf("the first page has %d games", strings.Count(a.Body, `href="/play/`))
	}
}
