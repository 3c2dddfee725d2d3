package match

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/sandbox"
)

// Contestant describes a bot of a match: how to start it, which limits it has, and how reports identify it.
type Contestant struct {
	Name    string   // unique in a match
	Version string   // from the manifest, else from the bot's "ready"
	Command []string // the program and its arguments
	Dir     string   // the working directory; "" means the current one
	Show    []string // paths that the sandbox makes visible in addition to Dir and the files that Command names; if it has the program, nothing beside the program is shown
	Hash    string   // SHA-256 of the program, in hexadecimal

	Language string // the language in which it is written, for advice; "" if unknown
	Line     string // the bot's argument on the user's command line, for suggested commands; "" if unknown

	// Temp is the directory below which the process gets a directory of its own for temporary files; "" means the
	// system's directory for them. Temp is not used for a bot with a sandbox, because the sandbox contains a directory
	// for temporary files.
	Temp string

	// Clock is the clock of this bot. nil means the clock of the match.
	Clock *referee.Clock
	// Sandbox confines the bot. If it is nil, the bot has all rights of the referee.
	Sandbox *Sandbox

	// Serve, if not nil, plays instead of a process: for a person, or for a bot that is part of this program. It reads
	// the referee's lines and writes answers, as a process does on stdin and stdout, until the lines end. If it
	// returns an error while the game goes on, the seat forfeits the game. The reason is the error if that is a
	// fault.Reason, and otherwise fault.Failed.
	Serve func(lines io.Reader, answers io.Writer) error
	// Untimed means that the bot's turns have no time limit. The turn lines contain the times of the clock
	// nevertheless.
	Untimed bool
	// Follows means that the bot gets events and its view (what it may know of the position) after every move. Other
	// bots get them only with their own turns.
	Follows bool
}

// makeScratch makes a directory for the bot's temporary files and returns its path. If the bot needs none, because it
// has a sandbox or no process, makeScratch returns "". The directory is removed at the end even if this program is
// killed.
func (b Contestant) makeScratch() (string, error) {
	if b.Serve != nil || b.Sandbox != nil {
		return "", nil
	}
	dir := filepath.Join(cmp.Or(b.Temp, os.TempDir()), "timba-"+rand.Text())
	sandbox.RemoveAtEnd(dir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		sandbox.CancelRemoveAtEnd(dir)
		return "", fmt.Errorf("match: making a directory for temporary files: %w", err)
	}
	return dir, nil
}

func dropScratch(dir string) {
	if dir == "" {
		return
	}
	os.RemoveAll(dir) // on an error some files remain
	sandbox.CancelRemoveAtEnd(dir)
}

// Describe returns a copy of c, the circumstances of a fault, to which the bot's language and the limits of its
// sandbox are added. If files is true, advice for the fault may say which files exist on this machine.
func (b Contestant) Describe(c fault.Circumstances, files bool) fault.Circumstances {
	c.Language = b.Language
	if b.Sandbox == nil {
		c.Sandbox = fault.Confinement{Absent: true}
		return c
	}
	c.Sandbox = fault.Confinement{Memory: b.Sandbox.Limit.Memory >> 20, Processes: int64(b.Sandbox.Limit.Processes)}
	if files {
		c.Sandbox.Hides = b.hidden
	}
	return c
}

// InCompetition returns what is known about the bot's fault f in the ladder game r; fault.Reason.Advice uses it. log
// is what the bot wrote to its log in that game. The advice will mention neither flags for limits, which authors
// cannot change on a ladder, nor files of this machine.
func (b Contestant) InCompetition(r *referee.Replay, f referee.Fault, log []byte) fault.Circumstances {
	var c fault.Circumstances
	if g, err := games.Find(r.Game); err == nil {
		c, _ = r.Circumstances(g, f, log) // on an error they are incomplete, and the advice is less specific
	}
	c = b.Describe(c, false)
	c.Fixed = true
	return c
}

// hidden reports whether a path exists on this machine while the sandbox hides it from the bot. A relative path
// begins at the bot's directory. A path below /tmp or /scratch is also searched below the user's home directory. A
// link in the bot's directory is hidden, too, if it leads out of that directory.
func (b Contestant) hidden(path string) bool {
	if !filepath.IsAbs(path) {
		if path = filepath.Join(b.Dir, path); b.Dir == "" {
			return false
		}
	}
	paths := []string{path}
	home, err := os.UserHomeDir()
	for _, theirs := range []string{"/tmp/", "/scratch/"} {
		if rest, ok := strings.CutPrefix(path, theirs); ok && err == nil {
			paths = append(paths, filepath.Join(home, rest))
		}
	}
	return slices.ContainsFunc(paths, func(path string) bool {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return false
		}
		dir, err := filepath.EvalSymlinks(b.Dir)
		return b.Dir == "" || err == nil && !strings.HasPrefix(real, dir+"/")
	})
}

// PersonHash returns the value of ReplaySeat.SHA256 for a person. A person has no program that could be hashed.
func PersonHash() string {
	hash := sha256.Sum256([]byte("a person"))
	return hex.EncodeToString(hash[:])
}
