// Package ladder has the types of a competition: people own bots, a bot has
// versions, versions play matches on ladders, and every match moves ratings.
// Package ladder/store stores them, and ladder/runner plays the matches. Nothing
// here depends on HTTP.
package ladder

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// Person is somebody with an account.
type Person struct {
	ID        int64
	Name      string
	Admin     bool
	CreatedAt time.Time
	BlockedAt time.Time // zero: not blocked
}

// Scope is what a token permits. Each scope includes those before it.
type Scope string

const (
	ScopeRead   Scope = "read"   // the person's own logs and messages
	ScopeSubmit Scope = "submit" // versions and unrated matches
	ScopeAll    Scope = "all"    // tokens as well; for an admin, administration
)

// Token is an access token of a person. Its text is shown once; the store keeps only its SHA-256.
type Token struct {
	ID        int64
	Label     string
	Scope     Scope
	CreatedAt time.Time
	UsedAt    time.Time // to the minute; zero: never
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero: not revoked
}

// Session is the session of a browser, in which a person has signed in or a guest plays.
type Session struct {
	ID        int64
	Token     int64 // by which they signed in; 0: a guest
	CreatedAt time.Time
	UsedAt    time.Time // to the minute
	ExpiresAt time.Time
}

// Bot is a competitor, known by its name. At most one of its versions plays at a time.
type Bot struct {
	ID        int64
	PersonID  int64 // 0: a house bot
	Name      string
	CreatedAt time.Time
	// WithdrawnAt is when the owner withdrew the bot from play; zero if it plays.
	WithdrawnAt time.Time
}

// IsHouse reports whether the bot is a house bot, which is part of this program.
func (b Bot) IsHouse() bool { return b.PersonID == 0 }

// State is the state of a version.
type State string

const (
	Queued    State = "queued"    // uploaded
	Building  State = "building"  // unpacked; its build command runs
	Checking  State = "checking"  // the conformance kit runs
	Trial     State = "trial"     // plays @random, once on each ladder and at each other game that it claims
	Live      State = "live"      // on the ladders; at most one version of each bot
	Retired   State = "retired"   // another version is live, or the bot is withdrawn; its games stay
	Failed    State = "failed"    // a stage failed; the previous version stays live
	Suspended State = "suspended" // off the ladders for repeated faults, until the bot has a new version
)

// IsPending reports whether the version has not reached its last state yet: it waits, or is built, checked or tried.
func (s State) IsPending() bool { return s == Queued || s == Building || s == Checking || s == Trial }

// Version is one submission of a bot.
type Version struct {
	ID       int64
	BotID    int64
	Bot      string // its name
	Owner    int64  // the person whose bot it is; 0: a house bot
	Number   int    // from 1
	Label    string // the version in the manifest, "" for none
	Bundle   string // SHA-256 of the upload, in hexadecimal
	Hash     string // SHA-256 of the built files, in hexadecimal; "" before the build
	Language string
	Games    []string // claimed games; nil: all
	Command  []string // in its directory; for a house bot its name, such as "@greedy"
	Needs    Needs    // of its build
	Remote   bool     // it runs on its owner's machine, and plays while it is connected
	State    State
	Reason   phrase.Text // why it failed or was suspended, or why a live one is not played
	// Unplayable says what a live version needs and no machine has; empty if some machine can play it.
	Unplayable phrase.Text
	CreatedAt  time.Time
	LiveAt     time.Time // when it last went live; zero: not yet
	EndedAt    time.Time // when it was retired, failed or suspended; zero: not yet
}

// Needs lists what a machine must have to play a version.
type Needs struct {
	Arch         string   `json:"arch,omitempty"`         // as GOARCH; "" for any
	Interpreters []string `json:"interpreters,omitempty"` // by the names of Machine.Interpreters
}

// Equal reports whether n and o are the same.
func (n Needs) Equal(o Needs) bool {
	return n.Arch == o.Arch && slices.Equal(n.Interpreters, o.Interpreters)
}

// IsHouse reports whether the version is of a house bot.
func (v Version) IsHouse() bool { return strings.HasPrefix(v.Bot, "@") }

// DisplayLabel returns the version as people see it: its label, or its number where it has none.
func (v Version) DisplayLabel() string { return cmp.Or(v.Label, fmt.Sprint(v.Number)) }

// Plays reports whether the version says that it plays a game.
func (v Version) Plays(game string) bool {
	return len(v.Games) == 0 || slices.Contains(v.Games, game)
}

