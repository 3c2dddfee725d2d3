// Package wire defines the documents of the HTTP API as Go types, for the server and the
// client. Their contract is web/api/openapi.yaml; the tests of web/api check every response
// against it.
//
// Names are snake_case. Times are RFC 3339 in UTC, absent if there is none. Durations are
// milliseconds, hashes and seeds hexadecimal.
package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
)

// Page is a part of a list. Next is the cursor of the next page, "" at the end; it is valid only
// for the same list.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

// Ladder is a ladder and the rules of its matches.
type Ladder struct {
	Name    string            `json:"name"`
	Title   string            `json:"title"`
	Game    string            `json:"game"`
	Options map[string]string `json:"options"`
	Clock   referee.Clock     `json:"clock"`
	Deals   int               `json:"deals"` // of a match
	Slots   int               `json:"slots"` // versions in a match
	Active  bool              `json:"active"`
	Matches int64             `json:"matches"` // finished
}

// Ref is a reference to a version of a bot.
type Ref struct {
	Bot     string `json:"bot"`
	Version int    `json:"version"`
	Owner   string `json:"owner,omitempty"` // absent for a house bot
	House   bool   `json:"house,omitempty"`
	Remote  bool   `json:"remote,omitempty"` // it runs on its owner's machine
	SHA256  string `json:"sha256,omitempty"` // of the program that runs

	Record *Record `json:"record,omitempty"` // only in the document of a single match that is finished
}

// Record counts the games of a version in a match.
type Record struct {
	Won   int `json:"won"`
	Drawn int `json:"drawn"` // first ranks that another side has, too
	Lost  int `json:"lost"`
}

// Standing is a version's place on a ladder.
type Standing struct {
	Rank    int    `json:"rank"`
	Bot     string `json:"bot"`
	Version int    `json:"version"`
	Owner   string `json:"owner,omitempty"`
	House   bool   `json:"house,omitempty"`
	Remote  bool   `json:"remote,omitempty"`
	Ladder  string `json:"ladder,omitempty"` // only in the list of a bot's places

	Elo     float64   `json:"elo"`
	Fit     *Fit      `json:"fit,omitempty"` // absent before the first fit
	Matches int       `json:"matches"`
	Games   int       `json:"games"`
	Wins    int       `json:"wins"`
	Draws   int       `json:"draws"`
	Losses  int       `json:"losses"`
	Faults  int       `json:"faults"`
	Active  bool      `json:"active"` // still plays
	Last    time.Time `json:"last_match,omitzero"`
}

// Fit is the maximum-likelihood rating over all matches of a ladder. A value that the matches do
// not bound is null.
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
	// Withdrawn is when its owner took it off the ladders.
	Withdrawn time.Time `json:"withdrawn,omitzero"`
	// Live is the version that plays, 0 if there is none. Latest is the last submitted version.
	Live      int        `json:"live"`
	Latest    *Version   `json:"latest,omitempty"`
	Standings []Standing `json:"standings,omitempty"` // only in the document of a single bot
}

// Version is one submission of a bot.
type Version struct {
	Bot     string `json:"bot"`
	Version int    `json:"version"`
	Label   string `json:"label,omitempty"` // from the manifest
	State   string `json:"state"`
	Reason  string `json:"reason,omitempty"` // why it failed or was suspended; only for its owner
	// Submission is the number of its submission; only for its owner.
	Submission int64     `json:"submission,omitempty"`
	Remote     bool      `json:"remote,omitempty"` // it runs on its owner's machine
	Online     bool      `json:"online,omitempty"` // it is remote, and connected
	Language   string    `json:"language,omitempty"`
	Games      []string  `json:"games,omitempty"` // absent: all
	Bundle     string    `json:"bundle_sha256,omitempty"`
	SHA256     string    `json:"sha256,omitempty"`
	Created    time.Time `json:"created"`
	Began      time.Time `json:"began,omitzero"`
	Ended      time.Time `json:"ended,omitzero"`
}

// Stage is one step of a submission.
type Stage struct {
	Name    string    `json:"name"`
	OK      bool      `json:"ok"` // also false while it runs
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended,omitzero"`
	Summary string    `json:"summary,omitempty"`
	Log     string    `json:"log,omitempty"`
}

