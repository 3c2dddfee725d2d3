// Package ladder defines the types of a competition: people own bots, a bot has versions, versions play matches
// on ladders, and matches change ratings. Package ladder/store stores them and package ladder/runner plays the
// matches. Nothing here depends on HTTP.
package ladder

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// Person is a human with an account.
type Person struct {
	ID        int64
	Name      string
	Admin     bool
	CreatedAt time.Time
	BlockedAt time.Time // zero if the person is not blocked
	RemovedAt time.Time // zero if the person is not removed; a removed person is blocked, too
}

// Scope is what a token permits its owner to do. The scopes are ordered: each one includes all before it.
type Scope string

const (
	ScopeRead   Scope = "read"   // to read the person's own logs and messages
	ScopeSubmit Scope = "submit" // to submit versions and request unrated matches
	ScopeAll    Scope = "all"    // to manage tokens and, for an admin, to administer the competition
)

// Token is an access token of a person. Its text is shown only once, when the token is created; the store has
// only the SHA-256 of the text.
type Token struct {
	ID        int64
	Label     string
	Scope     Scope
	IsPasskey bool // it is a key pair in a browser or device, which only signs in there
	CreatedAt time.Time
	UsedAt    time.Time // last use, to the minute; zero if never used
	ExpiresAt time.Time // zero if it never expires
	RevokedAt time.Time // zero if it is not revoked
}

// Session is a browser session of a person who has signed in, or of a guest, who has no account.
type Session struct {
	ID        int64
	Token     int64 // ID of the token used to sign in; 0 for a guest
	CreatedAt time.Time
	UsedAt    time.Time // last use, to the minute
	ExpiresAt time.Time
}

// Bot is a program that competes, known by its name. At most one of its versions plays at a time.
type Bot struct {
	ID        int64
	PersonID  int64 // owner; 0 for a house bot
	Name      string
	CreatedAt time.Time
	// WithdrawnAt is when the owner withdrew the bot from play, or an admin banned it. It is zero if the bot plays.
	WithdrawnAt time.Time
	// BannedAt is when an admin banned the bot; zero if it is not banned. A banned bot does not play, and its owner
	// cannot bring it back or submit a version of it.
	BannedAt  time.Time
	BanReason string // what the admin wrote to the owner
}

// IsHouse reports whether the bot comes with this program.
func (b Bot) IsHouse() bool { return b.PersonID == 0 }

// VersionState is the state of a version, from upload to retirement.
type VersionState string

const (
	Queued    VersionState = "queued"    // uploaded, waiting for its first stage
	Building  VersionState = "building"  // unpacked; its build command runs
	Checking  VersionState = "checking"  // the conformance tests run
	Trial     VersionState = "trial"     // plays against @random, once on each ladder and once in each other game that it claims
	Live      VersionState = "live"      // plays on the ladders; at most one version of each bot
	Retired   VersionState = "retired"   // another version is live, or the bot is withdrawn; its results remain
	Failed    VersionState = "failed"    // a stage failed; the version that was live before stays live
	Cancelled VersionState = "cancelled" // its owner cancelled the submission, or was blocked
	Suspended VersionState = "suspended" // removed from the ladders for repeated faults until the bot has a new version
)

// IsPending reports whether the version was uploaded and has not yet passed or failed its stages (unpack, build,
// check, trial).
func (s VersionState) IsPending() bool {
	return s == Queued || s == Building || s == Checking || s == Trial
}

// NeverBuilt reports whether the version failed or was cancelled before it was built. Its upload may then have been
// deleted.
func (v Version) NeverBuilt() bool {
	return (v.State == Failed || v.State == Cancelled) && v.Hash == ""
}

