package runner

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/fleet"
)

// roster is what the runner knows of its machines and others may see while Run goes on.
type roster struct {
	mu      sync.Mutex
	records *lru.Cache[string, *record] // by name; of more than can be connected, the oldest are forgotten
}

// record is what is known of a machine since the server started.
type record struct {
	playing   map[fleet.Playing]ladder.MachineMatch // by match and attempt alone
	seen      time.Time                             // before it left
	until     time.Time                             // end of its rest
	suspended string                                // why it gets nothing more; "" if it does
	hour      hour
	finished  int64
	void      int64
	starved   int64
	broken    int64
}

// restsFailed is why a machine rests. Everybody may read it.
const restsFailed = "it could not play a match"

func newRoster() roster {
	records, err := lru.New[string, *record](fleet.MaxConnections)
	if err != nil {
		panic("runner: " + err.Error()) // only for a size below 1
	}
	return roster{records: records}
}

// of changes the record of a machine.
func (r *roster) of(machine string, change func(*record)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x, ok := r.records.Get(machine)
	if !ok {
		x = &record{playing: map[fleet.Playing]ladder.MachineMatch{}}
		r.records.Add(machine, x)
	}
	change(x)
}

// plays notes that a machine plays an attempt, until end is called.
func (r *roster) plays(machine string, m *ladder.Match, a ladder.Attempt) (end func()) {
	key := fleet.Playing{Match: m.ID, Attempt: a.Number}
	began := a.Began
	if n := len(m.Attempts); began.IsZero() && n > 0 { // an earlier server has begun it
		began = m.Attempts[n-1].Began
	}
	r.of(machine, func(x *record) {
		x.playing[key] = ladder.MachineMatch{
			Match: m.ID, Attempt: a.Number, Ladder: m.Ladder, Began: began,
			Bots: slices.Clone(m.Bots), Numbers: slices.Clone(m.Numbers),
		}
	})
	return func() { r.of(machine, func(x *record) { delete(x.playing, key) }) }
}

// finished counts a match that is stored.
func (r *roster) finished(machine string, now time.Time) {
	r.of(machine, func(x *record) {
		x.finished++
		x.hour.add(now)
	})
}

// counts counts the games of a result that were played again.
func (r *roster) counts(machine string, result fleet.Result) {
	if result.Voids == 0 && result.Starved == 0 {
		return
	}
	r.of(machine, func(x *record) {
		x.void += int64(result.Voids)
		x.starved += int64(result.Starved)
	})
}

// broke counts an attempt that has no result because of its machine.
func (r *roster) broke(machine string) {
	r.of(machine, func(x *record) { x.broken++ })
}

// rests notes that a machine rests, because it could not play a match.
func (r *roster) rests(machine string, until time.Time) {
	r.of(machine, func(x *record) { x.until = until })
}

// worked notes that a machine does not rest.
func (r *roster) worked(machine string) {
	r.of(machine, func(x *record) { x.until = time.Time{} })
}

// suspended returns why a machine gets nothing more; "" if it does.
func (r *roster) suspended(machine string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if x, ok := r.records.Peek(machine); ok {
		return x.suspended
	}
	return ""
}

// left notes that a machine is not there any more.
func (r *roster) left(machine string, seen time.Time) {
	r.of(machine, func(x *record) { x.seen = seen })
}

// Machines returns the machines that are there, and those of added that are not, by name and the
// server's own first. added has when machines were given credentials, by name. It may be called
// while Run goes on.
func (r *Runner) Machines(added map[string]time.Time) []ladder.Machine {
	there, now := append(r.Fleet.Machines(), r.Local), r.Now()
	if r.Interpreters != nil {
		there[len(there)-1].Interpreters = r.Interpreters()
	}
	there[len(there)-1].Seen = now
	away := maps.Clone(added)
	list := make([]ladder.Machine, 0, len(there))
	r.roster.mu.Lock()
	defer r.roster.mu.Unlock()
	for _, m := range there {
		doc := ladder.Machine{
			Name: m.Name, Local: m.Local, State: ladder.MachineReady, Version: m.Version, Protocol: m.Protocol, OS: m.OS, Arch: m.Arch,
			Sandbox: m.Sandbox, Interpreters: maps.Clone(m.Interpreters), Cores: len(m.Cores), Memory: m.Memory, Seen: m.Seen, Added: added[m.Name],
		}
		r.roster.fill(&doc, now)
		switch {
		case doc.State == ladder.MachineSuspended:
		case m.Refused != "":
			doc.State, doc.Reason, doc.Until = ladder.MachineRefused, m.Refused, time.Time{}
		case m.Draining:
			doc.State, doc.Reason, doc.Until = ladder.MachineDraining, "", time.Time{}
		}
		list = append(list, doc)
		delete(away, m.Name)
	}
	for name, at := range away {
		doc := ladder.Machine{Name: name, Added: at}
		r.roster.fill(&doc, now)
		if doc.State != ladder.MachineSuspended {
			doc.State, doc.Reason, doc.Until = ladder.MachineAway, "", time.Time{}
		}
		list = append(list, doc)
	}
	slices.SortFunc(list, func(a, b ladder.Machine) int {
		switch {
		case a.Local != b.Local && a.Local:
			return -1
		case a.Local != b.Local:
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list
}

// fill adds to a machine what was noted of it. Whoever calls it holds the lock.
func (r *roster) fill(m *ladder.Machine, now time.Time) {
	x, ok := r.records.Peek(m.Name)
	if !ok {
		return
	}
	if m.Seen.IsZero() {
		m.Seen = x.seen
	}
	m.Playing = slices.SortedFunc(maps.Values(x.playing), func(a, b ladder.MachineMatch) int { return int(a.Match - b.Match) })
	m.Finished, m.LastHour, m.Void, m.Starved, m.Broken = x.finished, x.hour.sum(now), x.void, x.starved, x.broken
	if x.suspended != "" {
		m.State, m.Reason = ladder.MachineSuspended, x.suspended
	} else if now.Before(x.until) {
		m.State, m.Reason, m.Until = ladder.MachineResting, restsFailed, x.until
	}
}

// hour counts what happened in the last 60 minutes, by the minute.
type hour struct {
	counts [60]int
	last   int64 // minute of the last count
}

func (h *hour) add(now time.Time) {
	h.forget(now)
	h.counts[h.last%int64(len(h.counts))]++
}

func (h *hour) sum(now time.Time) (n int) {
	h.forget(now)
	for _, c := range h.counts {
		n += c
	}
	return n
}

// forget forgets the minutes that are too long ago.
func (h *hour) forget(now time.Time) {
	minute := now.Unix() / 60
	size := int64(len(h.counts))
	for m := max(h.last, minute-size) + 1; m <= minute; m++ {
		h.counts[m%size] = 0
	}
	h.last = max(h.last, minute)
}
