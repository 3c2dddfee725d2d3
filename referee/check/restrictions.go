package check

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/sandbox"
)

// restriction is a part of the sandbox that makes bots fail: the words on stderr that
// reveal it, what the bot tried, and what to do instead.
type restriction struct {
	words       []string
	did, change string     // %s in did is the path, if known
	missing     bool       // the file may be missing outside the sandbox, too
	limit       fault.Kind // if set, use its advice instead of change
}

var outOfMemory = restriction{[]string{"MemoryError", "Cannot allocate memory", "cannot allocate memory", "bad_alloc", "OutOfMemoryError", "out of memory", "Out of memory", "Could not reserve", "NoMemoryError", "memory exhausted"},
	"ran out of memory", "", false, fault.OutOfMemory}

var noProcess = restriction{[]string{"Resource temporarily unavailable", "resource temporarily unavailable", "can't start new thread", "EAGAIN", "native thread", "pthread_create", "Cannot fork", "cannot fork", "retry: Resource"},
	"could not start a process or thread", "", false, fault.TooManyProcesses}

// restrictions are tried in order, since the error of a file fits several.
var restrictions = []restriction{
	{[]string{"Read-only file system", "read-only file system", "EROFS"},
		"tried to write %s", "write to $TMPDIR, or log to stderr, which a match keeps: the bot's own directory is read-only", false, ""},
	{[]string{"name resolution", "Name or service not known", "Network is unreachable", "network is unreachable", "ENETUNREACH", "EAI_AGAIN", "getaddrinfo", "gaierror",
		"Could not resolve host", "no such host", "UnknownHostException", "SocketException", "AF_INET", "Address family not supported", "address family not supported"},
		"tried to use the network", "a match has no network, not even on localhost: put everything that the bot needs into its directory", false, ""},
	outOfMemory,
	noProcess,
	{[]string{"Permission denied", "permission denied", "EACCES"},
		"was denied access to %s", "write only to $TMPDIR, and read only files in the bot's directory", false, ""},
	{[]string{"No such file or directory", "no such file or directory", "ENOENT", "FileNotFoundException", "NoSuchFileException", "ModuleNotFoundError", "Cannot find module", "cannot open file"},
		"looked for %s", "put the files that the bot reads into its directory: a match hides your home, /var, /opt and /srv, except for the program that runs the bot", true, ""},
}

// quotedPath finds a path in an error message: in quotes, or before or after a colon,
// or after a dash.
var quotedPath = []*regexp.Regexp{
	regexp.MustCompile(`['"]([^'"]*[/.][^'"]*)['"]`),
	regexp.MustCompile(`(?:open|create|mkdir|cannot create|line [0-9]+:|rb_sysopen -) ([^ :]+)`),
	regexp.MustCompile(`([^ :(]*[/.][^ :()]+):? \(?(?:[Rr]ead-only|[Pp]ermission|[Nn]o such)`),
}

// runInto finds out from the fault of a sandboxed bot and from its stderr which
// restriction it hit. Both results are "" if the fault says so itself, or if that is
// not known.
func (s *session) runInto(f *referee.Fault, stderr []string) (did, change string) {
	if f.Code != protocol.Exit {
		return "", ""
	}
	limit := s.kit.program.Sandbox.Limit
	for _, w := range restrictions {
		for _, line := range slices.Backward(stderr) {
			if !containsAny(line, w.words) {
				continue
			}
			did := w.did
			if strings.Contains(did, "%s") {
				path := pathIn(line)
				for i := 0; i < len(stderr) && path == ""; i++ { // Node writes it on a separate line
					path = pathIn(stderr[i])
				}
				if w.missing && !s.hidden(path) {
					continue // the file is missing outside the sandbox, too
				}
				did = fmt.Sprintf(did, cmp.Or(path, "a file"))
			}
			return did, w.advice(limit)
		}
	}
	return "", ""
}

// advice returns what to change, given the limits of the sandbox.
func (w restriction) advice(l sandbox.Limit) string {
	switch w.limit {
	case fault.OutOfMemory:
		return fault.Reason{Kind: w.limit, Limit: l.Memory >> 20}.Advice(fault.Circumstances{})[0]
	case fault.TooManyProcesses:
		return fault.Reason{Kind: w.limit, Limit: int64(l.Processes)}.Advice(fault.Circumstances{})[0]
	}
	return w.change
}

func containsAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// pathIn returns the path in an error message, "" if there is none.
func pathIn(line string) string {
	for _, re := range quotedPath {
		if m := re.FindStringSubmatch(line); m != nil {
			return m[1]
		}
	}
	return ""
}

// hidden reports whether a file exists on this machine but not for the bot, whose home
// is its directory for temporary files.
func (s *session) hidden(path string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	paths := []string{path}
	home, err := os.UserHomeDir()
	for _, theirs := range []string{"/tmp/", "/scratch/"} {
		if rest, ok := strings.CutPrefix(path, theirs); ok && err == nil {
			paths = append(paths, filepath.Join(home, rest))
		}
	}
	dir := s.kit.program.Dir
	return slices.ContainsFunc(paths, func(path string) bool {
		_, err := os.Stat(path)
		return err == nil && (dir == "" || !strings.HasPrefix(path, dir+"/"))
	})
}

// size returns a number of bytes in MiB, as text.
func size(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }

// sandboxed returns how the bot is sandboxed.
func (k *kit) sandboxed() (note string, warnings []string, err error) {
	h := k.program.Sandbox
	if h == nil {
		return "not sandboxed, unlike in a rated match: files, network and memory are not checked", nil, nil
	}
	note = fmt.Sprintf("%s: %s of memory, %d processes", h.Level, size(h.Limit.Memory), h.Limit.Processes)
	if h.Freeze {
		note += ", stopped while it is not its turn"
	}
	if h.Level < sandbox.Reduced {
		warnings = append(warnings, "a rated match uses a better sandbox, REDUCED or FULL, in which more may fail: timba doctor shows what would help")
	}
	return note, warnings, nil
}

// compare finds out whether a bot that fails in the sandbox works without one.
func (k *kit) compare(failure error) error {
	var f, other *Failure
	if !k.Outside || k.program.Sandbox == nil || !errors.As(failure, &f) {
		return failure
	}
	h := k.program.Sandbox
	k.program.Sandbox = nil
	defer func() { k.program.Sandbox = h }()
	s, err := k.fresh()
	if err == nil {
		_, err = s.play(k.first)
	}
	k.drop()
	switch {
	case err == nil:
		f.Text = "works outside the sandbox but not inside: " + f.Text
	case errors.As(err, &other):
		f.Text += "; outside the sandbox it fails, too"
	default:
		return err
	}
	return f
}
