package cores

import (
	"errors"
	"testing"
	"time"
)

// counted are counters that a test sets.
type counted struct {
	Counts
	err     error
	running int
}

func (c *counted) Read() (Counts, error) { return c.Counts, c.err }
func (c *counted) Running() int          { return c.running }
func (c *counted) Close()                {}

// player is a bot whose times a test sets.
type player struct {
	time    Time
	unknown bool
}

func (p *player) CPU() time.Duration { return p.time.CPU }
func (p *player) Time() (Time, bool) { return p.time, !p.unknown }

// What a bot has lost in a second, from what the kernel has counted in it.
func TestLost(t *testing.T) {
	const ms = time.Millisecond
	self := func(cpu, waited time.Duration) Time {
		return Time{CPU: cpu, Alive: cpu, Waited: waited}
	}
	for _, c := range []struct {
		name        string
		cores       int
		counts      Counts // of the second
		opponent    time.Duration
		self        Time
		low         bool
		unread      time.Duration // its answer may have been there
		unseen      time.Duration // it may wait for a core
		known, most time.Duration
	}{
		{name: "it had the core", cores: 1, self: self(1000*ms, 0)},
		{name: "it slept on an idle core", cores: 1, counts: Counts{Idle: 1000 * ms}},
		{name: "it slept while others ran", cores: 1, self: self(0, 5*ms), known: 5 * ms, most: 5 * ms},
		{name: "it slept until now while others ran, and wants the core now", cores: 1, unseen: 10 * ms, most: 10 * ms},
		{name: "others ran half of the time", cores: 1, self: self(500*ms, 500*ms), known: 500 * ms, most: 500 * ms},
		{name: "it may have waited all the time", cores: 1, unseen: 1000 * ms, most: 1000 * ms},
		{name: "it may have waited longer than others ran", cores: 1, counts: Counts{Idle: 700 * ms}, unseen: 1000 * ms, most: 300 * ms},
		{name: "its answer was there before the worker had the core", cores: 1, counts: Counts{Waited: 80 * ms}, self: self(900*ms, 0), unread: 80 * ms, known: 80 * ms, most: 80 * ms},
		{name: "its children wait for one another", cores: 1, self: self(1000*ms, 7000*ms)},
		{name: "its children ran, then it slept", cores: 1, counts: Counts{Idle: 600 * ms}, self: self(400*ms, 3000*ms)},
		{name: "its opponent ran", cores: 1, opponent: 700 * ms, self: self(300*ms, 700*ms)},
		{name: "its opponent and others ran", cores: 1, opponent: 500 * ms, self: self(300*ms, 700*ms), known: 200 * ms, most: 200 * ms},
		{name: "children that have ended may have waited", cores: 1, self: Time{CPU: 300 * ms, Alive: 0}, known: 700 * ms, most: 700 * ms},
		{name: "children that have ended had the lowest priority", cores: 1, self: Time{CPU: 30 * ms}, low: true, known: 970 * ms, most: 970 * ms},
		{name: "a child that has ended has run too little to have waited for long", cores: 1, self: Time{CPU: 20 * ms}, known: 100 * ms, most: 100 * ms},
		{name: "the hypervisor stole", cores: 1, counts: Counts{Stolen: 300 * ms}, self: self(700*ms, 0), known: 300 * ms, most: 300 * ms},
		{name: "the hypervisor stole and others ran", cores: 1, counts: Counts{Stolen: 300 * ms}, self: self(500*ms, 200*ms), known: 500 * ms, most: 500 * ms},
		{name: "a quota held it back", cores: 1, counts: Counts{Idle: 800 * ms, Held: 800 * ms}, self: self(200*ms, 800*ms), known: 800 * ms, most: 800 * ms},
		{name: "a quota held others back", cores: 1, counts: Counts{Idle: 800 * ms, Held: 800 * ms}, self: self(200*ms, 0)},
		{name: "it had the worker read for it", cores: 1, counts: Counts{Worked: 400 * ms}, self: self(600*ms, 400*ms)},
		{name: "the worker read the counters of a busy core", cores: 1, counts: Counts{Worked: 50 * ms}, self: self(200*ms, 800*ms), known: 800 * ms, most: 800 * ms},
		{name: "it had the worker read for it while others ran a little", cores: 1, counts: Counts{Worked: 400 * ms}, self: self(500*ms, 500*ms), known: 200 * ms, most: 200 * ms},
		{name: "others ran on both cores", cores: 2, self: self(500*ms, 500*ms), known: 500 * ms, most: 500 * ms},
		{name: "others ran on the other core", cores: 2, self: self(1000*ms, 3000*ms)},
		{name: "its partner ran on the other core", cores: 2, opponent: 1000 * ms, counts: Counts{Idle: 200 * ms}, self: self(800*ms, 300*ms)},
	} {
		counters, bot, other := &counted{running: 5}, &player{}, &player{}
		w := New(counters, c.cores, &Players{Low: c.low})
		w.Add(bot)
		w.Add(other)
		now := time.Unix(0, 0)
		from := w.Read(bot, now)
		counters.Counts, bot.time, other.time = c.counts, c.self, self(c.opponent, 0)
		to := w.Read(bot, now.Add(time.Second))
		if got := w.Lost(from, to, c.unread, c.unseen); got != (Lost{c.known, c.most, c.counts.Stolen}) {
			t.Errorf("%s: it has lost %v, at most %v; want %v, %v", c.name, got.Known, got.Most, c.known, c.most)
		}
	}
}

