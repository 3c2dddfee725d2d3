package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/sandbox/internal/initproc"
)

// trialLimit is the limit of the sandboxes in SelfTest. It is small, so that a successful attack does little harm.
var trialLimit = Limit{Memory: 128 << 20, Processes: 24, CPU: 2 * time.Second, Disk: 8 << 20, Inodes: 256, Output: 8 << 20, OpenFiles: 64}

// trialTime is how long an attack of SelfTest may run.
const trialTime = time.Minute

// trial is an attack that SelfTest makes. Its function run makes the attack inside a sandbox. The function returns a
// text on how the attack was refused, or an error that says what the attack achieved.
type trial struct {
	name string
	run  func(level Level) (refused string, err error)
}

var trials = []trial{
	{"takes all memory", takeMemory},
	{"starts processes endlessly", startMany},
	{"uses all CPU time", useCPU},
	{"fills the disk", fillDisk},
	{"opens a connection", openConnection},
	{"reads its user's files", readHome},
	{"writes outside its directory", writeOutside},
	{"ends processes of others", endOthers},
	{"mounts a file system", mountSomething},
	{"becomes root by a setuid program", becomeRoot},
	{"leaves a process behind", leaveProcess},
}

// SelfTest makes real attacks in sandboxes of the given level, and returns for each whether it was blocked. The
// sandboxes have small limits. This machine must support the level.
func SelfTest(level Level) []Trial {
	results := make([]Trial, 0, len(trials))
	for _, t := range trials {
		results = append(results, t.execute(level))
	}
	return results
}

func (t trial) execute(level Level) Trial {
	result := Trial{Name: t.name}
	output, s, err := runTrial(t.name, level)
	switch {
	case err != nil:
		result.Text = err.Error()
	case s.Reason == MemoryLimit || s.Reason == CPULimit || s.Reason == ProcessLimit || s.Reason == Forbidden:
		result.Blocked, result.Text = true, "it "+s.String()
	case s.Reason == Exited && s.Code == 0:
		result.Blocked, result.Text = true, output
	case s.Reason == Exited && s.Code == exitSucceeded:
		result.Text = output
	case s.Reason == Exited && s.Code == 2 && strings.Contains(output, "out of memory"), s.Reason == Exited && strings.Contains(output, "cannot allocate memory"):
		result.Blocked, result.Text = true, "it could not allocate memory"
	default:
		result.Text = "it " + s.String() + " " + output
	}
	return result
}

// exitSucceeded is the exit status of this program when it has made an attack that succeeded.
const exitSucceeded = 3

// runTrial makes the attack called name in a sandbox of the given level. It returns the first line that the attack
// printed, and how the attack's process ended. It returns an error if the sandbox could not be started, or if a
// process of the attack still runs.
func runTrial(name string, level Level) (string, Status, error) {
	p, out, err := startProbe(level, trialLimit, name)
	if err != nil {
		return "", Status{}, err
	}
	defer out.Close()
	stop := time.AfterFunc(trialTime+10*time.Second, p.Kill)
	defer stop.Stop()
	s := p.Wait()
	if err := out.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		return "", s, err
	}
	output, err := io.ReadAll(io.LimitReader(out, 1<<16))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return "", s, errors.New("one of its processes is still running")
	}
	line, _, _ := strings.Cut(string(output), "\n")
	return line, s, nil
}

// attackMain makes the attack with the given name and exits. It runs inside a sandbox of the given level.
func attackMain(name string, level Level) {
	for _, t := range trials {
		if t.name != name {
			continue
		}
		refused, got := t.run(level)
		if got != nil {
			fmt.Println(got)
			unix.Exit(exitSucceeded)
		}
		fmt.Println(refused)
		unix.Exit(0)
	}
	fmt.Printf("unknown attack %q\n", name)
	unix.Exit(exitSucceeded)
}

