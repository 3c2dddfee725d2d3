package runner

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/rules/games"
)

// judge benches the versions of a finished match that failed too often. Its own
// errors are logged; they never make the match fail.
func (r *Runner) judge(ctx context.Context, p *played) {
	if !p.Rated {
		return
	}
	for slot, v := range p.versions {
		f, g := lastFault(p, slot)
		if f == nil || v.House() {
			continue
		}
		why, err := r.benchReason(ctx, v)
		if err != nil {
			r.Log.Error("reading a version's fault history", "version", v.ID, "err", err)
			continue
		}
		if why == "" {
			continue
		}
		// The bot may not start because the machine cannot start any program.
		if err := r.Check(ctx); err != nil {
			r.pause(err)
			return
		}
		benched, err := r.Store.Bench(ctx, v.ID, benchText(p, v, why, f, g))
		if err != nil {
			r.Log.Error("benching a version", "version", v.ID, "err", err)
			continue
		}
		if benched {
			r.metrics.benched.Inc()
			r.Log.Warn("version benched", "version", v.ID, "bot", v.Bot, "why", why)
			r.Events.Publish(events.Event{Kind: events.VersionMoved, At: r.Now(), Version: v.ID, State: ladder.Benched, Text: why})
		}
	}
}

// benchReason returns why a version must be benched by its last rated matches,
// including the one just stored; "" when it need not be.
func (r *Runner) benchReason(ctx context.Context, v ladder.Version) (why string, err error) {
	matches, err := r.Store.Matches(ctx, store.MatchFilter{Version: v.ID, State: ladder.Finished, Limit: 5 * historyMatches})
	if err != nil {
		return "", err
	}
	var history []matchFaults
	for _, m := range matches {
		if !m.Rated || len(history) == historyMatches || m.Reason != "" { // a match that ended early
			continue
		}
		games, err := r.Store.Games(ctx, m.ID)
		if err != nil {
			return "", err
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
	return verdict(history), nil
}

// lastFault returns the last fault of a slot and its game, without the games that it
// forfeited unplayed.
func lastFault(p *played, slot int) (last *referee.Fault, in *referee.Game) {
	for _, g := range p.games {
		for i, f := range g.Faults {
			if g.Bots[f.Seat] == slot && !f.Disqualified() {
				last, in = &g.Faults[i], g
			}
		}
	}
	return last, in
}

const (
	shownLines = 5   // last lines of a log
	shownBytes = 800 // at most, of those
)

// benchText returns the message for the owner of a benched version.
func benchText(p *played, v ladder.Version, why string, f *referee.Fault, g *referee.Game) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, version %d, is benched: %s\n", v.Bot, v.Number, why)
	fmt.Fprintf(&b, "the last fault: match %d (%s), deal %d, rotation %d, seat %d, ply %d: %s: %s\n",
		p.ID, ladderLabel(p.Ladder), g.Match.Deal, g.Match.Rotation, f.Seat, f.Ply, f.Code, f.Text)
	fmt.Fprintf(&b, "what to change: %s\n", advice(p, f, g))
	if log := lastLines(g.Logs[f.Seat]); log != "" {
		fmt.Fprintf(&b, "the last lines of its stderr in that game:\n%s\n", log)
	} else {
		b.WriteString("it wrote nothing on stderr in that game\n")
	}
	b.WriteString("submit a new version to bring the bot back")
	return b.String()
}

// advice returns the most likely advice for a bot with a fault.
func advice(p *played, f *referee.Fault, g *referee.Game) string {
	var c fault.Circumstances
	if r, err := games.Find(p.Game); err == nil {
		c, _ = g.Circumstances(r, *f, g.Logs[f.Seat]) // the advice is less certain without them
	}
	return f.Reason.Advice(c)[0]
}

// lastLines returns the end of a log, as text.
func lastLines(log []byte) string {
	log = bytes.TrimRight(log, "\n")
	lines := bytes.Split(log, []byte("\n"))
	end := bytes.Join(lines[max(0, len(lines)-shownLines):], []byte("\n"))
	if len(end) > shownBytes {
		end = end[len(end)-shownBytes:]
	}
	return ladder.Plain(string(end))
}
