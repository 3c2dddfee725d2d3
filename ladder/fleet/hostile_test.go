package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
)

// hostile connects with the credentials of a worker that does what it likes.
func (a *arena) hostile(name string) *Link {
	a.t.Helper()
	l, err := Dial(a.t.Context(), a.url(), a.creds(name), a.HubOptions.Log)
	a.must(err)
	a.t.Cleanup(l.Close)
	return l
}

// joins makes a hostile worker say that it is there.
func (a *arena) joins(l *Link, change func(*beat)) answer {
	a.t.Helper()
	b := beat{Machine: Machine{Name: l.Name, Protocol: Protocol, Sandbox: "FULL", Cores: []int{referee.AnyCore}}, Session: "s"}
	if change != nil {
		change(&b)
	}
	data, err := json.Marshal(b)
	a.must(err)
	msg, err := l.Request(beatSubject(l.Name), data, patience)
	a.must(err)
	var got answer
	a.must(json.Unmarshal(msg.Data, &got))
	return got
}

// denied reports whether NATS refuses what do does: in its answer or, without one, to the connection.
func denied(l *Link, do func() error) bool {
	refused := make(chan error, 16)
	l.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		select {
		case refused <- err:
		default:
		}
	})
	err := do()
	l.Flush() // the server has read it, and answered before
	if errors.Is(err, nats.ErrPermissionViolation) {
		return true
	}
	select {
	case err := <-refused:
		return errors.Is(err, nats.ErrPermissionViolation)
	case <-time.After(patience):
		return false
	}
}

