package runner

import (
	"context"
	"slices"

	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
)

// Watcher sees a match as it is played. It must not make the match wait.
type Watcher interface {
	// Position is called with each position; see match.Match.Watch.
	Position(*referee.Game)
	// End is called when no more positions come: the match has ended, or is interrupted.
	End()
}

// playHere plays a match on the machine of this process: here matches are watched, have a limit of time,
// and remote bots.
func (r *Runner) playHere(ctx context.Context, o *outcome, j attempt.Job) attempt.Result {
	var watch []func(*referee.Game)
	// Who plays from outside could be helped by what is seen of a deal in another rotation.
	if r.Watch != nil && !(o.match.Rated && slices.Contains(o.match.Remote, true)) {
		if w := r.Watch(o.match, o.versions); w != nil {
			watch = append(watch, w.Position)
			defer w.End()
		}
	}
	if o.asked() {
		var own match.OwnTime
		left := r.timeLeft(o.match)
		watch = append(watch, func(g *referee.Game) {
			if own.Watch(g); own.Sum() > left {
				o.end(errOverTime)
			}
		})
	}
	return attempt.Play(ctx, j, attempt.Options{
		Program: func(ctx context.Context, slot int) (match.Bot, error) {
			if v := o.versions[slot]; v.Remote {
				return r.Remotes.Bot(v, o.match), nil
			}
			return r.Resolve(ctx, o.versions[slot])
		},
		Check: r.Check, Journal: &r.journal,
		Watch: func(g *referee.Game) {
			for _, see := range watch {
				see(g)
			}
		},
	})
}
