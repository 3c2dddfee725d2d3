// Package attempt plays one attempt at a match on this machine: a Job, which has all that a machine needs for it,
// becomes a Result. Other machines are told the same and answer the same; package cluster carries both.
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

// Job is one attempt at a match.
type Job struct {
	Match             int64             `json:"match"`
	Attempt           int               `json:"attempt"`
	Game              string            `json:"game"`
	Options           map[string]string `json:"options"`
	Deals             int               `json:"deals"`
	Clock             referee.Clock     `json:"clock"`
	Seed              referee.Hex       `json:"seed"`
	ParallelRotations int               `json:"together"` // rotations that have processes at the same time; see match.Resources
	Bots              []Bot             `json:"bots"`     // by slot
	Core              int               `json:"core"`     // of the machine, or cores.Any
}

// Bot is a version in a job.
type Bot struct {
	Version int64  `json:"version"`
	Name    string `json:"name"`             // in the replays, unique in the match
	House   string `json:"house,omitempty"`  // its spec, for a bot of the program itself
	Remote  bool   `json:"remote,omitempty"` // it is connected to the server: only its own machine can play it
	Hash    string `json:"hash,omitempty"`   // of its built files
	// Command starts the built files, in their directory.
	Command  []string `json:"command,omitempty"`
	Label    string   `json:"label,omitempty"` // of the version, in the replays
	Language string   `json:"language,omitempty"`
}

// Result is how an attempt ended.
type Result struct {
	Match        int64             `json:"match"`
	Attempt      int               `json:"attempt"`
	Seed         referee.Hex       `json:"seed"` // of the attempt: only who was given it can hand it in
	Machine      string            `json:"machine"`
	Games        []*referee.Result `json:"games,omitempty"`
	Failure      *Failure          `json:"failure,omitempty"` // nil: the match has been played
	VoidGames    int               `json:"voids,omitempty"`   // games that were played again
	StarvedGames int               `json:"starved,omitempty"` // those of them that others' use of the core made void
	Took         time.Duration     `json:"took"`              // nanoseconds
}

// Failure is why a match has no result. None is a fault of a bot: those are part of the games.
type Failure struct {
	Kind    string      `json:"kind"`
	Version int64       `json:"version,omitempty"` // that failed
	Text    phrase.Text `json:"text"`
}

// The kinds of a Failure.
const (
	FailedHouse     = "house"     // a bot that is part of the program
	FailedVersion   = "version"   // a version whose program cannot be prepared
	FailedMachine   = "machine"   // the machine, not this match
	FailedReferee   = "referee"   // the referee, again and again
	FailedCancelled = "cancelled" // the match was ended before its time
)

// FailureKinds has all of them.
var FailureKinds = []string{FailedHouse, FailedVersion, FailedMachine, FailedReferee, FailedCancelled}

// Error returns the text.
func (f *Failure) Error() string { return f.Text.String() }

// PreparationFailure returns the failure of a version whose program cannot be had.
func PreparationFailure(b Bot, err error) *Failure {
	return &Failure{Kind: FailedVersion, Version: b.Version, Text: phrase.New("version %d cannot be prepared: %s", b.Version, err)}
}

// FailedResult returns the result of a job that this machine could not play.
func FailedResult(j Job, err error) Result {
	f := &Failure{Kind: FailedMachine, Text: phrase.FromError(err)}
	if errors.Is(err, context.Canceled) {
		f.Kind = FailedCancelled
	}
	return Result{Match: j.Match, Attempt: j.Attempt, Seed: j.Seed, Failure: f}
}

// NewJob returns the job of an attempt at a match. versions are those of its slots. Core and
// Together are left to the caller.
func NewJob(m *ladder.Match, versions []ladder.Version, attempt int, seed referee.Hex) Job {
	j := Job{
		Match: m.ID, Attempt: attempt, Seed: seed,
		Game: m.Game, Options: m.Options, Deals: m.Deals, Clock: m.Clock,
		Core: cores.Any,
	}
	taken := map[string]bool{}
	for _, v := range versions {
		b := Bot{Version: v.ID, Name: uniqueName(v, taken), Label: v.DisplayLabel()}
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

// uniqueName returns the bot's name, with the version's number if another version of the bot
// plays, too.
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
