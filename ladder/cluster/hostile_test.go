package cluster

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
)

// connectHostile connects with the credentials of a worker, for a test that plays its part.
func (a *arena) connectHostile(name string) *Link {
	a.t.Helper()
	l := kit.Get[*Link](a.t)(Dial(a.t.Context(), a.url(), a.creds(name), a.DispatcherOptions.Log))
	a.t.Cleanup(l.Close)
	return l
}

// sendHeartbeat sends a heartbeat for l, which change can edit, and returns the answer.
func (a *arena) sendHeartbeat(l *Link, change func(*heartbeat)) heartbeatReply {
	a.t.Helper()
	b := heartbeat{WorkerInfo: attempt.WorkerInfo{Name: l.Name, Protocol: Protocol, Sandbox: "FULL", Cores: []int{cores.Any}}, Session: "s"}
	if change != nil {
		change(&b)
	}
	data := kit.Get[[]byte](a.t)(json.Marshal(b))
	msg := kit.Get[*nats.Msg](a.t)(l.Request(machinesSubject(l.Name), data, patience))
	var got heartbeatReply
	a.must(json.Unmarshal(msg.Data, &got))
	return got
}

// connectOnce connects with a file of credentials and does not try again.
func (a *arena) connectOnce(file string) error {
	a.t.Helper()
	creds, err := os.ReadFile(file)
	a.must(err)
	_, auth, err := readCreds(file, creds)
	a.must(err)
	c, err := nats.Connect(a.url(), auth, nats.Secure(clientTLS(creds)), nats.Timeout(patience))
	if err == nil {
		c.Close()
	}
	return err
}

// isDenied reports whether NATS refuses what do does with a subject.
func isDenied(l *Link, subject string, do func() error) bool {
	err := do()
	l.FlushTimeout(patience) // NATS has answered everything before
	err = errors.Join(err, l.LastError())
	return errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), strconv.Quote(subject))
}

// NATS refuses everything that the credentials of a worker do not allow.
func TestHostileCredentials(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	victim := a.connectHostile("victim")
	a.sendHeartbeat(victim, nil)
	l := a.connectHostile("evil")
	type attack struct {
		what, subject string
		do            func() error
	}
	subscribe := func(what, subject string) attack {
		return attack{what, subject, func() error {
			_, err := l.SubscribeSync(subject)
			return err
		}}
	}
	publish := func(what, subject string) attack {
		return attack{what, subject, func() error { return l.Publish(subject, []byte("{}")) }}
	}
	for _, test := range []attack{
		subscribe("hears everything", ">"),
		subscribe("hears all jobs", "jobs.*"),
		subscribe("hears the jobs of another", "jobs.victim"),
		subscribe("hears results", "results.>"),
		subscribe("hears what others fetch", "files.>"),
		subscribe("hears the machines", "machines.*"),
		subscribe("hears what another is answered", "_INBOX_victim.>"),
		subscribe("hears all answers", "_INBOX*.>"),
		subscribe("hears what the server is answered", "_INBOX_server.>"),
		subscribe("hears NATS itself", "$SYS.>"),
		subscribe("hears JetStream", "$JS.>"),
		publish("hands out a job", "jobs.victim"),
		publish("hands itself a job", "jobs.evil"),
		publish("hands in a result of another", "results.victim"),
		publish("tells of another", "machines.victim"),
		publish("answers another", "_INBOX_victim.x"),
		publish("fetches a bot for another", "files.victim"),
		publish("makes a stream", "$JS.API.STREAM.CREATE.EVIL"),
		publish("asks NATS for its accounts", "$SYS.REQ.SERVER.PING"),
		publish("changes its account", "$SYS.REQ.CLAIMS.UPDATE"),
	} {
		if !isDenied(l, test.subject, test.do) {
			t.Errorf("a worker %s", test.what)
		}
	}
}

// A worker can connect as soon as it has credentials, before the dispatcher reads the list of workers again.
func TestNewCredentials(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	a.stopMonitor()
	a.must(a.connectOnce(a.creds("lab-1")))
	stranger, err := OpenKeys(t.TempDir())
	a.must(err)
	_, err = a.keys.Add("lab-2")
	a.must(err)
	text, err := stranger.Add("lab-2") // credentials of another server with the same certificate
	a.must(err)
	text = append(bytes.ReplaceAll(text, certificatePEM(stranger.certificate.Certificate[0]), nil), certificatePEM(a.keys.certificate.Certificate[0])...)
	file := filepath.Join(t.TempDir(), "stranger.creds")
	a.must(os.WriteFile(file, text, 0o600))
	if err := a.connectOnce(file); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("a stranger connects: %v", err)
	}
}

