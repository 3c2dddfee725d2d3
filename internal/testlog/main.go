// Testlog runs go test -json. It prints a line for each package, the output of packages that fail and, at the
// end, the slowest packages and tests and what was skipped. Several runs, separated by "+", run at the same
// time:
//
//	testlog -race ./a ./b + ./c
//
// Each line of the environment variable TESTLOG_LEFT_OUT is added to the list of what was skipped.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// event is a line that go test -json prints.
type event struct {
	Action, Package, Test, Output, FailedBuild string
	Seconds                                    float64 `json:"Elapsed"`
}

// duration is the name of a package or a test, with the time that it took.
type duration struct {
	name    string
	seconds float64
}

// summary collects the results of all runs.
type summary struct {
	mu              sync.Mutex
	packages, tests []duration
	leftOut         map[string]int // number of skipped tests by reason
	failures        []string
	processor       time.Duration
}

func main() {
	begin, s, status := time.Now(), &summary{leftOut: map[string]int{}}, 0
	var group sync.WaitGroup
	for args := range slices.Values(runs(os.Args[1:])) {
		group.Go(func() {
			if !s.run(args) {
				s.mu.Lock()
				defer s.mu.Unlock()
				status = 1
			}
		})
	}
	group.Wait()
	s.print(time.Since(begin))
	os.Exit(status)
}

func runs(args []string) (all [][]string) {
	for {
		i := slices.Index(args, "+")
		if i < 0 {
			return append(all, args)
		}
		all, args = append(all, args[:i]), args[i+1:]
	}
}

func (s *summary) run(args []string) (passed bool) {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	if cmd.Stderr = os.Stderr; slices.Contains(args, "-race") {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1") // the race detector is C
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return false
	}
	r := &reader{summary: s, output: map[string][]outputLine{}}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			e = event{Action: "build-output", Output: lines.Text() + "\n"}
		}
		s.mu.Lock()
		r.handle(e)
		s.mu.Unlock()
	}
	err = cmd.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.processor += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return err == nil && lines.Err() == nil
}

// outputLine is a line that a package printed, with the name of the test that printed it, or "" if no test did.
type outputLine struct{ test, text string }

// reader processes the events of one run of go test.
type reader struct {
	*summary
	output map[string][]outputLine // by package: the lines that may still be printed
}

var place = regexp.MustCompile(`^\s*\S+\.go:\d+: `)

func (r *reader) handle(e event) {
	switch e.Action {
	case "build-output":
		fmt.Print(e.Output)
	case "output":
		r.output[e.Package] = append(r.output[e.Package], outputLine{e.Test, e.Output})
	case "pass", "skip", "fail":
		if e.Test == "" {
			r.printPackage(e)
			return
		}
		if !strings.Contains(e.Test, "/") {
			r.tests = append(r.tests, duration{e.Package + " " + e.Test, e.Seconds})
		}
		if e.Action == "fail" {
			r.failures = append(r.failures, e.Package+" "+e.Test)
			return
		}
		reason := ""
		r.output[e.Package] = slices.DeleteFunc(r.output[e.Package], func(s outputLine) bool {
			if s.test == e.Test && reason == "" && place.MatchString(s.text) {
				reason = strings.TrimSpace(place.ReplaceAllString(s.text, ""))
			}
			return s.test == e.Test
		})
		if e.Action == "skip" {
			r.leftOut[reason]++
		}
	}
}

// printPackage prints the result line of a package if it has passed, or all its output if it has failed. e is the
// event that reports the result.
func (r *reader) printPackage(e event) {
	r.packages = append(r.packages, duration{e.Package, e.Seconds})
	for _, line := range r.output[e.Package] {
		if e.Action == "fail" || strings.HasPrefix(line.text, "ok  \t") {
			fmt.Print(line.text)
		}
	}
	delete(r.output, e.Package)
	if e.Action == "fail" && e.FailedBuild != "" {
		r.failures = append(r.failures, e.Package)
	}
}

func (s *summary) print(wall time.Duration) {
	for _, list := range []struct {
		title string
		limit int
		all   []duration
	}{{"slowest packages", 15, s.packages}, {"slowest tests", 30, s.tests}} {
		slices.SortFunc(list.all, func(a, b duration) int { return cmp.Compare(b.seconds, a.seconds) })
		fmt.Printf("\n%s, in seconds:\n", list.title)
		for _, t := range list.all[:min(list.limit, len(list.all))] {
			if t.seconds >= 0.1 {
				fmt.Printf("%7.1f  %s\n", t.seconds, strings.ReplaceAll(t.name, "github.com/timba-arena/timba/", ""))
			}
		}
	}
	fmt.Printf("\n%.0f s, and %.0f s of processor time for building and testing\n", wall.Seconds(), s.processor.Seconds())
	for _, name := range s.failures {
		fmt.Println("failed:", name)
	}
	var reasons []string
	for reason, n := range s.leftOut {
		reasons = append(reasons, fmt.Sprintf("%s (%d)", reason, n))
	}
	slices.Sort(reasons)
	reasons = append(reasons, strings.FieldsFunc(os.Getenv("TESTLOG_LEFT_OUT"), func(r rune) bool { return r == '\n' })...)
	if len(reasons) > 0 {
		fmt.Println("LEFT OUT:", strings.Join(reasons, "; "))
	}
}
