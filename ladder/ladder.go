// Package ladder is the nouns of a competition: people own bots, a bot has
// versions, versions play matches on ladders, and every match moves ratings.
// What keeps them is ladder/store; what plays them is ladder/runner. Nothing
// here knows of HTTP.
package ladder

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/timba-arena/timba/referee"
)

// Person is somebody who owns bots.
type Person struct {
	ID      int64
	Name    string
	Admin   bool
	Created time.Time
	Blocked time.Time // zero: not blocked
}

// Scope is what a token is good for. Scopes are ordered: each may do what those
// before it may.
type Scope string

const (
	ScopeRead   Scope = "read"   // one's own logs and messages
	ScopeSubmit Scope = "submit" // versions and unrated matches
	ScopeAll    Scope = "all"    // tokens as well; for an admin all that an admin may
)

// Token is a key that a person has. The token itself is shown once and never
// kept: the store has its SHA-256.
type Token struct {
	ID       int64
	PersonID int64
	Label    string
	Scope    Scope
	Created  time.Time
	Used     time.Time // to the minute; zero: never
	Expires  time.Time // zero: never
	Revoked  time.Time // zero: valid
}

// Bot is a name under which versions play, one at a time.
type Bot struct {
	ID       int64
	PersonID int64 // 0: a house bot
	Name     string
	Created  time.Time
}

// House tells whether a bot is part of the program.
func (b Bot) House() bool { return b.PersonID == 0 }

// State is how far a version has come.
type State string

const (
	Queued   State = "queued"   // uploaded
	Building State = "building" // unpacked; its build command runs
	Checking State = "checking" // the conformance kit runs
	Trial    State = "trial"    // plays @random, once for each game that it claims
	Live     State = "live"     // on the ladders; at most one version of a bot is
	Resting  State = "resting"  // a later version is live; its games stay
	Failed   State = "failed"   // a stage said no; the version before it goes on
	Benched  State = "benched"  // repeated faults; a new version puts the bot back
)

// Version is one submission of a bot.
type Version struct {
	ID       int64
	BotID    int64
	Bot      string // its name
	Number   int    // from 1
	Label    string // the manifest's own version, "" without
	Bundle   string // SHA-256 of what was uploaded, in hexadecimal
	Hash     string // SHA-256 of what runs, in hexadecimal; "" before the build
	Language string
	Games    []string // that it claims to play; nil: all
	Command  []string // in its folder; for a house bot its name, such as "@greedy"
	State    State
	Reason   string // why it failed or was benched
	Created  time.Time
	Began    time.Time // went live; zero: not yet
	Ended    time.Time // rested, failed or benched; zero: not yet
}

// House tells whether a version is of a bot that is part of the program.
func (v Version) House() bool { return strings.HasPrefix(v.Bot, "@") }

// Plays tells whether a version claims to play a game.
func (v Version) Plays(game string) bool {
	for _, g := range v.Games {
		if g == game {
			return true
		}
	}
	return len(v.Games) == 0
}

// Stage is one step of a submission and what it printed.
type Stage struct {
	Name    string // "unpack", "build", "check", "trial"
	OK      bool
	Began   time.Time
	Ended   time.Time // zero: still at it
	Log     string    // plain text, cut off in the middle when it is too long
	Summary string    // one line
}

// MatchState is how far a match has come.
type MatchState string

const (
	Waiting  MatchState = "waiting" // asked for, not begun
	Running  MatchState = "running"
	Finished MatchState = "finished"
	Dropped  MatchState = "dropped" // given up: a bot in it is gone, or the referee failed each time
)

// Match is some deals between versions, each deal in all rotations.
type Match struct {
	ID       int64
	Ladder   string // "" for an unrated match
	Rated    bool
	Game     string
	Options  map[string]string // every one
	Clock    Clock
	Deals    int
	Versions []int64  // by slot: they take the seats in turn, starting with rotation 0
	Bots     []string // the names of their bots
	Numbers  []int    // their numbers
	State    MatchState
	AskedBy  int64 // the person who asked for an unrated one; 0: nobody
	Reason   string
	Created  time.Time
	Began    time.Time
	Finished time.Time
	// Order counts the finished matches of a ladder from 1: the order in which
	// they moved the ratings. 0 for others.
	Order int64
	// Attempts are the times it was begun; the last one is that which counts.
	Attempts []Attempt
	Changes  []Change // by slot, of a finished rated match
}

