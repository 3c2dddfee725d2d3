// Package wire is the documents of the HTTP API as Go types: the server writes
// them and the client reads them. Their contract is web/api/openapi.yaml, which
// the tests of web/api hold every response against.
//
// Names are snake_case, times RFC 3339 in UTC and left out where there is none,
// durations milliseconds, hashes and seeds hexadecimal.
package wire

import (
	"encoding/json"
	"time"

	"github.com/timba-arena/timba/ladder"
)

// Page is a part of a list. Next is the cursor of the part after it, "" at the
// end; it means nothing but to the list that gave it.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

// Ladder is what is played on a ladder.
type Ladder struct {
	Name    string            `json:"name"`
	Title   string            `json:"title"`
	Game    string            `json:"game"`
	Options map[string]string `json:"options"`
	Clock   ladder.Clock      `json:"clock"`
	Deals   int               `json:"deals"` // of a match
	Slots   int               `json:"slots"` // versions in a match
	Active  bool              `json:"active"`
	Matches int64             `json:"matches"` // finished
}

// Ref is a version of a bot as others speak of it.
type Ref struct {
	Bot     string `json:"bot"`
	Version int    `json:"version"`
	Owner   string `json:"owner,omitempty"` // not of a house bot
	House   bool   `json:"house,omitempty"`
	SHA256  string `json:"sha256,omitempty"` // of what runs
}

// Standing is a version's place on a ladder.
type Standing struct {
	Rank    int    `json:"rank"`
	Bot     string `json:"bot"`
	Version int    `json:"version"`
	Owner   string `json:"owner,omitempty"`
	House   bool   `json:"house,omitempty"`
	Ladder  string `json:"ladder,omitempty"` // where a bot's places are listed

	Elo     float64   `json:"elo"`
	Fit     *Fit      `json:"fit,omitempty"` // none before the first
	Matches int       `json:"matches"`
	Games   int       `json:"games"`
	Wins    int       `json:"wins"`
	Draws   int       `json:"draws"`
	Losses  int       `json:"losses"`
	Faults  int       `json:"faults"`
	Active  bool      `json:"active"` // plays on
	Last    time.Time `json:"last_match,omitzero"`
}

// Fit is the maximum-likelihood rating over all matches of a ladder; null in
// place of what the matches do not bound.
type Fit struct {
	Elo       *float64 `json:"elo"`
	PlusMinus *float64 `json:"plus_minus"` // half the width of the 95 % interval
}

// Bot is a name under which versions play.
type Bot struct {
	Name    string    `json:"name"`
	Owner   string    `json:"owner,omitempty"`
	House   bool      `json:"house"`
	Created time.Time `json:"created"`
	// Live is the version that plays, 0 without one; Latest the last submitted.
	Live      int        `json:"live"`
	Latest    *Version   `json:"latest,omitempty"`
	Standings []Standing `json:"standings,omitempty"` // of one bot only
}

// Version is one submission of a bot.
type Version struct {
	Bot      string    `json:"bot"`
	Version  int       `json:"version"`
	Label    string    `json:"label,omitempty"` // the manifest's own
	State    string    `json:"state"`
	Reason   string    `json:"reason,omitempty"` // why it failed or was benched: the owner's to read
	Language string    `json:"language,omitempty"`
	Games    []string  `json:"games,omitempty"` // none: all
	Bundle   string    `json:"bundle_sha256,omitempty"`
	SHA256   string    `json:"sha256,omitempty"`
	Created  time.Time `json:"created"`
	Began    time.Time `json:"began,omitzero"`
	Ended    time.Time `json:"ended,omitzero"`
}

// Stage is one step of a submission.
type Stage struct {
	Name    string    `json:"name"`
	OK      bool      `json:"ok"` // false also while it runs
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended,omitzero"`
	Summary string    `json:"summary,omitempty"`
	Log     string    `json:"log,omitempty"`
}

// Submission is a version on its way to the ladders, or where it got stuck.
type Submission struct {
	ID      int64   `json:"id"`
	Version Version `json:"version"`
	// Done: no stage is to come.
	Done   bool    `json:"done"`
	Stages []Stage `json:"stages"`
}