// sendResult sends a result on the subject of l and returns the answer.
func (a *arena) sendResult(l *Link, r attempt.Result) receipt {
	a.t.Helper()
	packed := kit.Get[[]byte](a.t)(Pack(r, MaxPacked))
	return a.sendPart(l, firstPart(r.Match, r.Attempt, packed), packed)
}

// firstPart returns the line before the first part of a packed result.
func firstPart(match int64, number int, packed []byte) resultPart {
	sum := sha256.Sum256(packed)
	return resultPart{attemptKey: attemptKey{match, number}, Sum: hex.EncodeToString(sum[:]), Size: len(packed)}
}

// sendPart sends a part of a result.
func (a *arena) sendPart(l *Link, p resultPart, data []byte) (r receipt) {
	a.t.Helper()
	message := append(kit.Get[[]byte](a.t)(json.Marshal(p)), '\n')
	msg := kit.Get[*nats.Msg](a.t)(l.Request(resultsSubject(l.Name), append(message, data...), patience))
	a.must(json.Unmarshal(msg.Data, &r))
	return r
}

func (a *arena) resultCount(outcome string) float64 {
	return testutil.ToFloat64(a.Dispatcher.metrics.results.WithLabelValues(outcome))
}

// A result is accepted only from the machine that was given the attempt, with its seed, and once.
func TestForged(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	victim, evil := a.connectHostile("victim"), a.connectHostile("evil")
	a.sendHeartbeat(victim, nil)
	a.sendHeartbeat(evil, nil)
	j := job(1, 1, greedy, greedy2)
	out := a.startPlay(t.Context(), "victim", j)
	a.awaitSent(1, 1)
	forge := func(change func(*attempt.Result)) []byte { // packed
		r := attempt.Result{Match: j.Match, Attempt: j.Attempt, Seed: j.Seed, Machine: "victim", Failure: &attempt.Failure{Kind: attempt.FailedVersion, Version: 3, Text: phrase.Plain("forged")}}
		change(&r)
		return kit.Get[[]byte](t)(Pack(r, MaxPacked))
	}
	foreign, other := referee.Hex(referee.NewSeed()), referee.Hex(referee.NewSeed())
	for _, test := range []struct {
		what, outcome string
		by            *Link
		data          []byte
	}{
		{"another machine in the name of the machine", gotForeign, evil, forge(func(*attempt.Result) {})},
		{"another machine in its own name", gotForeign, evil, forge(func(r *attempt.Result) { r.Machine = "evil" })},
		{"another machine with a seed of its own", gotForeign, evil, forge(func(r *attempt.Result) { r.Machine, r.Seed = "evil", foreign })},
		{"the machine with another seed", gotForeign, victim, forge(func(r *attempt.Result) { r.Seed = other })},
		{"no line about the attempt", gotUnreadable, victim, []byte(`{"match":1}`)},
		{"nothing", gotUnreadable, victim, nil},
		{"nothing by another machine", gotForeign, evil, nil},
		{"of another attempt", gotForeign, victim, forge(func(r *attempt.Result) { r.Attempt = 7 })},
	} {
		t.Run(test.what, func(t *testing.T) {
			before := a.resultCount(test.outcome)
			if r := a.sendPart(test.by, firstPart(1, 1, test.data), test.data); !r.Forget {
				t.Errorf("it is answered with %+v", r)
			}
			kit.Until(t, "it is refused", func() bool { return a.resultCount(test.outcome) == before+1 })
		})
	}
	select {
	case got := <-out:
		t.Fatalf("a forged result counts: %+v, %v", got.Result, got.err)
	default:
	}
}