// Attempt is one start of a match. Its commitment is public before the first
// deal, its seed when the attempt is over, be it finished or broken off.
type Attempt struct {
	Number     int // from 1
	Commitment referee.Hex
	Seed       *referee.Hex // nil while it runs
	Began      time.Time
	Ended      time.Time
	Reason     string // why it was broken off, "" where it was not
}

// Game is a finished game of a match.
type Game struct {
	ID       int64
	MatchID  int64
	Deal     int
	Rotation int
	Plies    int
	Took     time.Duration
	Seats    []GameSeat
	Replay   []byte // the document of SPEC.md, "Replays"; nil in lists
	Logs     []GameLog
}

// GameSeat is one seat of a game.
type GameSeat struct {
	Seat   int
	Slot   int // which of the match's versions
	Rank   int
	Points float64
	Fault  string // the code of its first fault, "" without
	Faults int
}

// GameLog is what a bot wrote on stderr in a game, at most what the referee keeps.
type GameLog struct {
	Seat int
	Text []byte
}

// Change is what a finished match did to the rating of one of its versions.
type Change struct {
	MatchID   int64
	Ladder    string
	VersionID int64
	Slot      int
	Number    int // of the version's matches on the ladder, from 1
	Before    float64
	After     float64
	K         float64
	Score     float64 // of its side, mean over the deals and opposing sides, 0 to 1
	Expected  float64 // before the match
	// Uncertainty of the rating after the match, of which the next K is made;
	// see package elo.
	Uncertainty float64
	Deals       int
}

// Standing is a version's place on a ladder.
type Standing struct {
	Ladder    string
	Rank      int // among the active versions; 0 for one that is not
	VersionID int64
	Bot       string
	Version   int
	Owner     string // "" for a house bot
	Elo       float64
	Matches   int // those that moved the Elo of this version
	Games     int
	Wins      int // games with the first rank alone
	Draws     int // games with the first rank shared
	Losses    int
	Faults    int
	// Fit is the maximum-likelihood rating over all matches, and half the width
	// of its 95 % interval; nil before the first fit.
	Fit       *float64
	PlusMinus *float64
	Active    bool // plays on; false for a version that rests or is benched
	Last      time.Time
}

// Invite is a key with which one person can open an account.
type Invite struct {
	ID       int64
	Name     string // that the account must have, "" for any
	By       int64  // the person who gave it; 0: the operator
	Created  time.Time
	Expires  time.Time // zero: never
	PersonID int64     // who came by it; 0: nobody yet
}

// Message is something that an owner is to know: a failed stage, a benched bot.
type Message struct {
	ID       int64
	PersonID int64
	Version  int64
	Text     string
	Created  time.Time
}

// Clock is the referee's clock with a JSON form in milliseconds.
type Clock struct{ referee.Clock }

type clockJSON struct {
	Move    int64 `json:"movetime,omitempty"`
	Bank    int64 `json:"bank,omitempty"`
	Inc     int64 `json:"inc,omitempty"`
	Margin  int64 `json:"margin"`
	Startup int64 `json:"startup"`
}

// MarshalJSON writes milliseconds.
func (c Clock) MarshalJSON() ([]byte, error) {
	return json.Marshal(clockJSON{c.Move.Milliseconds(), c.Bank.Milliseconds(), c.Inc.Milliseconds(), c.Margin.Milliseconds(), c.Startup.Milliseconds()})
}

// UnmarshalJSON reads milliseconds.
func (c *Clock) UnmarshalJSON(data []byte) error {
	var j clockJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	c.Clock = referee.Clock{Move: ms(j.Move), Bank: ms(j.Bank), Inc: ms(j.Inc), Margin: ms(j.Margin), Startup: ms(j.Startup)}
	return nil
}
