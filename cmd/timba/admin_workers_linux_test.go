package main

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/fleet"
	"github.com/timba-arena/timba/web/api/wire"
)

// workers returns what timba admin workers tells, by name.
func (a *arena) workers(t *testing.T, args ...string) map[string]wire.Machine {
	t.Helper()
	var list []wire.Machine
	text := a.timba(t, "", append([]string{"admin", "workers", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(text[strings.Index(text, "["):]), &list); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	found := map[string]wire.Machine{}
	for _, m := range list {
		found[m.Name] = m
	}
	return found
}

// TestAdminWorkers covers docs/operating.md, "Other machines": timba admin workers shows the machines of a
// running server, through the server and through its data directory: one that plays, one of another
// protocol, one that never came. Without a server all are away.
func TestAdminWorkers(t *testing.T) {
	kit.Slow(t)
	a := newArena(t, quickLadders(3))
	s := a.serve(t, "--workers", "1", "--cluster", "127.0.0.1:0")
	t.Setenv("TIMBA_URL", s.url)
	t.Setenv("TIMBA_TOKEN", s.token)
	dir := t.TempDir()
	creds := func(name string) string {
		file := filepath.Join(dir, name+".creds")
		if err := os.WriteFile(file, []byte(a.timba(t, "", "admin", "worker", "add", name, "--data", a.dir)), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	worker, _ := a.startWorker(t, s, creds("lab-1"), filepath.Join(dir, "worker"))
	otherProtocol(t, s, creds("lab-2"))
	creds("lab-3")
	for _, args := range [][]string{nil, {"--data", a.dir}} {
		var all map[string]wire.Machine
		kit.Until(t, "the worker has finished a match and plays another", func() bool {
			all = a.workers(t, args...)
			return all["lab-1"].Finished > 0 && len(all["lab-1"].Playing) > 0
		})
		played := all["lab-1"]
		if played.State != "ready" || played.LastHour == 0 || played.Cores != 1 || played.Version == "" || played.Operator == nil || played.Operator.Added.IsZero() {
			t.Errorf("%v: lab-1 is %+v", args, played)
		}
		if p := played.Playing[0]; p.Match == 0 || p.Attempt == 0 || len(p.Bots) < 2 || p.Began.IsZero() {
			t.Errorf("%v: lab-1 plays %+v", args, p)
		}
		if m := all["lab-2"]; m.State != "refused" || !strings.Contains(m.Reason, `timba 9.9 on "lab-2" has protocol 99`) {
			t.Errorf("%v: lab-2 is %+v", args, m)
		}
		if m := all["lab-3"]; m.State != "away" || !m.Seen.IsZero() {
			t.Errorf("%v: lab-3 is %+v", args, m)
		}
		if m := all["local"]; !m.Local || m.State != "ready" {
			t.Errorf("%v: the server's own is %+v", args, m)
		}
		table := a.timba(t, "", append([]string{"admin", "workers"}, args...)...)
		for _, row := range []string{`(?m)^lab-1 +ready +1 `, `(?m)^lab-2 +refused `, `(?m)^lab-3 +away `, `(?m)^local +ready `, `(?m)^lab-2 refused: timba 9\.9 on "lab-2" has protocol 99`} {
			if !regexp.MustCompile(row).MatchString(table) {
				t.Errorf("%v: the table does not match %q:\n%s", args, row, table)
			}
		}
		if regexp.MustCompile(`[0-9a-f]{64}|127\.0\.0\.1`).MatchString(table) {
			t.Errorf("%v: the table has a seed or an address:\n%s", args, table)
		}
	}
	if err := worker.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	worker.Wait()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.exits(t, exitGood)
	if text := a.timba(t, "", "admin", "workers", "--data", a.dir); !strings.Contains(text, "no server runs with this data directory") {
		t.Errorf("without a server it says %q", text)
	}
	var states []string
	for name, m := range a.workers(t, "--data", a.dir) {
		states = append(states, name+" "+m.State)
	}
	if slices.Sort(states); !slices.Equal(states, []string{"lab-1 away", "lab-2 away", "lab-3 away"}) {
		t.Errorf("without a server there are %q", states)
	}
}

// otherProtocol tells the server, until the test ends, of a machine whose messages have another form.
func otherProtocol(t *testing.T, s *served, creds string) {
	t.Helper()
	address := regexp.MustCompile(`msg="workers can connect" address=(\S+)`).FindStringSubmatch(s.log())[1]
	link, err := fleet.Dial(t.Context(), "nats://"+address, creds, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	beat := []byte(`{"name":"lab-2","session":"x","version":"9.9","protocol":99,"arch":"amd64","os":"linux","sandbox":"full","cores":[0]}`)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for t.Context().Err() == nil {
			link.Publish("machines.lab-2", beat)
			select {
			case <-t.Context().Done():
			case <-time.After(fleet.Beat):
			}
		}
	}()
	t.Cleanup(func() {
		<-ended
		link.Close()
	})
}
