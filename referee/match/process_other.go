//go:build !linux

package match

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/timba-arena/timba/internal/cutlog"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/sandbox"
)

// process is a bot that is a child process on systems other than Linux. It implements BotConn by embedding a local,
// whose Serve function copies the lines between the referee and the process.
type process struct {
	*local
	sandbox *sandbox.Process // of level LevelNone
	stdin   *os.File
	done    chan struct{}  // closed when the process has ended
	status  sandbox.Status // valid when done is closed
	mu      sync.Mutex
	log     cutlog.Buffer
}

func startProcess(ctx context.Context, b Contestant, _ *fairclock.Monitor) (c BotConn, err error) {
	spec, err := b.spec()
	if err != nil {
		return nil, err
	}
	var ours [3]*os.File
	defer func() {
		for _, f := range ours {
			if err != nil {
				f.Close() // nil is fine
			}
		}
	}()
	for i, theirs := range []**os.File{&spec.Stdin, &spec.Stdout, &spec.Stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("match: a pipe to %s: %w", b.Name, err)
		}
		if ours[i], *theirs = r, w; i == 0 {
			ours[i], *theirs = w, r
		}
		defer (*theirs).Close()
	}
	p := &process{log: cutlog.Buffer{Limit: MaxLog}, stdin: ours[0], done: make(chan struct{})}
	if p.sandbox, err = sandbox.Start(spec); err != nil {
		return nil, startError(b, err)
	}
	go p.wait(ours[2])
	p.local = newLocal(ctx, func(lines io.Reader, answers io.Writer) error {
		how := make(chan fault.Kind, 2)
		go func() {
			if _, err := io.Copy(p.stdin, lines); err != nil {
				how <- fault.InputClosed
			}
			p.stdin.Close()
		}()
		go func() {
			io.Copy(answers, ours[1])
			ours[1].Close()
			how <- fault.OutputClosed
		}()
		return p.closedPipeFault(<-how)
	})
	return p, nil
}

func (p *process) wait(stderr *os.File) {
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		defer stderr.Close()
		io.Copy(stderrWriter{p}, stderr)
	}()
	p.status = p.sandbox.Wait()
	select {
	case <-logged:
	case <-time.After(100 * time.Millisecond): // a child may have stderr open
	}
	close(p.done)
}

// stderrWriter collects the stderr of a process.
type stderrWriter struct{ p *process }

func (w stderrWriter) Write(data []byte) (int, error) {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	return w.p.log.Write(data)
}

func (p *process) Stderr() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Take()
}

// closedPipeFault returns the fault of a bot that closed its stdin or stdout. If the process has ended, the fault
// says how it ended; otherwise the fault has the given kind, how.
func (p *process) closedPipeFault(how fault.Kind) fault.Reason {
	select {
	case <-p.done:
	case <-time.After(100 * time.Millisecond):
		return fault.Reason{Kind: how}
	}
	if s := p.status; s.Signal != 0 {
		return fault.Reason{Kind: fault.Ended, Detail: "signal: " + s.Signal.String()}
	}
	return fault.Reason{Kind: fault.Exited, Status: p.status.Code}
}

func (p *process) Close(grace time.Duration) {
	if grace > 0 {
		p.Wait(time.Now().Add(grace))
	}
	p.sandbox.Kill()
	<-p.done
	p.stdin.Close()
	p.local.Close(0)
}
