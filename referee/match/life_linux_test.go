package match

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/rules"
)

// Three faults: a bot that had them in earlier deals is not started any more, and
// the match is the same whatever the number of workers.
func TestLimitsAndFaultsThreeFaults(t *testing.T) {
	for _, c := range []struct {
		options string
		bots    int
		want    []string // by deal, of each rotation the faults
	}{
		{"players=2", 2, []string{"exit exit", "exit exit", "out out", "out out", "out out"}},
		{"players=3", 3, []string{"exit exit exit", "out out out", "out out out"}},
		{"players=3", 2, []string{"exit exit+exit", "out out+out", "out out+out"}}, // two seats in rotation 1
		{"players=4 teams=yes", 2, []string{"exit exit", "exit exit", "out+out out+out"}},
	} {
		var first []string
		for workers := 1; workers <= 4; workers++ {
			left := nothingLeft(t)
			v := variant(t, "brisca", c.options)
			bots := named(c.bots)
			bots[1].Command = misbehave(t, "--fault", "exit-3", "--at=2")
			m := &Match{Variant: v, Bots: bots, Deals: len(c.want), Seed: rules.Seed{2}, Clock: patient, Resources: Resources{Workers: make([]int, workers)}, start: starter{}.start}
			for i := range m.Resources.Workers {
				m.Resources.Workers[i] = cores.Any
			}
			var got, replays []string
			for _, g := range playAll(t, m) {
				var words []string
				for _, f := range g.Faults {
					word := string(f.Code)
					if f.Text == "forfeits the rest of the match after 3 faults" && f.Ply == 0 && f.Code == protocol.Startup {
						word = "out"
					}
					words = append(words, word)
				}
				if len(got) <= g.Match.Deal {
					got = append(got, "")
				}
				got[g.Match.Deal] = strings.TrimSpace(got[g.Match.Deal] + " " + strings.Join(words, "+"))
				replays = append(replays, timeless(g))
			}
			left()
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s, %d bots, %d workers: (-want +got)\n%s", c.options, c.bots, workers, diff)
			}
			if workers == 1 {
				first = replays
			} else if diff := cmp.Diff(first, replays); diff != "" {
				t.Errorf("%s, %d bots, %d workers: (-one worker +these)\n%s", c.options, c.bots, workers, diff)
			}
		}
	}
}

// After bye a bot has a second to exit: all bots of a worker have the same one.
func TestLimitsAndFaultsBye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &Match{Variant: variant(t, "brisca", "players=4"), Bots: named(4), Deals: 1, Clock: patient}
		m.start = func(ctx context.Context, b Contestant, w *fairclock.Monitor) (BotConn, error) {
			return &stubborn{talker{answer: firstMove}}, nil
		}
		var last time.Time
		kit.Must(t, m.Play(t.Context(), func(*referee.GameResult) error { last = time.Now(); return nil }))
		if took := time.Since(last); took != byeGrace {
			t.Errorf("the goodbye took %v, want %v", took, byeGrace)
		}
	})
}

// stubborn is the connection of a bot that does not exit by itself.
type stubborn struct{ talker }

func (s *stubborn) Close(grace time.Duration) { time.Sleep(grace) }

// A process that does not exit after bye has a second for it, and is ended.
func TestLimitsAndFaultsByeOfProcess(t *testing.T) {
	left := nothingLeft(t)
	m := &Match{Variant: variant(t, "brisca", ""), Bots: real(misbehave(t, "--fault", "ignore-bye"), nil), Deals: 1, Clock: patient, start: starter{}.start}
	var last time.Time
	kit.Must(t, m.Play(t.Context(), func(g *referee.GameResult) error {
		last = time.Now()
		if len(g.Faults) > 0 {
			return fmt.Errorf("faults: %v", g.Faults)
		}
		return nil
	}))
	if took := time.Since(last); took < byeGrace {
		t.Errorf("the goodbye took %v, want %v", took, byeGrace)
	}
	left()
}

