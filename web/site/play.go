package site

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/web/play"
)

// open opens a table for the visitor. With it begins the session of a guest.
func (s *Site) open(v *visit, c play.Choice) (*play.Table, error) {
	t, key, err := s.Play.Open(v.ctx(), v.Actor, c)
	if key != "" {
		v.setCookie(sessionCookie, key, sessionAge)
	}
	return t, err
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

// Another returns the address at which another game is chosen, with the choices of this one.
func (p playedPage) Another() string { return formOf(p.Play).address() }

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
		page.gameView, err = newGameView(r, g)
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