// What the credentials of a worker do not allow, the real server refuses.
func TestHostileCredentials(t *testing.T) {
	a := newArena(t, nil)
	victim := a.hostile("victim")
	a.joins(victim, nil)
	bot := a.bot(2, script(""))
	if _, err := a.shelf.put(t.Context(), bot.Hash, func(context.Context) (string, error) { return a.Built(t.Context(), bot) }); err != nil {
		t.Fatal(err)
	}
	subscribe := func(subject string) func(*Link) error {
		return func(l *Link) error {
			_, err := l.SubscribeSync(subject)
			return err
		}
	}
	publish := func(subject string) func(*Link) error {
		return func(l *Link) error { return l.Publish(subject, []byte("{}")) }
	}
	for i, test := range []struct {
		what string
		do   func(*Link) error
	}{
		{"hears everything", subscribe(">")},
		{"hears all jobs", subscribe("jobs.*")},
		{"hears the jobs of another", subscribe("jobs.victim")},
		{"hears results", subscribe("results.>")},
		{"hears the machines", subscribe("machines.*")},
		{"hears what another is answered", subscribe("_INBOX_victim.>")},
		{"hears all answers", subscribe("_INBOX*.>")},
		{"hears what the server is answered", subscribe("_INBOX_server.>")},
		{"hears who is cancelled", subscribe("cancel.victim")},
		{"hears NATS itself", subscribe("$SYS.>")},
		{"hears JetStream", subscribe("$JS.>")},
		{"takes the jobs of another", publish("$JS.API.CONSUMER.MSG.NEXT.JOBS.victim")},
		{"acknowledges the jobs of another", publish("$JS.ACK.JOBS.victim.1.1.1.1.0")},
		{"acknowledges results", publish("$JS.ACK.RESULTS.server.1.1.1.1.0")},
		{"asks about the jobs of another", publish("$JS.API.CONSUMER.INFO.JOBS.victim")},
		{"makes a consumer of jobs", publish("$JS.API.CONSUMER.CREATE.JOBS.evil.jobs.victim")},
		{"makes a durable consumer of jobs", publish("$JS.API.CONSUMER.DURABLE.CREATE.JOBS.evil")},
		{"makes a consumer of results", publish("$JS.API.CONSUMER.CREATE.RESULTS.evil")},
		{"makes a consumer of bots", publish("$JS.API.CONSUMER.CREATE.OBJ_bots.evil")},
		{"deletes the consumer of another", publish("$JS.API.CONSUMER.DELETE.JOBS.victim")},
		{"reads a job by its number", publish("$JS.API.STREAM.MSG.GET.JOBS")},
		{"reads a job directly", publish("$JS.API.DIRECT.GET.JOBS.jobs.victim")},
		{"reads a result", publish("$JS.API.STREAM.MSG.GET.RESULTS")},
		{"deletes jobs", publish("$JS.API.STREAM.PURGE.JOBS")},
		{"deletes a result", publish("$JS.API.STREAM.MSG.DELETE.RESULTS")},
		{"deletes a stream", publish("$JS.API.STREAM.DELETE.RESULTS")},
		{"changes a stream", publish("$JS.API.STREAM.UPDATE.RESULTS")},
		{"makes a stream", publish("$JS.API.STREAM.CREATE.EVIL")},
		{"lists the streams", publish("$JS.API.STREAM.NAMES")},
		{"takes a snapshot", publish("$JS.API.STREAM.SNAPSHOT.RESULTS")},
		{"hands out a job", publish("jobs.victim")},
		{"hands itself a job", publish("jobs.evil")},
		{"hands in a result of another", publish("results.victim")},
		{"tells of another", publish("machines.victim")},
		{"cancels the match of another", publish("cancel.victim")},
		{"answers another", publish("_INBOX_victim.x")},
		{"writes a bot", publish("$O.bots.C.x")},
		{"writes what is known of a bot", publish("$O.bots.M." + bot.Hash)},
		{"deletes bots", publish("$JS.API.STREAM.PURGE.OBJ_bots")},
		{"deletes a part of a bot", publish("$JS.API.STREAM.MSG.DELETE.OBJ_bots")},
		{"asks NATS for its accounts", publish("$SYS.REQ.SERVER.PING")},
		{"changes its account", publish("$SYS.REQ.CLAIMS.UPDATE")},
	} {
		t.Run(test.what, func(t *testing.T) {
			l := (&arena{Hub: a.Hub, t: t, log: a.log}).hostile(fmt.Sprintf("evil-%d", i))
			if !denied(l, func() error { return test.do(l) }) {
				t.Errorf("a worker %s", test.what)
			}
		})
	}
	t.Run("deletes a bot", func(t *testing.T) {
		l := (&arena{Hub: a.Hub, t: t, log: a.log}).hostile("evil")
		objects, err := l.js.ObjectStore(t.Context(), botsBucket)
		a.must(err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := objects.Delete(ctx, bot.Hash); err == nil {
			t.Error("a worker deletes a bot")
		}
		if _, err := a.shelf.objects.GetInfo(t.Context(), bot.Hash); err != nil {
			t.Errorf("the bot is gone: %v", err)
		}
	})
}

// submit hands in what a worker likes, on its own subject.
func (a *arena) submit(l *Link, id string, data []byte) error {
	_, err := l.js.Publish(a.t.Context(), resultsSubject(l.Name), data, jetstream.WithMsgID(id))
	return err
}

func (a *arena) counted(outcome string) float64 {
	return testutil.ToFloat64(a.Hub.metrics.results.WithLabelValues(outcome))
}

// A result counts only from the machine that was given the attempt, with its seed, and once.
func TestForged(t *testing.T) {
	a := newArena(t, nil)
	victim, evil := a.hostile("victim"), a.hostile("evil")
	a.joins(victim, nil)
	a.joins(evil, nil)
	j := job(1, 1, greedy, greedy2)
	out := a.playing(t.Context(), "victim", j)
	kit.Until(t, "the attempt is handed out", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.attempts[attemptOf{1, 1}] != nil
	})
	key := attemptOf{j.Match, j.Attempt}
	forge := func(change func(*Result)) []byte {
		r := Result{Match: j.Match, Attempt: j.Attempt, Seed: j.Seed, Machine: "victim", Failure: &Failure{Kind: FailedVersion, Version: 3, Text: "forged"}}
		change(&r)
		data, err := packResult(r, MaxMessage)
		a.must(err)
		return data
	}
	foreign, other := referee.Hex(referee.NewSeed()), referee.Hex(referee.NewSeed())
	for _, test := range []struct {
		what, outcome string
		by            *Link
		id            string
		data          []byte
	}{
		{"another machine in the name of the machine", gotForeign, evil, resultID(key, j.Seed), forge(func(*Result) {})},
		{"another machine in its own name", gotForeign, evil, resultID(key, j.Seed) + "2", forge(func(r *Result) { r.Machine = "evil" })},
		{"another machine with a seed of its own", gotForeign, evil, resultID(key, foreign), forge(func(r *Result) { r.Machine, r.Seed = "evil", foreign })},
		{"the machine with another seed", gotForeign, victim, resultID(key, other), forge(func(r *Result) { r.Seed = other })},
		{"without the id", gotForeign, victim, "x", forge(func(*Result) {})},
		{"not compressed", gotUnreadable, victim, "y", []byte(`{"match":1}`)},
		{"nothing", gotUnreadable, evil, "z", nil},
	} {
		t.Run(test.what, func(t *testing.T) {
			before := a.counted(test.outcome)
			a.must(a.submit(test.by, test.id, test.data))
			kit.Until(t, "it is refused", func() bool { return a.counted(test.outcome) == before+1 })
		})
	}
	select {
	case got := <-out:
		t.Fatalf("a forged result counts: %+v, %v", got.Result, got.err)
	default:
	}
	kit.Until(t, "no refused result waits", func() bool {
		info, err := a.stream(resultsStream).Info(t.Context())
		a.must(err)
		return info.State.Msgs == 0
	})
}

