package runner

import (
	"context"
	"errors"
	"slices"
	"sync"

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
	share    *share // nil of one that does not pause
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
	// End is called when no more positions come: the match has ended, is interrupted, or pauses.
	End()
}

// PlayHere plays a match in the server's process. It is what the worker there does with one that it
// takes: here matches are watched, pause for others, and have remote bots.
func (r *Runner) PlayHere(ctx context.Context, m *fleet.Match) error {
	p, err := r.here.find(m.Job)
	if err != nil {
		return err
	}
	if p.share == nil {
		return r.playWatched(ctx, p, m)
	}
	m.Yield = p.share.yield
	return r.playShared(ctx, p, m)
}

// ProgramHere returns the bot of a slot of a match in the server's process.
func (r *Runner) ProgramHere(ctx context.Context, j fleet.Job, slot int) (match.Bot, error) {
	p, err := r.here.find(j)
	if err != nil {
		return match.Bot{}, err
	}
	return r.program(ctx, p.versions[slot], p.Match)
}

// playWatched plays what is left of a match, before those who watch it.
func (r *Runner) playWatched(ctx context.Context, p *played, m *fleet.Match) error {
	var watch func(*referee.Game)
	// Who plays from outside could be helped by what is seen of a deal in another rotation.
	if r.Watch != nil && !(p.Rated && slices.Contains(p.Remote, true)) {
		if w := r.Watch(p.Match, p.versions); w != nil {
			watch = w.Position
			defer w.End()
		}
	}
	m.Watch = watch
	if s := p.share; s != nil {
		m.Watch = func(g *referee.Game) {
			s.own.Watch(g)
			if watch != nil {
				watch(g)
			}
		}
	}
	return m.Play(ctx)
}

// playShared plays a match in its slices. When it makes room for others the games that
// are over are kept, and it goes on with those after them.
func (r *Runner) playShared(ctx context.Context, p *played, m *fleet.Match) error {
	s := p.share
	for {
		err := r.playRound(ctx, p, m)
		if !errors.Is(err, errMadeRoom) {
			return err
		}
		s.left, s.own = s.left-s.own.Sum(), match.OwnTime{} // with the game that it loses
		s.job.report <- outcome{job: s.job, evicted: true}
		if err := s.wait(ctx); err != nil {
			return err
		}
	}
}

func (r *Runner) playRound(ctx context.Context, p *played, m *fleet.Match) error {
	round, end := context.WithCancelCause(ctx)
	defer end(nil)
	go func() {
		select {
		case <-p.share.job.evict:
			end(errMadeRoom)
		case <-round.Done():
		}
	}()
	err := r.playWatched(round, p, m)
	if ctx.Err() == nil && context.Cause(round) == errMadeRoom {
		return errMadeRoom
	}
	return err
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
