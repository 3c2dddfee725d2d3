// Package sandbox runs one untrusted program: it sees a directory and the system's
// programs, but no files of users and no network, and it has limits of memory, processes,
// time and disk. Start begins everything; at level None it runs a program without a sandbox.
//
// Making a sandbox starts the calling program itself again, under another name. Such a process begins
// and ends while Go initializes this package, or one that it imports.
package sandbox

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// Level is how strictly a program is sandboxed. Levels are ordered.
type Level uint8

const (
	// LevelNone: a bot runs with all the rights of the user who started timba.
	LevelNone Level = iota
	// LevelWeak: no namespaces. Landlock and seccomp deny reading files that it does not
	// need, all writing, and the network.
	LevelWeak
	// LevelReduced: namespaces, Landlock and seccomp. Without a cgroup, the memory of all
	// processes together is checked only 20 times a second.
	LevelReduced
	// LevelFull: namespaces, Landlock, seccomp and a cgroup.
	LevelFull
)

var levelNames = [...]string{LevelNone: "NONE", LevelWeak: "WEAK", LevelReduced: "REDUCED", LevelFull: "FULL"}

// String returns the level's name.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("Level(%d)", uint8(l))
}

// ParseLevel returns the level with a name, in lower or upper case.
func ParseLevel(s string) (Level, error) {
	for l, name := range levelNames {
		if strings.EqualFold(s, name) {
			return Level(l), nil
		}
	}
	return LevelNone, fmt.Errorf("sandbox: %q is not a level: try none, weak, reduced or full", s)
}

// Limit is what a sandbox may use, over all its processes together except for Output and
// OpenFiles.
type Limit struct {
	Memory    int64         // bytes
	Processes int           // and threads
	CPU       time.Duration // 0 for none
	Disk      int64         // bytes of scratch, in memory
	Inodes    int64         // files and directories of scratch
	Output    int64         // bytes of one file
	OpenFiles int           // of one process
}

// DefaultLimit is the limit of a bot.
var DefaultLimit = Limit{
	Memory:    512 << 20,
	Processes: 64,
	Disk:      64 << 20,
	Inodes:    4096,
	Output:    64 << 20,
	OpenFiles: 256,
}

// BuildLimit is the limit of a build.
var BuildLimit = Limit{
	Memory:    2 << 30,
	Processes: 256,
	CPU:       5 * time.Minute,
	Disk:      1 << 30,
	Inodes:    65536,
	Output:    512 << 20,
	OpenFiles: 1024,
}

// MaxMemory returns the most memory that a program can use: where no cgroup counts its
// scratch, that as well.
func (l Limit) MaxMemory(level Level) int64 {
	if level == LevelFull {
		return l.Memory
	}
	return l.Memory + l.Disk
}

// Check returns the limits with defaults for zero values. The error is that of limits that are
// too small to run anything.
func (l Limit) Check() (Limit, error) {
	d := DefaultLimit
	processes, openFiles := int64(l.Processes), int64(l.OpenFiles)
	for _, f := range []struct {
		name       string
		value      *int64
		least, def int64
	}{
		{"memory", &l.Memory, 16 << 20, d.Memory},
		{"disk", &l.Disk, 1 << 16, d.Disk},
		{"inodes", &l.Inodes, 64, d.Inodes},
		{"output", &l.Output, 1 << 16, d.Output},
		{"processes", &processes, 1, int64(d.Processes)},
		{"open files", &openFiles, 16, int64(d.OpenFiles)},
	} {
		if *f.value == 0 {
			*f.value = f.def
		}
		if *f.value < f.least {
			return l, fmt.Errorf("sandbox: a limit of %s of %d is too small: try %d or more", f.name, *f.value, f.least)
		}
	}
	l.Processes, l.OpenFiles = int(processes), int(openFiles)
	if l.CPU < 0 {
		return l, fmt.Errorf("sandbox: a limit of CPU time of %s is too small: try 0 for no limit", l.CPU)
	}
	return l, nil
}

// Reason is why a sandbox ended.
type Reason uint8

const (
	Exited       Reason = iota // by itself: Status.Code
	Signalled                  // Status.Signal
	MemoryLimit                // more memory was used than allowed
	ProcessLimit               // the program ended after it could not start a process
	CPULimit                   // more CPU time was used than allowed
	Forbidden                  // the program made a system call that only attacks make
	Killed                     // by Kill or by Wait
	NotStarted                 // Status.Step, Status.Err
)

var reasonNames = [...]string{"exited", "signalled", "memory", "processes", "cpu", "forbidden", "killed", "not started"}

// String returns the name of a reason.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return fmt.Sprintf("Reason(%d)", uint8(r))
}

// Status is how a sandbox ended.
type Status struct {
	Reason Reason
	Code   int            // exit status, if Exited
	Signal syscall.Signal // if Signalled
	Step   string         // what failed, if NotStarted
	Err    error          // why, if NotStarted
	CPU    time.Duration  // that all processes have used
}

// String returns a text to follow the name of the program.
func (s Status) String() string {
	switch s.Reason {
	case Exited:
		return fmt.Sprintf("exited with status %d", s.Code)
	case Signalled:
		return fmt.Sprintf("was killed by signal %d (%s)", int(s.Signal), s.Signal)
	case MemoryLimit:
		return "used more memory than allowed"
	case ProcessLimit:
		return "started more processes than allowed"
	case CPULimit:
		return "used more CPU time than allowed"
	case Forbidden:
		return "made a system call that is forbidden"
	case NotStarted:
		return fmt.Sprintf("was not started: %s: %v", s.Step, s.Err)
	}
	return "was ended"
}

// Spec is a program to run and what it may see and use.
type Spec struct {
	Path string   // of the file to start, absolute: interpreter.Find finds it; at level None also a name
	Args []string // the command; its first word is the name that the program is started under
	// Dir is the program's working directory: read-only, at its own path. With Build the
	// program works on a copy of it, whose files replace those of Dir if the program
	// exits with status 0. "" for none. At level None the program works on Dir itself.
	Dir          string
	Build        bool
	VisiblePaths []string // further paths to show, read-only
	// Env is added to the sandbox's own small environment, and only at level None to that
	// of this program.
	Env                   []string
	Stdin, Stdout, Stderr *os.File // nil for /dev/null
	Limit                 Limit    // zero values mean those of DefaultLimit; none at level None
	Level                 Level
}

// Layer is one layer of a sandbox on this machine.
type Layer struct {
	Name  string `json:"name"`
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"` // why not
	Fix   string `json:"fix,omitempty"`   // what would help, as text or a command
}

// Trial is an attack of a self-test and its result.
type Trial struct {
	Name    string `json:"name"`
	Blocked bool   `json:"blocked"`
	Text    string `json:"text"`
}

// Report is what this machine can do for a sandbox.
type Report struct {
	Level  Level
	Layers []Layer
}

// StepError is a failure to make a sandbox, which is not the program's fault.
type StepError struct {
	Step string
	Err  error
}

func (e *StepError) Error() string { return "sandbox: " + e.Step + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *StepError) Unwrap() error { return e.Err }

func wrapStep(name string, err error) error {
	if err == nil {
		return nil
	}
	return &StepError{name, err}
}
