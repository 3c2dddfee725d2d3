//go:build soak && linux

package sandbox

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
)

// greetings are programs that print a line, one for each interpreter.
var greetings = []struct {
	name    string
	command []string
	source  string // with command to build it to ./bot
}{
	{"true", []string{"/bin/echo", "1"}, ""},
	{"C", []string{"cc", "-O2", "-o", "bot", "bot.c"}, "#include <stdio.h>\nint main(void) { puts(\"1\"); }\n"},
	{"Go", []string{"go", "build", "-o", "bot", "bot.go"}, "package main\nimport \"fmt\"\nfunc main() { fmt.Println(1) }\n"},
	{"lua", []string{"lua", "-e", "print(1)"}, ""},
	{"perl", []string{"perl", "-e", `print "1\n"`}, ""},
	{"bash", []string{"bash", "-c", "echo 1"}, ""},
	{"php", []string{"php", "-r", `echo "1\n";`}, ""},
	{"python", []string{"python3", "-c", "print(1)"}, ""},
	{"ruby", []string{"ruby", "-e", "puts 1"}, ""},
	{"node", []string{"node", "-e", "console.log(1)"}, ""},
	{"java", []string{"java", "-cp", ".", "Bot"}, "class Bot { public static void main(String[] a) { System.out.println(1); } }\n"},
}

// medians has the times of one action that is done in several ways. The ways take turns, so that other load
// of the machine affects all of them alike.
type medians map[string][]time.Duration

func (m medians) add(way string, d time.Duration) { m[way] = append(m[way], d) }

func (m medians) of(way string) float64 {
	slices.Sort(m[way])
	return float64(m[way][len(m[way])/2]) / float64(time.Millisecond)
}

func (m medians) report(b *testing.B) {
	b.ReportMetric(0, "ns/op") // the sum over all ways means nothing
	for way := range m {
		b.ReportMetric(m.of(way), way+"-ms")
		if way != "bare" {
			b.ReportMetric(m.of(way)-m.of("bare"), way+"-more-ms")
		}
	}
}

// firstLine returns the time until a program has printed a line. way is "bare" or the name of a level.
func firstLine(b *testing.B, way string, spec Spec) time.Duration {
	r, w, err := os.Pipe()
	kit.Must(b, err)
	defer r.Close()
	begin := time.Now()
	end, err := startAny(way, spec, w)
	w.Close()
	kit.Must(b, err)
	if _, err := bufio.NewReader(r).ReadString('\n'); err != nil {
		b.Fatalf("%s, %v: %v", way, spec.Args, err)
	}
	d := time.Since(begin)
	end()
	return d
}

func startAny(way string, spec Spec, out *os.File) (end func(), err error) {
	if way != "bare" {
		level, err := ParseLevel(way)
		if err != nil {
			return nil, err
		}
		spec.Level, spec.Stdout = level, out
		p, err := Start(spec)
		return func() { p.Wait() }, err
	}
	cmd := exec.Command(spec.Path, spec.Args[1:]...)
	// Both ways must be equally fast. A session has its own share of a busy machine, and Node reads
	// certificates that the environment names.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Dir, cmd.Stdout, cmd.Env = spec.Dir, out, environment(DefaultLimit, "/tmp", nil)
	return func() { cmd.Wait() }, cmd.Start()
}

func ways() []string {
	all := []string{"bare"}
	for l := Probe().Level; l > LevelWeak; l-- {
		all = append(all, l.String())
	}
	return all
}

// BenchmarkStart measures the time from the start of a program to its first line, with and without a sandbox,
// for each language on this machine.
func BenchmarkStart(b *testing.B) {
	for _, g := range greetings {
		b.Run(g.name, func(b *testing.B) {
			if _, err := exec.LookPath(g.command[0]); err != nil {
				kit.Lacks(b, g.command[0])
			}
			dir, run := "", g.command
			if g.source != "" {
				dir, run = buildGreeting(b, g.command, g.source)
			}
			spec := command(b, LevelNone, dir, run...)
			m := medians{}
			for b.Loop() {
				for _, way := range ways() {
					m.add(way, firstLine(b, way, spec))
				}
			}
			m.report(b)
		})
	}
}

func buildGreeting(b *testing.B, command []string, source string) (dir string, run []string) {
	dir = b.TempDir()
	name := filepath.Base(command[len(command)-1])
	if name == "Bot" {
		name = "Bot.java"
	}
	kit.Must(b, os.WriteFile(filepath.Join(dir, name), []byte(source), 0o644))
	build := command
	run = []string{"./bot"}
	if name == "Bot.java" {
		build, run = []string{"javac", name}, command
	}
	cmd := exec.Command(build[0], build[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %v: %s", build, err, out)
	}
	return dir, run
}

// BenchmarkEnd measures the time from the start of a program until it has ended and everything is cleaned up.
func BenchmarkEnd(b *testing.B) {
	m := medians{}
	for b.Loop() {
		for _, way := range ways() {
			begin := time.Now()
			end, err := startAny(way, command(b, LevelNone, "", "/bin/true"), nil)
			kit.Must(b, err)
			end()
			m.add(way, time.Since(begin))
		}
	}
	m.report(b)
}

// BenchmarkTwelve measures the time from the start of twelve Python programs at once until the last one's
// first line.
func BenchmarkTwelve(b *testing.B) {
	if _, err := exec.LookPath("python3"); err != nil {
		kit.Lacks(b, "python3")
	}
	m, python := medians{}, command(b, LevelNone, "", "python3", "-c", "print(1)")
	for b.Loop() {
		for _, way := range ways() {
			begin := time.Now()
			var all sync.WaitGroup
			for range 12 {
				all.Go(func() { firstLine(b, way, python) })
			}
			all.Wait()
			m.add(way, time.Since(begin))
		}
	}
	m.report(b)
	for _, way := range ways()[1:] {
		b.ReportMetric(m.of(way)/m.of("bare"), fmt.Sprint(way, "-times"))
	}
}
