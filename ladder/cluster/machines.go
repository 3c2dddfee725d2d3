package cluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/time/rate"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/sandbox"
)

// machine is what the dispatcher knows about one machine that plays matches.
type machine struct {
	attempt.WorkerInfo
	session         string        // ID of the run of the worker; empty until the first heartbeat
	earlierSessions []string      // IDs of earlier runs, the newest last
	limit           *rate.Limiter // of heartbeats
	reading         bool          // whether a part of a bot's files is being read for the machine
}

// maxEarlierSessions is how many earlier connections of a machine are remembered.
const maxEarlierSessions = 8

// handleHeartbeat handles the heartbeat of a machine: it updates what is known about the machine and answers.
func (h *Dispatcher) handleHeartbeat(msg *nats.Msg) {
	name := machineOf(msg.Subject)
	var b heartbeat
	if len(msg.Data) > MaxHeartbeat || json.Unmarshal(msg.Data, &b) != nil || b.Name != name || b.Session == "" || !isPrintable(b.WorkerInfo) {
		h.Log.Debug("a heartbeat cannot be read", "machine", name, "bytes", len(msg.Data))
		return
	}
	if a, ok := h.recordHeartbeat(b, time.Now()); ok {
		h.reply(msg, a)
	}
}

// isPrintable reports whether the texts in m, which the machine has sent, can be shown to people.
func isPrintable(m attempt.WorkerInfo) bool {
	words := []string{m.Version, m.OS, m.Arch, m.Sandbox}
	for name, version := range m.Interpreters {
		words = append(words, name, version)
	}
	return !slices.ContainsFunc(words, func(word string) bool { return !ladder.IsLine(word, MaxWord) })
}

func (h *Dispatcher) reply(msg *nats.Msg, answer any) {
	data, err := json.Marshal(answer)
	if err != nil {
		h.Log.Debug("a machine cannot be answered", "machine", machineOf(msg.Subject), "err", err)
		return
	}
	h.respond(msg, data)
}

// respond sends data as the answer to a message of a machine. The machine chooses the NATS subject of the answer, and
// the server may publish on any subject. This is safe: if the machine has its own NATS account, it can name only
// subjects of that account. If it uses the server's account, respond sends nothing on the subject of another machine.
func (h *Dispatcher) respond(msg *nats.Msg, data []byte) {
	name := machineOf(msg.Subject)
	if h.embeddedServer == nil && !strings.HasPrefix(msg.Reply, inboxPrefix(name)+".") {
		h.Log.Debug("a machine wants its answer elsewhere", "machine", name, "reply", msg.Reply)
		return
	}
	if err := msg.Respond(data); err != nil {
		h.Log.Debug("a machine cannot be answered", "machine", name, "err", err)
	}
}

// machine returns the machine called name, which it adds if necessary. It returns nil if the name is not
// valid. The caller must hold h.mu.
func (h *Dispatcher) machine(name string) *machine {
	m := h.machines[name]
	if m == nil && checkName(name) == nil {
		m = &machine{limit: rate.NewLimiter(MaxHeartbeats, 4*MaxHeartbeats)}
		m.SeenAt = time.Now()
		h.machines[name] = m
	}
	return m
}

// recordHeartbeat updates the machine that sent b and returns the answer. If the machine sends more than
// MaxHeartbeats per second, ok is false and no answer must be sent. Unreadable heartbeats do not count toward
// this limit, because another user may have sent them.
func (h *Dispatcher) recordHeartbeat(b heartbeat, now time.Time) (a heartbeatReply, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := h.machine(b.Name)
	if m == nil || !m.limit.AllowN(now, 1) {
		return a, false
	}
	if slices.Contains(m.earlierSessions, b.Session) {
		a.Refusal, a.End = fmt.Sprintf("another worker has the credentials of %q: add one for each worker", b.Name), true
		return a, true
	}
	if m.session != b.Session && m.session != "" {
		m.earlierSessions = append(m.earlierSessions, m.session)
		m.earlierSessions = m.earlierSessions[max(0, len(m.earlierSessions)-maxEarlierSessions):]
		h.expireSoon(b.Name) // the new worker names the results that the old one left
	}
	if m.session == "" {
		h.Log.Debug("a machine is there", "machine", b.Name, "version", b.Version, "cores", len(b.Cores), "arch", b.Arch, "sandbox", b.Sandbox)
	}
	m.session = b.Session
	b.WorkerInfo.SeenAt = now
	b.WorkerInfo.Refusal = h.refusal(b.WorkerInfo)
	a.Refusal = b.WorkerInfo.Refusal.String()
	hasChanged := !sameMachine(m.WorkerInfo, b.WorkerInfo)
	m.WorkerInfo = b.WorkerInfo
	a.EndedAttempts = h.acknowledge(m.WorkerInfo)
	if b.Leaving {
		h.expireSoon(b.Name)
		h.Log.Debug("a machine has left", "machine", b.Name)
		delete(h.machines, b.Name)
		hasChanged = true
	}
	if hasChanged {
		h.notifyChanged()
	}
	return a, true
}

