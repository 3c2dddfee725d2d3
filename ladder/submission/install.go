package submission

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
)

// botFolder is where a bot stands, unpacked and built, under the hash of its
// files. Versions with the same files share it.
func (p *Pipeline) botFolder(hash string) string { return filepath.Join(p.Dir, "bots", hash) }

var sha256Hex = regexp.MustCompile(`^[0-9a-f]{64}$`)

// install puts a bot where it stays. Either all of it is there at the end, or
// nothing. Its files are read-only; folders are not, so that the server's user can
// delete them.
func (p *Pipeline) install(m *made) error {
	if m.known {
		return nil
	}
	to := p.botFolder(m.hash)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("submission: %w", err)
	}
	if err := readOnly(m.dir); err != nil {
		return fmt.Errorf("submission: %w", err)
	}
	if err := os.Rename(m.dir, to); err != nil {
		if _, other := os.Stat(to); other == nil { // by another version with the same files
			return nil
		}
		return fmt.Errorf("submission: keeping the bot: %w", err)
	}
	return nil
}

// readOnly takes everybody's right to write away from files, lets everybody read
// them, and puts them on the disk.
func readOnly(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, 0o755)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return settle(path, 0o444|info.Mode()&0o111)
	})
}

func settle(path string, mode fs.FileMode) error {
	if mode&0o111 != 0 {
		mode |= 0o111
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(mode), f.Sync(), f.Close())
}

// Resolve gives a version as a program that can be started. A bot of the house is
// part of this program; others stand in the data folder, and are made again from
// their upload when they are gone. An error is a failure of our own.
func (p *Pipeline) Resolve(ctx context.Context, v ladder.Version) (referee.Bot, error) {
	if v.House() {
		house, err := program.Resolve(v.Bot, new(bytes.Buffer))
		return house.Bot, err
	}
	if !sha256Hex.MatchString(v.Hash) {
		return referee.Bot{}, fmt.Errorf("submission: version %d of %s has not been built", v.Number, v.Bot)
	}
	if err := p.Restore(ctx, v); err != nil {
		return referee.Bot{}, err
	}
	return p.bot(p.botFolder(v.Hash), v)
}

// bot is a version that stands in a folder.
func (p *Pipeline) bot(dir string, v ladder.Version) (referee.Bot, error) {
	command, err := p.command(dir, v.Command)
	if err != nil {
		return referee.Bot{}, fmt.Errorf("submission: version %d of %s: %w", v.Number, v.Bot, err)
	}
	label := v.Label
	if label == "" {
		label = fmt.Sprint(v.Number)
	}
	return referee.Bot{Name: v.Bot, Version: label, Command: command, Dir: dir, Hash: v.Hash, Hold: p.hold()}, nil
}

// Restore makes a version's folder again from its upload, when it is gone. What
// comes out has the same hash, or it is an error.
func (p *Pipeline) Restore(ctx context.Context, v ladder.Version) error {
	if _, err := os.Stat(p.botFolder(v.Hash)); err == nil {
		return nil
	}
	_, err, _ := p.restoring.Do(v.Hash, func() (any, error) { return nil, p.restore(ctx, v) })
	if err != nil {
		return fmt.Errorf("submission: restoring version %d of %s: %w", v.Number, v.Bot, err)
	}
	return nil
}

func (p *Pipeline) restore(ctx context.Context, v ladder.Version) error {
	work, err := p.workFolder(fmt.Sprintf("restore-%d-", v.ID))
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	m, err := p.unbundle(v.Bundle, work)
	if err != nil {
		return err
	}
	if m.hash != v.Hash {
		return fmt.Errorf("the upload %s makes a bot with the hash %s, not %s", v.Bundle, m.hash, v.Hash)
	}
	if err := m.readManifest(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, p.buildTime)
	defer cancel()
	if _, err := p.make(ctx, m, &transcript{}, work); err != nil {
		return err
	}
	return p.install(m)
}