// Match is some deals between versions.
type Match struct {
	ID       int64             `json:"id"`
	Ladder   string            `json:"ladder,omitempty"`
	Rated    bool              `json:"rated"`
	Game     string            `json:"game"`
	Options  map[string]string `json:"options"`
	Clock    ladder.Clock      `json:"clock"`
	Deals    int               `json:"deals"`
	State    string            `json:"state"`
	AskedBy  string            `json:"asked_by,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	Created  time.Time         `json:"created"`
	Began    time.Time         `json:"began,omitzero"`
	Finished time.Time         `json:"finished,omitzero"`
	Order    int64             `json:"order,omitempty"` // among the finished ones of its ladder
	Versions []Ref             `json:"versions"`        // by slot
	Changes  []Change          `json:"changes,omitempty"`
	Attempts []Attempt         `json:"attempts,omitempty"`
}

// Change is what a match moved, and from what.
type Change struct {
	Match    int64   `json:"match,omitempty"`  // in a bot's history
	Number   int     `json:"number,omitempty"` // there: of the version's matches on the ladder
	Slot     int     `json:"slot"`
	Bot      string  `json:"bot"`
	Version  int     `json:"version"`
	Before   float64 `json:"before"`
	After    float64 `json:"after"`
	K        float64 `json:"k"`
	Score    float64 `json:"score"`
	Expected float64 `json:"expected"`
	Deals    int     `json:"deals"`
}

// Attempt is one start of a match.
type Attempt struct {
	Number     int       `json:"number"`
	Commitment string    `json:"commitment"`
	Seed       string    `json:"seed,omitempty"` // when it is over
	Began      time.Time `json:"began"`
	Ended      time.Time `json:"ended,omitzero"`
	Reason     string    `json:"reason,omitempty"`
}

// Game is a finished game of a match.
type Game struct {
	ID       int64      `json:"id"`
	Match    int64      `json:"match"`
	Deal     int        `json:"deal"`
	Rotation int        `json:"rotation"`
	Plies    int        `json:"plies"`
	TookMS   float64    `json:"took_ms"`
	Seats    []GameSeat `json:"seats"`
}

// GameSeat is how a game ended for a seat.
type GameSeat struct {
	Seat    int     `json:"seat"`
	Slot    int     `json:"slot"`
	Bot     string  `json:"bot"`
	Version int     `json:"version"`
	Rank    int     `json:"rank"`
	Points  float64 `json:"points"`
	Fault   string  `json:"fault,omitempty"`
	Faults  int     `json:"faults,omitempty"`
}

// ReplayLine is a line of the stream of replays. Cursor names the place behind
// it: to go on after any line, ask for what comes after its cursor.
type ReplayLine struct {
	Cursor string          `json:"cursor"`
	Game   int64           `json:"game"`
	Match  int64           `json:"match"`
	Ladder string          `json:"ladder,omitempty"`
	Replay json.RawMessage `json:"replay"` // the document of SPEC.md, "Replays", in one line
}

// Person is somebody who owns bots.
type Person struct {
	Name    string    `json:"name"`
	Admin   bool      `json:"admin"`
	Created time.Time `json:"created"`
	Blocked time.Time `json:"blocked,omitzero"`
}

// Me is the person of a token, and the token.
type Me struct {
	Person
	Token Token `json:"token"`
}

// Token is a key that a person has, without the key.
type Token struct {
	ID      int64     `json:"id"`
	Label   string    `json:"label,omitempty"`
	Scope   string    `json:"scope"`
	Created time.Time `json:"created"`
	Used    time.Time `json:"used,omitzero"`
	Expires time.Time `json:"expires,omitzero"`
	Revoked time.Time `json:"revoked,omitzero"`
}

// NewToken asks for a token.
type NewToken struct {
	Label   string    `json:"label,omitempty"`
	Scope   string    `json:"scope"`
	Expires time.Time `json:"expires,omitzero"`
}

// MadeToken is a new token with its key, which is shown this once.
type MadeToken struct {
	Token
	Key string `json:"key"`
}

// Registration is how somebody joins: a code where the competition wants one.
type Registration struct {
	Name   string `json:"name"`
	Invite string `json:"invite,omitempty"`
}

// Registered is a new person with the first token's key, shown this once.
type Registered struct {
	Person
	Key string `json:"key"`
}

// AskedMatch asks for an unrated match: on what a ladder plays, or a game with
// its options. Bots are NAME for the live version or NAME@N for any.
type AskedMatch struct {
	Ladder  string            `json:"ladder,omitempty"`
	Game    string            `json:"game,omitempty"`
	Options map[string]string `json:"options,omitempty"`
	Deals   int               `json:"deals,omitempty"` // 0: as on the ladder
	Bots    []string          `json:"bots"`
}

// Message is something that an owner is to know.
type Message struct {
	ID      int64     `json:"id"`
	Text    string    `json:"text"`
	Created time.Time `json:"created"`
}

// Invite lets somebody in, once.
type Invite struct {
	ID      int64     `json:"id"`
	Name    string    `json:"name,omitempty"` // the name that it is for, "" for any
	By      string    `json:"by,omitempty"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
	UsedBy  string    `json:"used_by,omitempty"`
}

// NewInvite asks for an invite.
type NewInvite struct {
	Name    string    `json:"name,omitempty"`
	Expires time.Time `json:"expires,omitzero"`
}

// MadeInvite is a new invite with its code, which is shown this once.
type MadeInvite struct {
	Invite
	Code string `json:"code"`
}

// Problem is the one shape of errors: RFC 9457. Type is stable and says what
// kind it is; Hint says what to try.
type Problem struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail"`
	Hint     string `json:"hint,omitempty"`
	Instance string `json:"instance,omitempty"` // the request, for the server's log
}

// ProblemType is the media type of problems.
const ProblemType = "application/problem+json"

// Error is the problem in one line.
func (p *Problem) Error() string {
	text := p.Detail
	if text == "" {
		text = p.Title
	}
	if p.Hint != "" {
		text += ": " + p.Hint
	}
	return text
}