// Version is one submitted state of a bot.
type Version struct {
	ID       int64
	BotID    int64
	Bot      string // name of the bot
	Owner    int64  // ID of the bot's owner; 0 for a house bot
	Number   int    // 1 for the first version of the bot
	Label    string // version named in the bot's manifest; may be empty
	Bundle   string // SHA-256 of the upload, in hexadecimal
	Hash     string // SHA-256 of the built files, in hexadecimal; empty before the build
	Language string
	Games    []string // the games that it plays, as in "brisca players=2"; nil means all games
	Command  []string // run in its directory; for a house bot its name, such as "@greedy"
	Needs    Needs    // what the build needs from a machine
	Training string   // JSON: the record of the training of a model; "" for other bots
	Remote   bool     // runs on its owner's machine and plays only while connected
	State    VersionState
	Reason   phrase.Text // why it failed, or was cancelled or suspended, or why no machine plays it although it is live
	// Unplayable says what the version needs and no machine has. It is empty if some machine can play the
	// version.
	Unplayable phrase.Text
	CreatedAt  time.Time
	LiveAt     time.Time // when it last became live; zero if it never was
	EndedAt    time.Time // when it was retired, failed, cancelled or suspended; zero if it was not
}

// Needs lists what a machine must have to play a version.
type Needs struct {
	Arch         string   `json:"arch,omitempty"`         // a GOARCH value; empty for any
	Interpreters []string `json:"interpreters,omitempty"` // keys of Machine.Interpreters
}

// Equal reports whether n and o are the same needs in the same order.
func (n Needs) Equal(o Needs) bool {
	return n.Arch == o.Arch && slices.Equal(n.Interpreters, o.Interpreters)
}

// IsHouse reports whether the version belongs to a bot that comes with this program.
func (v Version) IsHouse() bool { return strings.HasPrefix(v.Bot, "@") }

// DisplayLabel returns the label of the version or, if it has none, its number.
func (v Version) DisplayLabel() string { return cmp.Or(v.Label, fmt.Sprint(v.Number)) }

// Plays reports whether the version's author says that it plays the named game with the given options, which must be
// all options of the game.
func (v Version) Plays(game string, options map[string]string) bool {
	return rules.ClaimsVariant(v.Games, game, options)
}

// CheckTablePlay returns an error unless the version can play the variant against people on the site.
// Remote versions cannot: they play only matches.
func (v Version) CheckTablePlay(variant *rules.Variant) error {
	switch {
	case !rules.ClaimsGame(v.Games, variant.Game.Name):
		return Errorf(Invalid, "choose another", "bot %q does not play %s", v.Bot, variant.Game.Name)
	case !v.Plays(variant.Game.Name, variant.Settings.Map()):
		return Errorf(Invalid, "choose another, or other options", "bot %q plays only %s", v.Bot, strings.Join(v.Games, ", "))
	case v.Remote:
		return Errorf(Invalid, "choose another", "bot %q plays only matches: it is remote", v.Bot)
	}
	return nil
}

// StageNames lists the steps that an uploaded version must pass, in order.
var StageNames = []string{"unpack", "build", "check", "trial"}

// Stage is one step that an uploaded version must pass, such as the build, with its log.
type Stage struct {
	Name      string // one of StageNames
	OK        bool
	StartedAt time.Time
	EndedAt   time.Time   // zero while the stage runs
	Log       string      // plain text; a long log is shortened in the middle
	Summary   phrase.Text // result in one line
}

// MatchState is the state of a match.
type MatchState string

const (
	Waiting  MatchState = "waiting" // not started yet, or interrupted
	Running  MatchState = "running"
	Finished MatchState = "finished"
	Dropped  MatchState = "dropped" // given up: canceled, a version no longer plays, or the referee failed repeatedly
)

// Match is a number of deals between the same versions. A deal is one start of the game, such as a shuffle of the
// cards. Each deal is played once in each rotation of the versions through the seats.
type Match struct {
	ID            int64
	Ladder        string // name of the ladder; empty for an unrated match
	Rated         bool
	Game          string
	Options       map[string]string // every option of the game, defaults included
	Clock         referee.Clock
	Deals         int
	DistinctDeals int      // number of deals that counted in a finished rated match, because they repeat no earlier games
	Versions      []int64  // version IDs by slot; slot 0 has the first seat in rotation 0
	Bots          []string // names of the bots, by slot
	Numbers       []int    // numbers of the versions, by slot
	Remote        []bool   // whether the version is remote, by slot
	State         MatchState
	RequestedBy   int64       // ID of the person who requested an unrated match; 0 if nobody did
	Reason        phrase.Text // why the match was dropped or ended early
	CreatedAt     time.Time
	StartedAt     time.Time
	FinishedAt    time.Time
	// Order is the number of a finished rated match on its ladder, in the order in which matches changed ratings,
	// beginning with 1. It is 0 for other matches.
	Order int64
	// Attempts lists all tries to play the match. Only the last one counts.
	Attempts []Attempt
	Changes  []Change // rating changes of a finished rated match, by slot
}

