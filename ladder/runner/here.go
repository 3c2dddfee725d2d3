package runner

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/fleet"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
)

// played is a match while it is played.
type played struct {
	*ladder.Match
	attempt  int
	machine  string
	promised referee.Hex      // the commitment of the attempt
	versions []ladder.Version // by slot
	games    []*referee.Result
	left     time.Duration // that it may take, if somebody asked for it
	over     func()        // ends one that has taken it; nil for others
}

// here has the attempts that the machine in the server's process plays.
type here struct {
	mu      sync.Mutex
	playing map[fleet.Playing]*played
}

func (h *here) add(p *played) (end func()) {
	key := fleet.Playing{Match: p.ID, Attempt: p.attempt}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.playing[key] = p
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.playing, key)
	}
}

// find returns the match of a job. The job of an attempt that is over is a failure.
func (h *here) find(j fleet.Job) (*played, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := h.playing[fleet.Playing{Match: j.Match, Attempt: j.Attempt}]; p != nil {
		return p, nil
	}
	return nil, &fleet.Failure{Kind: fleet.FailedCancelled, Text: "the attempt is over"}
}

// Watcher sees a match as it is played. It must not make the match wait.
type Watcher interface {
	// Position is called with each position; see match.Match.Watch.
	Position(*referee.Game)
	// End is called when no more positions come: the match has ended, or is interrupted.
	End()
}

// PlayHere plays a match in the server's process. It is what the worker there does with one that it
// takes: here matches are watched, have a limit of time, and remote bots.
func (r *Runner) PlayHere(ctx context.Context, m *fleet.Match) error {
	p, err := r.here.find(m.Job)
	if err != nil {
		return err
	}
	watch := func(*referee.Game) {}
	// Who plays from outside could be helped by what is seen of a deal in another rotation.
	if r.Watch != nil && !(p.Rated && slices.Contains(p.Remote, true)) {
		if w := r.Watch(p.Match, p.versions); w != nil {
			watch = w.Position
			defer w.End()
		}
	}
	var own match.OwnTime
	m.Watch = func(g *referee.Game) {
		if p.over != nil {
			if own.Watch(g); own.Sum() > p.left {
				p.over()
			}
		}
		watch(g)
	}
	return m.Play(ctx)
}

// ProgramHere returns the bot of a slot of a match in the server's process.
func (r *Runner) ProgramHere(ctx context.Context, j fleet.Job, slot int) (match.Bot, error) {
	p, err := r.here.find(j)
	if err != nil {
		return match.Bot{}, err
	}
	return r.program(ctx, p.versions[slot], p.Match)
}

// program returns the program of a version; all but house bots and remote ones are sandboxed.
func (r *Runner) program(ctx context.Context, v ladder.Version, m *ladder.Match) (bot match.Bot, err error) {
	if v.Remote {
		bot = r.Remote(v, m)
	} else if bot, err = r.Resolve(ctx, v); err != nil {
		return bot, err
	}
	if bot.Sandbox = nil; bot.Serve == nil && !v.House() {
		bot.Sandbox = r.Sandbox
	}
	return bot, nil
}