// Results that are handed in twice have one effect, and those of an earlier attempt none.
func TestTwice(t *testing.T) {
	a := newArena(t, nil)
	l := a.hostile("lab-1")
	a.joins(l, nil)
	j := job(1, 1, greedy, greedy2)
	ctx, cancel := context.WithCancel(t.Context())
	out := a.playing(ctx, "lab-1", j)
	kit.Until(t, "the attempt is handed out", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.attempts[attemptOf{1, 1}] != nil
	})
	cancel()
	if got := <-out; !errors.Is(got.err, context.Canceled) {
		t.Fatal(got.err)
	}
	next := job(1, 2, greedy, greedy2)
	out = a.playing(t.Context(), "lab-1", next)
	hand := func(j Job) {
		t.Helper()
		r := Result{Match: j.Match, Attempt: j.Attempt, Seed: j.Seed, Machine: "lab-1", Failure: &Failure{Kind: FailedReferee, Text: "made up"}}
		data, err := packResult(r, MaxMessage)
		a.must(err)
		a.must(a.submit(l, resultID(attemptOf{j.Match, j.Attempt}, j.Seed), data))
	}
	hand(j)
	kit.Until(t, "the old one is refused", func() bool { return a.counted(gotOld) == 1 })
	for range 3 {
		hand(next)
	}
	got := <-out
	a.must(got.err)
	a.must(got.Ack())
	for range 3 {
		hand(next)
	}
	if n := a.counted(gotWanted); n != 1 {
		t.Errorf("%v results counted", n)
	}
	kit.Until(t, "no result waits", func() bool {
		info, err := a.stream(resultsStream).Info(t.Context())
		a.must(err)
		return info.State.Msgs == 0
	})
}

// A worker that floods is stopped at its own limits, and the others' room stays.
func TestFlood(t *testing.T) {
	a := newArena(t, nil)
	victim, evil := a.hostile("victim"), a.hostile("evil")
	a.deaf()
	var err error
	for i := 0; i <= MaxResults && err == nil; i++ {
		err = a.submit(evil, "", []byte("flood"))
	}
	if err == nil {
		t.Errorf("%d results of one machine wait", MaxResults+1)
	}
	if err := a.submit(victim, "", []byte("x")); err != nil {
		t.Errorf("another has no room: %v", err)
	}
	if err := a.submit(evil, "", make([]byte, MaxMessage+1)); err == nil {
		t.Errorf("a message of %d bytes is taken", MaxMessage+1)
	}
	// Subscriptions.
	for range MaxSubscriptions + 1 {
		if _, err = evil.SubscribeSync(inboxPrefix("evil") + ".x"); err != nil {
			break
		}
	}
	evil.Flush()
	if !strings.Contains(errorOf(err, evil).Error(), "maximum subscriptions") {
		t.Errorf("after %d subscriptions: %v", MaxSubscriptions+1, errorOf(err, evil))
	}
	// What it tells of itself.
	heard := 0
	for range 20 * MaxBeats {
		if a.admit("evil") {
			heard++
		}
	}
	if heard > 5*MaxBeats {
		t.Errorf("%d messages of a machine are read at once", heard)
	}
	if !a.admit("victim") {
		t.Error("another is not heard")
	}
}

func errorOf(err error, l *Link) error {
	return errors.Join(err, l.LastError(), errors.New("no error"))
}