// CheckTablePlay returns an error unless the version can play a game with people, which needs no match.
func (v Version) CheckTablePlay(game string) error {
	switch {
	case !v.Plays(game):
		return Errorf(Invalid, "choose another", "bot %q does not play %s", v.Bot, game)
	case v.Remote:
		return Errorf(Invalid, "choose another", "bot %q plays only matches: it is remote", v.Bot)
	}
	return nil
}

// StageNames are the stages of a submission, in their order.
var StageNames = []string{"unpack", "build", "check", "trial"}

// Stage is one stage of a submission, with its log.
type Stage struct {
	Name      string // one of StageNames
	OK        bool
	StartedAt time.Time
	EndedAt   time.Time   // zero: still running
	Log       string      // plain text, shortened in the middle when it is too long
	Summary   phrase.Text // one line
}

// MatchState is the state of a match.
type MatchState string

const (
	Waiting  MatchState = "waiting" // not begun, or interrupted
	Running  MatchState = "running"
	Finished MatchState = "finished"
	Dropped  MatchState = "dropped" // given up: cancelled, a version no longer plays, or the referee failed repeatedly
)

// Match is a number of deals between some versions, each of them played in all rotations.
type Match struct {
	ID            int64
	Ladder        string // "" for an unrated match
	Rated         bool
	Game          string
	Options       map[string]string // all options
	Clock         referee.Clock
	Deals         int
	DistinctDeals int      // of a finished rated match: how many deals counted, because they repeat no earlier games
	Versions      []int64  // by slot; the slots take the seats in turn, slot 0 the first seat in rotation 0
	Bots          []string // by slot, the names of their bots
	Numbers       []int    // by slot, the versions' numbers
	Remote        []bool   // by slot, whether the version is remote
	State         MatchState
	RequestedBy   int64 // the person who requested an unrated match; 0: nobody
	Reason        phrase.Text
	CreatedAt     time.Time
	StartedAt     time.Time
	FinishedAt    time.Time
	// Order numbers the finished matches of a ladder from 1, in the order in which they changed ratings. It is 0 for
	// other matches.
	Order int64
	// Attempts has all attempts to play the match. Only the last one counts.
	Attempts []Attempt
	Changes  []Change // by slot, of a finished rated match
}

// Variant returns the game of the match with its options.
func (m Match) Variant() (*rules.Variant, error) {
	return Ladder{Game: m.Game, Options: m.Options}.Variant()
}

// HouseOrRemote reports for each slot whether a house bot or a remote version plays there. Neither needs memory of its own.
func (m Match) HouseOrRemote() []bool {
	house := make([]bool, len(m.Bots))
	for i, name := range m.Bots {
		house[i] = strings.HasPrefix(name, "@") || m.Remote[i]
	}
	return house
}

// PlayTime returns the time that all finished attempts took together.
func (m Match) PlayTime() (sum time.Duration) {
	for _, a := range m.Attempts {
		if !a.EndedAt.IsZero() {
			sum += a.EndedAt.Sub(a.StartedAt)
		}
	}
	return sum
}

// Attempt is one attempt to play a match. An attempt can be interrupted, after which the match is started again. The
// commitment of its seed is public before the first deal, the seed when the attempt is over.
type Attempt struct {
	Number     int    // from 1
	Machine    string // which machine plays it
	Commitment rules.Hex
	Seed       *rules.Hex // nil while it runs
	StartedAt  time.Time
	EndedAt    time.Time
	Reason     phrase.Text // why it was interrupted, empty if it was not
}

// Game is a finished game of a match. The store encodes the games of a match as JSON.
type Game struct {
	ID       int64         `json:"-"`
	MatchID  int64         `json:"-"`
	Deal     int           `json:"d"`
	Rotation int           `json:"r"`
	Plies    int           `json:"p"`
	Took     time.Duration `json:"t"`
	Seats    []GameSeat    `json:"s"`
	// Lost means that a seat forfeited because its connection was lost.
	Lost bool `json:"o,omitempty"`
	// Repeated means that the same game was played before, on the ladder or in the match.
	Repeated bool `json:"x,omitempty"`
}

// GameSeat is the result of one seat of a game.
type GameSeat struct {
	Seat   int     `json:"n"`
	Slot   int     `json:"b"` // index into the match's versions
	Rank   int     `json:"k"`
	Points float64 `json:"p"`
	Fault  string  `json:"f,omitempty"` // the code of its first fault, "" for none
	Faults int     `json:"c,omitempty"`
}

