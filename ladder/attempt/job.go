// Package attempt plays one attempt at a match on this machine. An attempt is one try to play the match; an
// interrupted one counts for nothing. Begin with Play: it turns a Job, which holds all that a machine needs, into
// a Result. Package cluster sends jobs to other machines and returns their results.
package attempt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
)

// Job is everything that a machine needs to make one try to play a match.
type Job struct {
	Match             int64             `json:"match"`
	Attempt           int               `json:"attempt"`
	Game              string            `json:"game"`
	Options           map[string]string `json:"options"`
	Deals             int               `json:"deals"`
	Clock             referee.Clock     `json:"clock"`
	Seed              referee.Hex       `json:"seed"`
	ParallelRotations int               `json:"together"` // rotations of a deal that are played at the same time
	Bots              []Entrant         `json:"bots"`     // one for each slot
	Core              int               `json:"core"`     // the core to play on, or cores.Any
}

// Entrant is one version of a bot that plays in the match of a Job.
type Entrant struct {
	Version int64  `json:"version"`
	Name    string `json:"name"`             // its name in the replays; unique in the match
	House   string `json:"house,omitempty"`  // the name of a house bot; empty for any other bot
	Remote  bool   `json:"remote,omitempty"` // connected to the server, so that only the server's machine can play it
	Hash    string `json:"hash,omitempty"`   // hash of its built files; empty for house bots and remote bots
	// Command starts the bot in the directory of its built files.
	Command  []string `json:"command,omitempty"`
	Label    string   `json:"label,omitempty"` // the version's name in the replays
	Language string   `json:"language,omitempty"`
}

// Result is the outcome of one attempt (try) to play a match.
type Result struct {
	Match        int64                 `json:"match"`
	Attempt      int                   `json:"attempt"`
	Seed         referee.Hex           `json:"seed"` // seed of the attempt; it proves that the sender was given the job
	Machine      string                `json:"machine"`
	Games        []*referee.GameResult `json:"games,omitempty"`
	Failure      *Failure              `json:"failure,omitempty"` // nil if the games count
	VoidGames    int                   `json:"voids,omitempty"`   // void games, which were played again
	StarvedGames int                   `json:"starved,omitempty"` // void games whose cause was that other programs used the core
	Took         time.Duration         `json:"took"`              // in nanoseconds
}

// Failure says why a match was not played. A bot is never to blame for it: if a bot makes a fault, the match goes on.
type Failure struct {
	Kind    string      `json:"kind"`
	Version int64       `json:"version,omitempty"` // the version that failed; 0 if the failure is not one of a version
	Text    phrase.Text `json:"text"`
}

// The kinds of a Failure.
const (
	FailedHouse     = "house"     // a house bot failed
	FailedVersion   = "version"   // the program of a version cannot be prepared
	FailedMachine   = "machine"   // the machine cannot play any match
	FailedReferee   = "referee"   // the referee failed
	FailedCancelled = "cancelled" // the attempt was stopped before its end
)

// FailureKinds lists all kinds of a Failure.
var FailureKinds = []string{FailedHouse, FailedVersion, FailedMachine, FailedReferee, FailedCancelled}

// Error returns the text of f.
func (f *Failure) Error() string { return f.Text.String() }

// PreparationFailure returns the Failure that says that the program of the version b could not be prepared because of
// err.
func PreparationFailure(b Entrant, err error) *Failure {
	return &Failure{Kind: FailedVersion, Version: b.Version, Text: phrase.New("version %d cannot be prepared: %s", b.Version, err)}
}

// FailedResult returns the result of job j, which this machine could not play because of err. The kind of the Failure
// is FailedCancelled if err is context.Canceled, and FailedMachine otherwise.
func FailedResult(j Job, err error) Result {
	f := &Failure{Kind: FailedMachine, Text: phrase.FromError(err)}
	if errors.Is(err, context.Canceled) {
		f.Kind = FailedCancelled
	}
	return Result{Match: j.Match, Attempt: j.Attempt, Seed: j.Seed, Failure: f}
}

// NewJob returns the job for one try to play the match m. The argument attempt is the number of the try, and seed its
// seed. versions has the versions that play, in the order of the match. In the result, Core is cores.Any and
// ParallelRotations is 0; the caller sets both.
func NewJob(m *ladder.Match, versions []ladder.Version, attempt int, seed referee.Hex) Job {
	j := Job{
		Match: m.ID, Attempt: attempt, Seed: seed,
		Game: m.Game, Options: m.Options, Deals: m.Deals, Clock: m.Clock,
		Core: cores.Any,
	}
	taken := map[string]bool{}
	for _, v := range versions {
		b := Entrant{Version: v.ID, Name: uniqueName(v, taken), Label: v.DisplayLabel()}
		switch {
		case v.IsHouse():
			b.House = v.Bot
		case v.Remote:
			b.Remote = true
		default:
			b.Hash, b.Command, b.Language = v.Hash, v.Command, v.Language
		}
		j.Bots = append(j.Bots, b)
	}
	return j
}

// uniqueName returns the name of the bot of v. If taken contains that name, it appends the number of the version and,
// if necessary, a further number. It adds the returned name to taken.
func uniqueName(v ladder.Version, taken map[string]bool) string {
	name := v.Bot
	if taken[name] {
		name = fmt.Sprintf("%s/%d", v.Bot, v.Number)
	}
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s/%d#%d", v.Bot, v.Number, n)
	}
	taken[name] = true
	return name
}
