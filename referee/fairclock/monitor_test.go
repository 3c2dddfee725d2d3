package fairclock

import (
	"errors"
	"testing"
	"time"
)

// counted implements counters with values that a test sets.
type counted struct {
	counts
	err     error
	threads int // that run
}

func (c *counted) read() (counts, error) { return c.counts, c.err }
func (c *counted) running() int          { return c.threads }
func (c *counted) close()                {}

// player implements Counters with values that a test sets.
type player struct {
	usage   Usage
	unknown bool
	ready   Threads
}

func (p *player) CPU() time.Duration      { return p.usage.CPU }
func (p *player) QuickCPU() time.Duration { return p.usage.CPU }
func (p *player) Usage() (Usage, bool)    { return p.usage, !p.unknown }
func (p *player) Ready() Threads          { return p.ready }

// newMonitor returns a Monitor of a number of cores that the players share.
func newMonitor(c *counted, cores int, p *Players) *Monitor {
	return &Monitor{counters: c, cores: cores, players: p}
}

// The loss of a bot in one second, from the counters of that second.
func TestLoss(t *testing.T) {
	const ms = time.Millisecond
	self := func(cpu, wait time.Duration) Usage {
		return Usage{CPU: cpu, AliveCPU: cpu, Wait: wait}
	}
	for _, c := range []struct {
		name              string
		cores             int
		counts            counts // of the second
		opponent          time.Duration
		self              Usage
		low               bool
		unread            time.Duration // its answer may have been there
		open              time.Duration // it may wait for a core
		certain, possible time.Duration
	}{
		{name: "it had the core", cores: 1, self: self(1000*ms, 0)},
		{name: "it slept on an idle core", cores: 1, counts: counts{IdleTime: 1000 * ms}},
		{name: "it slept while others ran", cores: 1, self: self(0, 5*ms), certain: 5 * ms, possible: 5 * ms},
		{name: "it slept until now while others ran, and wants the core now", cores: 1, open: 10 * ms, possible: 10 * ms},
		{name: "others ran half of the time", cores: 1, self: self(500*ms, 500*ms), certain: 500 * ms, possible: 500 * ms},
		{name: "it may have waited all the time", cores: 1, open: 1000 * ms, possible: 1000 * ms},
		{name: "it may have waited longer than others ran", cores: 1, counts: counts{IdleTime: 700 * ms}, open: 1000 * ms, possible: 300 * ms},
		{name: "its answer was there before the worker had the core", cores: 1, counts: counts{WorkerWait: 80 * ms}, self: self(900*ms, 0), unread: 80 * ms, certain: 80 * ms, possible: 80 * ms},
		{name: "its children wait for one another", cores: 1, self: self(1000*ms, 7000*ms)},
		{name: "its children ran, then it slept", cores: 1, counts: counts{IdleTime: 600 * ms}, self: self(400*ms, 3000*ms)},
		{name: "its opponent ran", cores: 1, opponent: 700 * ms, self: self(300*ms, 700*ms)},
		{name: "its opponent and others ran", cores: 1, opponent: 500 * ms, self: self(300*ms, 700*ms), certain: 200 * ms, possible: 200 * ms},
		{name: "children that have ended may have waited", cores: 1, self: Usage{CPU: 300 * ms, AliveCPU: 0}, certain: 700 * ms, possible: 700 * ms},
		{name: "children that have ended had the lowest priority", cores: 1, self: Usage{CPU: 30 * ms}, low: true, certain: 970 * ms, possible: 970 * ms},
		{name: "a child that has ended has run too little to have waited for long", cores: 1, self: Usage{CPU: 20 * ms}, certain: 100 * ms, possible: 100 * ms},
		{name: "the hypervisor stole", cores: 1, counts: counts{StolenTime: 300 * ms}, self: self(700*ms, 0), certain: 300 * ms, possible: 300 * ms},
		{name: "the hypervisor stole and others ran", cores: 1, counts: counts{StolenTime: 300 * ms}, self: self(500*ms, 200*ms), certain: 500 * ms, possible: 500 * ms},
		{name: "a quota held it back", cores: 1, counts: counts{IdleTime: 800 * ms, ThrottledTime: 800 * ms}, self: self(200*ms, 800*ms), certain: 800 * ms, possible: 800 * ms},
		{name: "a quota held others back", cores: 1, counts: counts{IdleTime: 800 * ms, ThrottledTime: 800 * ms}, self: self(200*ms, 0)},
		{name: "it had the worker read for it", cores: 1, counts: counts{WorkerCPU: 400 * ms}, self: self(600*ms, 400*ms)},
		{name: "the worker read the counters of a busy core", cores: 1, counts: counts{WorkerCPU: 50 * ms}, self: self(200*ms, 800*ms), certain: 800 * ms, possible: 800 * ms},
		{name: "it had the worker read for it while others ran a little", cores: 1, counts: counts{WorkerCPU: 400 * ms}, self: self(500*ms, 500*ms), certain: 200 * ms, possible: 200 * ms},
		{name: "others ran on both cores", cores: 2, self: self(500*ms, 500*ms), certain: 500 * ms, possible: 500 * ms},
		{name: "others ran on the other core", cores: 2, self: self(1000*ms, 3000*ms)},
		{name: "its partner ran on the other core", cores: 2, opponent: 1000 * ms, counts: counts{IdleTime: 200 * ms}, self: self(800*ms, 300*ms)},
	} {
		counters, bot, other := &counted{threads: 5}, &player{}, &player{}
		w := newMonitor(counters, c.cores, &Players{Low: c.low})
		w.add(bot)
		w.add(other)
		now := time.Unix(0, 0)
		from := w.read(bot, now)
		counters.counts, bot.usage, other.usage = c.counts, c.self, self(c.opponent, 0)
		to := w.read(bot, now.Add(time.Second))
		if got := w.loss(from, to, c.unread, c.open); got != (Loss{c.certain, c.possible, c.counts.StolenTime}) {
			t.Errorf("%s: it has lost %v, at most %v; want %v, %v", c.name, got.Certain, got.Possible, c.certain, c.possible)
		}
	}
}

