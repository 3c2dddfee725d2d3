package runner

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
)

// waitingMatches is a copy of the list of waiting matches in the store, which has at most maxWaiting of them.
type waitingMatches struct {
	store       Store
	catalog     *catalog
	placement   *placement
	count       prometheus.Gauge
	cancelMatch func(ctx context.Context, m *ladder.Match, reason phrase.Text) bool
	wasRead     bool
	generation  uint64          // of the store, when the matches were last read
	matches     []*ladder.Match // the oldest first
}

// maxWaiting is the number of waiting matches that are read from the store. Until some of these have started
// or been dropped, the runner does not consider any others.
const maxWaiting = 1000

// refresh reads the list of waiting matches again if it may have changed, and calls dropAbsent.
func (w *waitingMatches) refresh(ctx context.Context) error {
	now := w.store.Matches.Generation()
	if !w.wasRead || w.generation != now {
		list, err := w.store.Matches.ListWaiting(ctx, maxWaiting)
		if err != nil {
			return err
		}
		w.wasRead, w.generation, w.matches = true, now, nil
		for i := range list {
			w.matches = append(w.matches, &list[i])
		}
		w.count.Set(float64(len(list)))
	}
	w.dropAbsent(ctx)
	return nil
}

// dropAbsent drops waiting matches in which a remote version (one that runs on its owner's machine) has been
// disconnected for too long. Otherwise the opponents in a rated match would have to wait as well, and requested
// matches would accumulate.
func (w *waitingMatches) dropAbsent(ctx context.Context) {
	for _, m := range w.matches {
		if m.State == ladder.Dropped || w.placement.matches[m.ID] != nil {
			continue
		}
		for slot, v := range m.Versions {
			if m.Remote[slot] && w.catalog.remotes.IsGone(v) {
				if !w.cancelMatch(ctx, m, phrase.New("cancelled: version %d of %s is not connected", m.Numbers[slot], m.Bots[slot])) {
					return
				}
				m.State = ladder.Dropped
				break
			}
		}
	}
}

// canBegin reports whether the waiting match m can start now on the machine of c.
func (w *waitingMatches) canBegin(ctx context.Context, c Core, m *ladder.Match) bool {
	if m.State == ladder.Dropped || w.placement.matches[m.ID] != nil {
		return false
	}
	if b := w.catalog.backoffs; b.isBackingOff(matchName(m.ID), c.now) || b.isBackingOff(ladderName(m.Ladder), c.now) {
		return false
	}
	for slot, v := range m.Versions {
		if !w.catalog.canPlay(ctx, c, v, m.Remote[slot]) {
			return false
		}
	}
	if c.Local {
		return true // admitJob drops a match that never fits
	}
	v, err := m.Variant()
	return err != nil || w.catalog.roomOf(c).Check("", v, m.HouseOrRemote()) == nil // attempt.Play reports the error
}

// interruptedMatches is a Source of the waiting matches that nobody requested. Most of them wait because a try to
// play them was interrupted. The oldest comes first.
type interruptedMatches struct{ *waitingMatches }

func (s *interruptedMatches) Next(ctx context.Context, c Core) (Job, error) {
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	for _, m := range s.matches {
		if m.RequestedBy == 0 && (m.Rated || c.Local) && s.canBegin(ctx, c, m) {
			return s.catalog.job(ctx, m, c)
		}
	}
	return nil, nil
}

func (s *interruptedMatches) RecordStart(Job) {}

// requestedMatches is a Source of the matches that people requested. Only this machine plays them, at most one match
// of each person at a time. The person whose last match started the longest time ago comes next. If there are several
// cores, one of them never gets a requested match.
type requestedMatches struct {
	*waitingMatches
	turn  int
	turns map[int64]int // last turn of each person
}

func (s *requestedMatches) Next(ctx context.Context, c Core) (Job, error) {
	if !c.Local {
		return nil, nil
	}
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	var best *ladder.Match
	for _, m := range s.matches {
		isEarlier := best == nil || s.turns[m.RequestedBy] < s.turns[best.RequestedBy]
		if m.RequestedBy != 0 && isEarlier && s.leavesRoom(ctx, c, m) && s.canBegin(ctx, c, m) {
			best = m
		}
	}
	if best == nil {
		return nil, nil
	}
	return s.catalog.job(ctx, best, c)
}

// leavesRoom reports whether m can start beside the requested matches that are running: the same person has requested
// none of these, one core remains for other jobs, and there is enough memory. A match that waited for memory would
// hold up other jobs. If no requested match is running, it returns true.
func (s *requestedMatches) leavesRoom(ctx context.Context, c Core, m *ladder.Match) bool {
	playing := 0
	for _, a := range c.assignments {
		if asker := requesterOf(a.job); asker != 0 {
			if playing++; asker == m.RequestedBy {
				return false
			}
		}
	}
	if playing == 0 {
		return true
	}
	if playing >= len(c.Cores)-1 || c.Memory == 0 {
		return playing < len(c.Cores)-1
	}
	j, err := s.catalog.job(ctx, m, c)
	return err == nil && c.hasMemory(j.need)
}

func (s *requestedMatches) RecordStart(j Job) {
	s.turn++
	s.turns[requesterOf(j)] = s.turn
}
