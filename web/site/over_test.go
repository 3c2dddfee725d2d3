package site_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/web/play"
	"github.com/timba-arena/timba/web/site"
	"github.com/timba-arena/timba/web/webtest"
)

var tags = regexp.MustCompile(`<[^>]*>`)

// cardOf returns the text of the result card on a page.
func cardOf(body string) string {
	_, rest, _ := strings.Cut(body, `<section class="over`)
	card, _, _ := strings.Cut(rest, `</section>`)
	return strings.Join(strings.Fields(tags.ReplaceAllString(card[strings.Index(card, ">")+1:], " ")), " ")
}

// stillPlay stores a game that ada has played against @random, at a seat.
func stillPlay(t *testing.T, s *webtest.StaticWorld, id string, seat int, r *referee.Replay) {
	t.Helper()
	r.Seats[seat].Name = "ada"
	bot := kit.Get[ladder.Bot](t)(s.Store.Bots.Find(t.Context(), "@random"))
	p := ladder.Play{ID: id, Game: r.Game, Options: r.Options, Opener: seat, Commitment: webtest.Hash}
	for i := range r.Seats {
		if i != seat {
			p.Seats = append(p.Seats, ladder.PlaySeat{Seat: i, Version: s.Version("@random"), BotID: bot.ID})
		} else {
			p.Seats = append(p.Seats, ladder.PlaySeat{Seat: i, PersonID: s.Ada.ID})
		}
	}
	_, _, err := s.Store.Plays.Add(t.Context(), p, netip.Addr{}, 0, false)
	s.Must(err)
	v := kit.Get[*rules.Variant](t)(r.Resolve(kit.Get[*rules.Game](t)(games.Find(r.Game))))
	s.Must(s.Store.Plays.Finish(t.Context(), id, v, r.Ranks, r.Encode()))
}