// Change says how a finished match changed the rating of one version.
type Change struct {
	MatchID       int64
	Ladder        string
	VersionID     int64
	Slot          int
	Number        int // position among the version's matches on the ladder, from 1
	EloBefore     float64
	EloAfter      float64
	K             float64
	Score         float64 // the mean score of its side over deals and opponents, 0 to 1
	ExpectedScore float64 // expected score before the match
	// Uncertainty is the uncertainty of the rating after the match; see rating.Formula.
	Uncertainty float64
	Deals       int // how many deals counted
}

// Standing is the place of a version on a ladder.
type Standing struct {
	Ladder    string
	Rank      int // among the active versions; 0 for one that is not
	VersionID int64
	Bot       string
	Version   int
	Owner     string // "" for a house bot
	Remote    bool
	Elo       float64
	Matches   int // rated matches of this version
	Games     int
	Wins      int // games with an unshared first rank
	Draws     int // games with a shared first rank
	Losses    int
	Faults    int
	// Fit is the maximum-likelihood rating from all matches of the ladder. PlusMinus is half the width of its 95 %
	// interval. Both are nil before the first fit.
	Fit         *float64
	PlusMinus   *float64
	Active      bool // false for a version that is retired or suspended
	LastMatchAt time.Time
}

// Rating returns the number by which standings are ordered: Fit, or Elo before the first fit.
func (s Standing) Rating() float64 {
	if s.Fit != nil {
		return *s.Fit
	}
	return s.Elo
}

// Place returns the rank to show: 0 for a version that is not ranked, or has not played yet.
func (s Standing) Place() int {
	if s.Matches == 0 {
		return 0
	}
	return s.Rank
}

// IsAnchor reports whether the version is the anchor, whose rating is fixed.
func (s Standing) IsAnchor() bool { return s.PlusMinus != nil && *s.PlusMinus == 0 }

// IsProvisional reports whether the rating is still uncertain: PlusMinus is unknown or at least 100 Elo. The rating of
// the anchor is fixed; the anchor is provisional during its first 40 matches, about as long as others. Standings list
// provisional versions below the others.
func (s Standing) IsProvisional() bool {
	return s.PlusMinus == nil || *s.PlusMinus >= 100 || s.IsAnchor() && s.Matches < 40
}

// ComparePlaces orders standings: it is negative if a stands above b, and 0 if they share a rank.
func ComparePlaces(a, b Standing) int {
	return cmp.Or(cmp.Compare(b.Tier(), a.Tier()), cmp.Compare(b.Rating(), a.Rating()))
}

// Tier returns 0 for a version without a match, 1 for a provisional one, and 2 for others.
func (s Standing) Tier() int {
	switch {
	case s.Matches == 0:
		return 0
	case s.IsProvisional():
		return 1
	}
	return 2
}

// Invite is a code with which one person may open an account.
type Invite struct {
	ID        int64
	Name      string // the required name of the account, "" for any
	Issuer    string // the person who issued it; "": the operator
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
}

// Message is a notice to the owner of a bot, for example that a stage failed or a version was suspended.
type Message struct {
	ID        int64
	Kind      MessageKind
	Version   int64 // 0: it is about a match, or the version is forgotten
	Bot       string
	Number    int   // of the version
	Match     int64 // that it is about, or in which the version had its last fault; 0 for none
	Reason    phrase.Text
	CreatedAt time.Time
	SeenAt    time.Time // zero: it is unread
}

// MessageKind is what a message is about.
type MessageKind string

// The kinds of messages.
const (
	MessageFailed     MessageKind = "failed"
	MessageSuspended  MessageKind = "suspended"
	MessageUnplayable MessageKind = "unplayable"
	MessagePlayable   MessageKind = "playable"
	MessageDropped    MessageKind = "dropped"
)

// Text returns the message for people.
func (m Message) Text() phrase.Text {
	switch m.Kind {
	case MessageFailed:
		return phrase.New("version %d of %s failed: %s", m.Number, m.Bot, m.Reason)
	case MessageSuspended:
		return phrase.New("version %d of %s is suspended: %s", m.Number, m.Bot, m.Reason)
	case MessageUnplayable:
		return phrase.New("version %d of %s cannot be played: no machine has what it needs: %s", m.Number, m.Bot, m.Reason)
	case MessagePlayable:
		return phrase.New("version %d of %s is played again", m.Number, m.Bot)
	}
	return phrase.New("match %d was dropped: %s", m.Match, m.Reason)
}
