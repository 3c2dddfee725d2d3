package site

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/play"
)

// playBots is how many bots can be chosen from.
const playBots = 500

// playPage is the data of the page "play".
type playPage struct {
	Games    []playGame
	Levels   []playBot // house bots, the weakest first
	House    []playBot // others
	Bots     []playBot
	Form     map[string]string // what was chosen
	Seats    []int             // of the game that has most
	Refused  error             // why the visitor cannot play at all; nil: they can
	Problem  *wire.Problem     // why the choice was refused
	Own      []*play.Table     // games of the visitor that are not over
	MoveTime int               // seconds
}

// playGame is a game with the rules that can be chosen.
type playGame struct {
	Name, Title string
	Plain       int // seats by the usual rules
	Most        int // seats with any options
	Rules       []playRules
}

// playRules are those of a ladder.
type playRules struct {
	Name, Title string
	Seats       int
}

// newPlayGame returns what can be chosen of a game.
func (s *Site) newPlayGame(g *rules.Game) (playGame, error) {
	p := playGame{Name: g.Name, Title: cmp.Or(g.Display.Title, g.Name)}
	plain, err := g.Resolve(nil)
	if err != nil {
		return p, err
	}
	p.Plain = plain.Players
	p.Most = max(p.Plain, mostSeats(g))
	for _, l := range s.laddersOf(g.Name) {
		v, err := l.Variant()
		if err != nil {
			return p, err
		}
		p.Rules = append(p.Rules, playRules{l.Name, l.Title, v.Players})
		p.Most = max(p.Most, v.Players)
	}
	return p, nil
}

// playBot is a bot to play against.
type playBot struct {
	Name   string
	Number int    // of a level, else 0
	Level  string // its name in English
}

// levelOf returns the level that a house bot is, nil if none.
func levelOf(bot string) *house.Level {
	for _, l := range house.Levels() {
		if bot == "@"+l.Spec {
			return &l
		}
	}
	return nil
}

// play shows the form to choose a game.
func (s *Site) play(v *visit) error {
	q := v.query()
	form := map[string]string{"bot": q.Text("bot"), "game": q.Text("game"), "options": q.Text("options"), "seat": q.Text("seat")}
	if err := q.Err(); err != nil {
		return err
	}
	return s.choosePlay(v, http.StatusOK, form, nil)
}

func (s *Site) choosePlay(v *visit, status int, form map[string]string, problem *wire.Problem) error {
	page := playPage{Form: form, Problem: problem, Refused: s.Play.Allowed(v.Actor), Own: s.Play.Of(v.Actor), MoveTime: int(s.Play.Limits.Move.Seconds())}
	for _, g := range games.All() {
		game, err := s.newPlayGame(g)
		if err != nil {
			return err
		}
		page.Games = append(page.Games, game)
		for len(page.Seats) < game.Most {
			page.Seats = append(page.Seats, len(page.Seats))
		}
	}
	if form["game"] == "" {
		form["game"] = page.Games[0].Name
	}
	versions, err := s.Store.LiveVersions(v.ctx(), playBots)
	if err != nil {
		return err
	}
	for _, b := range versions {
		switch level := levelOf(b.Bot); {
		case level != nil:
			page.Levels = append(page.Levels, playBot{b.Bot, level.Number, level.Name})
			if level.Number == house.MiddleLevel && form["bot"] == "" {
				form["bot"] = b.Bot
			}
		case b.House():
			page.House = append(page.House, playBot{Name: b.Bot})
		case !b.Remote:
			page.Bots = append(page.Bots, playBot{Name: b.Bot})
		}
	}
	slices.SortFunc(page.Levels, func(a, b playBot) int { return a.Number - b.Number })
	return v.page(status, "play", page)
}

// mostSeats returns how many seats a game can have; 0 if that is no option of it.
func mostSeats(g *rules.Game) int {
	for _, o := range g.Options {
		if o.Name == "players" {
			return o.Max
		}
	}
	return 0
}

func (s *Site) laddersOf(game string) (list []ladder.Ladder) {
	for _, l := range s.Config.Ladders {
		if l.Game == game {
			list = append(list, l)
		}
	}
	return list
}