// command is what starts a bot in its folder.
func (p *Pipeline) command(dir string, run []string) ([]string, error) {
	if err := p.allowed(dir, run); err != nil {
		return nil, err
	}
	command, err := program.Manifest{Run: run}.Command(dir)
	if err != nil {
		return nil, refuse("run: %s", strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""))
	}
	return command, nil
}

// programFolders are where programs stand that bots may name by their path.
var programFolders = []string{"/bin", "/sbin", "/usr", "/opt", "/lib", "/lib32", "/lib64"}

// allowed refuses a command that is a path out of the bot's folder: a sandbox
// shows the program that it is to start, and the folder around it, so that a bot
// could have any folder of the server shown. The same goes for the first line of a
// script.
func (p *Pipeline) allowed(dir string, command []string) error {
	words := command[:1]
	for range 4 {
		var next []string
		for _, word := range words {
			path, err := p.allowedPath(dir, word)
			if err != nil {
				return err
			}
			if path == "" {
				continue
			}
			found, err := interpreters(path)
			if err != nil {
				return err
			}
			next = append(next, found...)
		}
		if words = next; len(words) == 0 {
			return nil
		}
	}
	return refuse("the program %q is a script of a script of a script: name the program that is to run", command[0])
}

// allowedPath checks a program's name. It gives the path of one in the bot's own
// folder, "" for others.
func (p *Pipeline) allowedPath(dir, word string) (string, error) {
	if strings.ContainsRune(word, 0) {
		return "", refuse("the program %q is no name of a file", word)
	}
	if !strings.Contains(word, "/") {
		return "", nil // one of the server's PATH
	}
	path := word
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path = filepath.Clean(path)
	switch {
	case inside(path, dir):
		return path, nil
	case path == word && slices.ContainsFunc(programFolders, func(f string) bool { return inside(path, f) }) && !p.near(path):
		return "", nil
	}
	return "", refuse("the program %q is neither in the bot's folder nor in %s: name it without a path, as in python3", word, strings.Join(programFolders, ", "))
}

func inside(path, folder string) bool { return strings.HasPrefix(path, folder+"/") }

// near tells whether the installation that a program belongs to is in the data
// folder, or the other way round.
func (p *Pipeline) near(path string) bool {
	folder := filepath.Dir(path)
	if filepath.Base(folder) == "bin" {
		folder = filepath.Dir(folder)
	}
	return inside(path, p.Dir) || inside(p.Dir+"/", folder)
}

// interpreters are the programs that a file in the bot's folder leads to, as its
// first line or the Python environment around it has them; none for a program that
// stands for itself.
func interpreters(path string) (words []string, err error) {
	environment := filepath.Join(filepath.Dir(filepath.Dir(path)), "pyvenv.cfg")
	if info, err := os.Stat(environment); err == nil && info.Size() > program.MaxManifest {
		return nil, refuse("pyvenv.cfg has %d bytes: at most %d are read", info.Size(), program.MaxManifest)
	}
	if cfg, err := os.ReadFile(environment); err == nil {
		for line := range strings.Lines(string(cfg)) {
			if key, value, _ := strings.Cut(line, "="); strings.TrimSpace(key) == "home" {
				words = append(words, filepath.Join(strings.TrimSpace(value), filepath.Base(path)))
			}
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return words, nil // it cannot be run either
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := f.Read(head)
	line, ok := strings.CutPrefix(string(head[:n]), "#!")
	if !ok {
		return words, nil
	}
	line, _, _ = strings.Cut(line, "\n")
	for i, word := range strings.Fields(line) {
		// What env starts is one of the words after it: all of them are looked at, as
		// its options have many forms.
		word = strings.TrimPrefix(word, "-S")
		if i == 0 || strings.Contains(word, "/") && !strings.Contains(word, "=") {
			words = append(words, word)
		}
	}
	return words, nil
}