// What a bot has lost counts from its own first reading, whoever starts after it.
func TestFirstReadings(t *testing.T) {
	early, late := &player{}, &player{}
	w := New(&counted{}, 1, new(Players))
	w.Add(early)
	first := w.Read(early, time.Unix(0, 0))
	early.time.Waited = 600 * time.Millisecond
	second := w.Read(late, time.Unix(1, 0))
	w.Add(late)
	a := w.Lost(first, w.Read(early, time.Unix(2, 0)), 0, 0)
	b := w.Lost(second, w.Read(late, time.Unix(2, 0)), 0, 0)
	if a.Known != 600*time.Millisecond || b.Known != 0 {
		t.Errorf("they have lost %v and %v, want 600ms and 0s", a.Known, b.Known)
	}
}

// A bot's processes that play for another worker are not others, where both use the same cores.
func TestPlayersOfAllWorkers(t *testing.T) {
	bot, partner := &player{}, &player{}
	all := new(Players)
	w := New(&counted{}, 1, all)
	w.Add(bot)
	New(&counted{}, 1, all).Add(partner)
	from := w.Read(bot, time.Unix(0, 0))
	partner.time.CPU, bot.time = 700*time.Millisecond, Time{CPU: 200 * time.Millisecond, Alive: 200 * time.Millisecond, Waited: 800 * time.Millisecond}
	if got := w.Lost(from, w.Read(bot, time.Unix(1, 0)), 0, 0); got.Known != 100*time.Millisecond {
		t.Errorf("it has lost %v", got)
	}
}

// What bots have used that were removed is not that of others.
func TestRemoved(t *testing.T) {
	bot, gone := &player{}, &player{}
	w := New(&counted{}, 1, new(Players))
	w.Add(bot)
	w.Add(gone)
	from := w.Read(bot, time.Unix(0, 0))
	gone.time.CPU = 700 * time.Millisecond
	w.Remove(gone)
	w.Remove(gone)
	bot.time.Waited = time.Second
	if got := w.Lost(from, w.Read(bot, time.Unix(1, 0)), 0, 0); got.Known != 300*time.Millisecond {
		t.Errorf("it has lost %v", got)
	}
}

// Where the kernel does not tell, a bot has lost nothing.
func TestUnknown(t *testing.T) {
	counters, bot := &counted{}, &player{unknown: true}
	w := New(counters, 1, new(Players))
	w.Add(bot)
	from := w.Read(bot, time.Unix(0, 0))
	bot.time.Waited = time.Second
	if got := w.Lost(from, w.Read(bot, time.Unix(1, 0)), 0, time.Second); got != (Lost{}) {
		t.Errorf("a bot of which not all is known has lost %v", got)
	}
	counters.err = errors.New("no such file")
	if w.Read(bot, time.Unix(2, 0)) != nil {
		t.Error("there is a reading without counters")
	}
	bot.unknown, counters.err = false, nil
	if got := w.Lost(nil, w.Read(bot, time.Unix(3, 0)), 0, 0); got != (Lost{}) {
		t.Errorf("without a first reading it has lost %v", got)
	}
	var none *Watch
	none.Add(bot)
	none.Remove(bot)
	none.Gave(from, from)
	none.Close()
	if r := none.Read(bot, time.Now()); r != nil || none.Lost(r, r, 0, 0) != (Lost{}) {
		t.Error("no watch tells something")
	}
}

// Busy is what others used of the cores while bots got credit.
func TestBusy(t *testing.T) {
	counters := &counted{}
	w := New(counters, 2, new(Players))
	from := w.Read(nil, time.Unix(0, 0))
	counters.Idle = 1200 * time.Millisecond
	w.Gave(from, w.Read(nil, time.Unix(1, 0)))
	if used, of := w.Busy(); used != 800*time.Millisecond || of != 2*time.Second {
		t.Errorf("others used %v of %v", used, of)
	}
	if used, of := w.Busy(); used != 0 || of != 0 {
		t.Errorf("after that others used %v of %v", used, of)
	}
}

// A wait that the kernel has not counted is as long as the thread has not run: that another thread of
// the bot has run says nothing of it.
func TestWaits(t *testing.T) {
	begin := time.Unix(0, 0)
	var w Waits
	w.Begin(begin)
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
		got := w.Longest(c.ready, begin.Add(time.Duration(c.ms)*time.Millisecond))
		if want := time.Duration(c.want) * time.Millisecond; got != want {
			t.Errorf("at %d ms %v: it may have waited for %v, want %v", c.ms, c.ready, got, want)
		}
	}
}
