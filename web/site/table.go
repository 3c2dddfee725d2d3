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
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/web/messages"
	"github.com/timba-arena/timba/web/play"
)

// leadToTable answers a visitor who has asked for a seat at a table. If err is nil, the visitor has a seat at t, and
// the answer redirects to the page of t. Otherwise the visitor got no seat, and the answer shows err. t is then the
// table that was full or closed, or nil. If t no longer exists, the answer redirects to its page anyway, which says
// what has happened. key, if not "", is the session key of a new guest; it is sent as a cookie.
func (s *Site) leadToTable(v *visit, t *play.Table, key string, err error) error {
	switch {
	case err == nil:
	case t == nil:
		return err
	case s.Play.Table(t.ID) == nil: // the page says what happened to it
	case t.Waiting():
		return s.showWaitingTable(v, t, err)
	default:
		return err
	}
	if key != "" {
		v.setCookie(sessionCookie, key, sessionAge)
	}
	return v.redirect("/play/" + t.ID)
}

type tablePage struct {
	*play.Table
	OwnSeat    int    // the visitor's seat
	OtherNames string // the names of the other players
	HasBoard   bool   // the game has a board, and so no tricks
	Several    bool   // several people play, or one person with a clock
	Rules      template.HTML
	Commitment referee.Hex
	Data       template.JS // JSON for the page's module
}

// getTable serves the page of a game on the site: while it waits for people, while it is played or watched,
// and when it is over.
func (s *Site) getTable(v *visit) error {
	id := v.r.PathValue("id")
	t := s.Play.Table(id)
	if t == nil {
		return s.showPlayedGame(v, id)
	}
	if t.Waiting() {
		return s.showWaitingTable(v, t, nil)
	}
	seat := t.Seat(v.Actor)
	if seat < 0 {
		return s.watchTable(v, t)
	}
	display := t.Variant.Display()
	var sides []int
	var names, others []string
	views := t.SeatViews()
	for i, name := range v.site.seatNames(v.language, views) {
		shown := views[i]
		if i == seat {
			name = v.t("person.you")
		} else if shown.Bot {
			others = append(others, v.site.botTitle(v.language, shown.Name))
		} else {
			others = append(others, name)
		}
		names = append(names, name)
		sides = append(sides, t.Variant.Side(i))
	}
	page := tablePage{
		Several: len(t.People()) > 1 || t.Choice.Bank > 0,
		Table:   t, OwnSeat: seat, OtherNames: strings.Join(slices.Compact(others), ", "), HasBoard: display.Board != nil, Commitment: referee.Commitment(t.Seed),
	}
	var err error
	if page.Rules, err = rulesText(v, t.Variant.Game, t.Variant.Settings); err != nil {
		return err
	}
	left, ok := t.TimeLeft(seat)
	if !ok {
		left = -time.Millisecond
	}
	data, err := json.Marshal(map[string]any{
		"socket": "/ws/play/" + id, "display": display, "seat": seat, "names": names, "sides": sides,
		"move": t.MoveLimit().Milliseconds(), "bank": t.Choice.Bank.Milliseconds(), "left": left.Milliseconds(), "now": time.Now().UnixMilli(),
		"resigned": t.HasResigned(seat), "forfeited": t.SeatViews()[seat].Forfeited,
	})
	if err != nil {
		return err
	}
	page.Data = template.JS(data)
	return v.showPage(http.StatusOK, "table", page)
}

// seatName returns the display name of a player. bot says whether the player is a bot. A person without a name is a
// guest.
func (s *Site) seatName(l *messages.Language, name string, bot bool) string {
	switch {
	case bot:
		return s.botName(l, name)
	case name == "":
		return l.Text("bot.guest")
	}
	return name
}

// seatNames returns the display name of the player at each seat, or "" for a free seat. Equal names, such as those of
// several guests, get numbers.
func (s *Site) seatNames(l *messages.Language, seats []play.SeatView) []string {
	var names []string
	for _, x := range seats {
		name := ""
		if !x.Free {
			name = s.seatName(l, x.Name, x.Bot)
		}
		names = append(names, name)
	}
	numberNames(l, names)
	return names
}

// numberNames appends a number to each name that occurs several times in names. It does not change "".
func numberNames(l *messages.Language, names []string) {
	guest := l.Text("bot.guest")
	total, seen := map[string]int{}, map[string]int{}
	for _, name := range names {
		total[name]++
	}
	for i, name := range names {
		if seen[name]++; name == "" || total[name] == 1 {
			continue
		}
		names[i] = fmt.Sprintf("%s %d", name, seen[name])
		if name == guest {
			names[i] = l.Text("bot.guests", "Number", seen[name])
		}
	}
}

