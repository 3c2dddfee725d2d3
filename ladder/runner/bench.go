package runner

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
)

// judge benches the versions of a finished match that failed once too often. It
// is never the reason for a match to fail: what goes wrong here is logged.
func (r *Runner) judge(ctx context.Context, p *played) {
	if !p.Rated {
		return
	}
	for slot, v := range p.versions {
		f, g := lastFault(p, slot)
		if f == nil || v.House() {
			continue
		}
		why, err := r.guilt(ctx, v)
		if err != nil {
			r.Log.Error("looking back at a version's matches", "version", v.ID, "err", err)
			continue
		}
		if why == "" {
			continue
		}
		// What looks like a bot that does not start may be a machine that starts
		// nothing any more.
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
			r.hub.publish(Event{Kind: VersionMoved, At: r.Now(), Version: v.ID, State: ladder.Benched, Text: why})
		}
	}
}

// guilt looks back at a version's rated matches, the one just kept included.
func (r *Runner) guilt(ctx context.Context, v ladder.Version) (why string, err error) {
	matches, err := r.Store.Matches(ctx, store.MatchFilter{Version: v.ID, State: ladder.Finished, Limit: 5 * conductMatches})
	if err != nil {
		return "", err
	}
	var conducts []conduct
	for _, m := range matches {
		if !m.Rated || len(conducts) == conductMatches {
			continue
		}
		games, err := r.Store.Games(ctx, m.ID)
		if err != nil {
			return "", err
		}
		var c conduct
		for _, g := range games {
			for _, s := range g.Seats {
				if m.Versions[s.Slot] == v.ID {
					c.add(s.Fault, s.Faults)
				}
			}
		}
		conducts = append(conducts, c)
	}
	return verdict(conducts), nil
}

// lastFault is the last fault of a slot that is not a game it was out of, and the
// game that it was in.
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
	shownLines = 5   // of a log, at its end
	shownBytes = 800 // of those
)

// benchText is what the owner reads.
func benchText(p *played, v ladder.Version, why string, f *referee.Fault, g *referee.Game) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, version %d, is benched: %s\n", v.Bot, v.Number, why)
	fmt.Fprintf(&b, "the last fault: match %d (%s), deal %d, rotation %d, seat %d, ply %d: %s: %s\n",
		p.ID, ladderLabel(p.Ladder), g.Match.Deal, g.Match.Rotation, f.Seat, f.Ply, f.Code, f.Text)
	if log := lastLines(g.Logs[f.Seat]); log != "" {
		fmt.Fprintf(&b, "the last lines of its stderr in that game:\n%s\n", log)
	} else {
		b.WriteString("it wrote nothing on stderr in that game\n")
	}
	b.WriteString("submit a new version to put the bot back")
	return b.String()
}

// lastLines is the end of a log, as text.
func lastLines(log []byte) string {
	log = bytes.TrimRight(log, "\n")
	lines := bytes.Split(log, []byte("\n"))
	end := bytes.Join(lines[max(0, len(lines)-shownLines):], []byte("\n"))
	if len(end) > shownBytes {
		end = end[len(end)-shownBytes:]
	}
	return ladder.Plain(string(end))
}