// A match that is called off ends, long before a bot's clock, and leaves nothing, whatever its bots are doing.
func TestMatchCalledOffWithProcesses(t *testing.T) {
	day := referee.Clock{Move: 24 * time.Hour, Startup: 24 * time.Hour}
	for _, fault := range []string{"no-ready", "silent", "late", "slow-drip", "close-stdout", "setsid", "fork", "flood-stderr", "ignore-bye"} {
		t.Run(fault, func(t *testing.T) {
			left := nothingLeft(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			bad := misbehave(t, "--fault", fault, "--at=3")
			m := &Match{
				Variant: variant(t, "teeko", "limit=0"), Bots: real(bad, misbehave(t, "--fault", "crlf")), Deals: 1000,
				Seed: rules.Seed{4}, Clock: day, Resources: Resources{Workers: []int{cores.Any, cores.Any}},
			}
			from := 9 // plies, enough for what is no fault to have happened
			if slices.Contains([]string{"silent", "late", "slow-drip", "close-stdout"}, fault) {
				from = 3
			}
			m.Observer.Trace = func(tr referee.Traffic) {
				for line := range strings.Lines(string(tr.Lines)) {
					l, err := protocol.ParseReferee([]byte(strings.TrimSuffix(line, "\n")))
					due := err == nil && l.Verb == protocol.RefTurn && rules.BotAt(tr.Seat, tr.Rotation, len(m.Bots)) == 0 && l.Ply >= from
					if due || fault == "no-ready" {
						cancel()
					}
				}
			}
			r := keep(m)
			err := m.Play(ctx, r.add)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the match ends with %v", err)
			}
			if len(r.voids) > 0 {
				t.Errorf("voids: %q", r.voids)
			}
			left()
		})
	}
}

// A program that cannot be started is a fault that says so.
func TestLimitsAndFaultsNotStarted(t *testing.T) {
	left := nothingLeft(t)
	notes := t.TempDir() + "/notes.txt"
	if err := os.WriteFile(notes, []byte("\x00\x01"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command []string
		want    string
	}{
		{[]string{"/no/such/bot", "--fast"}, `could not be started: /no/such/bot: no such file or directory: try "/no/such/bot --fast" by hand`},
		{[]string{notes}, `could not be started: "` + notes + `" is neither a program nor a script`},
		{[]string{t.TempDir()}, "permission denied"},
		{[]string{"/bin/true"}, `before "ready": the process exited with status 0`},
	} {
		m := &Match{Variant: variant(t, "brisca", ""), Bots: real(c.command, nil), Clock: patient, start: starter{}.start}
		g := oneGame(t, m)
		if len(g.Faults) != 1 || g.Faults[0].Code != protocol.Startup || g.Faults[0].Seat != 0 || !strings.Contains(g.Faults[0].Text, c.want) {
			t.Errorf("%q: %v, want %s", c.command, g.Faults, c.want)
		}
		if !slices.Equal(g.Ranks, []int{2, 1}) {
			t.Errorf("%q: ranks are %v", c.command, g.Ranks)
		}
		valid(t, &g.Replay)
	}
	left()
}

// A bot finds its own directory for temporary files, empty, and it is gone afterwards;
// what it does not do is stay because it has left its process group.
func TestDuplicateDealsScratch(t *testing.T) {
	for _, mode := range []string{"litter", "regroup"} {
		left := nothingLeft(t)
		m := &Match{Variant: variant(t, "brisca", ""), Bots: real(testBot(t, "hermit", mode), nil), Deals: 2, Clock: patient, start: starter{}.start}
		for _, g := range playAll(t, m) {
			if len(g.Faults) > 0 {
				t.Errorf("%s: %v", mode, g.Faults[0])
			}
		}
		left()
	}
}

// Only a bot that finds a directory for temporary files by TMPDIR gets one.
func TestScratchOfBareBotsOnly(t *testing.T) {
	m := &Match{Variant: variant(t, "brisca", "players=3"), Bots: named(3), Deals: 1, Clock: patient}
	m.Bots[0].Sandbox = &Sandbox{}
	m.Bots[1].Serve = func(io.Reader, io.Writer) error { return nil }
	has := map[string]bool{}
	m.start = func(ctx context.Context, b Contestant, w *fairclock.Monitor) (BotConn, error) {
		has[b.Name] = b.Temp != ""
		return &talker{answer: firstMove}, nil
	}
	if err := m.Play(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]bool{"bot0": false, "bot1": false, "bot2": true}, has); diff != "" {
		t.Errorf("the bots with a directory: (-want +got)\n%s", diff)
	}
}