func takeMemory(Level) (string, error) {
	var all [][]byte
	for len(all) < 256 {
		b := make([]byte, 1<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		all = append(all, b)
	}
	time.Sleep(2 * initproc.PollEvery)
	return "", fmt.Errorf("it allocated %d MiB, but %d are allowed", len(all), trialLimit.Memory>>20)
}

func startMany(Level) (string, error) {
	for n := range 200 {
		if err := exec.Command("/bin/sh", "-c", "while :; do read x || sleep 60; done").Start(); err != nil {
			return fmt.Sprintf("refused after %d: %v", n, err), nil
		}
	}
	return "", errors.New("it started 200 processes")
}

// useCPU tries to use three times as much CPU time as its sandbox allows, for at most trialTime.
func useCPU(Level) (string, error) {
	var used unix.Rusage
	for began := time.Now(); time.Since(began) < trialTime; {
		if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
			return "", err
		}
		if had := time.Duration(used.Utime.Nano() + used.Stime.Nano()); had > 3*trialLimit.CPU {
			return "", fmt.Errorf("it used %v of CPU time and was not stopped", had.Round(time.Second))
		}
	}
	return "", fmt.Errorf("it was not stopped in %v: if this machine is busy, try again later", trialTime)
}

func fillDisk(Level) (string, error) {
	block := make([]byte, 1<<20)
	total := 0
	for i := range 64 {
		if err := os.WriteFile(fmt.Sprintf("%s/%d", os.TempDir(), i), block, 0o600); err != nil {
			return fmt.Sprintf("refused after %d MiB: %v", total, errors.Unwrap(err)), nil
		}
		total++
	}
	return "", fmt.Errorf("it wrote %d MiB, but %d are allowed", total, trialLimit.Disk>>20)
}

func openConnection(Level) (string, error) {
	for _, family := range []int{unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK, unix.AF_VSOCK, unix.AF_PACKET} {
		fd, err := unix.Socket(family, unix.SOCK_DGRAM, 0)
		if err == nil {
			unix.Close(fd)
			return "", fmt.Errorf("it opened a socket of family %d", family)
		}
	}
	return "refused: sockets cannot be opened", nil
}

func readHome(Level) (string, error) {
	for _, path := range []string{os.Args[probeHome], "/root", "/home", "/etc/shadow", "/etc/ssh", "/var/log"} {
		if path == "" || path == "/tmp" || path == "/" {
			continue
		}
		f, err := os.Open(path)
		if err == nil {
			f.Close()
			return "", fmt.Errorf("it opened %s", path)
		}
	}
	return "refused: the home cannot be opened", nil
}

func writeOutside(Level) (string, error) {
	if err := checkFiles(LevelWeak); err != nil {
		return "", err
	}
	return "refused everywhere", nil
}

func endOthers(Level) (string, error) {
	outside, err := strconv.Atoi(os.Args[probeParent])
	if err != nil {
		return "", err
	}
	for _, pid := range []int{outside, os.Getppid(), 1} {
		if err := unix.Kill(pid, 0); err == nil && pid > 0 {
			return "", fmt.Errorf("it can signal process %d", pid)
		}
	}
	return "refused: it cannot signal other processes", nil
}

func mountSomething(Level) (string, error) {
	if err := unix.Mount("x", os.TempDir(), "tmpfs", 0, ""); err != nil {
		return fmt.Sprintf("refused: %v", err), nil
	}
	return "", errors.New("it mounted a tmpfs")
}

func becomeRoot(level Level) (string, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "", err
	}
	bound := level == LevelWeak || strings.Contains(string(status), "CapBnd:\t0000000000000000\n")
	if !bound || !strings.Contains(string(status), "NoNewPrivs:\t1\n") {
		return "", errors.New("a setuid program can give it rights")
	}
	return "refused: setuid programs give no rights", nil
}

func leaveProcess(Level) (string, error) {
	cmd := exec.Command("/bin/sh", "-c", "trap '' HUP TERM INT; while :; do sleep 60; done")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	return "it ended with the sandbox", nil
}