// The result card says who has won, with the score of the seat's side, to the person and to others. It names
// the cause of a forfeit.
func TestOverCards(t *testing.T) {
	t.Parallel()
	s := webtest.NewStaticWorld(t, func(o *site.Options) { o.Play = play.New(play.Options{Store: o.Middleware.Service.Store}) })
	ada, others := s.Client(), s.Client()
	s.SignIn(ada, s.AdaToken)
	at := func(kind fault.Kind) *referee.Fault {
		return &referee.Fault{Ply: 5, Reason: fault.Reason{Kind: kind, Limit: 1000, Move: "9x"}}
	}
	for i, c := range []struct {
		game    string
		options map[string]string
		seat    int
		fault   *referee.Fault
		own     string   // a part of the card that ada sees
		other   string   // a part of the card that others see
		sides   []string // parts of both cards
	}{
		{game: "brisca"},
		{game: "brisca", options: map[string]string{"players": "3"}, seat: 1},
		{game: "brisca", options: map[string]string{"players": "4", "teams": "yes"}, seat: 3},
		{game: "tute", options: map[string]string{"players": "4", "teams": "yes"}},
		{game: "podrida", seat: 2},
		{game: "tebes", options: map[string]string{"size": "4"}, sides: []string{"0 ada white · corners a4, d4", "1 random black · corners a1, d1"}},
		{game: "teeko", seat: 1, sides: []string{"0 random black", "1 ada white"}},
		{game: "brisca", fault: at(fault.Resigned), own: "You lost You resigned.", other: "ada lost ada resigned."},
		{game: "brisca", fault: at(fault.Late), own: "You lost Your time for a move ran out.", other: "ada lost ada did not move in time."},
		{game: "teeko", fault: at(fault.ConnectionLost), own: "You lost Your connection was lost for too long.", other: "The connection of ada was lost"},
		{game: "tebes", fault: at(fault.IllegalMove), own: "You won random forfeited the game:", other: "ada won random forfeited the game:"},
	} {
		t.Run(fmt.Sprint(i, " ", c.game), func(t *testing.T) {
			id := fmt.Sprint("GAME", i)
			r := refereetest.Replay(t, kit.Get[*rules.Game](t)(games.Find(c.game)), c.options, uint64(40+i), c.fault)
			if c.fault != nil {
				c.seat = r.Faults[0].Seat
				if strings.HasPrefix(c.own, "You won") {
					c.seat = 1 - c.seat
				}
			}
			stillPlay(t, s, id, c.seat, r)
			own, other := s.Get(ada, "/play/"+id), s.Get(others, "/play/"+id)
			if own.Status != http.StatusOK || other.Status != http.StatusOK {
				t.Fatalf("the page answers %d and %d: %s", own.Status, other.Status, own.Body)
			}
			for kind, code := range map[fault.Kind]string{fault.Resigned: "resigned", fault.ConnectionLost: "lost"} {
				if c.fault != nil && c.fault.Reason.Kind == kind && !strings.Contains(own.Body, `"code":"`+code+`"`) {
					t.Errorf("the player does not have the fault %q of a person", code)
				}
			}
			mine, theirs := cardOf(own.Body), cardOf(other.Body)
			if c.fault == nil {
				c.own, c.other = headOf(t, r, c.seat, "You"), headOf(t, r, c.seat, "ada")
			}
			if !strings.Contains(mine, c.own) || !strings.Contains(theirs, c.other) {
				t.Errorf("ada reads %q, want %q; others read %q, want %q", mine, c.own, theirs, c.other)
			}
			for _, side := range c.sides {
				if !strings.Contains(strings.ReplaceAll(mine, "you", "ada"), side) || !strings.Contains(theirs, side) {
					t.Errorf("ada reads %q, others %q, want %q", mine, theirs, side)
				}
			}
			for _, language := range []string{"ca", "es"} {
				client := s.Client()
				s.Get(client, "/?lang="+language)
				if text := cardOf(s.Get(client, "/play/"+id).Body); text == theirs || strings.Contains(text, "over.") {
					t.Errorf("in %s the card says %q", language, text)
				}
			}
			if review := s.Get(ada, "/play/"+id+"?ply=0").Body; cardOf(review) != "" || !strings.Contains(review, `<p class="result"><a href="/play/`+id+`">You`) {
				t.Errorf("the review has a card, or no result: %q", cardOf(review))
			}
		})
	}
}

// headOf returns the headline that a card should have, from the points in the replay.
func headOf(t *testing.T, r *referee.Replay, seat int, name string) string {
	t.Helper()
	v := kit.Get[*rules.Variant](t)(r.Resolve(kit.Get[*rules.Game](t)(games.Find(r.Game))))
	points := make([]int, v.Sides)
	for i, p := range r.Points {
		points[v.Side(i)] += int(p)
	}
	own := points[v.Side(seat)]
	result := name + " won"
	if r.Ranks[seat] > 1 {
		result = name + " lost"
	} else if slices.Max(r.Ranks) == 1 {
		result = name + " drew"
	}
	switch {
	case v.Game.Display.Board != nil:
		return result
	case v.Sides == 2:
		return fmt.Sprintf("%s, %d to %d", result, own, points[1-v.Side(seat)])
	}
	if r.Ranks[seat] == 1 {
		return fmt.Sprintf("%s won with %d points", name, own)
	}
	return fmt.Sprintf("%s came %s of %d, with %d points", name, []string{"1st", "2nd", "3rd", "4th"}[r.Ranks[seat]-1], v.Sides, own)
}

