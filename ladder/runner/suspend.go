package runner

import (
	"context"
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/check"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/sandbox"
)

// suspendFaulty suspends each version that had a fault in the finished match p and has failed too often lately. It
// logs its own errors.
func (r *Runner) suspendFaulty(ctx context.Context, p *play) {
	if !p.match.Rated {
		return
	}
	for slot, v := range p.versions {
		f, g := lastFault(p, slot)
		if f == nil || v.IsHouse() {
			continue
		}
		history, err := r.faultHistory(ctx, v)
		if err != nil {
			r.Log.Error("reading a version's fault history", "version", v.ID, "err", err)
			continue
		}
		why := suspendReason(history)
		if why.IsZero() {
			continue
		}
		// The bot may not start because the machine cannot start any program.
		if err := r.Host.Check(ctx); err != nil {
			r.pause(err)
			return
		}
		suspended, err := r.Store.Versions.Suspend(ctx, v.ID, p.match.ID, r.suspendText(p, v, why, f, g))
		if err != nil {
			r.Log.Error("suspending a version", "version", v.ID, "err", err)
			continue
		}
		if suspended {
			r.metrics.suspensions.Inc()
			r.Log.Warn("version suspended", "version", v.ID, "bot", v.Bot, "why", why)
		}
	}
}

// faultHistory returns the faults of v in its last rated matches that did not end early, the last match first. The
// match that was just stored is included. The list has at most historyMatches matches, found among the last
// 5*historyMatches matches of any kind.
func (r *Runner) faultHistory(ctx context.Context, v ladder.Version) (history []matchFaults, err error) {
	matches, err := r.Store.Matches.List(ctx, store.MatchFilter{Version: v.ID, State: ladder.Finished, Limit: 5 * historyMatches})
	if err != nil {
		return nil, err
	}
	for _, m := range matches {
		if !m.Rated || len(history) == historyMatches || !m.Reason.IsZero() { // a match that ended early
			continue
		}
		games, err := r.Store.Matches.Games(ctx, m.ID)
		if err != nil {
			return nil, err
		}
		var faults matchFaults
		for _, g := range games {
			for _, s := range g.Seats {
				if m.Versions[s.Slot] == v.ID {
					faults.add(s.Fault, s.Faults)
				}
			}
		}
		history = append(history, faults)
	}
	return history, nil
}

// lastFault returns the last fault of the version with the index slot in the match p, and the game in which it
// happened. Both are nil if there is no fault. Games in which the version was not started, because of its earlier
// faults, do not count.
func lastFault(p *play, slot int) (last *referee.Fault, in *referee.GameResult) {
	for _, g := range p.games {
		for i, f := range g.Faults {
			if g.Bots[f.Seat] == slot && !f.IsDisqualified() {
				last, in = &g.Faults[i], g
			}
		}
	}
	return last, in
}

const (
	shownLines = 5   // last lines of a log
	shownBytes = 800 // of all shown lines
)

// suspendText returns the explanation for the owner of a suspended version. It consists of why, the reason for the
// suspension; the last fault f, which happened in game g; and advice.
func (r *Runner) suspendText(p *play, v ladder.Version, why phrase.Text, f *referee.Fault, g *referee.GameResult) phrase.Text {
	bot := match.Contestant{Language: v.Language, Sandbox: r.Programs.Sandbox()}
	if v.Remote {
		bot.Sandbox = nil
	}
	c := bot.InCompetition(&g.Replay, *f, g.Logs[f.Seat])
	lines := []phrase.Text{
		why,
		phrase.New("the last fault: match %d (%s), deal %d, rotation %d, seat %d, ply %d: %s: %s",
			p.match.ID, ladderLabel(p.match.Ladder), g.Match.Deal, g.Match.Rotation, f.Seat, f.Ply, f.Code, f.TextIn(c)),
		phrase.New("what to change:"),
	}
	for _, advice := range f.Reason.Advice(c) {
		lines = append(lines, phrase.New("- %s", advice))
	}
	if log := lastLines(c.Log.Lines); log != "" {
		lines = append(lines, phrase.New("the last lines of its stderr in that game:"), phrase.Plain(log))
	} else {
		lines = append(lines, phrase.New("it wrote nothing on stderr in that game"))
	}
	home := strings.Join(check.CommandArgs("DIR", p.match.Game, p.match.Clock, sandbox.Limit{}), " ")
	return phrase.Join("\n", append(lines, phrase.New("try it at home: timba %s", home), phrase.New("submit a new version to bring the bot back"))...)
}

func lastLines(log []string) string {
	var shown []string
	for _, line := range fault.LogEnd(log, shownLines) {
		shown = append(shown, line[:min(len(line), shownBytes/shownLines)])
	}
	return ladder.Plain(strings.Join(shown, "\n"))
}
