package match

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/binaries"
	"github.com/timba-arena/timba/sandbox"
)

// nothingLeft records the processes, descriptors, goroutines and temporary directories of now. The function
// that it returns waits until there are no others.
func nothingLeft(t testing.TB) func() {
	t.Helper()
	sandbox.RemoveAtEnd("none") // the cleaner runs from now on,
	sandbox.CancelRemoveAtEnd("none")
	sandbox.Probe()                         // and what is found out about the machine is
	if r, w, err := os.Pipe(); err == nil { // the runtime's own descriptors are there from now on
		r.Close()
		w.Close()
	}
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	return func() {
		t.Helper()
		until(t, "all processes are gone", func() bool { return len(botProcesses(t)) == 0 })
		until(t, "all descriptors are closed", func() bool { return openFiles(t) <= files })
		until(t, "all goroutines have ended", func() bool { return runtime.NumGoroutine() <= goroutines })
		emptyTemp(t)
	}
}

func openFiles(t testing.TB) int {
	entries := kit.Get[[]os.DirEntry](t)(os.ReadDir("/proc/self/fd"))
	return len(entries)
}

// botProcesses returns the children of this test and the processes that carry its mark, including those that
// were not reaped.
func botProcesses(t testing.TB) (found []string) {
	t.Helper()
	mark := fmt.Appendf(nil, "TIMBA_RUN=%d-", os.Getpid())
	stats := kit.Get[[]string](t)(filepath.Glob("/proc/[0-9]*/stat"))
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has gone meanwhile
		}
		name, _ := os.ReadFile(filepath.Dir(path) + "/cmdline")
		if bytes.HasPrefix(name, []byte("timba-sandbox-cleaner\x00")) {
			continue // it ends after this process
		}
		env, _ := os.ReadFile(filepath.Dir(path) + "/environ")
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if fields[1] == strconv.Itoa(os.Getpid()) || bytes.Contains(env, mark) {
			found = append(found, string(stat))
		}
	}
	return found
}

// misbehave returns the command of the bot that can have every fault.
func misbehave(t testing.TB, args ...string) []string {
	t.Helper()
	return append([]string{binaries.Program(t, "misbehave")}, args...)
}

// testBot returns the command of the bot in referee/internal/script/bot.
func testBot(t testing.TB, args ...string) []string {
	t.Helper()
	return append([]string{binaries.Program(t, "bot")}, args...)
}

// real returns bots with processes.
func real(commands ...[]string) []Contestant {
	bots := named(len(commands))
	for i, c := range commands {
		bots[i].Command = slices.Clone(c)
	}
	return bots
}
