// Package wire defines the JSON documents of the HTTP API as Go types, for the server and the client. Package
// api generates the schemas of its OpenAPI document from these types; its function memberSchema explains the
// field tags. The name of a type is the name of its schema.
//
// JSON names are snake_case. Times are RFC 3339 in UTC; a time that is not known is absent. Durations are in
// milliseconds. Hashes and seeds are hexadecimal.
package wire

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
)

// Page is one page of a list. Next is the cursor with which a client requests the next page; it is "" on the last
// page.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty" ref:"Cursor"`
}

// List is a complete list.
type List[T any] struct {
	Items []T `json:"items"`
}

// Health is the answer of a server that works.
type Health struct {
	Status string `json:"status" enum:"ok"`
}

// Ladder describes a ladder and the rules of its matches.
type Ladder struct {
	Name    string            `json:"name" ref:"Name"`
	Title   string            `json:"title"`
	Game    string            `json:"game"`
	Options map[string]string `json:"options" ref:"Options"`
	Clock   referee.Clock     `json:"clock"`
	Deals   int               `json:"deals" min:"1" doc:"Deals of a match; each is played in all rotations."`
	Slots   int               `json:"slots" min:"2" doc:"The number of versions in a match."`
	Active  bool              `json:"active" doc:"False if the ladder plays no more matches; its history stays."`
	Matches int64             `json:"matches" min:"0" doc:"Finished matches."`

	PausedAt time.Time `json:"paused,omitzero" doc:"Since when an admin lets no new match start; absent if the ladder is not paused."`
}

// Ref identifies a version of a bot that takes part in a match.
type Ref struct {
	Bot     string `json:"bot"`
	Version int    `json:"version" min:"1"`
	Owner   string `json:"owner,omitempty" doc:"Absent for a house bot."`
	House   bool   `json:"house,omitempty"`
	Remote  bool   `json:"remote,omitempty" doc:"It runs on its owner's machine, and plays while it is connected."`
	SHA256  string `json:"sha256,omitempty" ref:"SHA256"`

	// Record is nil except in the document of a single finished match.
	Record *Record `json:"record,omitempty"`
}

// Record has the numbers of games that a version has won, drawn and lost in a match.
type Record struct {
	_      struct{} `doc:"The games of a finished match for one version; only in the document of a single match. Partners win together."`
	Wins   int      `json:"won" min:"0"`
	Draws  int      `json:"drawn" min:"0" doc:"Games in which it shared the first rank with another side."`
	Losses int      `json:"lost" min:"0"`
}

// Standing is the row of a version in the table of a ladder.
type Standing struct {
	Rank    int    `json:"rank" min:"0" doc:"The place among the active versions; 0 for a version that is not active or has no matches."`
	Bot     string `json:"bot"`
	Version int    `json:"version" min:"1"`
	Owner   string `json:"owner,omitempty"`
	House   bool   `json:"house,omitempty"`
	Remote  bool   `json:"remote,omitempty" doc:"It runs on its owner's machine, and plays while it is connected."`
	Ladder  string `json:"ladder,omitempty" doc:"Only in the list of a bot's places."`

	Elo         float64   `json:"elo"`
	Fit         *Fit      `json:"fit,omitempty"` // nil before the first estimate
	Provisional bool      `json:"provisional" doc:"The rating is still uncertain: the interval is ± 100 Elo or wider, or the version has met fewer than three others."`
	Matches     int       `json:"matches" min:"0"`
	Games       int       `json:"games" min:"0"`
	Wins        int       `json:"wins" min:"0"`
	Draws       int       `json:"draws" min:"0"`
	Losses      int       `json:"losses" min:"0"`
	Faults      int       `json:"faults" min:"0"`
	Active      bool      `json:"active" doc:"It still plays."`
	LastMatchAt time.Time `json:"last_match,omitzero"`
}

// Fit is an estimate of a rating by maximum likelihood, from all matches of a ladder. A value is nil if the matches
// set no bound to it, for example because the version has won every game.
type Fit struct {
	_         struct{} `doc:"The maximum-likelihood rating over all matches; null if the matches do not bound it. Absent before the first fit."`
	Elo       *float64 `json:"elo"`
	PlusMinus *float64 `json:"plus_minus" doc:"Half the width of the 95 % interval."`
}