// Variant returns the game of the match with its options.
func (m Match) Variant() (*rules.Variant, error) {
	return Ladder{Game: m.Game, Options: m.Options}.Variant()
}

// HouseOrRemote returns a value for each version in the match: true if it belongs to a house bot (part of timba) or
// runs on its owner's machine. The memory limit of uploaded bots does not apply to these versions.
func (m Match) HouseOrRemote() []bool {
	house := make([]bool, len(m.Bots))
	for i, name := range m.Bots {
		house[i] = strings.HasPrefix(name, "@") || m.Remote[i]
	}
	return house
}

// PlayTime returns the total duration of all tries to play the match that have ended.
func (m Match) PlayTime() (sum time.Duration) {
	for _, a := range m.Attempts {
		if !a.EndedAt.IsZero() {
			sum += a.EndedAt.Sub(a.StartedAt)
		}
	}
	return sum
}

// Attempt is one try to play a match. If it is interrupted, a new attempt plays the match from its beginning. The
// commitment is a hash of the seed, and becomes public before the first deal. The seed becomes public when the
// attempt is over.
type Attempt struct {
	Number     int    // 1 for the first attempt of a match
	Machine    string // name of the machine that plays it
	Commitment rules.Hex
	Seed       *rules.Hex // nil while the attempt runs
	StartedAt  time.Time
	EndedAt    time.Time
	Reason     phrase.Text // why it was interrupted; empty if it was not
}

// FinishedGame is the result of one game of a match. The store encodes the games of a match as JSON.
type FinishedGame struct {
	ID       int64         `json:"-"`
	MatchID  int64         `json:"-"`
	Deal     int           `json:"d"` // from 0
	Rotation int           `json:"r"` // from 0
	Plies    int           `json:"p"` // moves of all seats
	Took     time.Duration `json:"t"` // duration of the game
	Seats    []GameSeat    `json:"s"`
	// Lost means that a seat forfeited because its connection was lost.
	Lost bool `json:"o,omitempty"`
	// Repeated means that an identical game was played before, on the ladder or in the match.
	Repeated bool `json:"x,omitempty"`
}

// GameSeat is the result of one seat in a game.
type GameSeat struct {
	Seat   int     `json:"n"`
	Slot   int     `json:"b"` // index into Match.Versions
	Rank   int     `json:"k"` // from 1; equal for seats that share a rank
	Points float64 `json:"p"`
	Fault  string  `json:"f,omitempty"` // code of its first fault; empty if it had none
	Faults int     `json:"c,omitempty"` // number of its faults
}

// Change describes how a finished match changed the rating of one version.
type Change struct {
	MatchID       int64
	Ladder        string
	VersionID     int64
	Slot          int
	Number        int // number of the match among those of the version on the ladder, from 1
	EloBefore     float64
	EloAfter      float64
	K             float64 // K factor of the Elo formula that was used
	Score         float64 // mean score of its side over deals and opponents, from 0 to 1
	ExpectedScore float64 // predicted by the ratings before the match
	// Uncertainty is the uncertainty of the rating after the match, which decides how far the next match moves it.
	Uncertainty float64
	Deals       int // number of deals that counted, because they repeat no earlier games
}

