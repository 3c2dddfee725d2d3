package ladder

import (
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/rules"
)

// PlayState is the state of a Play.
type PlayState string

// The states of a Play.
const (
	PlayOpen     PlayState = "open" // waiting for people, or running
	PlayFinished PlayState = "finished"
	PlayBroken   PlayState = "broken" // ended by the server without a result
)

// BreakReason says why the server ended a game of people on the site without a result. It is one of the constants
// below; BrokenByBot is followed by a colon and the name of the bot.
type BreakReason string

// The values of BreakReason.
const (
	BrokenByStop    BreakReason = "stop"    // the server stopped
	BrokenByBlock   BreakReason = "block"   // the person was blocked
	BrokenByNobody  BreakReason = "nobody"  // no person connected to the game
	BrokenByAbsence BreakReason = "absent"  // one of several people was absent after sitting down
	BrokenByWait    BreakReason = "wait"    // the table waited too long for people
	BrokenByCancel  BreakReason = "cancel"  // the person who opened the table canceled it
	BrokenByRefusal BreakReason = "refused" // a person for whom a seat was reserved declined
	BrokenByBot     BreakReason = "bot"     // a house bot failed
	BrokenByIdling  BreakReason = "idle"    // a person who plays only against bots made no move for hours
	BrokenByFailure BreakReason = "failure" // the server failed
)

// Cause splits b into one of the constants and, for BrokenByBot, the name of the bot.
func (b BreakReason) Cause() (cause BreakReason, bot string) {
	head, bot, _ := strings.Cut(string(b), ":")
	return BreakReason(head), bot
}

// Play is a game on the site in which at least one person plays; bots may have the other seats. It never
// changes ratings of bots, and it changes ratings of people only if IsRated is true.
type Play struct {
	ID          string // random text that cannot be guessed
	Game        string
	Options     map[string]string // every option of the game, defaults included
	Opener      int               // seat of the person who opened the table
	Bank        time.Duration     // time of each person for the whole game; 0 means no clock
	State       PlayState
	BreakReason BreakReason // set in the state PlayBroken
	Commitment  string      // hash of the seed, in hexadecimal
	StartedAt   time.Time
	EndedAt     time.Time  // zero while the game is open
	Seats       []PlaySeat // in order, without the seats that still wait for a person
}

// PlaySeat is a seat of a Play, with a bot or a person.
type PlaySeat struct {
	Seat    int
	Version int64 // ID of the version
	BotID   int64 // 0 for a person
	Bot     string
	Number  int // number of the version

	PersonID     int64        // 0 for a bot or a guest
	Person       string       // name of the person; empty for a guest
	Session      int64        // ID of the session in which the person sat down
	SatDownAt    time.Time    // zero for a bot
	Record       rules.Record // result of this game, if the seat counts in a record
	RatingBefore float64      // of the person in a rated game; 0 in others
	RatingAfter  float64      // likewise
}

// GuestName is the name of a guest, a person without an account, in a replay.
const GuestName = "guest"

// People returns the seats with people.
func (p Play) People() []PlaySeat {
	return slices.DeleteFunc(slices.Clone(p.Seats), func(s PlaySeat) bool { return s.BotID != 0 })
}

// Bots returns the seats with bots.
func (p Play) Bots() []PlaySeat {
	return slices.DeleteFunc(slices.Clone(p.Seats), func(s PlaySeat) bool { return s.BotID == 0 })
}

// Records returns who won, drew or lost a finished game of variant v. ranks has the rank of each seat. The key of the
// result is a seat, and the value counts one game. There is an entry for each person, and for each bot whose team has
// no person. A bot with several seats has only one entry, for one of them.
func (p Play) Records(v *rules.Variant, ranks []int) map[int]rules.Record {
	records := map[int]rules.Record{}
	bots := make([]int, v.Players) // ID of the bot by seat; 0 for a person and for bots on a person's team
	for _, s := range p.Bots() {
		bots[s.Seat] = int(s.BotID)
	}
	for _, s := range p.People() {
		records[s.Seat] = rules.RecordOf(v, ranks, s.Seat)
		for seat := range bots {
			if v.Side(seat) == v.Side(s.Seat) {
				bots[seat] = 0
			}
		}
	}
	for bot, r := range rules.Records(v, bots, ranks) {
		if bot != 0 {
			records[slices.Index(bots, bot)] = r
		}
	}
	return records
}

// IsRated reports whether the game, of variant v, changes ratings when it finishes. That is so if every seat
// has a person with an account.
func (p Play) IsRated(v *rules.Variant) bool {
	return len(p.Seats) == v.Players && !slices.ContainsFunc(p.Seats, func(s PlaySeat) bool { return s.PersonID == 0 })
}

// PersonRating is the rating of a person in one kind of game, from rated games against other people. Package
// rating computes it.
type PersonRating struct {
	Game        string
	Person      string // name; empty in a list of the ratings of one person
	Rating      float64
	Deviation   float64
	Provisional bool         // true while the deviation is large
	Record      rules.Record // results of the rated games
}

// PlayRecord sums up the finished games of a person in one kind of game against one kind of opponents.
type PlayRecord struct {
	Game   string
	People bool    // whether other people took part
	Rating float64 // mean rating of the other people in rated games; 0 if there are none
	Bot    string  // the only opposing bot; empty if there were several or none
	rules.Record
}

// The results of a game for a person.
const (
	PlayWin  = "win"
	PlayDraw = "draw"
	PlayLoss = "loss"
)

// PlayResult returns PlayWin, PlayDraw or PlayLoss for the record of one game, or "" for an empty record.
func PlayResult(r rules.Record) string {
	switch {
	case r.Games == 0:
		return ""
	case r.Wins > 0:
		return PlayWin
	case r.Losses > 0:
		return PlayLoss
	}
	return PlayDraw
}

// PlayAgainstBot is a finished game of people that counts in the record of a bot.
type PlayAgainstBot struct {
	ID      string
	Game    string
	Person  string // name of the person who opened the table; empty for a guest
	EndedAt time.Time
	Record  rules.Record // result for the bot
}

// Result returns PlayWin, PlayDraw or PlayLoss, as seen by the bot.
func (p PlayAgainstBot) Result() string { return PlayResult(p.Record) }

// PlayLimits limits the games of people.
type PlayLimits struct {
	Games  int           // games at the same time; 0 forbids games of people
	Day    int           // games per 24 hours for each person and for each address without an account
	Guests bool          // whether people without an account may play
	Think  time.Duration // time of a bot for a move
	Move   time.Duration // time of a person for a move in a game of several people without a clock
}
