package main

import (
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/timba-arena/timba/sandbox"
)

// outcome is what a run came to.
type outcome struct {
	bite   bool
	text   string
	errors []string
}

func failed(err error) outcome {
	return outcome{text: err.Error(), errors: []string{err.Error()}}
}

// How long things may take on a busy machine.
const (
	patience = 25 * time.Second // for an attack to end: less than it may live
	soon     = 5 * time.Second  // for a sandbox to end once it is killed
	grace    = 150 * time.Millisecond
)

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
	lines, ended, late := r.lines, r.ended, time.After(patience)
	for lines != nil || ended != nil {
		select {
		case line, ok := <-lines:
			switch {
			case !ok:
				lines = nil
			case strings.HasPrefix(line, "DIAL "):
				if c, err := net.DialTimeout("tcp", line[len("DIAL "):], time.Second); err == nil {
					c.Close()
				}
			case strings.HasPrefix(line, "BITE ") || strings.HasPrefix(line, "HELD "):
				word = line
			}
		case <-ended:
			ended = nil
			if word == "" && lines != nil {
				// What it said last may still be in the pipe; a process that keeps
				// it open is no reason to wait for long.
				late = time.After(soon)
			} else {
				lines = nil
			}
		case <-late:
			lines, ended = nil, nil
		}
	}
	e := r.finish()
	if rest, ok := strings.CutPrefix(word, "BITE "); ok {
		return outcome{bite: true, text: rest}
	}
	return a.ended(word, e, free)
}

// ended judges an attack that got nothing: it must have ended in a way that its
// row knows.
func (a *attack) ended(word string, e ending, free bool) outcome {
	text := strings.TrimPrefix(word, "HELD ")
	if free {
		return outcome{text: strings.TrimSpace(text + " " + e.stderr)}
	}
	s := e.status
	o := outcome{text: text}
	if text == "" {
		o.text = s.String()
	}
	if s.Reason == sandbox.Killed && !e.ours {
		return outcome{bite: true, text: "the sandbox's init has died"}
	}
	ok := false
	switch s.Reason {
	case sandbox.Exited:
		ok = s.Code == exitHeld && word != "" || s.Code == exitUsage && a.Ends&endCrash != 0
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
func waitReady(r *run) (pid int, word string, err error) {
	late := time.After(patience)
	for {
		select {
		case line, ok := <-r.lines:
			switch {
			case !ok:
				return 0, "", nil
			case strings.HasPrefix(line, "READY "):
				return pidOf(line), "", nil
			case strings.HasPrefix(line, "HELD "):
				return 0, line, nil
			}
		case <-late:
			return 0, "", errTooLate
		}
	}
}

func within(c <-chan struct{}, d time.Duration) bool {
	if d == 0 {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	select {
	case <-c:
		return true
	case <-time.After(d):
		return false
	}
}

// judgeSurvivor looks for processes after the end.
func judgeSurvivor(a *attack, r *run, w *worker, free bool) outcome {
	pid, word, err := waitReady(r)
	if err != nil {
		return failed(err)
	}
	if pid == 0 {
		within(r.ended, patience)
		return a.ended(word, r.finish(), free)
	}
	if a.Setup.Judge == byRunaway {
		r.kill()
	}
	if !within(r.ended, patience) {
		return outcome{bite: true, text: "it does not end"}
	}
	if free {
		// Those that come and go are not seen at every look.
		for end := time.Now().Add(soon); time.Now().Before(end); {
			if len(w.strays(true)) > 0 {
				return outcome{bite: true, text: "processes live on"}
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
	pid, word, err := waitReady(r)
	if err != nil {
		return failed(err)
	}
	if pid == 0 {
		within(r.ended, patience)
		return a.ended(word, r.finish(), free)
	}
	time.Sleep(20 * time.Millisecond)
	r.term()
	if free {
		return outcome{bite: !within(r.ended, grace), text: "it does not end"}
	}
	return killed(r)
}

// killed judges a sandbox that was killed.
func killed(r *run) outcome {
	begin := time.Now()
	if !within(r.ended, soon) {
		return outcome{bite: true, text: "it does not end"}
	}
	o := outcome{text: fmt.Sprintf("ended in %d ms", time.Since(begin).Milliseconds())}
	s := r.finish().status
	if s.Reason == sandbox.Exited && s.Code == exitHeld { // refused before it was killed
		return o
	}
	if s.Reason != sandbox.Killed {
		o.errors = append(o.errors, fmt.Sprintf("its status is %q: want %q", s.Reason, sandbox.Killed))
	}
	return o
}

// judgeFlood reads on as a careless referee would; one with a sandbox stops.
func judgeFlood(_ *attack, r *run, free bool) outcome {
	if free {
		const much = 16 << 20
		got := readUpTo([]*os.File{r.out, r.err}, much, patience)
		return outcome{bite: got >= much, text: fmt.Sprint(got, " bytes")}
	}
	if got := readUpTo([]*os.File{r.out, r.err}, 1<<20, patience); got < 1<<20 {
		return outcome{text: "no flood", errors: []string{fmt.Sprint("only ", got, " bytes came")}}
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
	pid, word, err := waitReady(one)
	if err != nil {
		return failed(err)
	}
	if pid == 0 {
		within(one.ended, patience)
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
		wait := grace
		if free {
			wait = soon // it has been killed, and only has to be noticed
		}
		o.bite = within(one.ended, wait)
	}
	if a.Setup.Leave || free {
		return o
	}
	if within(one.ended, 0) {
		o.bite, o.text = true, o.text+"; the first bot has ended: "+one.finish().status.String()
	}
	return o
}