// Bot describes a bot: a name under which its versions play.
type Bot struct {
	Name        string     `json:"name"`
	Owner       string     `json:"owner,omitempty"`
	House       bool       `json:"house"`
	CreatedAt   time.Time  `json:"created"`
	WithdrawnAt time.Time  `json:"withdrawn,omitzero" doc:"When the owner withdrew it, or an admin banned it; absent if it is not withdrawn."`
	BannedAt    time.Time  `json:"banned,omitzero" doc:"When an admin banned it; absent if it is not banned. Its owner cannot bring it back."`
	BanReason   string     `json:"ban_reason,omitempty" doc:"Why it is banned; for its owner and admins."`
	Live        int        `json:"live" min:"0" doc:"The number of the version that plays; 0 if none does."`
	Latest      *Version   `json:"latest,omitempty" doc:"The version that was submitted last."`
	Standings   []Standing `json:"standings,omitempty" doc:"Only in the document of a single bot."`
}

// Version describes one submitted version of a bot.
type Version struct {
	Bot          string    `json:"bot"`
	Version      int       `json:"version" min:"1"`
	Label        string    `json:"label,omitempty" doc:"The version that the bot's manifest names."`
	State        string    `json:"state" ref:"VersionState"`
	Reason       string    `json:"reason,omitempty" doc:"Why it failed or was suspended; for its owner and admins."`
	Submission   int64     `json:"submission,omitempty" ref:"ID" doc:"The number of its submission; for its owner and admins."`
	Remote       bool      `json:"remote,omitempty" doc:"It runs on its owner's machine, and plays while it is connected."`
	Online       bool      `json:"online,omitempty" doc:"It is remote, and connected now."`
	Language     string    `json:"language,omitempty"`
	Games        []string  `json:"games,omitempty" doc:"The games that its manifest names, with options that it requires, as in brisca players=2; if absent, it plays all."`
	BundleSHA256 string    `json:"bundle_sha256,omitempty" ref:"SHA256" doc:"The hash of the upload."`
	SHA256       string    `json:"sha256,omitempty" ref:"SHA256" doc:"The hash of the built files."`
	CreatedAt    time.Time `json:"created"`
	WentLiveAt   time.Time `json:"began,omitzero" doc:"When it last went live."`
	EndedAt      time.Time `json:"ended,omitzero" doc:"When it was retired, failed or suspended."`
}

// Stage is one step in checking a submitted version: unpack, build, check or trial.
type Stage struct {
	Name      string    `json:"name"`
	OK        bool      `json:"ok" doc:"True if the stage succeeded; false also while it runs, when 'ended' is absent."`
	StartedAt time.Time `json:"began"`
	EndedAt   time.Time `json:"ended,omitzero"`
	Summary   string    `json:"summary,omitempty"`
	Log       string    `json:"log,omitempty"`
}

// Submission is a submitted version on its way through the checks.
type Submission struct {
	ID      int64   `json:"id" ref:"ID"`
	Version Version `json:"version"`
	Place   int     `json:"place" min:"0" doc:"The place in the queue: 1 is next, 0 means that the first stage has started. Owners take turns."`
	Done    bool    `json:"done" doc:"No more stages follow."`
	Stages  []Stage `json:"stages"`
}

// Match describes a match between versions. Lists of matches omit Attempts and the hashes and owners of Versions.
type Match struct {
	ID          int64             `json:"id" ref:"ID"`
	Ladder      string            `json:"ladder,omitempty"`
	Rated       bool              `json:"rated"`
	Game        string            `json:"game"`
	Options     map[string]string `json:"options" ref:"Options"`
	Clock       referee.Clock     `json:"clock"`
	Deals       int               `json:"deals" min:"1"`
	State       string            `json:"state" ref:"MatchState"`
	RequestedBy string            `json:"asked_by,omitempty"`
	Place       int               `json:"place,omitempty" min:"1" doc:"Only of a single match that a person has asked for and that waits: the place in the queue. 1 is next; people take turns."`
	Reason      string            `json:"reason,omitempty" doc:"Why it was dropped, or why it ended before all of its games were played."`
	CreatedAt   time.Time         `json:"created"`
	StartedAt   time.Time         `json:"began,omitzero"`
	FinishedAt  time.Time         `json:"finished,omitzero"`
	Order       int64             `json:"order,omitempty" min:"1" doc:"The number of the match among the finished matches of its ladder; ratings changed in this order."`
	Versions    []Ref             `json:"versions" doc:"By slot."`
	Changes     []Change          `json:"changes,omitempty"`
	Attempts    []Attempt         `json:"attempts,omitempty"`
}