// Submission is the progress of a version through its stages.
type Submission struct {
	ID      int64   `json:"id"`
	Version Version `json:"version"`
	// Place is the place in the queue: 1 is next, 0 after the first stage has begun.
	Place int `json:"place"`
	// Done reports whether no more stages follow.
	Done   bool    `json:"done"`
	Stages []Stage `json:"stages"`
}

// Match is a match between versions.
type Match struct {
	ID       int64             `json:"id"`
	Ladder   string            `json:"ladder,omitempty"`
	Rated    bool              `json:"rated"`
	Game     string            `json:"game"`
	Options  map[string]string `json:"options"`
	Clock    referee.Clock     `json:"clock"`
	Deals    int               `json:"deals"`
	State    string            `json:"state"`
	AskedBy  string            `json:"asked_by,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	Created  time.Time         `json:"created"`
	Began    time.Time         `json:"began,omitzero"`
	Finished time.Time         `json:"finished,omitzero"`
	Order    int64             `json:"order,omitempty"` // place among the finished matches of its ladder
	Versions []Ref             `json:"versions"`        // by slot
	Changes  []Change          `json:"changes,omitempty"`
	Attempts []Attempt         `json:"attempts,omitempty"`
}

// Change is the rating change of a version in a match.
type Change struct {
	Match    int64   `json:"match,omitempty"`  // only in a history
	Number   int     `json:"number,omitempty"` // only in a history: among the version's matches on the ladder
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
	Machine    string    `json:"machine,omitempty"` // that plays it
	Commitment string    `json:"commitment"`
	Seed       string    `json:"seed,omitempty"` // once it is over
	Began      time.Time `json:"began"`
	Ended      time.Time `json:"ended,omitzero"`
	Reason     string    `json:"reason,omitempty"`
}

// Machine is a machine that plays matches. What is counted begins with the start of the server.
type Machine struct {
	Name     string           `json:"name"`
	Local    bool             `json:"local,omitempty"` // it is the server's own
	State    string           `json:"state"`
	Reason   string           `json:"reason,omitempty"` // why it gets no matches, or fewer
	Until    time.Time        `json:"until,omitzero"`   // end of its rest
	Version  string           `json:"version,omitempty"`
	Arch     string           `json:"arch,omitempty"`
	Sandbox  string           `json:"sandbox,omitempty"`
	Cores    int              `json:"cores"`
	Seen     time.Time        `json:"seen,omitzero"`
	Playing  []MachineMatch   `json:"playing"`
	Finished int64            `json:"finished"`
	LastHour int              `json:"finished_last_hour"`
	Void     int64            `json:"games_void"`    // played again
	Starved  int64            `json:"games_starved"` // of them, those because others used the core
	Operator *MachineOperator `json:"operator,omitempty"`
}

// MachineMatch is a match that a machine plays.
type MachineMatch struct {
	Match   int64     `json:"match"`
	Attempt int       `json:"attempt"`
	Ladder  string    `json:"ladder,omitempty"`
	Bots    []string  `json:"bots"` // as NAME@N
	Began   time.Time `json:"began,omitzero"`
}

// MachineOperator is what only admins see of a machine.
type MachineOperator struct {
	Protocol     int               `json:"protocol,omitempty"` // of the messages between server and worker
	OS           string            `json:"os,omitempty"`
	Memory       int64             `json:"memory,omitempty"` // bytes of all its bots together
	Interpreters map[string]string `json:"interpreters,omitempty"`
	Added        time.Time         `json:"added,omitzero"`  // when it was given credentials
	Broken       int64             `json:"attempts_broken"` // that ended without a result because of it
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

// GameSeat is the result of a game for a seat.
type GameSeat struct {
	Seat    int     `json:"seat"`
	Slot    int     `json:"slot"`
	Bot     string  `json:"bot"`
	Version int     `json:"version"`
	Rank    int     `json:"rank"`
	Points  float64 `json:"points"`
	Fault   string  `json:"fault,omitempty"`
	Faults  int     `json:"faults,omitempty"`

	Reason fault.Reason `json:"reason,omitzero"` // of its first fault; only in the document of a single game
}

// ReplayLine is a line of a stream of replays. Cursor is the position after it, from which a
// stream can be resumed.
type ReplayLine struct {
	Cursor string          `json:"cursor"`
	Game   int64           `json:"game"`
	Match  int64           `json:"match"`
	Ladder string          `json:"ladder,omitempty"`
	Replay json.RawMessage `json:"replay"` // the document of SPEC.md, "Replays", in one line
}

// Person is a person who may own bots.
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

// Token describes a token, without its key.
type Token struct {
	ID      int64     `json:"id"`
	Label   string    `json:"label,omitempty"`
	Scope   string    `json:"scope"`
	Created time.Time `json:"created"`
	Used    time.Time `json:"used,omitzero"`
	Expires time.Time `json:"expires,omitzero"`
	Revoked time.Time `json:"revoked,omitzero"`
}

// LiveVersion chooses which version of a bot plays.
type LiveVersion struct {
	Version int `json:"version"`
}

// NewToken asks for a token.
type NewToken struct {
	Label   string    `json:"label,omitempty"`
	Scope   string    `json:"scope"`
	Expires time.Time `json:"expires,omitzero"`
}

// MadeToken is a new token with its key, which is shown only once.
type MadeToken struct {
	Token
	Key string `json:"key"`
}

// Registration asks to join; Invite is the code of an invite if the competition requires one.
type Registration struct {
	Name   string `json:"name"`
	Invite string `json:"invite,omitempty"`
}

// Registered is a new person with the key of the first token, which is shown only once.
type Registered struct {
	Person
	Key string `json:"key"`
}

// AskedMatch asks for an unrated match with the rules of a ladder, or of a game with options.
// Bots are NAME for the live version or NAME@N for version N.
type AskedMatch struct {
	Ladder  string            `json:"ladder,omitempty"`
	Game    string            `json:"game,omitempty"`
	Options map[string]string `json:"options,omitempty"`
	Deals   int               `json:"deals,omitempty"` // 0: as on the ladder
	Bots    []string          `json:"bots"`
}

// Message is a message to an owner of bots.
type Message struct {
	ID      int64     `json:"id"`
	Text    string    `json:"text"`
	Created time.Time `json:"created"`
	Seen    time.Time `json:"seen,omitzero"` // absent: it is unread
}

// SeenMessages are the messages that somebody has read, by the IDs of the first and the last one.
type SeenMessages struct {
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

// Invite is an invite, with which one person may join.
type Invite struct {
	ID      int64     `json:"id"`
	Name    string    `json:"name,omitempty"` // the name for which it is valid, "" for any
	By      string    `json:"by,omitempty"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
}

