package site

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/web/messages"
	"github.com/timba-arena/timba/web/play"
)

// ongoingGame is a game to which the bar at the top of every page links.
type ongoingGame struct {
	*play.Table
	State    string        // see play.Table.StateFor; "offered" for a table that keeps a free seat for the visitor
	Host     string        // the name of the person who has opened the table; "" for a guest
	MoveTime time.Duration // the time left for the visitor's move; 0 without a clock
}

// Ongoing returns the games that the visitor plays now, and games with a free seat that is reserved for the visitor.
// The game that the current page shows is left out.
func (f frame) Ongoing() (list []ongoingGame) {
	if f.site.Play == nil || f.Person.ID == 0 && f.Session == 0 {
		return nil
	}
	shown := cmp.Or(f.r.URL.Query().Get("page"), f.r.URL.Path)
	add := func(t *play.Table, state string, left time.Duration) {
		if state != "over" && shown != "/play/"+t.ID {
			list = append(list, ongoingGame{t, state, t.SeatViews()[t.Choice.Seat].Name, left})
		}
	}
	for _, t := range f.site.Play.TablesOf(f.Actor) {
		if seat := t.Seat(f.Actor); seat >= 0 {
			left, _ := t.TimeLeft(seat)
			add(t, t.StateFor(seat), left)
		}
	}
	for _, t := range f.site.Play.Offers(f.Actor) {
		add(t, "offered", 0)
	}
	slices.SortFunc(list, func(a, b ongoingGame) int { return a.OpenedAt.Compare(b.OpenedAt) })
	return list
}

// getOngoing sends only the bar of ongoing games. The query parameter page has the path of the page with the bar.
func (s *Site) getOngoing(v *visit) error {
	return v.showTemplate("ongoing", http.StatusOK, "play", nil, nil)
}

// lobbyTopic is the topic for updates of the lobby, the list of games that wait for people.
const lobbyTopic = "lobby"

// lobbyTable is a game in the lobby, the list of games that wait for people.
type lobbyTable struct {
	*play.Table
	Names   []string // of those who have sat down
	Options []string // what differs from the usual game, in words
}

// lobby returns the listed games that wait for people, the oldest first.
func (s *Site) lobby(l *messages.Language) (list []lobbyTable) {
	for _, t := range s.Play.ListWaiting() {
		row := lobbyTable{Table: t}
		views := t.SeatViews()
		for i, name := range s.seatNames(l, views) {
			if !views[i].Free {
				row.Names = append(row.Names, name)
			}
		}
		for _, o := range t.Variant.Game.Options {
			value := t.Variant.Settings.Get(o.Name)
			if o.Name != rules.OpeningOption.Name && (o.Name == playersField || value != o.DefaultText()) {
				row.Options = append(row.Options, optionName(l, o.Name, value))
			}
		}
		if bank := int(t.Choice.Bank.Minutes()); bank > 0 {
			row.Options = append(row.Options, l.Text("waiting.bank", "Count", bank))
		}
		list = append(list, row)
	}
	return list
}
