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

// Bot is a program that plays: how to start it, and how reports identify it.
type Bot struct {
	Name    string   // as in tables; unique in a match
	Version string   // from its manifest, else from its "ready"
	Command []string // the program and its arguments
	Dir     string   // its working directory; "" for the current one
	Show    []string // further paths that its sandbox shows
	Hash    string   // SHA-256 of what runs, in hexadecimal

	Language string // of its program, for advice; "" if unknown
	Line     string // the BOT that a user wrote for it, for commands to type next; "" if unknown

	// Temp is the directory in which its process gets one of its own for temporary files, unless its
	// sandbox has one; "" for the system's.
	Temp string

	// Clock is the bot's own; nil for that of the match.
	Clock *referee.Clock
	// Sandbox is how it is sandboxed; nil: it has all the rights of the referee.
	Sandbox *Sandbox

	// Serve, if not nil, plays instead of a process: a person, or a bot that is part of
	// this program. It reads the referee's lines and writes its own, as a process does
	// on stdin and stdout, until the input ends. If it returns an error while the game goes
	// on, the seat forfeits the game: for that reason if it is a fault.Reason, else for fault.Failed.
	Serve func(lines io.Reader, answers io.Writer) error
	// Untimed turns have no limit. The turn lines still have the times of its clock.
	Untimed bool
	// Follows is whether it is told of each move at once, with its view, and not only when it is to move.
	Follows bool
}

// makeScratch makes a directory for the temporary files of a bot, "" for one that needs none: it is
// part of this program, or its sandbox has one. dropScratch removes it, or the cleaner if this
// program is killed: it is registered before it is made.
func (b Bot) makeScratch() (string, error) {
	if b.Serve != nil || b.Sandbox != nil {
		return "", nil
	}
	dir := filepath.Join(cmp.Or(b.Temp, os.TempDir()), "timba-"+rand.Text())
	sandbox.RemoveAtEnd(dir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		sandbox.Forget(dir)
		return "", fmt.Errorf("match: making a directory for temporary files: %w", err)
	}
	return dir, nil
}

func dropScratch(dir string) {
	if dir == "" {
		return
	}
	os.RemoveAll(dir) // errors leave the rest in the system's temporary directory
	sandbox.Forget(dir)
}

// Describe adds what is known of a bot to the circumstances of its fault. files is whether
// its author may know which files this machine has.
func (b Bot) Describe(c fault.Circumstances, files bool) fault.Circumstances {
	c.Language = b.Language
	if b.Sandbox == nil {
		c.Sandbox = fault.Sandbox{Absent: true}
		return c
	}
	c.Sandbox = fault.Sandbox{Memory: b.Sandbox.Limit.Memory >> 20, Processes: int64(b.Sandbox.Limit.Processes)}
	if files {
		c.Sandbox.Hides = b.hidden
	}
	return c
}

// InCompetition returns the circumstances of a fault of the bot in a game of a competition; log is the
// bot's of that game. Its author can neither change the limits nor know the files of the machine.
func (b Bot) InCompetition(r *referee.Replay, f referee.Fault, log []byte) fault.Circumstances {
	var c fault.Circumstances
	if g, err := games.Find(r.Game); err == nil {
		c, _ = r.Circumstances(g, f, log) // as far as they are known: the advice is less certain without them
	}
	c = b.Describe(c, false)
	c.Fixed = true
	return c
}

// hidden reports whether a file exists on this machine but not for the sandboxed bot,
// whose home is its directory for temporary files.
func (b Bot) hidden(path string) bool {
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

// PersonHash returns the hash that stands for a person in replays, where a bot has that of its program.
func PersonHash() string {
	hash := sha256.Sum256([]byte("a person"))
	return hex.EncodeToString(hash[:])
}
