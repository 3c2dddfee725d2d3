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

// Contestant is a program that plays: how to start it, and how reports identify it.
type Contestant struct {
	Name    string   // unique in a match
	Version string   // from the manifest, else from the bot's "ready"
	Command []string // the program and its arguments
	Dir     string   // the working directory; "" means the current one
	Show    []string // paths that the sandbox shows in addition to Dir and the files that Command names
	Hash    string   // SHA-256 of the program, in hexadecimal

	Language string // the language in which it is written, for advice; "" if unknown
	Line     string // the BOT as the user wrote it, for suggested commands; "" if unknown

	// Temp is the directory in which the process gets a directory for temporary files, unless its sandbox has
	// one; "" means the system's.
	Temp string

	// Clock, if not nil, replaces the clock of the match for this bot.
	Clock *referee.Clock
	// Sandbox confines the bot. If it is nil, the bot has all rights of the referee.
	Sandbox *Sandbox

	// Serve, if not nil, plays instead of a process: a person, or a bot that is part of
	// this program. It reads the referee's lines and writes its own, as a process does
	// on stdin and stdout, until the input ends. If it returns an error while the game goes
	// on, the seat forfeits the game: for that reason if it is a fault.Reason, else for fault.Failed.
	Serve func(lines io.Reader, answers io.Writer) error
	// Untimed means that turns have no time limit. The turn lines still name the times of the clock.
	Untimed bool
	// Follows means that the bot gets the events of each move and its view at once, and not only with its turn.
	Follows bool
}

// makeScratch makes a directory for the bot's temporary files. It returns "" if the bot needs none: a bot
// without a process, or one whose sandbox has its own. The directory is registered with the cleaner first, so
// that it is removed even if this program is killed.
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

// Describe adds the bot's language, limits and files to the circumstances of its fault. files says whether the author
// may learn which files this machine has.
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

// InCompetition returns the circumstances of a bot's fault in a game of a ladder. log is the bot's log of
// that game. The advice for them mentions neither flags for limits, which the author cannot change, nor files
// of the machine.
func (b Contestant) InCompetition(r *referee.Replay, f referee.Fault, log []byte) fault.Circumstances {
	var c fault.Circumstances
	if g, err := games.Find(r.Game); err == nil {
		c, _ = r.Circumstances(g, f, log) // on an error they are incomplete, and the advice is less specific
	}
	c = b.Describe(c, false)
	c.Fixed = true
	return c
}

// hidden reports whether a file exists on this machine and the sandbox hides it from the bot. A path below /tmp or
// /scratch may stand for one in the user's home directory.
func (b Contestant) hidden(path string) bool {
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
	return slices.ContainsFunc(paths, func(path string) bool {
		_, err := os.Stat(path)
		return err == nil && (b.Dir == "" || !strings.HasPrefix(path, b.Dir+"/"))
	})
}

// PersonHash returns the hash that replays have for a person, who has no program.
func PersonHash() string {
	hash := sha256.Sum256([]byte("a person"))
	return hex.EncodeToString(hash[:])
}
