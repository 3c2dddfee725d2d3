package initproc

import (
	"errors"
	"io"
	"math"
	"syscall"
	"time"
	"unsafe"
)

// Bind is a file or directory that is visible in the sandbox: Source is its path outside, Target its path inside.
type Bind struct{ Source, Target string }

// Limit has the same fields as sandbox.Limit, where they are explained.
type Limit struct {
	Memory    int64
	Processes int
	CPU       time.Duration
	Disk      int64
	Inodes    int64
	Output    int64
	OpenFiles int
}

// Config is the configuration that the process which starts a sandbox sends to the sandbox's init process.
type Config struct {
	HasNamespaces bool // init was started in namespaces of its own
	UID           int  // user ID of the program; -1 means root of the user namespace or, without namespaces, the calling user
	Path          string
	Argv          []string
	Env           []string
	Dir           string
	Build         bool
	SystemPaths   []string // paths of the system that are visible if they exist; symbolic links are copied as links
	Binds         []Bind
	OwnDir        Bind // the program's directory; empty if it has none
	Limit         Limit
	Home          string               // the writable directory; "" without namespaces
	HasCgroup     bool                 // a cgroup limits memory and processes
	PerFile       PerFile              // memory of the kernel for an open file; used if there is no cgroup
	LandlockABI   int                  // version of Landlock; 0 if the kernel has none
	Filter        []syscall.SockFilter // seccomp filter
	// EnterCount, LeaveTexts and CanThaw describe the file descriptors that init inherits after its fixed ones, in
	// this order. The first EnterCount descriptors are files of cgroups: by writing to them, the thread that starts
	// the program enters these cgroups.
	EnterCount int
	LeaveTexts []string // texts that init (the sandbox's first process) writes to one file each when the program has started
	CanThaw    bool     // there is a file to which init writes "THAWED" to resume a frozen program

	buildCopy *copier // the copier of a build's directory; nil if this is no build
}

// Thread is a placeholder in Config.Filter for a number that is not known yet. The sandbox's init process replaces it
// by the ID of the thread that starts the program.
const Thread = 0xfffffffd

// End says in which way the program in a sandbox ended.
type End uint8

const (
	Exited End = iota // see Report.Wait
	MemoryLimit
	ProcessLimit
	CPULimit
	Killed
	NotStarted // see Report.Step, Errno and Text
)

// Report is the message by which the sandbox's init process reports, at its end, how the program ended.
type Report struct {
	End   End
	Wait  uint32 // wait status of the program, as of wait4(2)
	CPU   int64  // CPU time of all processes in nanoseconds
	Step  string
	Errno int
	Text  string
}

// LeftGroup is a byte that the init process sends before its Report. It means that the init process has left the
// cgroup in which the program can be frozen.
const LeftGroup = '\n'

// Encode returns the configuration as bytes, which the method read decodes.
func (c *Config) Encode() []byte {
	var k, head coder
	c.code(&k)
	n := len(k.data)
	value(&head, &n)
	return append(head.data, k.data...)
}

// read reads and decodes one configuration. It reads not a byte more than that.
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

// Encode returns the report as bytes, which the method Decode decodes.
func (r *Report) Encode() []byte {
	var k coder
	r.code(&k)
	return k.data
}

// Decode sets r to the report that Encode has encoded as data. It returns an error if data is not a report.
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

// coder encodes values, or decodes them in the same order. Values are encoded as they are in memory: encoder and
// decoder are the same program on the same machine.
type coder struct {
	data      []byte
	isReading bool
	err       error
}

var errCode = errors.New("a malformed message")

// bytes encodes memory, or decodes into it. It must not be used for memory that contains pointers.
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

// value encodes or decodes a value, whose type must not contain pointers.
func value[T any](k *coder, v *T) {
	k.bytes(unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)))
}

// length encodes the length of a slice, or decodes it and allocates the slice.
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

// values encodes or decodes a slice, whose elements must not contain pointers.
func values[T any](k *coder, all *[]T) {
	length(k, all)
	k.bytes(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(*all))), len(*all)*int(unsafe.Sizeof(*new(T)))))
}

// list encodes or decodes a slice. It calls one for each element to encode or decode the element.
func list[T any](k *coder, all *[]T, one func(*coder, *T)) {
	length(k, all)
	for i := range *all {
		one(k, &(*all)[i])
	}
}

func (k *coder) text(s *string) {
	data := []byte(*s)
	values(k, &data)
	if k.isReading { // when encoding, data belongs to the caller
		*s = string(data)
	}
}

func (k *coder) bind(b *Bind) {
	k.text(&b.Source)
	k.text(&b.Target)
}

// wrapError is an error with a text before it. If a sandbox cannot be started, the text of the outermost wrapError
// names the step that failed.
type wrapError struct {
	text string
	err  error
}

func (e *wrapError) Error() string { return e.text + ": " + e.err.Error() }

func (e *wrapError) Unwrap() error { return e.err }

func wrap(text string, err error) error {
	if err == nil {
		return nil
	}
	return &wrapError{text, err}
}

func dirOf(path string) string {
	for i := len(path) - 1; i > 0; i-- {
		if path[i] == '/' {
			return path[:i]
		}
	}
	return "/"
}

func trimPrefix(s, prefix string) string {
	if hasPrefix(s, prefix) {
		return s[len(prefix):]
	}
	return s
}

func hasPrefix(s, prefix string) bool { return len(s) >= len(prefix) && s[:len(prefix)] == prefix }