// Change is how a match changed the Elo rating of one version.
type Change struct {
	Match         int64   `json:"match,omitempty" ref:"ID" doc:"Only in a history."`
	Number        int     `json:"number,omitempty" min:"1" doc:"Only in a history: the number of the match among the version's matches on the ladder."`
	Slot          int     `json:"slot" min:"0"`
	Bot           string  `json:"bot"`
	Version       int     `json:"version" min:"1"`
	Before        float64 `json:"before"`
	After         float64 `json:"after"`
	K             float64 `json:"k"`
	Score         float64 `json:"score" min:"0" max:"1"`
	ExpectedScore float64 `json:"expected" min:"0" max:"1"`
	Deals         int     `json:"deals" min:"0" doc:"The deals of the match that count: those that do not repeat earlier games of the same versions."`
}

// Attempt is one try of the server to play a match. If an attempt is interrupted by a failure, the server makes a new
// one.
type Attempt struct {
	Number     int       `json:"number" min:"1"`
	Machine    string    `json:"machine,omitempty" doc:"The machine that plays it; 'local' is the server's own."`
	Commitment string    `json:"commitment" ref:"SHA256"`
	Seed       string    `json:"seed,omitempty" pattern:"^[0-9a-f]{64}$" doc:"Present once the attempt is over."`
	StartedAt  time.Time `json:"began"`
	EndedAt    time.Time `json:"ended,omitzero"`
	Reason     string    `json:"reason,omitempty"`
}

// Machine describes a machine that plays matches. Its counts begin when the server starts.
type Machine struct {
	Name             string           `json:"name" pattern:"^[a-z0-9][a-z0-9-]{0,39}$"`
	Local            bool             `json:"local,omitempty" doc:"It is the server's own."`
	State            string           `json:"state" enum:"ready,paused,draining,refused,suspended,away" doc:"'paused': it gets no matches for a while, because it could not play one. 'draining': it finishes what it plays, and leaves. 'refused': it gets no matches. 'suspended': it gets no more matches, because it sent an impossible result. 'away': it has credentials and is not connected; only admins see it."`
	Reason           string           `json:"reason,omitempty" doc:"Why it gets no matches."`
	PausedUntil      time.Time        `json:"until,omitzero" doc:"When its pause ends."`
	Version          string           `json:"version,omitempty" doc:"The version of timba that it runs."`
	Arch             string           `json:"arch,omitempty"`
	Sandbox          string           `json:"sandbox,omitempty" doc:"The best level of its sandbox."`
	Cores            int              `json:"cores" min:"0" doc:"It plays one match at a time on each."`
	SeenAt           time.Time        `json:"seen,omitzero" doc:"When its last report came."`
	Playing          []MachineMatch   `json:"playing"`
	FinishedMatches  int64            `json:"finished" min:"0" doc:"Matches that it has finished since the server started."`
	FinishedLastHour int              `json:"finished_last_hour" min:"0"`
	VoidGames        int64            `json:"games_void" min:"0" doc:"Games that did not count because the machine was at fault; they were played again."`
	StarvedGames     int64            `json:"games_starved" min:"0" doc:"The part of 'games_void' for which other programs that used the core were the cause."`
	Operator         *MachineOperator `json:"operator,omitempty"`
}

// MachineMatch is a match that a machine plays now.
type MachineMatch struct {
	_         struct{}  `doc:"A match that a machine plays."`
	Match     int64     `json:"match" ref:"ID"`
	Attempt   int       `json:"attempt" min:"1"`
	Ladder    string    `json:"ladder,omitempty"`
	Bots      []string  `json:"bots" doc:"By slot, as NAME@N."`
	StartedAt time.Time `json:"began,omitzero"`
}

