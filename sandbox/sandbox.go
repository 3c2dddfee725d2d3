// Package sandbox runs one untrusted program with restricted access to the machine. The program sees one
// directory and the system's programs, but no files of users and no network. Its memory, processes, CPU time
// and disk space are limited. Begin with Start; at LevelNone it runs the program without a sandbox.
//
// To create a sandbox, the calling program starts itself again under another name. The init functions of this
// package and of sandbox/internal/initproc recognize the name and never return, so main does not run there.
package sandbox

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// Level is the strictness of a sandbox. Higher levels restrict the program more.
type Level uint8

const (
	// LevelNone means no sandbox: the program has all rights of the user who started timba.
	LevelNone Level = iota
	// LevelWeak uses Landlock and seccomp but no namespaces. The program cannot write files, use the network,
	// or read files that it does not need.
	LevelWeak
	// LevelReduced adds namespaces to LevelWeak. They hide files and processes. There is no cgroup; therefore the
	// total memory of all processes is only checked, 20 times a second.
	LevelReduced
	// LevelFull uses namespaces, Landlock, seccomp and a cgroup.
	LevelFull
)

var levelNames = [...]string{LevelNone: "NONE", LevelWeak: "WEAK", LevelReduced: "REDUCED", LevelFull: "FULL"}

// String returns the level's name, such as "full".
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("Level(%d)", uint8(l))
}

// ParseLevel returns the level with the given name, in upper or lower case.
func ParseLevel(s string) (Level, error) {
	for l, name := range levelNames {
		if strings.EqualFold(s, name) {
			return Level(l), nil
		}
	}
	return LevelNone, fmt.Errorf("sandbox: %q is not a level: try none, weak, reduced or full", s)
}

// Limit holds the limits of a sandbox. They apply to all processes of the sandbox together, except for Output and
// OpenFiles.
type Limit struct {
	Memory    int64         // in bytes
	Processes int           // processes and threads
	CPU       time.Duration // 0 means no limit
	Disk      int64         // size in bytes of the scratch file system, the writable directory; it is in memory
	Inodes    int64         // files and directories in the scratch file system
	Output    int64         // largest size of a file in bytes
	OpenFiles int           // open files of each process
}

// DefaultLimit is the usual limit for the sandbox in which a bot plays.
var DefaultLimit = Limit{
	Memory:    512 << 20,
	Processes: 64,
	Disk:      64 << 20,
	Inodes:    4096,
	Output:    64 << 20,
	OpenFiles: 256,
}

// BuildLimit is the usual limit for the sandbox in which a bot is built. It allows more than DefaultLimit, but limits
// CPU time.
var BuildLimit = Limit{
	Memory:    2 << 30,
	Processes: 256,
	CPU:       5 * time.Minute,
	Disk:      1 << 30,
	Inodes:    65536,
	Output:    512 << 20,
	OpenFiles: 1024,
}

// MaxMemory returns the largest number of bytes of memory that a program with this limit can use. At LevelFull this
// is l.Memory. At lower levels it is l.Memory + l.Disk: the files in the program's writable directory are in memory,
// but l.Memory does not include them.
func (l Limit) MaxMemory(level Level) int64 {
	if level == LevelFull {
		return l.Memory
	}
	return l.Memory + l.Disk
}

// Check returns l with zeros replaced by the values of DefaultLimit. A CPU of 0 stays, since it means no limit. If a
// limit is too small to run any program, Check returns an error.
func (l Limit) Check() (Limit, error) {
	d := DefaultLimit
	processes, openFiles := int64(l.Processes), int64(l.OpenFiles)
	for _, f := range []struct {
		name         string
		value        *int64
		minimum, def int64
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
		if *f.value < f.minimum {
			if f.name == "memory" {
				return l, fmt.Errorf("sandbox: a limit of memory of %d bytes is too small: try %dm or more", *f.value, f.minimum>>20)
			}
			return l, fmt.Errorf("sandbox: a limit of %s of %d is too small: try %d or more", f.name, *f.value, f.minimum)
		}
	}
	l.Processes, l.OpenFiles = int(processes), int(openFiles)
	if l.CPU < 0 {
		return l, fmt.Errorf("sandbox: a limit of CPU time of %s is too small: try 0 for no limit", l.CPU)
	}
	return l, nil
}

// EndReason says why a program ended or could not be started.
type EndReason uint8

const (
	Exited       EndReason = iota // the program exited with the status in Status.Code
	Signalled                     // the program was ended by Status.Signal
	MemoryLimit                   // the processes used more memory than allowed
	ProcessLimit                  // the program failed after it could not start another process
	CPULimit                      // the processes used more CPU time than allowed
	Forbidden                     // the program made a system call that only an attack needs
	Killed                        // Process.Kill ended the program, or it is unknown how it ended
	NotStarted                    // the program could not be started; see Status.Step and Status.Err
)

var reasonNames = [...]string{"exited", "signalled", "memory", "processes", "cpu", "forbidden", "killed", "not started"}

// String returns the reason's name.
func (r EndReason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return fmt.Sprintf("Reason(%d)", uint8(r))
}

// Status describes how a program, in a sandbox or without one, ended.
type Status struct {
	Reason EndReason
	Code   int            // exit status, if Reason is Exited
	Signal syscall.Signal // set if Reason is Signalled
	Step   string         // the step of starting the sandbox that failed, if Reason is NotStarted
	Err    error          // the cause, if Reason is NotStarted
	CPU    time.Duration  // CPU time of all processes together
}

// String describes how the program ended, as a phrase without a subject: "exited with status 1".
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

// Spec describes a program to start, with its files, environment, limits and level of sandbox.
type Spec struct {
	Path string   // absolute path of the program, see interpreter.Find; at LevelNone also a name that is searched in PATH
	Args []string // the command line; Args[0] is the name under which the program is started
	// Dir is the program's working directory. It has the same path in a sandbox and is read-only there. If it is "",
	// the program starts in its writable directory. If Build is set, the program works on a copy of Dir; when it exits
	// with status 0, the files of the copy replace those of Dir. At LevelNone the program always works on Dir itself.
	Dir          string
	Build        bool
	VisiblePaths []string // further files and directories that the program may read
	// Env contains additional variables "NAME=VALUE". They are added to the small environment of a sandbox or, at
	// LevelNone, to the environment of this process.
	Env                   []string
	Stdin, Stdout, Stderr *os.File // nil means /dev/null
	Limit                 Limit    // a zero field means that of DefaultLimit; ignored at LevelNone
	Level                 Level
}

// Layer is one kernel mechanism that sandboxes use, such as seccomp. It says whether the mechanism works on this
// machine.
type Layer struct {
	Name  string `json:"name"`
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"` // why it does not work
	Fix   string `json:"fix,omitempty"`   // what the user can do about it, as text or as a command
}

// Trial is the result of one attack that SelfTest has made inside a sandbox, to see whether the sandbox blocks it.
type Trial struct {
	Name    string `json:"name"`
	Blocked bool   `json:"blocked"`
	Text    string `json:"text"`
}

// MachineReport says what this machine supports: the strictest level of sandbox, and which kernel mechanisms work.
type MachineReport struct {
	Level  Level
	Layers []Layer
}

// StepError is the error of one step in starting a program in a sandbox. Only if the step is "program" can the
// program be to blame.
type StepError struct {
	Step string
	Err  error
}

func (e *StepError) Error() string { return "sandbox: " + e.Step + ": " + e.Err.Error() }

func (e *StepError) Unwrap() error { return e.Err }

func wrapStep(name string, err error) error {
	if err == nil {
		return nil
	}
	return &StepError{name, err}
}
