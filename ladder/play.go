package ladder

import (
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/rules"
)

// PlayState is the state of a Play.
type PlayState string

// The states.
const (
	PlayOpen     PlayState = "open"
	PlayFinished PlayState = "finished"
	PlayBroken   PlayState = "broken" // the server ended it, and nobody has lost
)

// BreakReason says why the server ended a game of people: one of the causes below. After BrokenByBot follow a colon and
// the name of the bot.
type BreakReason string

// The causes.
const (
	BrokenByStop    BreakReason = "stop"    // of the server
	BrokenByBlock   BreakReason = "block"   // of the person
	BrokenByNobody  BreakReason = "nobody"  // came to the table
	BrokenByAbsence BreakReason = "absent"  // of one of several people who had sat down
	BrokenByWait    BreakReason = "wait"    // for people, for too long
	BrokenByCancel  BreakReason = "cancel"  // of who had opened the table
	BrokenByBot     BreakReason = "bot"     // a house bot failed
	BrokenByFailure BreakReason = "failure" // of the server
)

// Cause splits b into the cause and, for BrokenByBot, the bot.
func (b BreakReason) Cause() (cause BreakReason, bot string) {
	head, bot, _ := strings.Cut(string(b), ":")
	return BreakReason(head), bot
}

// Play is a game of at least one person, with bots at the other seats. It never changes ratings of bots. It changes
// those of its people if it is Rated.
type Play struct {
	ID          string // a random text that cannot be guessed
	Game        string
	Options     map[string]string // all of them
	Opener      int               // the seat of the person who opened the table
	Bank        time.Duration     // of each person for the game; 0: they have no clock
	State       PlayState
	BreakReason BreakReason // why, in the state PlayBroken
	Commitment  string      // of the seed, in hexadecimal
	StartedAt   time.Time
	EndedAt     time.Time  // zero: not yet
	Seats       []PlaySeat // in order; those that wait for people are left out
}

// PlaySeat is a seat of a Play, with a bot or a person.
type PlaySeat struct {
	Seat    int
	Version int64 // its ID
	BotID   int64 // 0: a person
	Bot     string
	Number  int // of the version

	PersonID     int64        // 0: a bot or a guest
	Person       string       // the name; "" of a guest
	Session      int64        // of a person, in which they sat down
	SatDownAt    time.Time    // when the person sat down
	Record       rules.Record // in this game, of a seat that counts
	RatingBefore float64      // the person's rating before a game that is rated; else 0, as After
	RatingAfter  float64
}

// GuestName is the name of a guest in a replay.
const GuestName = "guest"

// People returns the seats of people.
func (p Play) People() []PlaySeat {
	return slices.DeleteFunc(slices.Clone(p.Seats), func(s PlaySeat) bool { return s.BotID != 0 })
}

// Bots returns the seats of bots.
func (p Play) Bots() []PlaySeat {
	return slices.DeleteFunc(slices.Clone(p.Seats), func(s PlaySeat) bool { return s.BotID == 0 })
}

// Records returns the records of a finished game by seat: one for each person, and one for each bot whose team has no
// person. A bot at several seats has one record.
func (p Play) Records(v *rules.Variant, ranks []int) map[int]rules.Record {
	records := map[int]rules.Record{}
	bots := make([]int, v.Players) // by seat, the bot; 0: a person, or of their team
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

// IsRated reports whether a finished game changes the ratings of its people: every seat has a person with an account.
func (p Play) IsRated(v *rules.Variant) bool {
	return len(p.Seats) == v.Players && !slices.ContainsFunc(p.Seats, func(s PlaySeat) bool { return s.PersonID == 0 })
}

// PersonRating is the rating of a person in one game, from rated games against other people. Package rating computes
// it.
type PersonRating struct {
	Game        string
	Person      string // the name; "" in a list of the ratings of one person
	Rating      float64
	Deviation   float64
	Provisional bool         // the deviation is large
	Record      rules.Record // in the rated games
}

// PlayRecord sums up the finished games of a person against one kind of opponents.
type PlayRecord struct {
	Game   string
	People bool    // other people were there
	Rating float64 // the mean of theirs in rated games; 0 without any
	Bot    string  // the only bot that was; "" for several
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
	Person  string // the name of who opened the table; "" of a guest
	EndedAt time.Time
	Record  rules.Record // of the bot
}

// Result returns PlayWin, PlayDraw or PlayLoss for the bot.
func (p PlayAgainstBot) Result() string { return PlayResult(p.Record) }

// PlayLimits bound the games of people.
type PlayLimits struct {
	Games  int           // at the same time; 0: none
	Day    int           // begun within a day, by one person, or from one address without an account
	Guests bool          // people without an account may play
	Think  time.Duration // of a bot for a move
	Move   time.Duration // of a person without a clock for a move
}
