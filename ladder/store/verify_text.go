package store

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// figures are named values, in the order in which they are shown.
type figures []figure

type figure struct {
	name  string
	value any
}

// without returns those that differ from the figures of the same names, as text.
func (f figures) without(others figures) string {
	var parts []string
	for i, x := range f {
		if x.value == others[i].value {
			continue
		}
		text := fmt.Sprint(x.value)
		if word, ok := x.value.(string); ok {
			text = fmt.Sprintf("%q", word)
		}
		parts = append(parts, x.name+" "+text)
	}
	return strings.Join(parts, ", ")
}

// unlike returns how two lists of the same figures differ: what is stored, and what it
// must be.
func unlike(got, want figures) string {
	return fmt.Sprintf("%s where it has to be %s", got.without(want), want.without(got))
}

func changeFigures(c queries.Change) figures {
	return figures{
		{"match", c.MatchID}, {"slot", c.Slot}, {"ladder", c.LadderID}, {"version", c.VersionID}, {"number", c.Number},
		{"Elo before", c.EloBefore}, {"Elo after", c.EloAfter}, {"K", c.K}, {"score", c.Score}, {"expected score", c.Expected}, {"uncertainty", c.Uncertainty},
	}
}

func placeFigures(p place) figures {
	return figures{
		{"uncertainty", p.Uncertainty}, {"fixed", p.Fixed}, {"matches", p.Matches}, {"games", p.Games}, {"wins", p.Wins}, {"draws", p.Draws}, {"losses", p.Losses},
		{"faults", p.Faults}, {"last match", p.last}, {"last time", timeText(p.lastAt)},
	}
}

func timeText(at sql.NullInt64) string {
	if !at.Valid {
		return "never"
	}
	return moment(at.Int64).Format("2006-01-02T15:04:05.000000Z")
}

func pairFigures(p queries.Pair) figures {
	return figures{{"matches", p.Matches}, {"deals", p.Deals}, {"score", p.Score}, {"sum of squares", p.Squares}, {"wins", p.Wins}, {"draws", p.Draws}, {"losses", p.Losses}}
}

// optionsText returns options as name=value, by name.
func optionsText(options map[string]string) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(options)) {
		words = append(words, name+"="+options[name])
	}
	return strings.Join(words, " ")
}

func seatFigures(s ladder.GameSeat) figures {
	return figures{{"seat", s.Seat}, {"slot", s.Slot}, {"rank", s.Rank}, {"points", s.Points}, {"fault", s.Fault}, {"faults", s.Faults}}
}
