package main

import (
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/sandbox"
)

// outcome is what a run came to.
type outcome struct {
	through bool
	text    string
	errors  []string
}

func failed(err error) outcome {
	return outcome{text: err.Error(), errors: []string{err.Error()}}
}

type starter func(target) (*run, error)

// judgeBy makes an attack and tells what it came to; free says that nothing holds
// it.
func judgeBy(a *attack, start starter, w *worker, free bool) outcome {
	t := w.target
	if a.First != nil {
		return judgeTwo(a, start, t, free)
	}
	r, err := start(t)
	if err != nil {
		return failed(err)
	}
	defer r.finish()
	switch a.Setup.Judge {
	case bySurvivor, byRunaway:
		return judgeSurvivor(a, r, w, free)
	case byEnd:
		return judgeEnd(a, r, free)
	case byFlood:
		return judgeFlood(a, r, free)
	}
	return judgeWord(a, r, free)
}

// judgeWord believes what the attack says.
func judgeWord(a *attack, r *run, free bool) outcome {
	word := ""
	r.listen(func(line string) bool {
		if address, ok := strings.CutPrefix(line, "DIAL "); ok {
			if c, err := net.DialTimeout("tcp", address, time.Second); err == nil {
				c.Close()
			}
		} else if strings.HasPrefix(line, "THROUGH ") || strings.HasPrefix(line, "BLOCKED ") {
			word = line
		}
		return false
	})
	e := r.finish()
	if rest, ok := strings.CutPrefix(word, "THROUGH "); ok {
		return outcome{through: true, text: rest}
	}
	return a.ended(word, e, free)
}

// ended judges an attack that got nothing: it must have ended in a way that its
// row knows.
func (a *attack) ended(word string, e ending, free bool) outcome {
	text := strings.TrimPrefix(word, "BLOCKED ")
	if free {
		return outcome{text: strings.TrimSpace(text + " " + e.stderr)}
	}
	s := e.status
	o := outcome{text: text}
	if text == "" {
		o.text = s.String()
	}
	if s.Reason == sandbox.Killed && !e.ours {
		return outcome{through: true, text: "the sandbox's init has died"}
	}
	ok := false
	switch s.Reason {
	case sandbox.Exited:
		ok = s.Code == exitBlocked && word != "" || s.Code == exitUsage && a.Ends&endCrash != 0
	case sandbox.Signalled:
		ok = a.Ends&endSignal != 0
	case sandbox.MemoryLimit:
		ok = a.Ends&endMemory != 0
	case sandbox.ProcessLimit:
		ok = a.Ends&endProcesses != 0
	case sandbox.CPULimit:
		ok = a.Ends&endCPU != 0
	case sandbox.Forbidden:
		ok = a.Ends&endForbidden != 0
	}
	if !ok {
		o.errors = append(o.errors, fmt.Sprintf("it said %q and %s: not an end that is known; its errors: %q", word, s, e.stderr))
	}
	return o
}

// waitReady waits for an attack to get ready; word is what it said instead.
func waitReady(r *run) (pid int, word string) {
	r.listen(func(line string) bool {
		if strings.HasPrefix(line, "READY ") {
			pid = pidOf(line)
		} else if strings.HasPrefix(line, "BLOCKED ") {
			word = line
		}
		return pid != 0 || word != ""
	})
	return pid, word
}

// judgeSurvivor looks for processes after the end.
func judgeSurvivor(a *attack, r *run, w *worker, free bool) outcome {
	pid, word := waitReady(r)
	if pid == 0 {
		r.end()
		return a.ended(word, r.finish(), free)
	}
	if a.Setup.Judge == byRunaway {
		r.kill()
	}
	r.end()
	if free {
		for range 10_000 { // those that come and go are not seen at every look
			if len(w.strays(true)) > 0 {
				return outcome{through: true, text: "processes live on"}
			}
		}
		return outcome{text: "no process lives on"}
	}
	e := r.finish()
	want := sandbox.Exited
	if a.Setup.Judge == byRunaway {
		want = sandbox.Killed
	}
	o := outcome{text: e.status.String()}
	known := e.status.Reason == want || a.Ends&endSignal != 0 && (e.status.Reason == sandbox.Killed || e.status.Reason == sandbox.Signalled)
	if !known {
		o.errors = append(o.errors, fmt.Sprintf("its status is %q: want %q", e.status.Reason, want))
	}
	return o
}

// judgeEnd sees whether it can be ended: without a sandbox, as a referee would
// do it that is kind.
func judgeEnd(a *attack, r *run, free bool) outcome {
	pid, word := waitReady(r)
	if pid == 0 {
		r.end()
		return a.ended(word, r.finish(), free)
	}
	r.term()
	if free { // a signal that is ignored is gone, and so never ends it
		return outcome{through: ignores(pid, unix.SIGTERM) && !r.over(), text: "it ignores SIGTERM"}
	}
	return killed(r)
}

// killed judges a sandbox that was killed.
func killed(r *run) outcome {
	r.end() // or it exits by itself when its time is over, which is no end that is wanted
	o := outcome{text: "ended"}
	s := r.finish().status
	if s.Reason == sandbox.Exited && s.Code == exitBlocked { // refused before it was killed
		return o
	}
	if s.Reason != sandbox.Killed {
		o.errors = append(o.errors, fmt.Sprintf("its status is %q: want %q", s.Reason, sandbox.Killed))
	}
	return o
}

// judgeFlood reads on as a careless referee would; one with a sandbox stops.
func judgeFlood(_ *attack, r *run, free bool) outcome {
	much := int64(1 << 20)
	if free {
		much = 16 << 20
	}
	got := func() int64 { return max(r.counts[0], r.counts[1]) }
	floods := r.wait(func() bool {
		r.lines, r.rest = nil, nil
		return got() >= much
	})
	if free {
		return outcome{through: floods, text: fmt.Sprint(got(), " bytes")}
	}
	if !floods {
		return outcome{text: "no flood", errors: []string{fmt.Sprint("only ", got(), " bytes came")}}
	}
	r.term()
	return killed(r)
}

// judgeTwo runs the two bots of a match.
func judgeTwo(a *attack, start starter, t target, free bool) outcome {
	t.First = true
	one, err := start(t)
	if err != nil {
		return failed(err)
	}
	defer one.finish()
	pid, word := waitReady(one)
	if pid == 0 {
		one.end()
		return a.ended(word, one.finish(), free)
	}
	if a.Setup.Leave {
		one.finish()
	}
	t.First = false
	t.Victim = pid
	two, err := start(t)
	if err != nil {
		return failed(err)
	}
	defer two.finish()
	o := judgeWord(a, two, free)
	if a.Setup.Judge == byOther {
		// It has had the other's signal before it reads this, and ends by itself only then.
		one.stdin.Write([]byte{0})
		one.end()
		e := one.finish()
		o.through = !e.exited && (free || e.status.Reason != sandbox.Exited || e.status.Code != exitThrough)
		return o
	}
	if !a.Setup.Leave && !free && one.over() {
		o.through, o.text = true, o.text+"; the first bot has ended: "+one.finish().status.String()
	}
	return o
}

// ignores reports whether a process ignores or handles a signal.
func ignores(pid int, sig syscall.Signal) bool {
	return (signals(pid, "SigIgn")|signals(pid, "SigCgt"))>>(sig-1)&1 != 0
}
