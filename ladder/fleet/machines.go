package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/time/rate"

	"github.com/timba-arena/timba/sandbox"
)

// machine is a machine as the hub knows it.
type machine struct {
	Machine
	session  string
	replaced []string // earlier sessions of the name, the newest last
	joined   bool     // its jobs have a consumer
	joins    int      // how many they had
	joining  bool
	limit    *rate.Limiter
}

// maxReplaced is how many earlier sessions of a name the hub remembers.
const maxReplaced = 8

func sortedMachines(all map[string]*machine) []Machine {
	list := []Machine{}
	for _, m := range all {
		if m.session != "" {
			c := m.Machine
			c.Playing = slices.Clone(c.Playing)
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b Machine) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// beat takes what a machine tells of itself, and answers.
func (h *Hub) beat(msg *nats.Msg) {
	name := machineOf(msg.Subject)
	var b beat
	if len(msg.Data) > MaxBeat || json.Unmarshal(msg.Data, &b) != nil || b.Name != name || b.Session == "" || !b.decent() {
		h.Log.Debug("a machine tells what cannot be read", "machine", name, "bytes", len(msg.Data))
		return
	}
	if !h.admit(name, time.Now()) { // what is not readable may be another's doing, and does not count
		return
	}
	a, join := h.heard(b)
	if join {
		go h.join(msg, b) // it ends with the hub
		return
	}
	h.reply(msg, a)
}

// decent reports whether people can be shown what a machine says of itself: its words are short, and
// printable ASCII.
func (m *Machine) decent() bool {
	words := []string{m.Version, m.OS, m.Arch, m.Sandbox}
	for name, version := range m.Interpreters {
		words = append(words, name, version)
	}
	return !slices.ContainsFunc(words, func(word string) bool {
		return len(word) > MaxWord || strings.ContainsFunc(word, func(r rune) bool { return r < ' ' || r > '~' })
	})
}

func (h *Hub) reply(msg *nats.Msg, a answer) {
	data, err := json.Marshal(a)
	if err != nil {
		h.Log.Debug("a machine cannot be answered", "machine", machineOf(msg.Subject), "err", err)
		return
	}
	h.respond(msg, data)
}

// respond answers a machine. In an account of its own its messages are answered there; in that of the server the
// answer goes nowhere but to the machine, since NATS would do what it is told with the rights of the server.
func (h *Hub) respond(msg *nats.Msg, data []byte) {
	name := machineOf(msg.Subject)
	if h.embedded == nil && !strings.HasPrefix(msg.Reply, inboxPrefix(name)+".") {
		h.Log.Debug("a machine wants its answer elsewhere", "machine", name, "reply", msg.Reply)
		return
	}
	if err := msg.Respond(data); err != nil {
		h.Log.Debug("a machine cannot be answered", "machine", name, "err", err)
	}
}

// admit reports whether a machine may tell something now: more than MaxBeats is left unread.
func (h *Hub) admit(name string, now time.Time) bool {
	if CheckName(name) != nil || name == Local {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	m := h.machines[name]
	if m == nil {
		m = &machine{limit: rate.NewLimiter(MaxBeats, 4*MaxBeats)}
		m.Seen = now
		h.machines[name] = m
	}
	return m.limit.AllowN(now, 1)
}

// heard notes what a machine tells; join is true while its jobs have no consumer.
func (h *Hub) heard(b beat) (a answer, join bool) {
	a.Server, a.AckTime = h.session, h.AckTime
	h.mu.Lock()
	defer h.mu.Unlock()
	m := h.machines[b.Name]
	if m == nil { // it has just gone
		return a, false
	}
	if slices.Contains(m.replaced, b.Session) {
		a.Refused, a.End = fmt.Sprintf("another worker has the credentials of %q: add one for each worker", b.Name), true
		return a, false
	}
	if m.session != b.Session && m.session != "" {
		m.replaced = append(m.replaced, m.session)
		m.replaced = m.replaced[max(0, len(m.replaced)-maxReplaced):]
		m.joined = false
		h.hurry(b.Name) // a new worker mentions below what the old one has left to hand in
	}
	m.session = b.Session
	a.Jobs = m.joins
	b.Machine.Seen = time.Now()
	b.Machine.Refused = h.refuses(b.Machine)
	a.Refused = b.Machine.Refused
	news := !sameMachine(m.Machine, b.Machine)
	m.Machine = b.Machine
	a.Over = h.mentioned(m.Machine)
	if b.Leaving {
		h.leave(b.Name)
		news = true
	}
	if news {
		h.tellChanged()
	}
	if m.joining {
		a.Server = "" // it asks for its jobs when there is something to ask
	}
	if m.joined || m.joining || a.Refused != "" || b.Leaving {
		return a, false
	}
	m.joining = true
	return a, true
}

// refuses returns why a machine gets no jobs, "" if it does.
func (h *Hub) refuses(m Machine) string {
	switch {
	case m.Protocol != Protocol:
		return fmt.Sprintf("timba %s on %q has protocol %d, and the server has %d: install the server's version", m.Version, m.Name, m.Protocol, Protocol)
	case h.Sandbox != nil && !enough(m.Sandbox, h.Sandbox.Level):
		return fmt.Sprintf("%q has a sandbox of level %s, and the competition requires %s: timba doctor shows what is missing", m.Name, m.Sandbox, h.Sandbox.Level)
	case len(m.Cores) == 0:
		return fmt.Sprintf("%q has no cores to play on", m.Name)
	}
	return ""
}

// enough reports whether the level of a machine's sandbox is at least the one that bots need.
func enough(level string, least sandbox.Level) bool {
	got, err := sandbox.ParseLevel(level)
	return err == nil && got >= least
}

// sameMachine reports whether nothing has changed but the time.
func sameMachine(a, b Machine) bool {
	a.Seen, b.Seen, a.Playing, b.Playing = time.Time{}, time.Time{}, nil, nil
	return reflect.DeepEqual(a, b)
}

// join makes the consumer of a machine's jobs, and answers. When all machines come at once, they take
// turns: JetStream makes one consumer after the other, and what it has not made in time is asked of
// it again.
func (h *Hub) join(msg *nats.Msg, b beat) {
	h.joins <- struct{}{}
	defer func() { <-h.joins }()
	ctx, cancel := context.WithTimeout(h.ending, joinTime)
	defer cancel()
	_, err := h.link.js.CreateOrUpdateConsumer(ctx, jobsStream, jetstream.ConsumerConfig{
		Durable: b.Name, FilterSubject: jobsSubject(b.Name), AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: h.AckTime, MaxDeliver: maxDeliver, MaxWaiting: maxPulls, MaxRequestBatch: MaxJobs, MemoryStorage: true,
		InactiveThreshold: inactive,
	})
	a := answer{Server: h.session, AckTime: h.AckTime}
	h.mu.Lock()
	if m := h.machines[b.Name]; m != nil {
		m.joining = false
		m.joined = err == nil && m.session == b.Session
		m.joins++
		a.Jobs = m.joins
	}
	h.mu.Unlock()
	if err != nil {
		h.Log.Warn("the jobs of a machine have no consumer", "machine", b.Name, "err", err)
		return // it asks again
	}
	h.Log.Debug("a machine is there", "machine", b.Name, "version", b.Version, "cores", len(b.Cores), "arch", b.Arch, "sandbox", b.Sandbox)
	h.reply(msg, a)
	h.tellChanged()
}

// How many consumers are made at once, and how long one may take.
const maxJoins, joinTime = 8, 30 * time.Second

// What a machine may ask of its jobs.
const (
	maxDeliver = 2 // times that a job is handed out: its machine says that it has it before it plays
	maxPulls   = 8
	inactive   = time.Hour // without a request, after which its consumer goes
)

// mentioned notes the attempts that a machine has, and returns those that are over.
func (h *Hub) mentioned(m Machine) (over []attemptOf) {
	now := time.Now()
	for _, p := range m.Playing {
		key := attemptOf{p.Match, p.Attempt}
		a := h.attempts[key]
		switch {
		case a != nil && a.machine == m.Name:
			a.mentioned = now
		case a == nil && !h.over.Contains(key) && now.Sub(h.began) < h.AckTime:
			// Its match may be awaited in a moment.
		default:
			over = append(over, key)
		}
	}
	return over
}

// settle is how long what was handed in last may be on its way.
const settle = 2 * time.Second

// hurry makes the attempts of a machine be lost in a moment that are not mentioned again.
// Whoever calls it holds the lock.
func (h *Hub) hurry(name string) {
	for _, a := range h.attempts {
		if a.machine == name {
			a.mentioned = time.Now().Add(settle - h.AckTime)
		}
	}
}

// leave forgets a machine that says good-bye.
func (h *Hub) leave(name string) {
	h.hurry(name)
	h.Log.Debug("a machine has left", "machine", name)
	delete(h.machines, name)
}

// excuse counts all machines and attempts as mentioned now.
func (h *Hub) excuse() {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for _, m := range h.machines {
		m.Seen = now
	}
	for _, a := range h.attempts {
		a.mentioned = now
	}
}

// expire forgets machines that are gone, and ends attempts that their machines do not mention.
func (h *Hub) expire(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range slices.Collect(maps.Values(h.machines)) {
		if now.Sub(m.Seen) <= h.AckTime {
			continue
		}
		if m.session != "" {
			h.Log.Warn("a machine is gone", "machine", m.Name, "seen", m.Seen)
			h.tellChanged()
		}
		maps.DeleteFunc(h.machines, func(_ string, o *machine) bool { return o == m })
	}
	for key, a := range h.attempts {
		if now.Sub(a.mentioned) > h.AckTime {
			h.Log.Warn("an attempt is lost", "match", key.Match, "attempt", key.Attempt, "machine", a.machine)
			a.lose()
		}
	}
}
