package cluster

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/cluster/clustertest"
)

const operating = "../../docs/operating.md"

// newGuest makes credentials for a worker in an existing cluster, and returns their file.
func newGuest(t *testing.T, c *clustertest.Cluster, name string) string {
	t.Helper()
	read := kit.Get[[]byte](t)
	text, _, err := NewGuestCredential(read(os.ReadFile(c.Creds)), read(os.ReadFile(c.Key)), name)
	kit.Must(t, err)
	file := filepath.Join(t.TempDir(), name+".creds")
	kit.Must(t, os.WriteFile(file, text, 0o600))
	return file
}

// Workers play in an existing NATS cluster that is set up as in docs/operating.md. NATS is killed in the
// middle of a match and runs again: all reconnect, the match is finished, and further matches are played.
func TestGuests(t *testing.T) {
	t.Parallel()
	testGuests(t, true)
}

func testGuests(t *testing.T, tls bool) {
	c := clustertest.Start(t, operating, tls)
	file, open := newGate(t)
	a := newArena(t, func(o *DispatcherOptions) {
		o.Listen, o.URL, o.Creds, o.Registerer = "", c.URL, c.Creds, prometheus.NewPedanticRegistry()
	})
	a.startProcess(settings{URL: c.URL, Creds: newGuest(t, c, "lab-1"), Dir: t.TempDir(), Gate: file})
	a.awaitMachine("lab-1")
	j := job(1, 1, greedy, greedy2)
	wait := a.startPlay(t.Context(), "lab-1", j)
	a.awaitAttemptOn("lab-1", j)
	c.Kill()
	kit.Until(t, "the hub tells that NATS is gone", func() bool { return a.Err() != nil && testutil.ToFloat64(a.metrics.down) == 1 })
	if _, err := a.Play(t.Context(), "lab-1", job(3, 1, greedy, greedy2)); !errors.Is(err, attempt.ErrUnavailable) {
		t.Errorf("a match without NATS gave %v", err)
	}
	open()
	c.Run()
	got := <-wait
	a.checkComplete(j, got.Result, got.err)
	kit.Until(t, "the hub goes on", func() bool { return a.Err() == nil && testutil.ToFloat64(a.metrics.down) == 0 })
	a.awaitMachine("lab-1")
	j = job(4, 1, greedy, a.bot(2, script("")))
	r, err := a.Play(t.Context(), "lab-1", j)
	a.checkComplete(j, r, err)
}

// A worker of an existing cluster may use only the subjects in docs/operating.md.
func TestGuestPermissions(t *testing.T) {
	t.Parallel()
	page := kit.Get[[]byte](t)(os.ReadFile(operating))
	p := workerPermissions("NAME")
	for what, want := range map[string]jwt.StringList{"publish": p.Pub.Allow, "subscribe": p.Sub.Allow} {
		line := regexp.MustCompile(`(?m)^\| ` + what + ` \| (.*) \|$`).FindSubmatch(page)
		if line == nil {
			t.Fatalf("the page has no row %q", what)
		}
		got := strings.Split(strings.ReplaceAll(string(line[1]), "`", ""), ", ")
		if len(got) != len(want) {
			t.Errorf("%s: the page has %d subjects, want %d", what, len(got), len(want))
		}
		for _, subject := range got {
			if !want.Contains(subject) {
				t.Errorf("%s: %s is in the page alone", what, subject)
			}
		}
	}
	c := clustertest.Start(t, operating, true)
	a := newArena(t, func(o *DispatcherOptions) { o.Listen, o.URL, o.Creds = "", c.URL, c.Creds })
	l := kit.Get[*Link](t)(Dial(t.Context(), c.URL, newGuest(t, c, "lab-1"), a.DispatcherOptions.Log))
	defer l.Close()
	for _, subject := range []string{"jobs.lab-1", "results.lab-2", "files.lab-2"} {
		if !isDenied(l, subject, func() error { return l.Publish(subject, nil) }) {
			t.Errorf("a worker may publish on %s", subject)
		}
	}
	for _, subject := range []string{"jobs.lab-2", "results.*", "files.*", ">"} {
		if !isDenied(l, subject, func() error { _, err := l.Subscribe(subject, func(*nats.Msg) {}); return err }) {
			t.Errorf("a worker may read %s", subject)
		}
	}
}

