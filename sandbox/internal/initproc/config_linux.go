package initproc

import (
	"errors"
	"io"
	"math"
	"syscall"
	"time"
	"unsafe"
)

// Bind is a path to show.
type Bind struct{ Source, Target string }

// Limit is what the program may use, as in package sandbox.
type Limit struct {
	Memory    int64
	Processes int
	CPU       time.Duration
	Disk      int64
	Inodes    int64
	Output    int64
	OpenFiles int
}

// Config is what the process is told to do.
type Config struct {
	HasNamespaces bool // it is in namespaces of its own
	UID           int  // to change to; -1: keep, as the root of a user namespace or as the caller
	Path          string
	Argv          []string
	Env           []string
	Dir           string
	Build         bool
	SystemPaths   []string // paths of the system to show, if they exist; links stay links
	Binds         []Bind
	OwnDir        Bind // the program's directory; empty for none
	Limit         Limit
	Home          string               // the writable directory; "" without namespaces
	HasCgroup     bool                 // a cgroup counts memory
	PerFile       PerFile              // of open files, if no cgroup counts memory
	LandlockABI   int                  // of Landlock; 0 for none
	Filter        []syscall.SockFilter // of system calls
	// Extra descriptors, in this order:
	EnterCount int      // lists of threads of cgroups
	LeaveTexts []string // what to write to the next ones when the program has started
	CanThaw    bool     // the last one thaws the program

	buildCopy *copier // how a build's directory was copied
}

// Thread stands in a filter for the number of the thread that starts the program.
const Thread = 0xfffffffd

// End is how a sandbox ended.
type End uint8

const (
	Exited End = iota // Report.Wait
	MemoryLimit
	ProcessLimit
	CPULimit
	Killed
	NotStarted // Report.Step, Errno, Text
)

// Report is what the process tells at its end.
type Report struct {
	End   End
	Wait  uint32 // wait status
	CPU   int64  // nanoseconds
	Step  string
	Errno int
	Text  string
}

// LeftGroup is what the process writes when it can no longer be frozen, before its report.
const LeftGroup = '\n'

// Encode returns the configuration as read reads it.
func (c *Config) Encode() []byte {
	var k, head coder
	c.code(&k)
	n := len(k.data)
	value(&head, &n)
	return append(head.data, k.data...)
}

// read reads a configuration to its end, and nothing after it.
func (c *Config) read(from io.Reader) error {
	var n int
	head := coder{isReading: true, data: make([]byte, unsafe.Sizeof(n))}
	if _, err := io.ReadFull(from, head.data); err != nil {
		return err
	}
	value(&head, &n)
	if n < 0 || n > math.MaxInt32 {
		return errCode
	}
	k := coder{isReading: true, data: make([]byte, n)}
	if _, err := io.ReadFull(from, k.data); err != nil {
		return err
	}
	c.code(&k)
	return k.err
}

// Encode returns the report as Decode reads it.
func (r *Report) Encode() []byte {
	var k coder
	r.code(&k)
	return k.data
}

// Decode reads a report.
func (r *Report) Decode(data []byte) error {
	k := coder{isReading: true, data: data}
	r.code(&k)
	return k.err
}

func (c *Config) code(k *coder) {
	value(k, &c.HasNamespaces)
	value(k, &c.UID)
	value(k, &c.Build)
	value(k, &c.Limit)
	value(k, &c.HasCgroup)
	value(k, &c.PerFile)
	value(k, &c.LandlockABI)
	value(k, &c.EnterCount)
	value(k, &c.CanThaw)
	values(k, &c.Filter)
	k.text(&c.Path)
	k.text(&c.Dir)
	k.text(&c.Home)
	list(k, &c.Argv, (*coder).text)
	list(k, &c.Env, (*coder).text)
	list(k, &c.SystemPaths, (*coder).text)
	list(k, &c.LeaveTexts, (*coder).text)
	list(k, &c.Binds, (*coder).bind)
	k.bind(&c.OwnDir)
}

func (r *Report) code(k *coder) {
	value(k, &r.End)
	value(k, &r.Wait)
	value(k, &r.CPU)
	value(k, &r.Errno)
	k.text(&r.Step)
	k.text(&r.Text)
}

// coder writes values to its data or reads them from it, in the same order. Both ends are the same
// program on the same machine, so that they have the same representation.
type coder struct {
	data      []byte
	isReading bool
	err       error
}

var errCode = errors.New("a malformed message")

// bytes codes memory that has no pointers.
func (k *coder) bytes(memory []byte) {
	switch {
	case !k.isReading:
		k.data = append(k.data, memory...)
	case len(memory) > len(k.data):
		k.err, k.data = errCode, nil
	default:
		k.data = k.data[copy(memory, k.data):]
	}
}

// value codes a value of a type without pointers.
func value[T any](k *coder, v *T) {
	k.bytes(unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)))
}

// length codes the length of a slice, and makes one that is read.
func length[T any](k *coder, all *[]T) {
	n := len(*all)
	value(k, &n)
	if !k.isReading {
		return
	}
	if *all = nil; n < 0 || n > len(k.data) {
		k.err, k.data = errCode, nil
	} else if n > 0 {
		*all = make([]T, n)
	}
}

// values codes values of a type without pointers.
func values[T any](k *coder, all *[]T) {
	length(k, all)
	k.bytes(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(*all))), len(*all)*int(unsafe.Sizeof(*new(T)))))
}

// list codes values one by one.
func list[T any](k *coder, all *[]T, one func(*coder, *T)) {
	length(k, all)
	for i := range *all {
		one(k, &(*all)[i])
	}
}

func (k *coder) text(s *string) {
	data := []byte(*s)
	values(k, &data)
	if k.isReading { // else it belongs to the caller
		*s = string(data)
	}
}

func (k *coder) bind(b *Bind) {
	k.text(&b.Source)
	k.text(&b.Target)
}

// wrapError is an error with a text before it. The outermost one of the sandbox is its step.
type wrapError struct {
	text string
	err  error
}

func (e *wrapError) Error() string { return e.text + ": " + e.err.Error() }

func (e *wrapError) Unwrap() error { return e.err }

// wrap returns an error with a text before it, nil for none.
func wrap(text string, err error) error {
	if err == nil {
		return nil
	}
	return &wrapError{text, err}
}

// dirOf returns the directory of a clean absolute path.
func dirOf(path string) string {
	for i := len(path) - 1; i > 0; i-- {
		if path[i] == '/' {
			return path[:i]
		}
	}
	return "/"
}

// trimPrefix returns a text without a prefix.
func trimPrefix(s, prefix string) string {
	if hasPrefix(s, prefix) {
		return s[len(prefix):]
	}
	return s
}

func hasPrefix(s, prefix string) bool { return len(s) >= len(prefix) && s[:len(prefix)] == prefix }