// The server limits the memory for the results of one machine, and other machines keep theirs.
func TestUploads(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	evil, victim := a.connectHostile("evil"), a.connectHostile("victim")
	a.sendHeartbeat(evil, nil)
	a.sendHeartbeat(victim, nil)
	begin := func(l *Link, match int64) receipt {
		t.Helper()
		return a.sendPart(l, resultPart{attemptKey: attemptKey{match, 1}, Size: MaxPacked}, []byte("x"))
	}
	playing := map[int64]<-chan playOutcome{}
	jobs := map[int64]attempt.Job{}
	for match := range int64(5) {
		jobs[match] = job(match, 1, greedy, greedy2)
		name := "evil"
		if match == 4 {
			name = "victim"
		}
		playing[match] = a.startPlay(t.Context(), name, jobs[match])
		a.awaitSent(match, 1)
	}
	for match, want := range map[int64]receipt{0: {Next: 1}, 1: {Next: 1}} {
		if got := begin(evil, match); got != want {
			t.Errorf("the beginning of result %d is answered with %+v", match, got)
		}
	}
	if got := begin(evil, 2); !got.Full {
		t.Errorf("more than fits is answered with %+v", got)
	}
	if got := begin(victim, 4); got.Next != 1 {
		t.Errorf("another is answered with %+v", got)
	}
	ahead := resultPart{attemptKey: attemptKey{1, 1}, Size: MaxPacked, Offset: 5}
	if got := a.sendPart(evil, ahead, []byte("x")); got.Next != 1 {
		t.Errorf("a part too early is answered with %+v", got)
	}
	if got := a.sendPart(evil, resultPart{attemptKey: attemptKey{3, 1}, Size: MaxPacked + 1}, []byte("x")); !got.Forget {
		t.Errorf("a result that is too large is answered with %+v", got)
	}
	r := attempt.Result{Match: 0, Attempt: 1, Seed: jobs[0].Seed, Machine: "evil", Failure: &attempt.Failure{Kind: attempt.FailedReferee, Text: phrase.Plain("made up")}}
	if got := a.sendResult(evil, r); !got.Forget { // which begins anew
		t.Errorf("a result is answered with %+v", got)
	}
	a.must((<-playing[0]).err)
	if got := begin(evil, 2); got.Next != 1 {
		t.Errorf("when another is stored it is answered with %+v", got)
	}
}

// A result that is sent twice counts once, and that of an earlier attempt not at all.
func TestTwice(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	l := a.connectHostile("lab-1")
	a.sendHeartbeat(l, nil)
	j := job(1, 1, greedy, greedy2)
	out := a.startPlay(t.Context(), "lab-1", j)
	a.awaitSent(1, 1)
	a.expireMachine("lab-1")
	if got := <-out; !errors.Is(got.err, attempt.ErrLost) {
		t.Fatal(got.err)
	}
	next := job(1, 2, greedy, greedy2)
	out = a.startPlay(t.Context(), "lab-1", next)
	hand := func(j attempt.Job) {
		t.Helper()
		r := attempt.Result{Match: j.Match, Attempt: j.Attempt, Seed: j.Seed, Machine: "lab-1", Failure: &attempt.Failure{Kind: attempt.FailedReferee, Text: phrase.Plain("made up")}}
		a.sendResult(l, r)
	}
	hand(j)
	kit.Until(t, "the old one is refused", func() bool { return a.resultCount(gotOld) == 1 })
	hand(next)
	a.must((<-out).err)
	for range 3 {
		hand(next)
	}
	kit.Until(t, "the others are refused", func() bool { return a.resultCount(gotOld) == 4 })
	if n := a.resultCount(gotWanted); n != 1 {
		t.Errorf("%v results counted", n)
	}
}

// A worker can send any data for its attempt, once. A result that cannot belong to it is refused when it is
// unpacked.
func TestLies(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	evil := a.connectHostile("evil")
	a.sendHeartbeat(evil, nil)
	for number, lie := range []func(*attempt.Result){
		func(r *attempt.Result) { r.Games[0].Ranks = []int{2, 2} },
		func(r *attempt.Result) { r.Games[0].Seats[0].Name = "victim" },
		func(r *attempt.Result) { r.Games = nil },
	} {
		j := job(1, number+1, greedy, greedy2)
		out := a.startPlay(t.Context(), "evil", j)
		a.awaitSent(1, number+1)
		r := atRandom(t, j)
		r.Machine = "evil"
		lie(&r)
		a.sendResult(evil, r)
		got := <-out
		if _, ok := errors.AsType[*attempt.Contradiction](got.err); !ok || len(got.Games) > 0 {
			t.Errorf("lie %d gives %d games, %v", number, len(got.Games), got.err)
		}
	}
}

