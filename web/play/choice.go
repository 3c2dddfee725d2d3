package play

import (
	"context"
	"maps"
	"slices"
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
	Options map[string]string // options of the game by name; missing ones have the defaults of TableOptions
	Seat    int               // the seat of the person who opens the table
	// OtherPlayers has the players of the other seats, in the order of play, beginning with the seat after Seat. Each
	// element is the name of a bot, or Invited for a person. There must be at least one. If there are fewer elements
	// than other seats, the list is repeated.
	OtherPlayers []string
	Bank         time.Duration // the time of each person for the whole game, one of Banks; 0 means that people have no clock
	Listed       bool          // the site lists the table while it waits, so that anybody can sit down
	After        string        // ID of the finished game that this one repeats; "" if it is no rematch
	// ReservedFor maps reserved seats to people: those who take part in a rematch, or whom the person who opens the
	// table challenges.
	ReservedFor map[int]service.Actor
}

// Invited, as an element of Choice.OtherPlayers, means a person who comes by the link of the table. No bot has this
// name.
const Invited = "+"

// Banks are the choices for the total time that a person has for all moves of a game.
var Banks = []time.Duration{5 * time.Minute, 15 * time.Minute}

// resolveChoice sets x.Variant, x.Seats and x.memory according to x.Choice. The bots play with their present
// versions. x.memory is the number of bytes that the bots need. actor is the person who opens the table and gets the
// chosen seat. It returns an error if the choice is invalid.
func (x *Table) resolveChoice(ctx context.Context, actor service.Actor) error {
	c := &x.Choice
	if _, err := games.Find(c.Game); err != nil {
		return ladder.Errorf(ladder.Invalid, "", "%w", err)
	}
	var err error
	if x.Variant, err = (ladder.Ladder{Game: c.Game, Options: TableOptions(c.Game, c.Options)}).Variant(); err != nil {
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
	returnTime := x.tables.Limits.ReturnTime
	if x.solo = c.Bank == 0 && !slices.Contains(c.OtherPlayers, Invited); x.solo {
		returnTime = 2 * x.tables.Limits.Idle // which the game does not reach
	}
	house := make([]bool, n)
	people := 0
	for seat := range n {
		s := &Seat{ReservedFor: c.ReservedFor[seat]}
		x.Seats = append(x.Seats, s)
		other := c.OtherPlayers[(seat-c.Seat-1+n)%n%len(c.OtherPlayers)]
		if seat == c.Seat || other == Invited {
			s.stream, s.bankLeft = socket.NewLineStream(socket.LineStreamOptions{ReturnTime: returnTime, RetainAll: true}), c.Bank
			house[seat] = true
			people++
		} else if s.Version, err = x.tables.liveVersion(ctx, other, x.Variant); err != nil {
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

// liveVersion returns the version with which the bot called name plays at present. It returns an error if there is
// none, or if it cannot play the variant with people.
func (t *Tables) liveVersion(ctx context.Context, name string, variant *rules.Variant) (ladder.Version, error) {
	v, err := t.Store.Versions.FindLive(ctx, name)
	if err == nil {
		err = v.CheckTablePlay(variant)
	}
	return v, err
}

// TableOptions returns the options in given, by name, and adds options that have another default when people play,
// such as a start without random moves. If the game does not exist, it returns given unchanged.
func TableOptions(game string, given map[string]string) map[string]string {
	g, err := games.Find(game)
	if err != nil {
		return given
	}
	all := map[string]string{}
	for _, o := range g.Options {
		if o.TableValue != "" {
			all[o.Name] = o.TableValue
		}
	}
	maps.Copy(all, given)
	return all
}