// Standing is one row of a ladder's table: a version with its rating and its results.
type Standing struct {
	Ladder    string
	Rank      int // among the active versions; 0 if the version is not active
	VersionID int64
	Bot       string
	Version   int    // number of the version
	Owner     string // name of the owner; empty for a house bot
	Remote    bool
	Elo       float64
	Matches   int // rated matches of this version
	Games     int
	Wins      int // games in which its side alone had the first rank
	Draws     int // games in which several sides shared the first rank
	Losses    int
	Faults    int
	Opponents int // number of other versions that it had met when Fit was computed
	// Fit is the maximum-likelihood rating computed from all matches of the ladder. PlusMinus is half the width
	// of its 95 % confidence interval. Both are nil before the first computation.
	Fit         *float64
	PlusMinus   *float64
	Active      bool // false if the version is retired or suspended
	LastMatchAt time.Time
}

// Rating returns the number by which standings are ordered: the maximum-likelihood rating Fit or, before it is
// known, Elo.
func (s Standing) Rating() float64 {
	if s.Fit != nil {
		return *s.Fit
	}
	return s.Elo
}

// Place returns the rank of the version in the standings, or 0 if the version is not active or has not played yet.
func (s Standing) Place() int {
	if s.Matches == 0 {
		return 0
	}
	return s.Rank
}

// IsAnchor reports whether the version belongs to the ladder's anchor, the bot whose rating is fixed.
func (s Standing) IsAnchor() bool { return s.Bot == Anchor }

// LowEnd returns the lower end of the 95 % interval of the rating, or minus infinity if the interval is unknown.
func (s Standing) LowEnd() float64 {
	if s.PlusMinus == nil {
		return math.Inf(-1)
	}
	return s.Rating() - *s.PlusMinus
}

// A rating is provisional until its PlusMinus is below settledInterval (rating points) and the version has met
// settledOpponents other versions.
const (
	settledInterval  = 100
	settledOpponents = 3
)

// IsProvisional reports whether the rating is still uncertain. It is false for the anchor, the bot to which all
// ratings are relative. Standings mark provisional ratings but are not sorted by this.
func (s Standing) IsProvisional() bool {
	return !s.IsAnchor() && (s.PlusMinus == nil || *s.PlusMinus >= settledInterval || s.Opponents < settledOpponents)
}

// ComparePlaces is a comparison function for sorting standings. The highest Rating comes first; versions that have
// not played come last. It returns a negative number if a comes before b, and 0 if both have the same rank.
func ComparePlaces(a, b Standing) int {
	return cmp.Or(cmp.Compare(min(b.Matches, 1), min(a.Matches, 1)), cmp.Compare(b.Rating(), a.Rating()))
}

// Invite is a code with which one person may open an account.
type Invite struct {
	ID        int64
	Name      string // name that the account must have; empty for any
	Issuer    string // name of the person who issued it; empty for the operator
	CreatedAt time.Time
	ExpiresAt time.Time // zero if it never expires
}

// Message is a notice to the owner of a bot, for example that the build of a version failed or that a version was
// suspended.
type Message struct {
	ID        int64
	Kind      MessageKind
	Version   int64 // 0 if it is about a match or if the version was deleted
	Bot       string
	Number    int   // of the version
	Match     int64 // ID of the dropped match or of the match with the last fault; 0 for none
	Reason    phrase.Text
	CreatedAt time.Time
	SeenAt    time.Time // zero if it is unread
}

// MessageKind is the subject of a message.
type MessageKind string

// The kinds of messages.
const (
	MessageFailed     MessageKind = "failed"
	MessageSuspended  MessageKind = "suspended"
	MessageUnplayable MessageKind = "unplayable"
	MessagePlayable   MessageKind = "playable"
	MessageDropped    MessageKind = "dropped"
	MessageBanned     MessageKind = "banned"
	MessageUnbanned   MessageKind = "unbanned"
)

// Text returns the text of the message, which can be translated.
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
	case MessageBanned:
		return phrase.New("an admin has banned bot %q: it plays no more, and you cannot bring it back: %s", m.Bot, m.Reason)
	case MessageUnbanned:
		return phrase.New("bot %q is banned no more: you can bring it back", m.Bot)
	}
	return phrase.New("match %d was dropped: %s", m.Match, m.Reason)
}