// The loss of a bot counts from its own first reading, even if other bots start later.
func TestFirstReadings(t *testing.T) {
	early, late := &player{}, &player{}
	w := newMonitor(&counted{}, 1, new(Players))
	w.add(early)
	first := w.read(early, time.Unix(0, 0))
	early.usage.Wait = 600 * time.Millisecond
	second := w.read(late, time.Unix(1, 0))
	w.add(late)
	a := w.loss(first, w.read(early, time.Unix(2, 0)), 0, 0)
	b := w.loss(second, w.read(late, time.Unix(2, 0)), 0, 0)
	if a.Certain != 600*time.Millisecond || b.Certain != 0 {
		t.Errorf("they have lost %v and %v, want 600ms and 0s", a.Certain, b.Certain)
	}
}

// Processes of bots of another worker do not count as others if both workers use the same cores.
func TestPlayersOfAllWorkers(t *testing.T) {
	bot, partner := &player{}, &player{}
	all := new(Players)
	w := newMonitor(&counted{}, 1, all)
	w.add(bot)
	newMonitor(&counted{}, 1, all).add(partner)
	from := w.read(bot, time.Unix(0, 0))
	partner.usage.CPU, bot.usage = 700*time.Millisecond, Usage{CPU: 200 * time.Millisecond, AliveCPU: 200 * time.Millisecond, Wait: 800 * time.Millisecond}
	if got := w.loss(from, w.read(bot, time.Unix(1, 0)), 0, 0); got.Certain != 100*time.Millisecond {
		t.Errorf("it has lost %v", got)
	}
}