// A machine has a few connections, and the others can connect.
func TestConnections(t *testing.T) {
	a := newArena(t, nil)
	file := a.creds("evil")
	for range MaxMachineConnections {
		l, err := Dial(t.Context(), a.url(), file, a.HubOptions.Log)
		a.must(err)
		t.Cleanup(l.Close)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if l, err := Dial(ctx, a.url(), file, a.HubOptions.Log); err == nil {
		l.Close()
		t.Errorf("%d connections with the same credentials", MaxMachineConnections+1)
	}
	a.hostile("victim")
}

// A worker that is removed is cut off at once, and cannot come back.
func TestRemoved(t *testing.T) {
	a := newArena(t, nil)
	l := a.hostile("lab-1")
	kept := a.hostile("lab-2")
	before := kept.Stats().Reconnects
	a.must(a.keys.Remove("lab-1"))
	kit.Until(t, "it is cut off", func() bool { return l.Status() != nats.CONNECTED })
	if err := kept.FlushTimeout(patience); err != nil || kept.Stats().Reconnects > before {
		t.Errorf("another is cut off, too: %v", err)
	}
	l.ForceReconnect()
	if err := l.FlushTimeout(3 * time.Second); err == nil {
		t.Error("it comes back")
	}
	if err := a.keys.Remove("lab-1"); err == nil {
		t.Error("it is removed twice")
	}
	if _, err := a.keys.Add("lab-2"); err == nil {
		t.Error("a name is given twice")
	}
	for _, name := range []string{"", Local, "Lab", "a.b", "a b", ">", "*", strings.Repeat("x", 41)} {
		if _, err := a.keys.Add(name); err == nil {
			t.Errorf("%q is the name of a worker", name)
		}
	}
}

// A machine that speaks another protocol is refused by name, and gets no jobs.
func TestProtocols(t *testing.T) {
	a := newArena(t, nil)
	for _, test := range []struct {
		name     string
		protocol int
		refused  bool
	}{{"older", Protocol - 1, true}, {"same", Protocol, false}, {"newer", Protocol + 1, true}} {
		l := a.hostile(test.name)
		got := a.joins(l, func(b *beat) { b.Protocol = test.protocol })
		if (got.Refused != "") != test.refused || test.refused && !strings.Contains(got.Refused, test.name) {
			t.Errorf("protocol %d is answered with %+v", test.protocol, got)
		}
		for _, m := range a.Machines() {
			if m.Name == test.name && (m.Refused != "") != test.refused {
				t.Errorf("protocol %d is refused: %q", test.protocol, m.Refused)
			}
		}
		if _, err := a.stream(jobsStream).Consumer(t.Context(), test.name); (err != nil) != test.refused {
			t.Errorf("protocol %d: its consumer gives %v", test.protocol, err)
		}
	}
}

// Of two workers with the same credentials the newer one plays, and the other is told.
func TestSameCredentials(t *testing.T) {
	a := newArena(t, nil)
	l := a.hostile("lab-1")
	a.joins(l, func(b *beat) { b.Session = "first" })
	if got := a.joins(l, func(b *beat) { b.Session = "second" }); got.Refused != "" {
		t.Errorf("the newer one is refused: %s", got.Refused)
	}
	if got := a.joins(l, func(b *beat) { b.Session = "first" }); !got.End || !strings.Contains(got.Refused, "lab-1") {
		t.Errorf("the older one is answered with %+v", got)
	}
}

// What a machine says of itself is shown to people: long words and controls are not read, and neither is
// what comes with them.
func TestWords(t *testing.T) {
	a := newArena(t, nil)
	evil := a.hostile("evil")
	for name, change := range map[string]func(*beat){
		"a long version":     func(b *beat) { b.Version = strings.Repeat("x", MaxWord+1) },
		"a control":          func(b *beat) { b.Arch = "amd64\x1b[2J" },
		"a turned text":      func(b *beat) { b.OS = "\u202elinux" },
		"a long level":       func(b *beat) { b.Sandbox = "FULL" + strings.Repeat(" ", MaxWord) },
		"an interpreter":     func(b *beat) { b.Interpreters = map[string]string{strings.Repeat("x", MaxWord+1): "1"} },
		"its version's line": func(b *beat) { b.Interpreters = map[string]string{"python3": "3\n"} },
	} {
		b := beat{Machine: Machine{Name: evil.Name, Protocol: Protocol, Sandbox: "FULL", Cores: []int{referee.AnyCore}}, Session: "bad"}
		change(&b)
		data, err := json.Marshal(b)
		a.must(err)
		a.must(evil.Publish(beatSubject(evil.Name), data))
		a.joins(evil, nil) // after it
		a.mu.Lock()
		if m := a.machines["evil"]; m.session != "s" || len(m.replaced) > 0 {
			t.Errorf("%s: the hub has read %+v", name, m)
		}
		a.mu.Unlock()
	}
	if got := a.joins(evil, func(b *beat) { b.Version = strings.Repeat("x", MaxWord) }); got.Refused != "" || len(a.Machines()[0].Version) != MaxWord {
		t.Errorf("a version of %d bytes: %+v, %+v", MaxWord, got, a.Machines())
	}
}