// MachineOperator is the part of a machine's description that only admins see.
type MachineOperator struct {
	_              struct{}          `doc:"The part of a machine's description that only admins see."`
	Protocol       int               `json:"protocol,omitempty" doc:"The version of the protocol between server and worker."`
	OS             string            `json:"os,omitempty"`
	Memory         int64             `json:"memory,omitempty" min:"0" doc:"The memory for all of its bots together, in bytes."`
	Interpreters   map[string]string `json:"interpreters,omitempty" doc:"The version of each interpreter, by name."`
	AddedAt        time.Time         `json:"added,omitzero" doc:"When it got its credentials."`
	BrokenAttempts int64             `json:"attempts_broken" min:"0" doc:"Attempts that ended without a result because of the machine."`
}

// Game is the result of one game of a match.
type Game struct {
	ID       int64      `json:"id" ref:"ID"`
	Match    int64      `json:"match" ref:"ID"`
	Deal     int        `json:"deal" min:"0"`
	Rotation int        `json:"rotation" min:"0"`
	Plies    int        `json:"plies" min:"0"`
	TookMS   float64    `json:"took_ms" min:"0"`
	Seats    []GameSeat `json:"seats"`
}

// GameSeat is the result of one seat in a game.
type GameSeat struct {
	Seat    int     `json:"seat" min:"0"`
	Slot    int     `json:"slot" min:"0"`
	Bot     string  `json:"bot"`
	Version int     `json:"version" min:"1"`
	Rank    int     `json:"rank" min:"1"`
	Points  float64 `json:"points"`
	Fault   string  `json:"fault,omitempty" doc:"The code of its first fault."`
	Faults  int     `json:"faults,omitempty" min:"0"`

	Reason fault.Reason `json:"reason,omitzero" doc:"The reason of its first fault, as in the replay (SPEC.md, \"Limits and faults\"). Only in the document of a single game."`
}

// ReplayLine is one line of a stream of replays. A request with Cursor resumes the stream after this line.
type ReplayLine struct {
	_      struct{}        `doc:"One line of a stream of replays."`
	Cursor string          `json:"cursor" ref:"Cursor"`
	Game   int64           `json:"game" ref:"ID"`
	Match  int64           `json:"match" ref:"ID"`
	Ladder string          `json:"ladder,omitempty"`
	Replay json.RawMessage `json:"replay" doc:"The replay as in SPEC.md, \"Replays\", in one line."`
}

// Person describes a person who has joined the competition.
type Person struct {
	Name      string    `json:"name" ref:"Name"`
	Admin     bool      `json:"admin"`
	CreatedAt time.Time `json:"created"`
	BlockedAt time.Time `json:"blocked,omitzero" doc:"When an admin blocked the person; absent if not blocked."`
	RemovedAt time.Time `json:"removed,omitzero" doc:"When an admin removed the person, who has another name since then; absent if not removed."`
}

// Me describes the token of a request and the person who owns it.
type Me struct {
	Person
	Token Token `json:"token"`
}

// Token describes a token, without its key.
type Token struct {
	ID        int64     `json:"id" ref:"ID"`
	Label     string    `json:"label,omitempty"`
	Scope     string    `json:"scope" ref:"Scope"`
	CreatedAt time.Time `json:"created"`
	UsedAt    time.Time `json:"used,omitzero"`
	ExpiresAt time.Time `json:"expires,omitzero"`
	RevokedAt time.Time `json:"revoked,omitzero"`
	Passkey   bool      `json:"passkey,omitempty" doc:"It is a passkey of a browser or device, which has no key."`
}

// LiveVersion is the request to choose the version of a bot that plays from now on. Version is the number of that
// version.
type LiveVersion struct {
	Version int `json:"version" min:"1" max:"1000000"`
}

// Ban is the request to ban a bot. The owner of the bot gets a message with the reason.
type Ban struct {
	Reason string `json:"reason" length:"300" doc:"What the owner is told, in one line."`
}

// NewToken is the request for a token. A token without ExpiresAt does not expire.
type NewToken struct {
	Label     string    `json:"label,omitempty" length:"64"`
	Scope     string    `json:"scope" ref:"Scope"`
	ExpiresAt time.Time `json:"expires,omitzero"`
}

// MadeToken is a new token with its key. No later answer contains the key.
type MadeToken struct {
	Token
	Key string `json:"key" pattern:"^timba_"`
}