// Own trouble when a process is started is not a fault of its bot.
func TestLimitsAndFaultsOwnTrouble(t *testing.T) {
	for err, own := range map[error]bool{
		unix.EMFILE: true, unix.ENFILE: true, unix.ENOMEM: true, unix.EAGAIN: true, unix.ENOENT: false, unix.EACCES: false,
	} {
		got := startError(Contestant{Name: "b", Command: []string{"x"}}, &os.PathError{Op: "fork/exec", Path: "x", Err: err})
		_, fault := errors.AsType[fault.Reason](got)
		if fault == own || !errors.Is(got, err) == own {
			t.Errorf("%v is %v", err, got)
		}
	}
}

// No descriptor left for the pipes: the game is void and played again.
func TestLimitsAndFaultsNoDescriptors(t *testing.T) {
	left := nothingLeft(t)
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	limit := func(n uint64) {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: old.Max}); err != nil {
			t.Error(err)
		}
	}
	defer limit(old.Cur)
	m := &Match{Variant: variant(t, "brisca", ""), Bots: real(misbehave(t, "--fault", "crlf"), misbehave(t, "--fault", "infos")), Deals: 2, Clock: patient}
	r := keep(m)
	note := m.Observer.Trouble
	m.Observer.Trouble = func(err error) {
		note(err)
		limit(old.Cur)
	}
	limit(uint64(openFiles(t) + 4)) // not enough for three pipes
	if err := m.Play(t.Context(), r.add); err != nil {
		t.Error(err)
	}
	if len(r.voids) != 1 || !strings.Contains(r.voids[0], "too many open files") || len(r.games) != 4 {
		t.Errorf("voids %q and %d games", r.voids, len(r.games))
	}
	for _, g := range r.games {
		if len(g.Faults) > 0 {
			t.Errorf("a bot has a fault: %v", g.Faults)
		}
	}
	left()
}

// A bot that does not read, ends, or is silent while it is sent more than a pipe holds.
func TestLimitsAndFaultsDeaf(t *testing.T) {
	lots := make([]byte, 1<<20)
	for _, c := range []struct {
		name  string
		drive func(ctx context.Context, in io.Reader, out, err io.Writer)
		wait  time.Duration
		want  protocol.Code
	}{
		{"does not read", func(ctx context.Context, in io.Reader, out, err io.Writer) { <-ctx.Done() }, 150 * time.Millisecond, protocol.Timeout},
		{"does not read, and time is up", func(ctx context.Context, in io.Reader, out, err io.Writer) { <-ctx.Done() }, -time.Second, protocol.Timeout},
		{"does not read, but writes on stderr", func(ctx context.Context, in io.Reader, out, err io.Writer) {
			for {
				if _, e := err.Write([]byte("still here\n")); e != nil {
					return
				}
			}
		}, 150 * time.Millisecond, protocol.Timeout},
		{"ends", func(ctx context.Context, in io.Reader, out, err io.Writer) {}, time.Minute, protocol.Exit},
		{"ends on the way", func(ctx context.Context, in io.Reader, out, err io.Writer) { io.ReadFull(in, make([]byte, 100_000)) }, time.Minute, protocol.Exit},
		{"writes before it ends", func(ctx context.Context, in io.Reader, out, err io.Writer) {
			io.ReadFull(in, make([]byte, 100_000))
			io.WriteString(out, "# so long\n# and thanks\nhey\n")
		}, time.Minute, "so long and thanks hey"},
		{"reads late", func(ctx context.Context, in io.Reader, out, err io.Writer) {
			io.ReadFull(in, make([]byte, 100_000))
			io.ReadFull(in, make([]byte, len(lots)-100_000))
			io.WriteString(out, "move x\n")
			<-ctx.Done()
		}, time.Minute, "move x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			left := nothingLeft(t)
			ctx, cancel := context.WithCancel(t.Context())
			p := piped(ctx, func(in io.Reader, out, err io.Writer) {
				c.drive(ctx, in, out, err)
			})
			began := time.Now()
			_, err := p.Send(lots, began.Add(c.wait))
			for err == nil {
				var line []byte
				if line, _, err = p.Line(time.Now(), began.Add(time.Minute)); err == nil && string(line) == "move x" {
					err = errors.New("move x")
				} else if string(line) == "hey" {
					err = errors.New("so long and thanks hey")
				}
			}
			if codeOf(err) != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
			cancel()
			p.Close(0)
			left()
		})
	}
}
