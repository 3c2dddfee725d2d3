package runner

import (
	"context"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/stats"
)

// Store has the services of a store.Store that the runner uses. All fields are required.
type Store struct {
	Matches  Matches
	Versions Versions
	Ladders  Ladders
	Events   *events.Bus
}

// NewStore returns the services of s.
func NewStore(s *store.Store) Store { return Store{s.Matches, s.Versions, s.Ladders, s.Events()} }

// Matches is the part of store.Matches that the runner uses.
type Matches interface {
	Find(ctx context.Context, id int64) (ladder.Match, error)
	List(ctx context.Context, f store.MatchFilter) ([]ladder.Match, error)
	Games(ctx context.Context, match int64) ([]ladder.FinishedGame, error)
	Generation() uint64 // changes whenever the list of waiting matches changes
	ListWaiting(ctx context.Context, limit int) ([]ladder.Match, error)
	Start(ctx context.Context, starts []store.MatchStart) []store.StartedMatch
	ListRunning(ctx context.Context) ([]store.RunningAttempt, error)
	Finish(ctx context.Context, match int64, attempt int, games []*referee.GameResult) ([]ladder.Change, error)
	InterruptAttempt(ctx context.Context, match int64, attempt int, reason phrase.Text, failed bool) (dropped bool, err error)
	Cancel(ctx context.Context, match, by int64, reason phrase.Text) error
}

// Versions is the part of store.Versions that the runner uses.
type Versions interface {
	Find(ctx context.Context, id int64) (ladder.Version, error)
	ListPending(ctx context.Context) ([]ladder.Version, error)
	Stages(ctx context.Context, version int64) ([]ladder.Stage, error)
	Suspend(ctx context.Context, version, match int64, reason phrase.Text) (bool, error)
	SetUnplayable(ctx context.Context, version int64, missing phrase.Text) error
}

// Ladders is the part of store.Ladders that the runner uses.
type Ladders interface {
	Pool(ctx context.Context, ladder string) (*matchmaking.Pool, error) // nil while the ladder is paused
	LoadPoolOpponents(ctx context.Context, ladder string, version int64) error
	Pairs(ctx context.Context, ladder string) (versions []int64, pairs []stats.Pair, err error)
	Bouts(ctx context.Context, ladder string, sides []int, n int64) (versions []int64, bouts []stats.Bout, err error)
	SaveFit(ctx context.Context, ladder string, estimates map[int64]stats.Estimate) error
}

// Programs starts the bots of this machine.
type Programs interface {
	// Resolve returns a version as a program in its sandbox. An error is a failure of the server, never of the bot.
	Resolve(context.Context, ladder.Version) (match.Contestant, error)
	// IsBuilt reports whether a version can be started without a build.
	IsBuilt(ladder.Version) bool
	// Sandbox returns the sandbox of all bots except those that are part of timba. It is nil if they run without
	// one.
	Sandbox() *match.Sandbox
}

// Host answers questions about the machine of this process.
type Host interface {
	// Interpreters returns the interpreters of the machine, to show to people: versions by name.
	Interpreters() map[string]string
	// HasInterpreter reports whether the machine has an interpreter that Options.Local does not list.
	HasInterpreter(name string) bool
	// Check returns an error if the machine cannot play at all. The runner calls it before it resumes after a
	// failure, and before it suspends a version.
	Check(context.Context) error
}

// soundHost is a Host that can always play and has only the interpreters of Options.Local.
type soundHost struct{}

func (soundHost) Interpreters() map[string]string { return nil }
func (soundHost) HasInterpreter(string) bool      { return false }
func (soundHost) Check(context.Context) error     { return nil }

// Remotes has the versions that play over a connection to the server. Each plays one match at a time.
type Remotes interface {
	// Bot returns a version as a program for one match.
	Bot(ladder.Version, *ladder.Match) match.Contestant
	// IsReady reports whether a version can start a match: it is connected, wants to play, and is not reserved.
	IsReady(version int64) bool
	// IsGone reports whether a remote version (on its owner's machine) has been disconnected for longer than a
	// match waits for it.
	IsGone(version int64) bool
	// Reserve marks a remote version (on its owner's machine) as in use by a match until Release is called. If
	// IsReady is false for the version, for example because it is already reserved, Reserve does nothing and
	// returns false.
	Reserve(version int64) bool
	Release(version int64)
	// Changes returns a channel that receives a value after a remote version (on its owner's machine) has
	// connected, or has been disconnected for longer than a match waits for it. Release, after which a version
	// may be ready again, sends no value.
	Changes() <-chan struct{}
}

// Fleet plays matches on other machines, one at a time on each of their cores.
type Fleet interface {
	// Machines returns the connected machines, including those that are refused or draining.
	Machines() []attempt.WorkerInfo
	// Changes returns a channel that receives a value after machines have connected, disconnected or changed. The
	// fleet never blocks on it.
	Changes() <-chan struct{}
	// Play sends a job to a machine, waits for its result and calls accept once with it.
	//
	// If accept returns an error, the result cannot be stored now: the machine retains it for the next server, and
	// Play returns that error. If the result cannot belong to the job, the error is an *attempt.Contradiction.
	//
	// If the machine is lost, the error is attempt.ErrLost. If ctx ends, the server asks the machine to stop
	// and waits a moment for that. In both cases the attempt is over and a later result is refused. If the
	// cause of ctx is attempt.ErrDetach, the attempt goes on without this server.
	//
	// If the job cannot be sent, the error is an *attempt.Failure or contains attempt.ErrUnavailable.
	Play(ctx context.Context, machine string, j attempt.Job, accept func(attempt.Result) error) error
	// Adopt waits for the result of a job that an earlier server has sent, and otherwise does what Play does.
	// The seed of the job is not known, only its commitment.
	Adopt(ctx context.Context, machine string, j attempt.Job, commitment referee.Hex, accept func(attempt.Result) error) error
}

// emptyFleet is a Fleet without machines.
type emptyFleet struct{}

func (emptyFleet) Machines() []attempt.WorkerInfo { return nil }
func (emptyFleet) Changes() <-chan struct{}       { return nil }

func (emptyFleet) Play(context.Context, string, attempt.Job, func(attempt.Result) error) error {
	return attempt.ErrLost
}

func (emptyFleet) Adopt(context.Context, string, attempt.Job, referee.Hex, func(attempt.Result) error) error {
	return attempt.ErrLost
}