// A worker that sends too much reaches its own limits, and other workers are not affected.
func TestFlood(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	victim, evil := a.connectHostile("victim"), a.connectHostile("evil")
	for range 100 {
		// After the server has closed the connection the client buffers some messages for the next one.
		if err := evil.Publish(resultsSubject("evil"), make([]byte, 1<<20)); !errors.Is(err, nats.ErrReconnectBufExceeded) {
			a.must(err)
		}
	}
	if _, err := victim.Request(resultsSubject("victim"), []byte("x"), patience); err != nil {
		t.Errorf("another is not answered: %v", err)
	}
	if err := evil.Publish(resultsSubject("evil"), make([]byte, MaxMessage+1)); err == nil {
		t.Errorf("a message of %d bytes is taken", MaxMessage+1)
	}
	var err error
	// Subscriptions.
	for range MaxSubscriptions + 1 {
		if _, err = evil.SubscribeSync(inboxPrefix("evil") + ".x"); err != nil {
			break
		}
	}
	kit.Until(t, "the last subscription is refused", func() bool {
		refused := errors.Join(err, evil.LastError())
		return refused != nil && strings.Contains(refused.Error(), "maximum subscriptions")
	})
	// Heartbeats.
	now := time.Now()
	read := func(name string) bool {
		_, ok := a.recordHeartbeat(heartbeat{WorkerInfo: attempt.WorkerInfo{Name: name}, Session: "s"}, now)
		return ok
	}
	for _, want := range []int{4 * MaxHeartbeats, MaxHeartbeats} { // at once, and a second later
		heard := 0
		for range 20 * MaxHeartbeats {
			if read("evil") {
				heard++
			}
		}
		if heard != want {
			t.Errorf("%d messages of a machine are read at once, not %d", heard, want)
		}
		now = now.Add(time.Second)
	}
	if !read("victim") {
		t.Error("another is not heard")
	}
}

// A machine can open only a few connections, and other machines can still connect.
func TestConnections(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	file := a.creds("evil")
	for range MaxMachineConnections {
		l := kit.Get[*Link](t)(Dial(t.Context(), a.url(), file, a.DispatcherOptions.Log))
		t.Cleanup(l.Close)
	}
	if err := a.connectOnce(file); !errors.Is(err, nats.ErrMaxAccountConnectionsExceeded) {
		t.Errorf("%d connections with the same credentials: %v", MaxMachineConnections+1, err)
	}
	a.connectHostile("victim")
}

// A worker that is removed is disconnected at once and cannot reconnect.
func TestRemoved(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	file := a.creds("lab-1")
	l := kit.Get[*Link](t)(Dial(t.Context(), a.url(), file, a.DispatcherOptions.Log))
	t.Cleanup(l.Close)
	kept := a.connectHostile("lab-2")
	before := kept.Stats().Reconnects
	a.must(a.keys.Remove("lab-1"))
	kit.Until(t, "it is cut off", func() bool { return l.Status() != nats.CONNECTED })
	if err := kept.FlushTimeout(patience); err != nil || kept.Stats().Reconnects > before {
		t.Errorf("another is cut off, too: %v", err)
	}
	if err := a.connectOnce(file); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("it comes back: %v", err)
	}
	if err := a.keys.Remove("lab-1"); err == nil {
		t.Error("it is removed twice")
	}
	if _, err := a.keys.Add("lab-2"); err == nil {
		t.Error("a name is given twice")
	}
	for _, name := range []string{"", attempt.Local, "Lab", "a.b", "a b", ">", "*", strings.Repeat("x", 41)} {
		if _, err := a.keys.Add(name); err == nil {
			t.Errorf("%q is the name of a worker", name)
		}
	}
}

