package runner

import (
	"context"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/stats"
)

// Store is the part of store.Store that the runner uses.
type Store interface {
	Version(ctx context.Context, id int64) (ladder.Version, error)
	Pending(ctx context.Context) ([]ladder.Version, error)
	Stages(ctx context.Context, version int64) ([]ladder.Stage, error)
	Suspend(ctx context.Context, version, match int64, reason string) (bool, error)

	SetUnplayable(ctx context.Context, version int64, missing string) error

	Match(ctx context.Context, id int64) (ladder.Match, error)
	Waiting(ctx context.Context, limit int) ([]ladder.Match, error)
	Begin(ctx context.Context, starts []store.Start) []store.Begun
	Running(ctx context.Context) ([]store.RunningAttempt, error)
	Break(ctx context.Context, match int64, attempt int, reason string, failed bool) (dropped bool, err error)
	CancelMatch(ctx context.Context, match, by int64, reason string) error
	Finish(ctx context.Context, match int64, attempt int, games []*referee.Result) ([]ladder.Change, error)
	Matches(ctx context.Context, f store.MatchFilter) ([]ladder.Match, error)
	Games(ctx context.Context, match int64) ([]ladder.Game, error)

	Events() *events.Hub
	Generation() uint64
	Pool(ctx context.Context, ladder string) (*matchmaking.Pool, error)
	Learn(ctx context.Context, ladder string, version int64) error
	Pairs(ctx context.Context, ladder string) (versions []int64, pairs []stats.Pair, err error)
	Bouts(ctx context.Context, ladder string, sides []int, n int64) (versions []int64, bouts []stats.Bout, err error)
	SaveFit(ctx context.Context, ladder string, estimates map[int64]stats.Estimate) error
}
