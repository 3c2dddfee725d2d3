package play

import (
	"context"
	"maps"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
	"github.com/timba-arena/timba/web/socket"
)

// Choice is what somebody wants to play.
type Choice struct {
	Game    string
	Options map[string]string // those that are not left out have their defaults
	Seat    int
	Bots    []string // at the other seats in turn, at least one; their live versions play
}

// maxOptions is the longest text of options.
const maxOptions = 400

// ParseOptions reads options as "name=value" words, on top of others.
func ParseOptions(base map[string]string, text string) (map[string]string, error) {
	if len(text) > maxOptions {
		return nil, ladder.Errorf(ladder.Invalid, "", "options cannot have more than %d characters", maxOptions)
	}
	options := maps.Clone(base)
	if options == nil {
		options = map[string]string{}
	}
	for word := range strings.FieldsSeq(text) {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			return nil, ladder.Errorf(ladder.Invalid, "write name=value, as in players=2", "option %q is not valid", word)
		}
		options[name] = value
	}
	return options, nil
}

// choose resolves the game of somebody and the bots' versions, and what memory they need.
func (x *Table) choose(ctx context.Context, who service.Actor) error {
	c := &x.Choice
	if _, err := games.Find(c.Game); err != nil {
		return ladder.Errorf(ladder.Invalid, "", "%w", err)
	}
	var err error
	if x.Variant, err = (ladder.Ladder{Game: c.Game, Options: withOpening(c.Game, c.Options)}).Variant(); err != nil {
		return ladder.Errorf(ladder.Invalid, "", "%w", err)
	}
	n := x.Variant.Players
	switch {
	case c.Seat < 0 || c.Seat >= n:
		return ladder.Errorf(ladder.Invalid, "try 0 to "+strconv.Itoa(n-1), "seat %d does not exist", c.Seat)
	case len(c.Bots) == 0:
		return ladder.Errorf(ladder.Invalid, "choose one", "there is no bot to play against")
	case len(c.Bots) > n-1:
		return ladder.Errorf(ladder.Invalid, "", "%d bots and you are too many for %d seats", len(c.Bots), n)
	}
	house := make([]bool, n)
	bots := 0
	for seat := range n {
		if seat == c.Seat {
			house[seat] = true
			line := socket.NewStream(socket.StreamOptions{Back: x.tables.Limits.Back, Replay: true})
			x.Seats = append(x.Seats, &Seat{Who: who, line: line})
			continue
		}
		v, err := x.tables.Store.LiveVersion(ctx, c.Bots[bots%len(c.Bots)])
		if err != nil {
			return err
		}
		if !v.Plays(c.Game) {
			return ladder.Errorf(ladder.Invalid, "choose another", "bot %q does not play %s", v.Bot, c.Game)
		}
		if v.Remote {
			return ladder.Errorf(ladder.Invalid, "choose another", "bot %q plays only matches: it is remote", v.Bot)
		}
		house[seat] = v.House()
		x.Seats = append(x.Seats, &Seat{Version: v})
		bots++
	}
	x.memory = x.tables.Room.Rotation(x.Variant, house) - ladder.HouseMemory // the person needs none
	if most := x.tables.Limits.Memory; most > 0 && x.memory > most {
		return ladder.Errorf(ladder.Invalid, "try fewer players, or house bots", "the bots of this game may need %d MiB, and games against people have %d", x.memory>>20, most>>20)
	}
	return nil
}

// withOpening sets openings where every game would begin alike and the option is not set.
func withOpening(game string, given map[string]string) map[string]string {
	g, err := games.Find(game)
	if err != nil {
		return given
	}
	v, err := g.Resolve(given)
	name := rules.OpeningOption.Name
	if _, set := given[name]; err != nil || set || v.Chance || v.Settings.Get(name) == "" {
		return given
	}
	given = maps.Clone(given)
	if given == nil {
		given = map[string]string{}
	}
	given[name] = strconv.Itoa(rules.DefaultOpening)
	return given
}