// refusal returns the reason why the server gives the machine m no jobs. The text is empty if m may get jobs.
func (h *Dispatcher) refusal(m attempt.WorkerInfo) (why phrase.Text) {
	switch {
	case m.Protocol != Protocol:
		return phrase.New("timba %s on %q has protocol %d, and the server has %d: install the server's version", m.Version, m.Name, m.Protocol, Protocol)
	case h.Sandbox != nil && !meetsLevel(m.Sandbox, h.Sandbox.Level):
		return phrase.New("%q has a sandbox of level %s, and the competition requires %s: timba doctor shows what is missing", m.Name, m.Sandbox, h.Sandbox.Level)
	case len(m.Cores) == 0:
		return phrase.New("%q has no cores to play on", m.Name)
	}
	return why
}

func meetsLevel(level string, required sandbox.Level) bool {
	parsed, err := sandbox.ParseLevel(level)
	return err == nil && parsed >= required
}

func sameMachine(a, b attempt.WorkerInfo) bool {
	a.SeenAt, b.SeenAt, a.Attempts, b.Attempts = time.Time{}, time.Time{}, nil, nil
	return reflect.DeepEqual(a, b)
}

// acknowledge records that the matches in the heartbeat m are still running. It returns the keys of those that are
// over, which the machine must stop. The caller must hold h.mu.
func (h *Dispatcher) acknowledge(m attempt.WorkerInfo) (over []attemptKey) {
	for _, p := range m.Attempts {
		key := attemptKey{p.Match, p.Attempt}
		a := h.attempts.all[key]
		switch {
		case a != nil && a.machine == m.Name:
			a.namedAt = time.Now()
			if a.state == sent {
				a.state = acknowledged
			}
		case a == nil && h.attempts.mayArrive(key):
		default:
			over = append(over, key)
		}
	}
	return over
}

// settleTime is how long the last results of a machine may be on their way after its worker has ended.
const settleTime = 2 * time.Second

// expireSoon makes the matches on the machine called name count as lost after settleTime, except matches that a
// heartbeat of the machine names before then. The caller must hold h.mu.
func (h *Dispatcher) expireSoon(name string) {
	for _, a := range h.attempts.byMachine[name] {
		a.namedAt = time.Now().Add(settleTime - h.AckTime)
	}
}

// renewTimes sets the time of the last heartbeat of all machines and matches to now. It is called when this
// process could not receive heartbeats, so that nothing is lost for that reason.
func (h *Dispatcher) renewTimes() {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for _, m := range h.machines {
		m.SeenAt = now
	}
	for _, a := range h.attempts.all {
		a.namedAt = now
	}
}

// expire removes machines that have sent no heartbeat for AckTime. Matches that no heartbeat has named for
// AckTime become lost. Jobs that no heartbeat has named yet are sent again.
func (h *Dispatcher) expire(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range slices.Collect(maps.Values(h.machines)) {
		if now.Sub(m.SeenAt) <= h.AckTime {
			continue
		}
		if m.session != "" {
			h.Log.Warn("a machine is gone", "machine", m.Name, "seen", m.SeenAt)
			h.notifyChanged()
		}
		maps.DeleteFunc(h.machines, func(_ string, o *machine) bool { return o == m })
	}
	for key, a := range h.attempts.all {
		switch {
		case (a.state == sent || a.state == acknowledged) && now.Sub(a.namedAt) > h.AckTime:
			h.Log.Warn("an attempt is lost", "match", key.Match, "attempt", key.Attempt, "machine", a.machine)
			a.lose()
		case a.state == sent && a.job != nil && now.Sub(a.sentAt) >= HeartbeatTime:
			a.sentAt = now
			if err := h.link.Publish(jobsSubject(a.machine), a.job); err != nil {
				h.Log.Debug("a job cannot be sent again", "machine", a.machine, "err", err)
			}
		}
	}
}