// NewInvite asks for an invite.
type NewInvite struct {
	Name    string    `json:"name,omitempty"`
	Expires time.Time `json:"expires,omitzero"`
}

// MadeInvite is a new invite with its code, which is shown only once.
type MadeInvite struct {
	Invite
	Code string `json:"code"`
}

// Problem is the document of an error, RFC 9457. Type is the stable kind of the error; Hint is
// what to try.
type Problem struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail"`
	Hint     string `json:"hint,omitempty"`
	Instance string `json:"instance,omitempty"` // the identifier of the request in the server's log
}

// ProblemType is the media type of problems.
const ProblemType = "application/problem+json"

// Error returns the problem in one line.
func (p *Problem) Error() string {
	text := cmp.Or(p.Detail, p.Title)
	if p.Hint != "" {
		text += ": " + p.Hint
	}
	return text
}

// ProblemIn returns the error in an answer.
func ProblemIn(resp *http.Response) *Problem {
	data, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	p := new(Problem)
	if kind == ProblemType && json.Unmarshal(data, p) == nil && p.Title != "" {
		return p
	}
	if err != nil {
		return &Problem{
			Title: "the answer was cut off", Status: resp.StatusCode,
			Detail: fmt.Sprintf("server: %s answered %q, but the answer was cut off: %s", resp.Request.URL.Host, resp.Status, err),
			Hint:   "try again",
		}
	}
	return &Problem{
		Title: "not an answer of timba", Status: resp.StatusCode,
		Detail: fmt.Sprintf("server: %s answered %q, which is not an answer of timba", resp.Request.URL.Host, resp.Status),
		Hint:   "is this the address of a timba server?",
	}
}
