// Package program finds out what a user means by a BOT: a house bot (@random,
// @greedy:key=value), a folder with a timba.toml or a recognised main file, or
// a command. It builds what has to be built, once for each content, and says by
// a hash what runs.
package program

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/mattn/go-shellwords"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sandbox"
)

// Program is a bot that is ready to run.
type Program struct {
	referee.Bot
	Games    []string // the games that it claims to play, nil for all
	Folder   string   // where its sources are, "" where that is not known
	House    bool     // part of this program
	Language string   // of a recognised main file or command, "" where not known
}

// Plays tells whether a program claims to play a game.
func (p Program) Plays(game string) bool {
	return p.Games == nil || slices.Contains(p.Games, game)
}

// Resolve makes a program of what a user wrote. What a build prints goes to log.
func Resolve(bot string, log io.Writer) (Program, error) {
	return ResolveHeld(context.Background(), bot, log, sandbox.None)
}

// ResolveHeld is Resolve with a build in a sandbox of at least some level, with
// all the user's rights for None. A build ends with the context.
func ResolveHeld(ctx context.Context, bot string, log io.Writer, level sandbox.Level) (Program, error) {
	switch {
	case bot == "":
		return Program{}, fmt.Errorf("bot: the name is empty: name a house bot (%s), a folder or a command", strings.Join(houseNames(), ", "))
	case strings.HasPrefix(bot, "@"):
		return resolveHouse(bot)
	}
	if info, err := os.Stat(bot); err == nil && info.IsDir() {
		return resolveFolder(ctx, bot, log, level)
	}
	return resolveCommand(bot)
}

// ResolveAll makes programs of several and gives those of the same name numbers.
func ResolveAll(bots []string, log io.Writer) ([]Program, error) {
	return ResolveAllHeld(context.Background(), bots, log, sandbox.None)
}

// ResolveAllHeld is ResolveAll with builds as ResolveHeld makes them.
func ResolveAllHeld(ctx context.Context, bots []string, log io.Writer, level sandbox.Level) ([]Program, error) {
	var programs []Program
	taken := map[string]bool{}
	for _, bot := range bots {
		p, err := ResolveHeld(ctx, bot, log, level)
		if err != nil {
			return nil, err
		}
		name := p.Name
		for n := 2; taken[p.Name]; n++ {
			p.Name = fmt.Sprintf("%s#%d", name, n)
		}
		taken[p.Name] = true
		programs = append(programs, p)
	}
	return programs, nil
}

func houseNames() (names []string) {
	for _, b := range house.List() {
		names = append(names, "@"+b.Name)
	}
	return names
}

func resolveHouse(bot string) (Program, error) {
	spec := strings.TrimPrefix(bot, "@")
	if _, err := house.Find(spec); err != nil {
		return Program{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return Program{}, fmt.Errorf("bot: %s: where this program is: %w", bot, err)
	}
	hash, err := selfHash()
	if err != nil {
		return Program{}, fmt.Errorf("bot: %s: %w", bot, err)
	}
	return Program{Bot: referee.Bot{
		Name:    bot,
		Command: []string{self, "bot", spec},
		Hash:    hashWords(hash, spec),
	}, House: true, Language: "Go"}, nil
}

// selfHash is the hash of this very program.
var selfHash = sync.OnceValues(func() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	if err := hashFile(h, self); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
})

func resolveCommand(line string) (Program, error) {
	words, err := split(line)
	if err != nil {
		return Program{}, err
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return Program{}, fmt.Errorf("bot: %q is no house bot, folder or command (%w): try @random, the path of a folder with a timba.toml, or a command in quotes", line, err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return Program{}, fmt.Errorf("bot: %q: %w", line, err)
	}
	h := sha256.New()
	for i, w := range words {
		fmt.Fprintf(h, "%q\n", w)
		file := w
		if i == 0 {
			file = path
		}
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			if err := hashFile(h, file); err != nil {
				return Program{}, fmt.Errorf("bot: %q: %w", line, err)
			}
		}
	}
	return Program{
		Bot:      referee.Bot{Name: commandName(words), Command: append([]string{path}, words[1:]...), Hash: hex.EncodeToString(h.Sum(nil))},
		Language: languageOf(words),
	}, nil
}

// split gives the words of a command; one file is one word, spaces and all.
func split(line string) ([]string, error) {
	if info, err := os.Stat(line); err == nil && info.Mode().IsRegular() {
		path := line
		if !strings.Contains(path, string(filepath.Separator)) {
			path = "." + string(filepath.Separator) + path // not one on the PATH
		}
		if _, err := exec.LookPath(path); err != nil {
			how := "make it one (chmod +x)"
			for _, m := range mainFiles {
				if m.build == nil && filepath.Ext(m.name) == filepath.Ext(line) {
					how = fmt.Sprintf("try %q", m.run[0]+" "+line)
				}
			}
			return nil, fmt.Errorf("bot: %q is a file but no program: %s, or name its folder", line, how)
		}
		return []string{path}, nil
	}
	parser := shellwords.NewParser()
	words, err := parser.Parse(line)
	if err != nil || len(words) == 0 && parser.Position < 0 {
		return nil, fmt.Errorf("bot: %q is neither a folder nor a command: check the quotes", line)
	}
	if parser.Position >= 0 {
		return nil, fmt.Errorf("bot: %q: no shell runs it, so %q means nothing: write a script, or sh -c '...'", line, []rune(line)[parser.Position])
	}
	return words, nil
}

// commandName is short: the last word that is a file, else the program.
func commandName(words []string) string {
	for _, w := range slices.Backward(words) {
		if info, err := os.Stat(w); err == nil && info.Mode().IsRegular() {
			return printable(filepath.Base(w))
		}
	}
	return printable(filepath.Base(words[0]))
}

// printable is a name that fits into a table and a protocol line.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '_'
		}
		return r
	}, name)
}

func hashFile(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

func hashWords(words ...string) string {
	h := sha256.New()
	for _, w := range words {
		fmt.Fprintf(h, "%q\n", w)
	}
	return hex.EncodeToString(h.Sum(nil))
}
