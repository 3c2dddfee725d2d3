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
	"github.com/timba-arena/timba/sandbox"
)

// wall is a part of the sandbox that bots run into: the words on stderr that give
// it away, what the bot tried, and what to do instead.
type wall struct {
	words       []string
	did, change string // %s in did is a path, where one is told
	missing     bool   // it may as well be that there is no such file at all
}

var outOfMemory = wall{[]string{"MemoryError", "Cannot allocate memory", "cannot allocate memory", "bad_alloc", "OutOfMemoryError", "out of memory", "Out of memory", "Could not reserve", "NoMemoryError", "memory exhausted"},
	"ran out of memory", "use less, or allow more with --memory; this time it was given $MEMORY", false}

var noProcess = wall{[]string{"Resource temporarily unavailable", "resource temporarily unavailable", "can't start new thread", "EAGAIN", "native thread", "pthread_create", "Cannot fork", "cannot fork", "retry: Resource"},
	"was refused a process or thread", "start fewer, or allow more with --processes; this time it was given $PROCESSES", false}

// walls are looked through in order; an error of a file fits several.
var walls = []wall{
	{[]string{"Read-only file system", "read-only file system", "EROFS"},
		"tried to write %s", "write to the folder that $TMPDIR names, or log to stderr, which a match keeps: the bot's own folder is read-only", false},
	{[]string{"name resolution", "Name or service not known", "Network is unreachable", "network is unreachable", "ENETUNREACH", "EAI_AGAIN", "getaddrinfo", "gaierror",
		"Could not resolve host", "no such host", "UnknownHostException", "SocketException", "AF_INET", "Address family not supported", "address family not supported"},
		"tried to use the network", "a match has no network, not even to the bot itself: put all that the bot needs into its folder", false},
	outOfMemory,
	noProcess,
	{[]string{"Permission denied", "permission denied", "EACCES"},
		"was denied %s", "write only to the folder that $TMPDIR names, and read only what stands in the bot's folder", false},
	{[]string{"No such file or directory", "no such file or directory", "ENOENT", "FileNotFoundException", "NoSuchFileException", "ModuleNotFoundError", "Cannot find module", "cannot open file"},
		"looked for %s", "put what the bot reads into its folder: of your home and of /var, /opt and /srv a match shows nothing, but for the program that runs the bot", true},
}

// quotedPath is a path as error messages tell it: in quotes, or before a colon or
// behind one or a dash.
var quotedPath = []*regexp.Regexp{
	regexp.MustCompile(`['"]([^'"]*[/.][^'"]*)['"]`),
	regexp.MustCompile(`(?:open|create|mkdir|cannot create|line [0-9]+:|rb_sysopen -) ([^ :]+)`),
	regexp.MustCompile(`([^ :(]*[/.][^ :()]+):? \(?(?:[Rr]ead-only|[Pp]ermission|[Nn]o such)`),
}

// runInto finds out from how a held bot ended and from its stderr which wall it
// ran into. did is "" where that is told already; both are where nothing tells.
func (s *session) runInto(f *referee.Fault, stderr []string) (did, change string) {
	limit := s.kit.program.Hold.Limit
	switch f.Code {
	case protocol.Memory:
		return "", outOfMemory.advice(limit)
	case protocol.Processes:
		return "", noProcess.advice(limit)
	case protocol.Forbidden:
		return "", "leave out what looks into other processes, mounts, loads modules or the like: nothing but attacks makes such calls"
	}
	for _, w := range walls {
		for _, line := range slices.Backward(stderr) {
			if !containsAny(line, w.words) {
				continue
			}
			did := w.did
			if strings.Contains(did, "%s") {
				path := pathIn(line)
				for i := 0; i < len(stderr) && path == ""; i++ { // node tells it in a line of its own
					path = pathIn(stderr[i])
				}
				if w.missing && !s.hidden(path) {
					continue // there is none outside of the sandbox either
				}
				did = fmt.Sprintf(did, cmp.Or(path, "a file"))
			}
			return did, w.advice(limit)
		}
	}
	return "", ""
}

// advice is what to do, with the limits that there were.
func (w wall) advice(l sandbox.Limit) string {
	return strings.NewReplacer("$MEMORY", size(l.Memory), "$PROCESSES", fmt.Sprint(l.Processes)).Replace(w.change)
}

func containsAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// pathIn is the path that an error message tells, "" where none is found.
func pathIn(line string) string {
	for _, re := range quotedPath {
		if m := re.FindStringSubmatch(line); m != nil {
			return m[1]
		}
	}
	return ""
}

// hidden tells whether there is a file of this path on this machine, but not for
// the bot. Its home is its folder for temporary files.
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

// size is a number of bytes for people.
func size(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }

// sandboxed tells how the bot is held.
func (k *kit) sandboxed() (note string, warnings []string, err error) {
	h := k.program.Hold
	if h == nil {
		return "not held, as a rated match would: files, network and memory are not checked", nil, nil
	}
	note = fmt.Sprintf("%s: %s of memory, %d processes", h.Level, size(h.Limit.Memory), h.Limit.Processes)
	if h.Still {
		note += ", stopped while it is not its turn"
	}
	if h.Level < sandbox.Reduced {
		warnings = append(warnings, "a rated match holds it better, at REDUCED or FULL, where more may fail: timba doctor tells what would help")
	}
	return note, warnings, nil
}

// compare looks whether a bot that fails in the sandbox works without one.
func (k *kit) compare(failure error) error {
	var f, other *Failure
	if !k.Outside || k.program.Hold == nil || !errors.As(failure, &f) {
		return failure
	}
	h := k.program.Hold
	k.program.Hold = nil
	defer func() { k.program.Hold = h }()
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
