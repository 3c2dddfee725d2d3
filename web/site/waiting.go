package site

import (
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/timba-arena/timba/web/play"
)

type waitingPage struct {
	*play.Table
	Link      string // the absolute address of the page, to invite others
	OwnSeat   int    // the visitor's seat, or -1
	IsOpener  bool   // the visitor has opened the table
	IsAwaited bool   // a free seat is reserved for the visitor
	Host      string // the name of the person who has opened the table; "" for a guest
	OfferedTo string // the names of the people for whom a rematch reserves seats
	Rules     template.HTML
	Options   []string // descriptions of the options
}

// showWaitingTable serves the page of a table that waits for people. If refused is not nil, it is the reason why the
// visitor did not get a seat, and the page shows it.
func (s *Site) showWaitingTable(v *visit, t *play.Table, refused error) error {
	page := waitingPage{Table: t, Link: v.origin() + "/play/" + t.ID, OwnSeat: t.Seat(v.Actor)}
	page.IsOpener, page.IsAwaited = page.OwnSeat == t.Choice.Seat, t.IsReservedFor(v.Actor)
	page.Host = t.SeatViews()[t.Choice.Seat].Name
	var others []string
	for _, seat := range slices.Sorted(maps.Keys(t.Choice.ReservedFor)) {
		others = append(others, v.site.seatName(v.language, t.Choice.ReservedFor[seat].Person.Name, false))
	}
	page.OfferedTo = strings.Join(others, ", ")
	var err error
	if page.Rules, err = rulesText(v, t.Variant.Game, t.Variant.Settings); err != nil {
		return err
	}
	page.Options = optionsInWords(v, t)
	return v.showForm(http.StatusOK, "waiting", page, refused)
}

// optionsInWords describes the options, the clock and the rating of the game at a table.
func optionsInWords(v *visit, t *play.Table) (list []string) {
	chosen := playPage{Form: playForm{Options: t.Variant.Settings.Map()}}
	chosen.listOptions(v.language, t.Variant.Game)
	if chosen.Players > 0 {
		list = append(list, v.t("waiting.players", "Count", chosen.Players))
	}
	for _, o := range chosen.Options {
		switch {
		case o.Checked:
			list = append(list, o.Text)
		case o.Kind == "number" && o.Value != "0":
			list = append(list, optionName(v.language, o.Name, o.Value))
		}
	}
	clock := v.t("play.clock", "Time", int(v.site.Play.Limits.Move.Seconds()))
	if bank := int(t.Choice.Bank.Minutes()); bank > 0 {
		clock = v.t("waiting.bank", "Count", bank)
	}
	list = append(list, clock)
	if !slices.ContainsFunc(t.Choice.OtherPlayers, func(other string) bool { return other != play.Invited }) {
		list = append(list, v.t("waiting.rated"))
	}
	return list
}

func (s *Site) postSit(v *visit) error {
	t := s.Play.Table(v.r.PathValue("id"))
	if t == nil { // the page says what happened to it
		return v.redirect("/play/" + v.r.PathValue("id"))
	}
	key, err := s.Play.ClaimSeat(v.ctx(), t, v.Actor)
	return s.leadToTable(v, t, key, err)
}

// postCancel closes a table that the visitor has opened, or at which the visitor declines a seat.
func (s *Site) postCancel(v *visit) error {
	id := v.r.PathValue("id")
	if t := s.Play.Table(id); t != nil {
		if err := t.Cancel(v.Actor); err != nil {
			return err
		}
	}
	return v.redirect("/play/" + id)
}

// playTopic followed by the ID of a table (a game of people) is the name under which pages about the table get live
// updates.
const playTopic = "play/"

// playParts renders the parts of pages about a table that live updates replace: the players, the states of their
// seats, and the offer of a rematch. The bar at the top of all pages watches the states. id is the ID of the table.
// For each part, playParts calls the function part, which executes the template name of page on data and stores the
// result under key.
func (s *Site) playParts(id string, part func(page, name, key string, data any)) {
	if t := s.Play.Table(id); t != nil {
		part("waiting", "waiting-seats", "waiting", t)
		part("table", "table-seats", "seats", t)
		part("play", "states", "states", t)
	} else {
		part("waiting", "waiting-over", "waiting", nil)
		part("played", "offer", "offer", s.Play.Rematch(id))
	}
}