// The page of a game that the server has broken off says why, and that nobody has lost.
func TestOverBroken(t *testing.T) {
	t.Parallel()
	s := webtest.NewStaticWorld(t, func(o *site.Options) { o.Play = play.New(play.Options{Store: o.Middleware.Service.Store}) })
	bot := kit.Get[ladder.Bot](t)(s.Store.Bots.Find(t.Context(), "@random"))
	for i, c := range []struct {
		why  ladder.BreakReason
		want string
	}{
		{ladder.BrokenByStop, "The server stopped during this game."}, {ladder.BrokenByBlock, "The operator blocked the person who played."},
		{ladder.BrokenByNobody, "Nobody came to this table."}, {ladder.BrokenByFailure, "This game ended by a failure of the server."},
		{ladder.BrokenByBot + ":@champion:level=4", "intermediate, level 4 failed, which is a fault of this server."},
	} {
		id := "BROKEN" + strconv.Itoa(i)
		p := ladder.Play{ID: id, Game: "brisca", Options: map[string]string{}, Commitment: webtest.Hash, Seats: []ladder.PlaySeat{{}, {Seat: 1, Version: s.Version("@random"), BotID: bot.ID}}}
		_, _, err := s.Store.Plays.Add(t.Context(), p, netip.Addr{}, 0, false)
		s.Must(err)
		s.Must(s.Store.Plays.Break(t.Context(), id, c.why))
		if a := s.Get(s.Client(), "/play/"+id); a.Status != http.StatusOK || !strings.Contains(a.Body, c.want+" Nobody has lost.") || !strings.Contains(a.Body, "/rematch") {
			t.Errorf("%s: status %d, and not %q: %s", c.why, a.Status, c.want, a.Body)
		}
	}
}

// forPrograms matches what only programs and their authors know: names of options, and numbers of seats.
var forPrograms = regexp.MustCompile(`<code>[^<]*|(?i)\b(?:seats?|seients?|asientos?) \d`)

// straightApostrophe matches an elision with another apostrophe than the messages have.
var straightApostrophe = regexp.MustCompile(`\pL('|&#39;)\pL`)

// The rules of each game have a page in each language, in words for people: without names of options, without numbers
// of seats, and with each card as an element that a module draws, with its points. An unknown game has none.
func TestRulesPages(t *testing.T) {
	t.Parallel()
	s := webtest.NewStaticWorld(t, nil)
	for _, g := range games.All() {
		for language, head := range map[string]string{"en": "How to play ", "ca": "Com es juga a", "es": "Cómo se juega a"} {
			c := s.Client()
			s.Get(c, "/?lang="+language)
			a := s.Get(c, "/rules/"+g.Name)
			_, title, _ := strings.Cut(a.Body, "<h1>")
			title, _, _ = strings.Cut(title, "</h1>")
			if a.Status != http.StatusOK || !strings.HasPrefix(title, head) || !strings.HasSuffix(strings.ToLower(title), " "+g.Name) || strings.Contains(a.Body, `class="used"`) || strings.Count(a.Body, "<li>") < 5 {
				t.Errorf("%s in %s: status %d: %s", g.Name, language, a.Status, a.Body)
			}
			_, text, _ := strings.Cut(a.Body, `<div class="rules">`)
			text, _, _ = strings.Cut(text, `<div class="fields">`)
			if found := straightApostrophe.FindString(text); found != "" {
				t.Errorf("%s in %s: one apostrophe is straight: %q", g.Name, language, found)
			}
			if found := forPrograms.FindString(text); found != "" {
				t.Errorf("%s in %s: people read %q", g.Name, language, found)
			}
			if cards := g.Display.Cards; cards != nil {
				for _, rank := range cards.Ranks {
					if !strings.Contains(text, fmt.Sprintf(`<b data-card="%do">%[1]d</b>`, rank)) {
						t.Errorf("%s in %s: there is no card %d", g.Name, language, rank)
					}
				}
			}
			if points := map[string]string{"en": "11 points", "ca": "11 punts", "es": "11 puntos"}[language]; g.Name == "tute" && !strings.Contains(text, points) {
				t.Errorf("the rules of Tute in %s do not give a card %s", language, points)
			}
		}
	}
	if a := s.Get(s.Client(), "/rules/brisca"); !strings.Contains(a.Body, "<li><b>two against two</b>: four players") {
		t.Errorf("the options of Brisca have other names than where a game is described: %s", a.Body)
	}
	if a := s.Get(s.Client(), "/rules/chess"); a.Status != http.StatusNotFound {
		t.Errorf("the rules of chess answer %d", a.Status)
	}
}
