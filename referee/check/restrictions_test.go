package check

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sandbox"
)

// runHiker runs a bot that uses something outside its directory before it plays. way says what.
func runHiker(way string) error {
	if err := hike(way); err != nil {
		return err
	}
	return house.Run("first", os.Stdin, os.Stdout)
}

func hike(way string) error {
	name, arg, _ := strings.Cut(way, "=")
	switch name {
	case "write":
		return os.WriteFile("./log.txt", nil, 0o644)
	case "temp":
		return os.WriteFile(os.TempDir()+"/log.txt", nil, 0o644)
	case "network":
		c, err := net.Dial("tcp", arg)
		if err == nil {
			c.Close()
		}
		return err
	case "home":
		home, err := os.UserHomeDir()
		if err == nil {
			_, err = os.ReadFile(home + "/" + arg)
		}
		return err
	case "nowhere":
		_, err := os.ReadFile("/no/such/file")
		return err
	case "memory":
		all := make([]byte, 200<<20)
		for i := 0; i < len(all); i += 4096 {
			all[i]++
		}
		var err error
		if home, _ := os.UserHomeDir(); home != arg { // at REDUCED the sandbox measures now and then
			_, err = io.Copy(io.Discard, os.Stdin)
		}
		runtime.KeepAlive(all)
		return err
	case "processes":
		for range 60 {
			c := exec.Command("/bin/sleep", "60")
			if err := c.Start(); err != nil {
				return err
			}
			defer c.Process.Kill()
		}
	}
	return nil
}

// If a bot does something that works only without a sandbox, the report names it, at every level with namespaces.
func TestSandbox(t *testing.T) {
	kit.Slow(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for c, err := listener.Accept(); err == nil; c, err = listener.Accept() {
			c.Close()
		}
	}()
	t.Setenv("HOME", t.TempDir())
	if err := os.WriteFile(os.Getenv("HOME")+"/book", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	const outside = "works outside the sandbox but not inside: "
	cases := map[string]struct{ text, change string }{
		"write":                               {outside + `the process exited with status 1 instead of sending "ready": it tried to write ./log.txt`, "write to $TMPDIR"},
		"temp":                                {},
		"network=" + listener.Addr().String(): {"it tried to use the network", "put everything that the bot needs into its directory"},
		"home=book":                           {"it looked for ", "put the files that the bot reads beside it"},
		"nowhere":                             {"it looked for /no/such/file, which is not there; outside the sandbox it fails, too", "put the files that the bot reads beside it, as copies and not as links, in a directory of its own, where it is started"},
		"memory=" + os.Getenv("HOME"):         {outside, "use less, or allow more with --memory; the limit was 128 MiB"},
		"processes":                           {outside, "start fewer, or allow more with --processes; the limit was 24"},
	}
	for level := sandbox.Probe().Level; level > sandbox.LevelWeak; level-- {
		if level < sandbox.LevelFull && kit.HasRaceDetector() {
			break // those levels allow too little memory for the race detector
		}
		hold := &match.Sandbox{Level: level, Limit: sandbox.DefaultLimit}
		hold.Limit.Memory, hold.Limit.Processes = 128<<20, 24
		for way, want := range cases {
			dir := t.TempDir()
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			copySelf(t, dir+"/hiker")
			manifest := fmt.Sprintf("name = \"hiker\"\nrun = [\"./hiker\", \"hiker\", %q]\n", way)
			if err := os.WriteFile(dir+"/timba.toml", []byte(manifest), 0o644); err != nil {
				t.Fatal(err)
			}
			p, err := program.Resolver{}.Resolve(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			p.Sandbox = hold
			o := Defaults()
			o.Clock.Move, o.Clock.Startup, o.Time, o.Waits.Grace = time.Hour, time.Hour, time.Hour, time.Hour
			o.Quick, o.RetryUnsandboxed, o.Waits.Pause, o.Games = true, true, time.Millisecond, oneGame(t, "tebes")
			r, err := Run(t.Context(), p, o)
			if err != nil {
				t.Fatal(err)
			}
			c := r.Find(Start)
			switch {
			case r.Sandbox != level.String() || !strings.HasPrefix(r.Find(Sandbox).Note, level.String()+": 128 MiB of memory, 24 processes"):
				t.Errorf("%s, %s: the sandbox is told as %+v", way, level, r.Find(Sandbox))
			case want.text == "" && r.Verdict != OK, want.text != "" && c.Failure == nil:
				t.Errorf("%s, %s:\n%s", way, level, summary(r))
			case want.text != "" && (!strings.Contains(c.Failure.Text.String(), want.text) || !strings.Contains(c.Failure.Change.String(), want.change)):
				t.Errorf("%s, %s: want %q and %q:\n%s", way, level, want.text, want.change, summary(r))
			}
		}
	}
}

// copySelf copies the test binary to a path that users without rights can read.
func copySelf(t *testing.T, path string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
}
