package fairclock

import (
	"bufio"
	"os"
	"os/exec"
	"os/signal"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/proc"
)

// The usage of a process includes its children, both running and ended.
func TestUsageOfTree(t *testing.T) {
	const loop = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; "
	cmd := exec.Command("sh", "-c", "exec 3<&0; ("+loop+"); ("+loop+"echo done; read x <&3) & wait") // a shell gives what it does not wait for no input
	in, err := cmd.StdinPipe()
	kit.Must(t, err)
	out, err := cmd.StdoutPipe()
	kit.Must(t, err)
	kit.Must(t, cmd.Start())
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	var tr tree
	tr.update(cmd.Process.Pid)
	got, ok := tr.usage()
	if !ok || got.CPU < 20*time.Millisecond || got.AliveCPU <= 0 || got.endedCPU() < proc.Tick {
		t.Errorf("it has %+v, known: %v", got, ok)
	}
	if below := proc.ProcessTree(cmd.Process.Pid); len(below) != 2 || below[0] != cmd.Process.Pid {
		t.Errorf("below it are %v, want it and one child", below)
	}
	in.Close()
	cmd.Wait()
	if _, ok := tr.usage(); ok {
		t.Error("the usage of a process that has ended is known")
	}
}

// A process that starts after a look is found by the next one, and its time is not lost when it ends.
func TestTreeGrows(t *testing.T) {
	cmd := exec.Command("sh", "-c", "exec 3<&0; read x; (i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; echo done; read x <&3) & wait; echo over; read x")
	in, err := cmd.StdinPipe()
	kit.Must(t, err)
	out, err := cmd.StdoutPipe()
	kit.Must(t, err)
	kit.Must(t, cmd.Start())
	defer cmd.Wait()
	defer in.Close()
	lines := bufio.NewScanner(out)
	var tr tree
	look := func(want int) time.Duration {
		t.Helper()
		tr.update(cmd.Process.Pid)
		had, ok := tr.usage()
		if !ok || len(tr.processes) < want || had.CPU != tr.cpu() {
			t.Errorf("it has %d processes and %v, known: %v; want %d processes", len(tr.processes), had, ok, want)
		}
		return had.CPU
	}
	alone := look(1)
	if len(tr.processes) != 1 {
		t.Errorf("it begins with %d processes", len(tr.processes))
	}
	in.Write([]byte("\n"))
	lines.Scan()
	both := look(2)
	if both < alone+10*time.Millisecond {
		t.Errorf("with its child it has used %v, alone %v", both, alone)
	}
	in.Write([]byte("\n"))
	lines.Scan()
	if after := look(1); after < both-2*proc.Tick {
		t.Errorf("after the end of its child it has used %v, before %v", after, both)
	}
}

// The cost of a reading in the middle of a turn.
func BenchmarkUsage(b *testing.B) {
	var tr tree
	for b.Loop() {
		tr.update(os.Getpid())
		tr.usage()
	}
}

// A process that ignores the end of its children is recognized.
func TestForgets(t *testing.T) {
	forgets := func() bool {
		var tr tree
		tr.update(os.Getpid())
		return tr.ignoresChildren()
	}
	if forgets() {
		t.Error("it does not ignore the end of its children")
	}
	signal.Ignore(unix.SIGCHLD)
	defer func() {
		signal.Notify(make(chan os.Signal, 1), unix.SIGCHLD) // Reset alone leaves it ignored
		signal.Reset(unix.SIGCHLD)
		if forgets() {
			t.Error("it still ignores the end of its children")
		}
	}()
	if !forgets() {
		t.Error("it ignores the end of its children")
	}
}
