package play

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/web/socket"
)

// Choice says which game a person wants to play, at which seat and with whom.
type Choice struct {
	Game    string
	Options map[string]string // options that are missing have their defaults
	Seat    int               // of the person who opens the table
	// OtherPlayers sit at the seats after Seat in turn. Each is the name of a bot, whose live version plays,
	// or Invited. There is at least one; if there are fewer than seats, they repeat.
	OtherPlayers []string
	Bank         time.Duration // of each person for the game, one of Banks; 0 means that people have no clock
	// After and ReservedFor describe a rematch.
	After       string                // ID of the game that this one follows; "" if it is no rematch
	ReservedFor map[int]service.Actor // persons for whom seats are reserved, by seat
}

// Invited stands in a Choice for a person who joins by the link of the table. No bot has this name.
const Invited = "+"

// Banks are the times that a person may have for a game.
var Banks = []time.Duration{5 * time.Minute, 15 * time.Minute}

// resolveChoice finds the game and the bots' versions of the table's Choice, makes the seats, and computes
// the memory of the bots.
func (x *Table) resolveChoice(ctx context.Context, actor service.Actor) error {
	c := &x.Choice
	if _, err := games.Find(c.Game); err != nil {
		return ladder.Errorf(ladder.Invalid, "", "%w", err)
	}
	var err error
	if x.Variant, err = (ladder.Ladder{Game: c.Game, Options: WithOpening(c.Game, c.Options)}).Variant(); err != nil {
		return ladder.Errorf(ladder.Invalid, "", "%w", err)
	}
	n := x.Variant.Players
	switch {
	case c.Seat < 0 || c.Seat >= n:
		return ladder.Errorf(ladder.Invalid, "", "seat %d does not exist", c.Seat).Try("try %d to %d", 0, n-1)
	case len(c.OtherPlayers) == 0:
		return ladder.Errorf(ladder.Invalid, "choose one", "there is nobody to play against")
	case len(c.OtherPlayers) > n-1:
		return ladder.Errorf(ladder.Invalid, "", "%d others and you are too many for %d seats", len(c.OtherPlayers), n)
	case c.Bank != 0 && !slices.Contains(Banks, c.Bank):
		return ladder.Errorf(ladder.Invalid, "try 5m", "the time of a person cannot be %v", c.Bank)
	}
	house := make([]bool, n)
	people := 0
	for seat := range n {
		s := &Seat{ReservedFor: c.ReservedFor[seat]}
		x.Seats = append(x.Seats, s)
		other := c.OtherPlayers[(seat-c.Seat-1+n)%n%len(c.OtherPlayers)]
		if seat == c.Seat || other == Invited {
			s.stream, s.bankLeft = socket.NewLineStream(socket.LineStreamOptions{ReturnTime: x.tables.Limits.ReturnTime, RetainAll: true}), c.Bank
			house[seat] = true
			people++
		} else if s.Version, err = x.tables.liveVersion(ctx, other, c.Game); err != nil {
			return err
		} else {
			house[seat] = s.Version.IsHouse()
		}
	}
	first := x.Seats[c.Seat]
	first.Player, first.taken, first.seatStored = actor, true, true
	x.memory = x.tables.Room.RotationMemory(x.Variant, house) - int64(people)*ladder.HouseMemory // people need none
	if most := x.tables.Limits.Memory; most > 0 && x.memory > most {
		return ladder.Errorf(ladder.Invalid, "try fewer players, or house bots", "the bots of this game may need %d MiB, and games against people have %d", x.memory>>20, most>>20)
	}
	return nil
}

// liveVersion returns the live version of a bot. It is an error if that version cannot play the game at a
// table.
func (t *Tables) liveVersion(ctx context.Context, name, game string) (ladder.Version, error) {
	v, err := t.Store.Versions.FindLive(ctx, name)
	if err == nil {
		err = v.CheckTablePlay(game)
	}
	return v, err
}

// WithOpening returns given, the options of a game, with random openings added if all games would otherwise
// start alike. If the option for openings is given, it stays as it is.
func WithOpening(game string, given map[string]string) map[string]string {
	g, err := games.Find(game)
	if err != nil {
		return given
	}
	v, err := g.Resolve(given)
	name := rules.OpeningOption.Name
	if _, set := given[name]; err != nil || set || v.HasChance || v.Settings.Get(name) == "" {
		return given
	}
	opened := map[string]string{name: strconv.Itoa(v.StandardOpening())}
	maps.Copy(opened, given)
	return opened
}
