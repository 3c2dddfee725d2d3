package ladder

import (
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/referee/rules"
)

// PlayState is the state of a game between a person and bots.
type PlayState string

// The states.
const (
	PlayOpen     PlayState = "open"
	PlayFinished PlayState = "finished"
	PlayBroken   PlayState = "broken" // the server ended it, and nobody has lost
)

// Breaking is why the server ended a game: one of the causes, and after BrokenByBot a colon and the bot.
type Breaking string

// The causes.
const (
	BrokenByStop    Breaking = "stop"    // of the server
	BrokenByBlock   Breaking = "block"   // of the person
	BrokenByNobody  Breaking = "nobody"  // came to the table
	BrokenByBot     Breaking = "bot"     // a house bot failed
	BrokenByFailure Breaking = "failure" // of the server
)

// Cause returns the cause, and the bot if that is it.
func (b Breaking) Cause() (cause Breaking, bot string) {
	head, bot, _ := strings.Cut(string(b), ":")
	return Breaking(head), bot
}

// Play is a game between a person and bots. It is not rated.
type Play struct {
	ID         string // cannot be guessed
	PersonID   int64  // 0: a guest
	Session    int64  // in which it was begun
	Person     string // the name; "" of a guest
	Game       string
	Options    map[string]string // all of them
	Seat       int               // the person's
	State      PlayState
	Broken     Breaking // why, in the state PlayBroken
	Result     string   // of the person: one of the results; "" for none, or for one that is not known
	Commitment string   // of the seed, in hexadecimal
	Began      time.Time
	Ended      time.Time // zero: not yet
	Bots       []PlaySeat
}

// GuestName is the name of a guest in a replay.
const GuestName = "guest"

// Records returns the records of the bots of a finished game, by seat: not of those in the team of the
// person, and once of a bot that sits at several seats. Of the bots, Seat and BotID are needed.
func (p Play) Records(v *rules.Variant, ranks []int) map[int]rules.Record {
	bots := make([]int, v.Players) // by seat, the bot; 0: the person and their team
	for _, b := range p.Bots {
		if v.Side(b.Seat) != v.Side(p.Seat) {
			bots[b.Seat] = int(b.BotID)
		}
	}
	records := map[int]rules.Record{}
	for bot, r := range rules.Records(v, bots, ranks) {
		if bot != 0 {
			records[slices.Index(bots, bot)] = r
		}
	}
	return records
}

// The results of a game for the person.
const (
	PlayWin  = "win"
	PlayDraw = "draw"
	PlayLoss = "loss"
)

// PlayResult returns the result of one game, of the side whose record in it is given.
func PlayResult(r rules.Record) string {
	switch {
	case r.Wins > 0:
		return PlayWin
	case r.Losses > 0:
		return PlayLoss
	}
	return PlayDraw
}

// PlaySeat is a bot of a Play.
type PlaySeat struct {
	Seat    int
	Version int64 // its ID
	BotID   int64
	Bot     string
	Number  int // of the version
}

// PlayAgainst is a finished game that counts in a bot's record against people.
type PlayAgainst struct {
	ID     string
	Game   string
	Person string // the name; "" of a guest
	Ended  time.Time
	Record rules.Record // of the bot
}

// Result returns the result of the bot.
func (p PlayAgainst) Result() string { return PlayResult(p.Record) }

// PlayLimits bound the games of people against bots.
type PlayLimits struct {
	Games  int           // at the same time; 0: none
	Day    int           // begun within a day, by one person, or from one address without an account
	Guests bool          // people without an account may play
	Think  time.Duration // of a bot for a move
	Move   time.Duration // of a person for a move
}