// chosen reads the form of a choice.
func (s *Site) chosen(v *visit) (c play.Choice, form map[string]string, err error) {
	post := v.r.PostForm
	form = map[string]string{}
	for _, name := range []string{"game", "options", "seat"} {
		form[name] = post.Get(name)
	}
	bots := post["bot"]
	if len(bots) > rules.MaxSeats {
		bots = bots[:rules.MaxSeats]
	}
	for _, b := range bots {
		if b != "" {
			c.Bots = append(c.Bots, b)
		}
	}
	if len(c.Bots) > 0 {
		form["bot"] = c.Bots[0]
	}
	c.Game = form["game"]
	name := post.Get("rules-" + c.Game)
	form["rules"] = name
	var base map[string]string
	if i := slices.IndexFunc(s.Config.Ladders, func(l ladder.Ladder) bool { return l.Name == name && l.Game == c.Game }); i >= 0 {
		base = s.Config.Ladders[i].Options
	}
	if c.Options, err = play.ParseOptions(base, form["options"]); err != nil {
		return c, form, err
	}
	if form["seat"] == "" {
		variant, err := (ladder.Ladder{Game: c.Game, Options: c.Options}).Variant()
		if err == nil {
			c.Seat = rand.IntN(variant.Players)
		}
		return c, form, nil
	}
	if c.Seat, err = strconv.Atoi(form["seat"]); err != nil {
		err = ladder.Errorf(ladder.Invalid, "try 0", "seat cannot be %q", ladder.Clip(form["seat"]))
	}
	return c, form, err
}

// open opens a table for the visitor. With it begins the session of a guest.
func (s *Site) open(v *visit, c play.Choice) (*play.Table, error) {
	t, key, err := s.Play.Open(v.ctx(), v.Actor, c)
	if key != "" {
		v.setCookie(sessionCookie, key, sessionAge)
	}
	return t, err
}

// playOpened opens a table.
func (s *Site) playOpened(v *visit) error {
	c, form, err := s.chosen(v)
	var t *play.Table
	if err == nil {
		t, err = s.open(v, c)
	}
	if err != nil {
		p, status, err := v.problem(err)
		if err != nil {
			return err
		}
		return s.choosePlay(v, status, form, p)
	}
	v.redirect("/play/" + t.ID)
	return nil
}

// tablePage is the data of the page "table".
type tablePage struct {
	*play.Table
	Title      string // the game
	Others     string // who else plays
	Board      bool   // the game has no tricks
	Rules      template.HTML
	Commitment referee.Hex
	Data       template.JS // for the script
}

// table shows a game: the visitor's own while it is played, and any that is over.
func (s *Site) table(v *visit) error {
	id := v.r.PathValue("id")
	t := s.Play.Table(id)
	if t == nil {
		return s.played(v, id)
	}
	seat, err := seatOf(v, t)
	if err != nil {
		return err
	}
	display := t.Variant.Game.Display
	names := t.Names(seat, v.t("table.you"))
	var sides []int
	var others []string
	for i, name := range names {
		if i != seat {
			others = append(others, botTitle(v.words, name))
		}
		names[i] = botName(v.words, name)
		sides = append(sides, t.Variant.Side(i))
	}
	page := tablePage{
		Table: t, Title: titleOf(t.Choice.Game), Others: strings.Join(slices.Compact(others), ", "), Board: display.Board != nil, Commitment: referee.Commitment(t.Seed),
	}
	if page.Rules, err = rulesText(v, t.Variant.Game, t.Variant.Settings); err != nil {
		return err
	}
	left, ok := t.Left(seat)
	if !ok {
		left = -time.Millisecond
	}
	data, err := json.Marshal(map[string]any{
		"socket": "/ws/play/" + id, "display": display, "seat": seat, "names": names, "sides": sides,
		"move": s.Play.Limits.Move.Milliseconds(), "left": left.Milliseconds(),
	})
	if err != nil {
		return err
	}
	page.Data = template.JS(data)
	return v.page(http.StatusOK, "table", page)
}

// seatOf returns the seat of the visitor at a table, or an error.
func seatOf(v *visit, t *play.Table) (int, error) {
	if seat := t.Seat(v.Actor); seat >= 0 {
		return seat, nil
	}
	return -1, ladder.Errorf(ladder.Forbidden, "wait until it is over", "this game is somebody else's")
}