// The CPU time of removed bots does not count as that of others.
func TestRemoved(t *testing.T) {
	bot, gone := &player{}, &player{}
	w := newMonitor(&counted{}, 1, new(Players))
	w.add(bot)
	w.add(gone)
	from := w.read(bot, time.Unix(0, 0))
	gone.usage.CPU = 700 * time.Millisecond
	w.remove(gone)
	w.remove(gone)
	bot.usage.Wait = time.Second
	if got := w.loss(from, w.read(bot, time.Unix(1, 0)), 0, 0); got.Certain != 300*time.Millisecond {
		t.Errorf("it has lost %v", got)
	}
}

// If the kernel does not tell, a bot has lost nothing.
func TestUnknown(t *testing.T) {
	counters, bot := &counted{}, &player{unknown: true}
	w := newMonitor(counters, 1, new(Players))
	w.add(bot)
	from := w.read(bot, time.Unix(0, 0))
	bot.usage.Wait = time.Second
	if got := w.loss(from, w.read(bot, time.Unix(1, 0)), 0, time.Second); got != (Loss{}) {
		t.Errorf("a bot of which not all is known has lost %v", got)
	}
	counters.err = errors.New("no such file")
	if w.read(bot, time.Unix(2, 0)) != nil {
		t.Error("there is a reading without counters")
	}
	turn := NewTurn(w, time.Unix(2, 0))
	turn.Attach(bot)
	turn.Begin(time.Unix(2, 0), time.Second)
	turn.Sample(time.Unix(3, 0))
	if loss := turn.Loss(time.Unix(2, 0), time.Unix(2, 0).Add(2*firstReading), true); loss != (Loss{}) {
		t.Errorf("without counters it has lost %v", loss)
	}
	none := NewTurn(nil, time.Unix(0, 0))
	none.Attach(bot)
	none.Begin(time.Unix(0, 0), time.Second)
	none.Sample(time.Unix(1, 0))
	if loss := none.Loss(time.Unix(0, 0), time.Unix(9, 0), true); loss != (Loss{}) {
		t.Errorf("without a watch it has lost %v", loss)
	}
	none.Close()
	var nobody *Monitor
	nobody.Close()
	if used, of := nobody.Busy(); used != 0 || of != 0 {
		t.Errorf("without a watch others used %v of %v", used, of)
	}
}

// Busy returns the time that others used of the cores while bots got credit.
func TestBusy(t *testing.T) {
	counters := &counted{}
	w := newMonitor(counters, 2, new(Players))
	from := w.read(nil, time.Unix(0, 0))
	counters.IdleTime = 1200 * time.Millisecond
	w.recordCredit(from, w.read(nil, time.Unix(1, 0)))
	if used, of := w.Busy(); used != 800*time.Millisecond || of != 2*time.Second {
		t.Errorf("others used %v of %v", used, of)
	}
	if used, of := w.Busy(); used != 0 || of != 0 {
		t.Errorf("after that others used %v of %v", used, of)
	}
}

// The upper bound for an open wait is the time since the thread last ran. Other threads of the bot do not matter.
func TestOpenWaits(t *testing.T) {
	begin := time.Unix(0, 0)
	var w openWaits
	w.begin(begin)
	for _, c := range []struct {
		ms    int
		ready Threads
		want  int
	}{
		{100, Threads{"a": 5, "b": 5}, 100}, // both may have waited since the turn began
		{150, Threads{"a": 5, "b": 9}, 150}, // b has run, a has not
		{200, Threads{"a": 6, "b": 9}, 100}, // a has run since the last look, b not for longer
		{300, Threads{"a": 6}, 150},         // b sleeps
		{350, Threads{"a": 6, "b": 9}, 200}, // b was awake at some time since the last look
		{400, Threads{}, 0},                 // nobody wants a core
		{500, Threads{"a": 6, "c": 1}, 100}, // and then again
	} {
		got := w.longest(c.ready, begin.Add(time.Duration(c.ms)*time.Millisecond))
		if want := time.Duration(c.want) * time.Millisecond; got != want {
			t.Errorf("at %d ms %v: it may have waited for %v, want %v", c.ms, c.ready, got, want)
		}
	}
}
