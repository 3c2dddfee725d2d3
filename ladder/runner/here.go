package runner

import (
	"context"
	"slices"

	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
)

// playHere plays a match on the machine of this process: here matches are watched, have a limit of time,
// and remote bots.
func (r *Runner) playHere(ctx context.Context, o *outcome, j attempt.Job) attempt.Result {
	var watch []func(*referee.Game)
	// Who plays from outside could be helped by what is seen of a deal in another rotation.
	if r.Watch != nil && !(o.match.Rated && slices.Contains(o.match.Remote, true)) {
		if see, end := r.Watch(o.match); see != nil {
			watch = append(watch, see)
			defer end()
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