// A machine with another protocol is refused, with its name, and gets no jobs.
func TestProtocols(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	for _, test := range []struct {
		name     string
		protocol int
		refused  bool
	}{{"older", Protocol - 1, true}, {"same", Protocol, false}, {"newer", Protocol + 1, true}} {
		l := a.connectHostile(test.name)
		got := a.sendHeartbeat(l, func(b *heartbeat) { b.Protocol = test.protocol })
		if (got.Refusal != "") != test.refused || test.refused && !strings.Contains(got.Refusal, test.name) {
			t.Errorf("protocol %d is answered with %+v", test.protocol, got)
		}
		for _, m := range a.Machines() {
			if m.Name == test.name && (!m.Refusal.IsZero()) != test.refused {
				t.Errorf("protocol %d is refused: %q", test.protocol, m.Refusal)
			}
		}
	}
}

// Of two workers with the same credentials the newer one plays, and the other one is told why it must exit.
func TestSameCredentials(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	l := a.connectHostile("lab-1")
	a.sendHeartbeat(l, func(b *heartbeat) { b.Session = "first" })
	if got := a.sendHeartbeat(l, func(b *heartbeat) { b.Session = "second" }); got.Refusal != "" {
		t.Errorf("the newer one is refused: %s", got.Refusal)
	}
	if got := a.sendHeartbeat(l, func(b *heartbeat) { b.Session = "first" }); !got.End || !strings.Contains(got.Refusal, "lab-1") {
		t.Errorf("the older one is answered with %+v", got)
	}
}

// A heartbeat with long texts or control characters is ignored completely, because people are shown the texts.
func TestWords(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	evil := a.connectHostile("evil")
	for name, change := range map[string]func(*heartbeat){
		"a long version":     func(b *heartbeat) { b.Version = strings.Repeat("x", MaxWord+1) },
		"a control":          func(b *heartbeat) { b.Arch = "amd64\x1b[2J" },
		"a turned text":      func(b *heartbeat) { b.OS = "\u202elinux" },
		"a long level":       func(b *heartbeat) { b.Sandbox = "FULL" + strings.Repeat(" ", MaxWord) },
		"an interpreter":     func(b *heartbeat) { b.Interpreters = map[string]string{strings.Repeat("x", MaxWord+1): "1"} },
		"its version's line": func(b *heartbeat) { b.Interpreters = map[string]string{"python3": "3\n"} },
	} {
		b := heartbeat{WorkerInfo: attempt.WorkerInfo{Name: evil.Name, Protocol: Protocol, Sandbox: "FULL", Cores: []int{cores.Any}}, Session: "bad"}
		change(&b)
		data := kit.Get[[]byte](t)(json.Marshal(b))
		a.must(evil.Publish(machinesSubject(evil.Name), data))
		a.sendHeartbeat(evil, nil) // after it
		a.mu.Lock()
		if m := a.machines["evil"]; m.session != "s" || len(m.earlierSessions) > 0 {
			t.Errorf("%s: the hub has read %+v", name, m)
		}
		a.mu.Unlock()
	}
	if got := a.sendHeartbeat(evil, func(b *heartbeat) { b.Version = strings.Repeat("x", MaxWord) }); got.Refusal != "" || len(a.Machines()[0].Version) != MaxWord {
		t.Errorf("a version of %d bytes: %+v, %+v", MaxWord, got, a.Machines())
	}
}

// A worker cannot make NATS publish what the worker may not publish itself, by a reply subject that is not its own.
func TestForeignReplies(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	l, victim := a.connectHostile("evil"), a.connectHostile("victim")
	a.sendHeartbeat(l, nil)
	a.sendHeartbeat(victim, nil)
	words := kit.Get[*nats.Subscription](t)(victim.SubscribeSync(jobsSubject("victim")))
	a.must(victim.FlushTimeout(patience))
	for _, ask := range requestSubjects("evil") {
		for _, reply := range []string{"results.victim", "jobs.victim", "jobs.evil", "machines.victim", "$SYS.REQ.CLAIMS.UPDATE"} {
			for _, body := range []string{"", `{"tree":""}`, `{"name":"evil","session":"s","protocol":1,"cores":[-1]}`} {
				l.PublishMsg(&nats.Msg{Subject: ask, Reply: reply, Data: []byte(body)})
			}
		}
	}
	l.Flush()
	a.must(a.link.FlushTimeout(patience)) // everything that follows from the answers is done
	a.must(victim.FlushTimeout(patience))
	if n, _, err := words.Pending(); n != 0 || err != nil {
		t.Errorf("the victim is told %d words, %v", n, err)
	}
}
