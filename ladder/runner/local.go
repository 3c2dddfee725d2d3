package runner

import (
	"context"
	"slices"

	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
)

// playLocal plays the match of job j on the machine of the server. Unlike a match on another machine, people can
// watch it, and bots that run on their owners' machines can take part. playLocal ends a requested match that exceeds
// its time limit.
func (r *Runner) playLocal(ctx context.Context, p *play, j attempt.Job) attempt.Result {
	var watchers []func(*referee.Game)
	// The owner of a remote bot could see the same deal in another rotation and help the bot.
	if r.Watch != nil && !(p.match.Rated && slices.Contains(p.match.Remote, true)) {
		if position, end := r.Watch(p.match); position != nil {
			watchers = append(watchers, position)
			defer end()
		}
	}
	if p.match.RequestedBy != 0 {
		var own match.OwnTime
		left := r.timeLeft(p.match)
		watchers = append(watchers, func(g *referee.Game) {
			if own.Watch(g); own.Sum() > left {
				p.end(errOverTime)
			}
		})
	}
	return attempt.Play(ctx, j, attempt.Options{
		Program: func(ctx context.Context, slot int) (match.Contestant, error) {
			if v := p.versions[slot]; v.Remote {
				return r.Remotes.Bot(v, p.match), nil
			}
			return r.Programs.Resolve(ctx, p.versions[slot])
		},
		Check: r.Host.Check, Journal: &r.journal,
		Watch: func(g *referee.Game) {
			for _, watch := range watchers {
				watch(g)
			}
		},
	})
}
