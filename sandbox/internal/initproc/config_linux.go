package initproc

import (
	"errors"
	"io"
	"os"
	"strconv"
	"time"
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
	Spaces  bool // it is in namespaces of its own
	UID     int  // to change to; -1: keep, as the root of a user namespace or as the caller
	Path    string
	Argv    []string
	Env     []string
	Dir     string
	Build   bool
	System  []string // paths of the system to show, if they exist; links stay links
	Show    []Bind
	Own     *Bind // the program's directory
	Limit   Limit
	Home    string   // the writable directory; "" without namespaces
	Group   bool     // a cgroup counts memory
	PerFile PerFile  // of open files, if no cgroup counts memory
	ABI     int      // of Landlock; 0 for none
	Filter  []uint64 // of system calls; see Instruction
	// Extra descriptors, in this order:
	Enter int      // lists of threads of cgroups
	Leave []string // what to write to the next ones when the program has started
	Thaw  bool     // the last one thaws the program

	into   *os.Root // the directory outside that a build is copied back to
	copied []string // the paths below it that the build had at its beginning
}

// Instruction returns an instruction of BPF as Config has it.
func Instruction(op uint16, jt, jf uint8, k uint32) uint64 {
	return uint64(op)<<48 | uint64(jt)<<40 | uint64(jf)<<32 | uint64(k)
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

// headLen is the length of the number before an encoded Config: the length of the rest.
const headLen = 10

// Encode returns the configuration as read reads it.
func (c *Config) Encode() []byte {
	var k coder
	c.code(&k)
	n := strconv.Itoa(len(k.data))
	return append([]byte("0000000000"[len(n):]+n), k.data...)
}

// read reads a configuration to its end, and nothing after it.
func (c *Config) read(from io.Reader) error {
	var head [headLen]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return err
	}
	n, err := strconv.ParseUint(string(head[:]), 10, 31)
	if err != nil {
		return err
	}
	k := coder{reads: true, data: make([]byte, n)}
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
	k := coder{reads: true, data: data}
	r.code(&k)
	return k.err
}

func (c *Config) code(k *coder) {
	k.flag(&c.Spaces)
	number(k, &c.UID)
	k.text(&c.Path)
	k.texts(&c.Argv)
	k.texts(&c.Env)
	k.text(&c.Dir)
	k.flag(&c.Build)
	k.texts(&c.System)
	list(k, &c.Show, codeBind)
	own := c.Own != nil
	if k.flag(&own); own {
		if c.Own == nil {
			c.Own = new(Bind)
		}
		codeBind(k, c.Own)
	}
	l := &c.Limit
	number(k, &l.Memory)
	number(k, &l.Processes)
	number(k, &l.CPU)
	number(k, &l.Disk)
	number(k, &l.Inodes)
	number(k, &l.Output)
	number(k, &l.OpenFiles)
	k.text(&c.Home)
	k.flag(&c.Group)
	w := &c.PerFile
	number(k, &w.Socket)
	number(k, &w.Pipe)
	number(k, &w.Poll)
	number(k, &w.Other)
	number(k, &c.ABI)
	list(k, &c.Filter, number[uint64])
	number(k, &c.Enter)
	k.texts(&c.Leave)
	k.flag(&c.Thaw)
}

func codeBind(k *coder, b *Bind) {
	k.text(&b.Source)
	k.text(&b.Target)
}

func (r *Report) code(k *coder) {
	number(k, &r.End)
	number(k, &r.Wait)
	number(k, &r.CPU)
	k.text(&r.Step)
	number(k, &r.Errno)
	k.text(&r.Text)
}

// coder writes values to its data or reads them from it, in the same order: numbers with a comma
// after them, and texts after their length.
type coder struct {
	data  []byte
	reads bool
	err   error
}

var errCode = errors.New("this is not what a sandbox is told")

func number[T ~int | ~int64 | ~uint8 | ~uint32 | ~uint64](k *coder, v *T) {
	if !k.reads {
		k.data = append(strconv.AppendInt(k.data, int64(*v), 10), ',')
		return
	}
	for i, c := range k.data {
		if c == ',' {
			n, err := strconv.ParseInt(string(k.data[:i]), 10, 64)
			if err != nil {
				break
			}
			*v, k.data = T(n), k.data[i+1:]
			return
		}
	}
	k.err, k.data = errCode, nil
}

func (k *coder) flag(b *bool) {
	n := 0
	if *b {
		n = 1
	}
	number(k, &n)
	*b = n == 1
}

func (k *coder) text(s *string) {
	n := len(*s)
	number(k, &n)
	switch {
	case !k.reads:
		k.data = append(k.data, *s...)
	case n < 0 || n > len(k.data):
		k.err, k.data = errCode, nil
	default:
		*s, k.data = string(k.data[:n]), k.data[n:]
	}
}

func (k *coder) texts(all *[]string) { list(k, all, (*coder).text) }

func list[T any](k *coder, all *[]T, one func(*coder, *T)) {
	n := len(*all)
	number(k, &n)
	if k.reads {
		if n < 0 || n > len(k.data) {
			k.err, k.data = errCode, nil
			return
		}
		*all = nil
		if n > 0 {
			*all = make([]T, n)
		}
	}
	for i := range *all {
		one(k, &(*all)[i])
	}
}

// wrapped is an error with a text before it. The outermost one of the sandbox is its step.
type wrapped struct {
	text string
	err  error
}

func (e *wrapped) Error() string { return e.text + ": " + e.err.Error() }

func (e *wrapped) Unwrap() error { return e.err }

// wrap returns an error with a text before it, nil for none.
func wrap(text string, err error) error {
	if err == nil {
		return nil
	}
	return &wrapped{text, err}
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

// cut returns a text without a prefix.
func cut(s, prefix string) string {
	if hasPrefix(s, prefix) {
		return s[len(prefix):]
	}
	return s
}

func hasPrefix(s, prefix string) bool { return len(s) >= len(prefix) && s[:len(prefix)] == prefix }