// seatOf returns the visitor's seat at a table, or an error if the visitor has none.
func seatOf(v *visit, t *play.Table) (int, error) {
	if seat := t.Seat(v.Actor); seat >= 0 {
		return seat, nil
	}
	return -1, ladder.Errorf(ladder.Forbidden, "wait until it is over", "this game is somebody else's")
}

func (s *Site) getTableReplay(v *visit) error {
	data, err := s.Store.Plays.Replay(v.ctx(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	return v.sendFile("application/json", "replay.json", data)
}

// getRefusal sends, as JSON, why the move in the query parameter "move" is illegal: a rules.Refusal, or null if no rule
// forbids it. It fails if it is not the visitor's turn.
func (s *Site) getRefusal(v *visit) error {
	t := s.Play.Table(v.r.PathValue("id"))
	if t == nil {
		return ladder.Errorf(ladder.NotFound, "", "game %q does not exist, or is over", ladder.Clip(v.r.PathValue("id")))
	}
	seat, err := seatOf(v, t)
	if err != nil {
		return err
	}
	q := v.query()
	move := q.Text("move")
	if err := q.Check(); err != nil {
		return err
	}
	why, err := t.Refusal(seat, move)
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(v.w).Encode(why)
}

// resignWait is how long the answer to a resignation waits for the end of the game.
const resignWait = 10 * time.Second

// postResign resigns the visitor's game. If no other people play on, it answers when the game is over, but
// waits no longer than resignWait.
func (s *Site) postResign(v *visit) error {
	id := v.r.PathValue("id")
	if t := s.Play.Table(id); t != nil {
		seat, err := seatOf(v, t)
		switch {
		case err != nil:
			return err
		case t.Waiting():
			return ladder.Errorf(ladder.Conflict, "cancel the table, or wait", "this game has not begun")
		}
		if t.Resign(seat); len(t.People()) == 1 || t.Variant.Players == 2 { // no other people play on
			select { // the bots may have to play on
			case <-t.Done():
			case <-time.After(resignWait):
			case <-v.ctx().Done():
			}
		}
	}
	return v.redirect("/play/" + id)
}

// postRematch opens a table for a rematch of the finished game in the path. The table has the same game, options and
// players, but everybody moves to the next seat, and seats are reserved for the other people. If another person has
// already opened a rematch of the game, the visitor gets a seat at that table instead. If the form field "level" is
// "next", the bots have the next level of difficulty.
func (s *Site) postRematch(v *visit) error {
	p, err := s.Store.Plays.Find(v.ctx(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	own, all := visitorSeat(v, p), occupants(p)
	next := func(seat int) int { return (seat + 1) % len(all) } // everybody moves one seat further
	c := play.Choice{Game: p.Game, Options: p.Options, Bank: p.Bank, Seat: next(p.Opener)}
	if people := p.People(); own >= 0 && len(people) > 1 {
		c.Seat, c.After, c.ReservedFor = next(own), p.ID, map[int]service.Actor{}
		for _, x := range people {
			if x.Seat != own {
				c.ReservedFor[next(x.Seat)] = service.Actor{Person: ladder.Person{ID: x.PersonID, Name: x.Person}, Session: x.Session}
			}
		}
	}
	for i := range len(all) - 1 {
		c.OtherPlayers = append(c.OtherPlayers, all[(c.Seat+i)%len(all)])
	}
	if level := nextLevel(p); level != nil && v.r.PostForm.Get("level") == "next" {
		c.OtherPlayers = []string{"@" + level.Spec}
	}
	t, key, err := s.Play.Open(v.ctx(), v.Actor, c)
	return s.leadToTable(v, t, key, err)
}

func (s *Site) getTableSocket(v *visit) error {
	t := s.Play.Table(v.r.PathValue("id"))
	if t == nil {
		return ladder.Errorf(ladder.NotFound, "", "game %q does not exist, or is over", ladder.Clip(v.r.PathValue("id")))
	}
	if t.Waiting() {
		return ladder.Errorf(ladder.Conflict, "wait until all seats are taken", "this game has not begun")
	}
	seat, err := seatOf(v, t)
	if err != nil {
		return err
	}
	c, err := v.upgrade(s.Play.SocketLimits())
	if err != nil {
		return err
	}
	t.Attach(seat, c) // however the connection ends, the person may come back
	return nil
}
