package tournament

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/match"
)

// Hooks are functions that Play calls. It calls all except Trace in its own goroutine.
type Hooks struct {
	// Trace, if not nil, receives all lines to and from the bots. Several workers may call it at the same time.
	Trace func(*Match, referee.Traffic)

	OnGame func(*Match, *referee.GameResult) // called with each finished game
	// Notice receives texts for people. There is a text for each game that does not count and is played again. At most
	// once a minute there is also a text that the machine is busy.
	Notice func(text string)
}

// EarlyEndError is the error of a tournament that ended before all of its games were played. The games that have
// finished are stored, so that the tournament can be resumed.
type EarlyEndError struct{ Cause error }

func (e *EarlyEndError) Error() string { return e.Cause.Error() }

// Unwrap returns Cause.
func (e *EarlyEndError) Unwrap() error { return e.Cause }

// run is a tournament that is being played. Only the goroutine of Play uses it and its State. Other goroutines, which
// play the matches, send functions through the channel calls; the goroutine of Play runs these functions.
type run struct {
	*State
	dir          *Dir
	bots         []match.Contestant
	files        [][]string // by bot, the files that its command names
	workers      []int
	events       Hooks
	calls        chan func()
	busyNoticeAt time.Time // time of the last notice that the machine is busy
}

// Play plays all games of the tournament s that are not stored in d, and stores them. bots are in the order of
// Config.Bots. workers has the number of the core for each worker thread, or cores.Any; nil means one thread on any
// core. on has the functions that Play calls while games are played. If Play returns an error after a game has
// started, the error is an *EarlyEndError.
func Play(ctx context.Context, s *State, d *Dir, bots []match.Contestant, workers []int, on Hooks) error {
	if len(workers) == 0 {
		workers = []int{cores.Any}
	}
	r := &run{State: s, dir: d, bots: bots, files: programFiles(bots), workers: workers, events: on, calls: make(chan func())}
	r.busyNoticeAt = time.Now() // matches report a busy machine at once, the tournament only after a minute
	began := false
	for matches := s.Next(); len(matches) > 0; matches = s.Next() {
		earlier := map[*Match][]referee.PlayedGame{}
		err := r.addEarlierGames(ctx, matches, earlier)
		if err == nil {
			matches = slices.DeleteFunc(matches, s.IsFinished)
			began = began || len(matches) > 0
			err = r.playAll(ctx, matches, earlier)
		}
		if err != nil && began {
			return &EarlyEndError{err}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addEarlierGames reads the stored games of the given matches and adds them to the results. It also adds a summary of
// each game to the map earlier.
func (r *run) addEarlierGames(ctx context.Context, matches []*Match, earlier map[*Match][]referee.PlayedGame) error {
	for _, m := range matches {
		for g, err := range r.dir.Games(r.State, m) {
			if err := cmp.Or(ctx.Err(), err); err != nil { // reading many games takes long
				return err
			}
			earlier[m] = append(earlier[m], g.PlayedGame())
			r.Add(m, g)
		}
		if m.isTestOver() {
			if err := r.dir.RemoveGames(m, r.FirstDeal+m.test.countedDeals); err != nil {
				return err
			}
		}
	}
	return nil
}

// playAll plays the given matches, several at the same time. While many matches wait, each gets one worker; when few
// are left, they share all workers. earlier has the games that were played before the tournament was resumed; playAll
// does not play them again. After the first error, playAll stops all matches, waits for them, and returns that error.
func (r *run) playAll(ctx context.Context, matches []*Match, earlier map[*Match][]referee.PlayedGame) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var first error
	free, waiting, playing := slices.Clone(r.workers), matches, 0
	for {
		for len(waiting) > 0 && ctx.Err() == nil {
			m := waiting[0]
			n := max(1, min(len(r.workers)/len(waiting), len(m.Bots)))
			if n > len(free) {
				break
			}
			match := r.match(m, earlier[m], slices.Clone(free[:n]))
			free, waiting = free[n:], waiting[1:]
			playing++
			go func() {
				err := match.Play(ctx, func(g *referee.GameResult) (err error) {
					if err := r.checkProgramFiles(m, g); err != nil {
						return err
					}
					r.callInPlay(func() { err = r.finishGame(m, g) })
					return err
				})
				r.calls <- func() {
					playing--
					free = append(free, match.Resources.Workers...)
					if err != nil && !errors.Is(err, errTestOver) && first == nil {
						first = err
						stop()
					}
				}
			}()
		}
		if playing == 0 {
			break
		}
		call := <-r.calls
		call()
	}
	if first == nil && !r.allFinished(matches) {
		first = ctx.Err()
	}
	return first
}

func (r *run) match(m *Match, earlier []referee.PlayedGame, workers []int) *match.Match {
	p := &match.Match{
		Variant:       r.Variant,
		Deals:         r.Deals,
		FirstDeal:     r.FirstDeal,
		OnlyRotations: r.onlyRotations(),
		Openings:      r.Openings,
		Seed:          r.seedOf(m),
		Clock:         r.Clock,
		Adjudication:  r.Adjudication,
		Patience:      match.LatePatience,
		EarlierGames:  earlier,
		Resources:     match.Resources{Workers: workers},
		Observer: match.Observer{Trouble: func(err error) {
			r.callInPlay(func() { r.reportTrouble(m, err) })
		}},
	}
	for _, b := range m.Bots {
		p.Bots = append(p.Bots, r.bots[b])
	}
	if r.events.Trace != nil {
		p.Observer.Trace = func(t referee.Traffic) { r.events.Trace(m, t) }
	}
	return p
}

// onlyRotations returns the numbers of the rotations (seatings of the bots) that are played; nil means all.
func (r *run) onlyRotations() []int {
	if r.Rotation == nil {
		return nil
	}
	return []int{*r.Rotation}
}

// callInPlay runs the function do in the goroutine of Play, the only one that may use r. It returns when do has
// returned.
func (r *run) callInPlay(do func()) {
	done := make(chan struct{})
	r.calls <- func() {
		do()
		close(done)
	}
	<-done
}

// errTestOver ends a match because its sequential test is over.
var errTestOver = errors.New("the test has ended")

// finishGame stores a finished game and adds it to the results. If that ends the sequential test of the match,
// finishGame removes the games of later deals and returns errTestOver.
func (r *run) finishGame(m *Match, g *referee.GameResult) error {
	if m.isTestOver() { // by a game of another worker
		return errTestOver
	}
	g.Reveal(r.seedOf(m)) // the user of this machine knows it already
	if err := r.dir.StoreGame(m, g); err != nil {
		return err
	}
	ended := r.Add(m, g)
	r.events.OnGame(m, g)
	if !ended {
		return nil
	}
	if err := r.dir.RemoveGames(m, r.FirstDeal+m.test.countedDeals); err != nil {
		return err
	}
	return errTestOver
}

// reportTrouble handles an error of a match. It counts and reports a game that does not count (*match.VoidError).
// It reports a busy machine (*match.BusyError) at most once a minute.
func (r *run) reportTrouble(m *Match, err error) {
	switch e := err.(type) {
	case *match.VoidError:
		again := "and played again"
		if _, starved := errors.AsType[*match.StarvedError](e); starved {
			r.StarvedVoids++
			again = "and will be played again after the others"
		}
		text := fmt.Sprintf("match %d, deal %d, rotation %d is void %s: %v", m.Number, e.Deal, e.Rotation, again, e.Err)
		r.Voids = append(r.Voids, text)
		r.events.Notice(text)
	case *match.BusyError:
		if now := time.Now(); now.Sub(r.busyNoticeAt) >= time.Minute {
			r.busyNoticeAt = now
			r.events.Notice(e.Error())
		}
	}
}

// programFiles returns, for each bot, the paths of the existing files that the bot's command names.
func programFiles(bots []match.Contestant) (files [][]string) {
	for _, b := range bots {
		var named []string
		for _, word := range b.Command {
			if !filepath.IsAbs(word) {
				word = filepath.Join(b.Dir, word)
			}
			if info, err := os.Stat(word); err == nil && info.Mode().IsRegular() {
				named = append(named, word)
			}
		}
		files = append(files, named)
	}
	return files
}

// checkProgramFiles returns an error if a bot did not start in the game g and a file of its program no longer exists.
// The error ends the tournament: the bot is not to blame, and would lose all further games.
func (r *run) checkProgramFiles(m *Match, g *referee.GameResult) error {
	for _, f := range g.Faults {
		if f.IsDisqualified() || !f.Reason.Kind.IsUnstarted() && !f.Reason.BeforeReady {
			continue
		}
		bot := m.Bots[g.Bots[f.Seat]]
		for _, file := range r.files[bot] {
			if _, err := os.Stat(file); err != nil {
				return fmt.Errorf("bot %q cannot be started any more: %w: put it back as it was", r.bots[bot].Name, err)
			}
		}
	}
	return nil
}