// A worker in the server's account gets answers only in its own inbox. Otherwise NATS would publish the
// answer with the rights of the server to any subject that the worker names.
func TestGuestReplies(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, operating, false)
	a := newArena(t, func(o *DispatcherOptions) { o.Listen, o.URL, o.Creds = "", c.URL, c.Creds })
	l := kit.Get[*Link](t)(Dial(t.Context(), c.URL, newGuest(t, c, "lab-1"), a.DispatcherOptions.Log))
	defer l.Close()
	elsewhere := kit.Get[*nats.Subscription](t)(a.link.SubscribeSync("elsewhere"))
	a.must(a.link.FlushTimeout(patience))
	data := kit.Get[[]byte](t)(json.Marshal(heartbeat{WorkerInfo: attempt.WorkerInfo{Name: "lab-1", Protocol: Protocol}, Session: "s"}))
	for _, subject := range requestSubjects("lab-1") {
		a.must(l.PublishMsg(&nats.Msg{Subject: subject, Reply: "elsewhere", Data: data}))
	}
	a.sendHeartbeat(l, nil)
	kit.Get[*nats.Msg](t)(l.Request(resultsSubject("lab-1"), []byte("x"), patience)) // what was asked before is answered
	a.must(a.link.FlushTimeout(patience))
	if n, _, err := elsewhere.Pending(); n != 0 || err != nil {
		t.Errorf("%d answers go elsewhere, %v", n, err)
	}
}

// An error in the account or the credentials is reported with advice.
func TestGuestErrors(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, operating, false)
	read := kit.Get[[]byte](t)
	creds, key := read(os.ReadFile(c.Creds)), read(os.ReadFile(c.Key))
	for _, test := range []struct {
		creds, key []byte
		name, want string
	}{
		{creds, key, attempt.Local, `the name "local" is that of the server's own`},
		{creds, key, "server", `the name "server" is that of the server's user`},
		{creds, key, "Lab", `the name "Lab" is not valid`},
		{[]byte("x"), key, "lab-1", "is not a file of credentials"},
		{creds, []byte("x"), "lab-1", "not a file with the key of an account"},
		{creds, creds, "lab-1", "the key is not that of an account"},
	} {
		if _, _, err := NewGuestCredential(test.creds, test.key, test.name); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %s", test.name, err, test.want)
		}
	}
	if _, err := Dial(t.Context(), c.URL, c.Creds, newArena(t, nil).DispatcherOptions.Log); err != nil {
		t.Error(err)
	}
	_, err := OpenDispatcher(t.Context(), DispatcherOptions{Dir: t.TempDir(), URL: c.URL, Creds: newGuest(t, c, "lab-1")})
	if err == nil || !strings.Contains(err.Error(), `the credentials of the worker "lab-1"`) {
		t.Errorf("a hub with the credentials of a worker: %v", err)
	}
	page := filepath.Join(t.TempDir(), "page.md")
	small := strings.Replace(string(read(os.ReadFile(operating))), "listen: ", "max_payload: 65536\nlisten: ", 1)
	kit.Must(t, os.WriteFile(page, []byte(small), 0o600))
	c = clustertest.Start(t, page, false)
	if _, err := OpenDispatcher(t.Context(), DispatcherOptions{Dir: t.TempDir(), URL: c.URL, Creds: c.Creds}); err == nil || !strings.Contains(err.Error(), "max_payload of 65536") {
		t.Errorf("a hub where messages are small: %v", err)
	}
}