// playedPage is the data of the page "played".
type playedPage struct {
	ladder.Play
	gameView
	Over    *over // nil: the game is broken
	Cause   ladder.Breaking
	Culprit string // the bot that was the cause
	Review  bool   // the address has a position: the card would be in the way
}

// played shows a game that is over.
func (s *Site) played(v *visit, id string) error {
	q := v.query()
	page := playedPage{Review: q.Text("ply") != ""}
	if err := q.Err(); err != nil {
		return err
	}
	var err error
	if page.Play, err = s.Store.Play(v.ctx(), id); err != nil {
		return err
	}
	page.gameView.Title = titleOf(page.Game)
	if page.State != ladder.PlayFinished {
		page.Cause, page.Culprit = page.Broken.Cause()
		page.Culprit = botTitle(v.words, page.Culprit)
		return v.page(http.StatusOK, "played", page)
	}
	data, err := s.Store.PlayReplay(v.ctx(), id)
	if err != nil {
		return err
	}
	r, g, err := decode(data)
	if err == nil {
		page.nameSeats(v, r)
		page.gameView, err = s.newGameView(r, g)
	}
	if err == nil {
		page.Over, err = newOver(v, page.Play, r, g, page.names(), page.Played.Frames)
	}
	if err != nil {
		return fmt.Errorf("the replay of game %q: %w", id, err)
	}
	return v.page(http.StatusOK, "played", page)
}

// nameSeats gives the seats of a replay the names that the visitor reads.
func (p *playedPage) nameSeats(v *visit, r *referee.Replay) {
	for _, b := range p.Bots {
		r.Seats[b.Seat].Name = botName(v.words, b.Bot)
	}
	switch {
	case owns(v, p.Play):
		r.Seats[p.Seat].Name = v.t("table.you")
	case p.Person == "":
		r.Seats[p.Seat].Name = v.t("bot.guest")
	}
}

// names returns who sat at each seat.
func (p *playedPage) names() (list []string) {
	for _, s := range p.Played.Seats {
		list = append(list, s.Name)
	}
	return list
}

// playReplay sends the document of a game that is over.
func (s *Site) playReplay(v *visit) error {
	data, err := s.Store.PlayReplay(v.ctx(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	v.begun = true
	v.w.Header().Set("Content-Type", "application/json")
	v.w.Header().Set("Content-Disposition", `attachment; filename="replay.json"`)
	v.w.Write(data)
	return nil
}

// resigned gives a game up, and answers when it is over.
func (s *Site) resigned(v *visit) error {
	id := v.r.PathValue("id")
	if t := s.Play.Table(id); t != nil {
		seat, err := seatOf(v, t)
		if err != nil {
			return err
		}
		t.Resign(seat)
		select { // the bots may have to end their move
		case <-t.Over():
		case <-v.ctx().Done():
		}
	}
	v.redirect("/play/" + id)
	return nil
}

// rematch opens a table with the same game and bots, at the next seat. With the value "next" of the form
// the bots are those of the next level.
func (s *Site) rematch(v *visit) error {
	p, err := s.Store.Play(v.ctx(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	c := play.Choice{Game: p.Game, Options: p.Options, Seat: (p.Seat + 1) % (len(p.Bots) + 1)}
	for _, b := range p.Bots {
		c.Bots = append(c.Bots, b.Bot)
	}
	if next := nextLevel(p); next != nil && v.r.PostForm.Get("level") == "next" {
		c.Bots = []string{"@" + next.Spec}
	}
	t, err := s.open(v, c)
	if err != nil {
		return err
	}
	v.redirect("/play/" + t.ID)
	return nil
}

// tableSocket carries the lines of a person's seat.
func (s *Site) tableSocket(v *visit) error {
	t := s.Play.Table(v.r.PathValue("id"))
	if t == nil {
		return ladder.Errorf(ladder.NotFound, "", "game %q does not exist, or is over", ladder.Clip(v.r.PathValue("id")))
	}
	seat, err := seatOf(v, t)
	if err != nil {
		return err
	}
	c, err := v.upgrade(s.Play.Socket())
	if err != nil {
		return err
	}
	t.Attach(v.ctx(), seat, c) // whatever ends it, the person may come back
	return nil
}
