// Package sandbox runs one program that nobody trusts: it sees a folder and the
// system's programs, nothing of its user and of others, no network, and it has
// limits of memory, processes, time and disk.
//
// A program that uses it calls MaybeInit first thing in main, since a sandbox is
// made by starting the program itself once more.
package sandbox

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// Level is how much of a bot is held. Levels are ordered.
type Level uint8

const (
	// None: a bot runs with all the rights of the user who started timba.
	None Level = iota
	// Weak: no namespaces. Landlock and seccomp keep it from files that it need
	// not see, from writing anywhere and from the network.
	Weak
	// Reduced: namespaces, Landlock and seccomp. Without a cgroup the memory of
	// all processes together is only looked at 20 times a second.
	Reduced
	// Full: namespaces, Landlock, seccomp and a cgroup.
	Full
)

var levels = [...]string{None: "NONE", Weak: "WEAK", Reduced: "REDUCED", Full: "FULL"}

// String is the level's name.
func (l Level) String() string {
	if int(l) < len(levels) {
		return levels[l]
	}
	return fmt.Sprintf("Level(%d)", uint8(l))
}

// ParseLevel reads a level's name, in small letters or capitals.
func ParseLevel(s string) (Level, error) {
	for l, name := range levels {
		if strings.EqualFold(s, name) {
			return Level(l), nil
		}
	}
	return None, fmt.Errorf("sandbox: %q is not a level: try none, weak, reduced or full", s)
}

// Limit is what a sandbox may use. All of it is counted over all its processes
// together but for Output and OpenFiles.
type Limit struct {
	Memory    int64         // bytes
	Processes int           // and threads
	CPU       time.Duration // 0 for none
	Disk      int64         // bytes of scratch, in memory
	Inodes    int64         // files and folders of scratch
	Output    int64         // bytes of one file
	OpenFiles int           // of one process
}

// DefaultLimit is for a bot.
var DefaultLimit = Limit{
	Memory:    512 << 20,
	Processes: 64,
	Disk:      64 << 20,
	Inodes:    4096,
	Output:    64 << 20,
	OpenFiles: 256,
}

// BuildLimit is for a compiler.
var BuildLimit = Limit{
	Memory:    2 << 30,
	Processes: 256,
	CPU:       5 * time.Minute,
	Disk:      1 << 30,
	Inodes:    65536,
	Output:    512 << 20,
	OpenFiles: 1024,
}

// Check refuses limits that nothing could run in.
func (l Limit) Check() error {
	_, err := l.check()
	return err
}

// check is Check that fills in what is left out.
func (l Limit) check() (Limit, error) {
	d := DefaultLimit
	for _, f := range []struct {
		name       string
		value      *int64
		least, def int64
	}{
		{"memory", &l.Memory, 16 << 20, d.Memory},
		{"disk", &l.Disk, 1 << 16, d.Disk},
		{"inodes", &l.Inodes, 64, d.Inodes},
		{"output", &l.Output, 1 << 16, d.Output},
	} {
		if *f.value == 0 {
			*f.value = f.def
		}
		if *f.value < f.least {
			return l, fmt.Errorf("sandbox: a limit of %s of %d is too small: try %d or more", f.name, *f.value, f.least)
		}
	}
	if l.Processes == 0 {
		l.Processes = d.Processes
	}
	if l.OpenFiles == 0 {
		l.OpenFiles = d.OpenFiles
	}
	switch {
	case l.Processes < 1:
		return l, fmt.Errorf("sandbox: a limit of processes of %d is too small: try 1 or more", l.Processes)
	case l.OpenFiles < 16:
		return l, fmt.Errorf("sandbox: a limit of open files of %d is too small: try 16 or more", l.OpenFiles)
	case l.CPU < 0:
		return l, fmt.Errorf("sandbox: a limit of CPU time of %s is too small: try 0 for none", l.CPU)
	}
	return l, nil
}

// Usage is what a sandbox has used.
type Usage struct {
	Memory    int64 // peak, bytes
	CPU       time.Duration
	Processes int // peak, where a cgroup counts them
}

// Reason is why a sandbox has ended.
type Reason uint8

const (
	Exited       Reason = iota // by itself: Status.Code
	Signalled                  // Status.Signal
	MemoryLimit                // all memory was used
	ProcessLimit               // ended after it was refused a process
	CPULimit                   // all CPU time was used
	Forbidden                  // a system call that nothing but an attack makes
	Killed                     // by Kill or by Wait
	NotStarted                 // Status.Step, Status.Err
)

var reasons = [...]string{"exited", "signalled", "memory", "processes", "cpu", "forbidden", "killed", "not started"}

// String is a word for a reason.
func (r Reason) String() string {
	if int(r) < len(reasons) {
		return reasons[r]
	}
	return fmt.Sprintf("Reason(%d)", uint8(r))
}

// Status is how a sandbox has ended.
type Status struct {
	Reason Reason
	Code   int            // exit status, when it exited
	Signal syscall.Signal // when it was signalled
	Step   string         // what failed, when it was not started
	Err    error          // how
	Usage  Usage
}

// String tells it in words.
func (s Status) String() string {
	switch s.Reason {
	case Exited:
		return fmt.Sprintf("exited with status %d", s.Code)
	case Signalled:
		return fmt.Sprintf("was killed by signal %d (%s)", int(s.Signal), s.Signal)
	case MemoryLimit:
		return "used more memory than it may"
	case ProcessLimit:
		return "started more processes than it may"
	case CPULimit:
		return "used more CPU time than it may"
	case Forbidden:
		return "made a system call that is forbidden"
	case NotStarted:
		return fmt.Sprintf("was not started: %s: %v", s.Step, s.Err)
	}
	return "was ended"
}

// Spec is a program to run and what it may see and use.
type Spec struct {
	Command []string // the first word is looked for in PATH, or in Dir when it has a slash
	// Dir is the program's folder, where it runs: read-only, at its own path. With
	// Build the program works on a copy of it, whose files replace those of Dir
	// when the program has exited with status 0. "" for none.
	Dir      string
	Build    bool
	ReadOnly []string // further paths to show, read-only
	// Env is added to a small environment of the sandbox's own; that of the
	// caller is not inherited.
	Env                   []string
	Stdin, Stdout, Stderr *os.File // nil for /dev/null
	Limit                 Limit    // zero values are those of DefaultLimit
	Level                 Level    // demanded at least
	Most                  Level    // use no layers above this level; None for all there are
}

// Layer is one wall of a sandbox on this machine.
type Layer struct {
	Name string
	OK   bool
	Err  error  // why not
	Fix  string // what would help, in words or as a command
}

// Trial is an attack of a self-test and how it went.
type Trial struct {
	Name string
	Held bool
	Text string
}

// Report is what this machine can hold.
type Report struct {
	Level  Level
	Layers []Layer
}

// StepError is a failure to make a sandbox: nothing that the program did.
type StepError struct {
	Step string
	Err  error
}

func (e *StepError) Error() string { return "sandbox: " + e.Step + ": " + e.Err.Error() }

// Unwrap is the cause.
func (e *StepError) Unwrap() error { return e.Err }

func step(name string, err error) error {
	if err == nil {
		return nil
	}
	return &StepError{name, err}
}