// Registration is the request to join the competition. Invite is the code of an invite; it may be "" if anybody
// may join.
type Registration struct {
	Name   string `json:"name" ref:"Name"`
	Invite string `json:"invite,omitempty" length:"128"`
}

// Registered is a new person with the key of their first token. No later answer contains the key.
type Registered struct {
	Person
	Key string `json:"key" pattern:"^timba_"`
}

// AskedMatch is the request for an unrated match. It names a game with options, or a ladder whose game,
// options and clock the match has.
type AskedMatch struct {
	Ladder  string            `json:"ladder,omitempty" length:"64" doc:"The ladder whose game, options and clock are used."`
	Game    string            `json:"game,omitempty" length:"64" doc:"The game to play, if no ladder is named."`
	Options map[string]string `json:"options,omitempty" ref:"Options"`
	Deals   int               `json:"deals,omitempty" min:"0" max:"1000" doc:"0 means as many as on the ladder, or 10 without a ladder."`
	Bots    []string          `json:"bots" minItems:"2" maxItems:"16" length:"80" doc:"NAME for the live version, NAME@N for version N."`
}

// Message is a message of the server to a person, such as that the build of a version failed.
type Message struct {
	ID        int64     `json:"id" ref:"ID"`
	Text      string    `json:"text"`
	CreatedAt time.Time `json:"created"`
	SeenAt    time.Time `json:"seen,omitzero" doc:"Absent while it is unread."`
}

// SeenMessages is the request to mark messages as read: all whose IDs are from First to Last.
type SeenMessages struct {
	First int64 `json:"first" ref:"ID"`
	Last  int64 `json:"last" ref:"ID"`
}

// Invite describes an invite to join the competition, which one person may use. It does not contain the code of the
// invite.
type Invite struct {
	ID        int64     `json:"id" ref:"ID"`
	Name      string    `json:"name,omitempty" doc:"The only name for which it is valid; if absent, it is valid for any name."`
	CreatedBy string    `json:"by,omitempty"`
	CreatedAt time.Time `json:"created"`
	ExpiresAt time.Time `json:"expires,omitzero"`
}

// NewInvite is the request for an invite. If Name is not "", the invite is valid for that name only. An invite
// without ExpiresAt does not expire.
type NewInvite struct {
	Name      string    `json:"name,omitempty" length:"64"`
	ExpiresAt time.Time `json:"expires,omitzero"`
}

// MadeInvite is a new invite with its code. No later answer contains the code.
type MadeInvite struct {
	Invite
	Code string `json:"code"`
	Site string `json:"site,omitempty" format:"uri" doc:"The public address of the site, where the invite is used; absent if the server's configuration has no site.url."`
}

// Link returns the address at which a person uses the invite. site is the public address of the site.
func (i MadeInvite) Link(site string) string { return site + "/join#" + i.Code }

// SignInLink is a link with which a person can sign in once. Its address is Site, "/sign-in#" and Code; see Link. No
// later answer contains the code.
type SignInLink struct {
	Name      string    `json:"name" ref:"Name"`
	Code      string    `json:"code" pattern:"^signin_"`
	ExpiresAt time.Time `json:"expires"`
	Site      string    `json:"site,omitempty" format:"uri" doc:"The public address of the site; absent if the server's configuration has no site.url."`
}

// Link returns the address at which the person signs in.
func (l SignInLink) Link() string { return l.Site + "/sign-in#" + l.Code }

// Problem is the document of an error (RFC 9457). Type names the kind of error and does not change between
// versions of timba. Hint says what the client can try.
type Problem struct {
	Type     string `json:"type" format:"uri" pattern:"^urn:timba:problem:[a-z-]+$"`
	Title    string `json:"title"`
	Status   int    `json:"status" min:"400" max:"599"`
	Detail   string `json:"detail"`
	Hint     string `json:"hint,omitempty"`
	Instance string `json:"instance,omitempty" doc:"The identifier of the request in the server's log."`
}

// ProblemType is the media type of a Problem.
const ProblemType = "application/problem+json"

// Error returns the detail of the problem, or else its title, and the hint, in one line.
func (p *Problem) Error() string {
	text := cmp.Or(p.Detail, p.Title)
	if p.Hint != "" {
		text += ": " + p.Hint
	}
	return text
}
