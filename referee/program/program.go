// Package program finds the program for a BOT as a user names it: a house bot (@random, @greedy:key=value), a
// directory with a timba.toml or a recognized main file, a single file, or a command. It builds each content
// once, and identifies it by a hash. Begin with Resolver.
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
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mattn/go-shellwords"

	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/sandbox/interpreter"
)

// Program is a bot that is ready to be started.
type Program struct {
	match.Contestant
	Games     []string  // the games that it plays, by its manifest, as in "brisca players=2"; nil means all
	Source    string    // the directory of its sources; "" if unknown
	House     bool      // it is a house bot, which comes with timba
	Overrides Overrides // its own settings in a local match

	place string // path of its directory or file; "" for a house bot
}

// Plays reports whether the program plays a game according to its manifest, at least with some options. A program whose
// manifest lists no games plays all games.
func (p Program) Plays(game string) bool { return rules.ClaimsGame(p.Games, game) }

// Check returns an error if the program does not play the game of v with its options, or if it is part of timba and
// needs a trained model that does not exist for v.
func (p Program) Check(v *rules.Variant) error {
	if !p.Plays(v.Game.Name) {
		return fmt.Errorf("bot %s does not play %s: its manifest claims %s", p.Name, v.Game.Name, strings.Join(p.Games, ", "))
	}
	if !rules.ClaimsVariant(p.Games, v.Game.Name, v.Settings.Map()) {
		return fmt.Errorf("bot %s does not play %s with %s: its manifest claims %s", p.Name, v.Game.Name, v.Settings, strings.Join(p.Games, ", "))
	}
	if p.House {
		return house.CheckModel(p.Command[2], v)
	}
	return nil
}

// Resolver finds and builds the programs of bots. A bot is given as a user writes it: as the name of a house bot,
// a directory, a file or a command.
type Resolver struct {
	Log   io.Writer     // receives the output of builds; may be nil
	Level sandbox.Level // level of the sandbox for builds; sandbox.LevelNone means no sandbox
	Cache string        // the directory where built bots are stored; "" means one in the user's cache
}

// Resolve returns the program of bot: a house bot (part of timba), a directory, a file or a command, as a user writes
// it. It builds the bot unless the cache has it. When ctx ends, a build is stopped, and the cache may remove the
// built files of the program.
func (r Resolver) Resolve(ctx context.Context, bot string) (Program, error) {
	if r.Log == nil {
		r.Log = io.Discard
	}
	if bot == "" {
		return Program{}, fmt.Errorf("bot: the name is empty: use a house bot (@%s), a directory or a command", strings.Join(house.SimpleNames(), ", @"))
	}
	p, err := r.resolve(ctx, bot)
	p.Line = bot
	return p, err
}

func (r Resolver) resolve(ctx context.Context, bot string) (Program, error) {
	if spec, ok := strings.CutPrefix(bot, "@"); ok {
		return resolveHouse(spec)
	}
	if info, err := os.Stat(bot); err == nil && info.IsDir() {
		return r.resolveDir(ctx, bot)
	}
	if kind := archiveFormat(bot); kind != "" {
		return Program{}, fmt.Errorf("bot: %q is an archive in the format %s: unpack it, and name its directory", bot, kind)
	}
	if _, ok := isFile(bot); ok {
		return r.resolveFile(ctx, bot)
	}
	return resolveCommand(bot)
}

// archiveFormat returns the format, such as "zip", of the file path, or "" if the file is no archive or cannot be read.
func archiveFormat(path string) string {
	head, _ := interpreter.ReadStart(path, trees.HeadSize) // a file that cannot be read has no format here
	if kind := trees.FormatOf([]byte(head)); kind != trees.WindowsProgram && kind != trees.LinuxProgram {
		return kind
	}
	return ""
}

// LanguageOf returns the programming language of a bot as a user writes it, without building it, or "" if it is
// unknown.
func LanguageOf(bot string) string {
	if info, err := os.Stat(bot); err == nil && info.IsDir() {
		m, err := ReadManifest(bot)
		if err != nil || m.language != "" || len(m.Run) == 0 {
			return m.language
		}
		return Language(match.Contestant{Command: m.Run})
	}
	if m, ok := isFile(bot); ok {
		return m.language
	}
	words, err := splitCommand(bot)
	if err != nil {
		return ""
	}
	return Language(match.Contestant{Command: words})
}

// ResolveAll returns the programs of a match, each with a unique name. If the user gives the same bot several times
// without names, and it is not part of timba, ResolveAll returns an error that asks the user to name the copies or,
// if number is true, numbers them.
func (r Resolver) ResolveAll(ctx context.Context, specs []BotSpec, number bool) ([]Program, error) {
	var programs []Program
	for _, s := range specs {
		if len(s.Args) == 0 && isBareInterpreter(s.Bot) {
			return nil, fmt.Errorf("bot: %q runs no file: put the whole command in quotes, as in \"python3 bot.py\"", s.Bot)
		}
		p, err := r.Resolve(ctx, s.Bot)
		if err != nil {
			return nil, err
		}
		p.Overrides = s.Overrides.withDefaults(p.Overrides)
		if p.House && (len(s.Args) > 0 || s.Memory != 0 || s.Processes != 0) {
			return nil, fmt.Errorf("bot %q: a house bot has no args, memory or processes of its own: it runs without a sandbox, and its options are in its name, as in @greedy:noise=20", s.Bot)
		}
		if len(s.Args) > 0 {
			p.Command = append(slices.Clone(p.Command), s.Args...)
			p.Hash = hashWords(append([]string{p.Hash}, s.Args...)...)
		}
		programs = append(programs, p)
	}
	return programs, nameAll(programs, specs, number)
}

// isBareInterpreter reports whether bot, as a user writes it, is only the name of an interpreter, without a file
// to run.
func isBareInterpreter(bot string) bool {
	_, err := os.Stat(bot)
	return err != nil && !strings.Contains(bot, "/") && slices.ContainsFunc(mainFiles, func(m mainFile) bool { return m.run[0] == bot })
}

func resolveHouse(spec string) (Program, error) {
	spec, err := house.CanonicalSpec(spec)
	if err != nil {
		return Program{}, err
	}
	executable, err := house.Executable()
	if err != nil {
		return Program{}, fmt.Errorf("bot: @%s: finding the path of the program that plays it: %w", spec, err)
	}
	hash, err := hashOnce(executable)
	if err != nil {
		return Program{}, fmt.Errorf("bot: @%s: %w", spec, err)
	}
	return Program{Contestant: match.Contestant{
		Name:    "@" + spec,
		Command: []string{executable, "bot", spec},
		Hash:    hashWords(hash, spec),

		Language: "Go",
	}, House: true}, nil
}

// hashOnce returns the hash of an executable. It computes the hash only at the first call, since the file does
// not change while this program runs.
func hashOnce(executable string) (string, error) {
	once, _ := hashes.LoadOrStore(executable, sync.OnceValues(func() (string, error) { return trees.HashFile(executable) }))
	return once.(func() (string, error))()
}

var hashes sync.Map

// assignment matches a word that sets a variable of the environment when a shell reads it.
var assignment = regexp.MustCompile(`^[A-Za-z_]\w*=`)

// notFoundError returns the error for a bot whose first word names no program. The error quotes that word, and says
// where it was looked for and what a shell would have made of it.
func notFoundError(line string, words []string) error {
	const try = "try @random, the path of a directory with a timba.toml, or a command in quotes"
	word, subject := words[0], fmt.Sprintf("bot: %q", line)
	if len(words) > 1 {
		subject += ": " + word
	}
	switch home, _ := os.UserHomeDir(); {
	case strings.HasPrefix(word, "~/"):
		return fmt.Errorf("bot: %q: only a shell replaces ~, and only outside quotes: write %s", line, filepath.Join(home, word[2:]))
	case strings.HasPrefix(word, "$"):
		return fmt.Errorf("bot: %q: only a shell replaces variables, and not within single quotes: write the value", line)
	case assignment.MatchString(word):
		return fmt.Errorf("bot: %q: only a shell sets a variable by %s: write env before it, as in %q", line, assignment.FindString(word), "env "+line)
	case strings.Contains(word, "/"):
		if _, err := os.Stat(word); err == nil {
			return fmt.Errorf("%s is not executable: chmod +x it, or write its interpreter before it, as in \"python3 bot.py\"", subject)
		}
		return fmt.Errorf("%s does not exist: %s", subject, try)
	case len(words) == 1 && strings.Contains(word, "."):
		return fmt.Errorf("%s does not exist: %s", subject, try)
	case len(words) == 1:
		return fmt.Errorf("%s is not a house bot, directory or command: %s", subject, try)
	}
	return fmt.Errorf("bot: %q: there is no program %q in the directories of PATH: install it, or write its path", line, word)
}

func resolveCommand(line string) (Program, error) {
	words, err := splitCommand(line)
	if err != nil {
		return Program{}, err
	}
	path, err := exec.LookPath(words[0])
	if _, house := house.CanonicalSpec(words[0]); err != nil && house == nil {
		return Program{}, fmt.Errorf("bot: %q is not a directory or command: try the house bot @%s", line, line)
	}
	if err != nil {
		return Program{}, notFoundError(line, words)
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
	file := commandFile(words)
	place := path
	if file != words[0] {
		if place, err = filepath.Abs(file); err != nil {
			return Program{}, fmt.Errorf("bot: %q: %w", line, err)
		}
	}
	bot := match.Contestant{Name: printable(filepath.Base(file)), Command: append([]string{path}, words[1:]...), Hash: hex.EncodeToString(h.Sum(nil))}
	if err := moveTo(&bot, ownDir(file, place)); err != nil {
		return Program{}, fmt.Errorf("bot: %q: %w", line, err)
	}
	bot.Language = Language(bot)
	return Program{Contestant: bot, place: place}, nil
}

// ownDir returns the directory in which a bot runs and whose files it can read. It is the directory of the file that
// the bot's command names; place is the full path of that file. ownDir returns "" if the bot is to run in the current
// directory instead: because the file is below the current directory or is a program of the system, or because its
// directory contains much else, like the user's home.
func ownDir(file, place string) string {
	here, err := os.Getwd()
	dir := filepath.Dir(place)
	inside, outside := filepath.Rel(here, place)
	switch {
	case err != nil || !strings.Contains(file, string(filepath.Separator)) || interpreter.IsSystemPath(place) || interpreter.IsWideDir(dir):
		return ""
	case outside == nil && filepath.IsLocal(inside) && !interpreter.IsSharedDir(here):
		return ""
	}
	return dir
}

// moveTo makes b run in dir, and makes the paths in its command absolute. It adds files outside dir to b.Show,
// which makes them visible in the sandbox. If dir is "", it does nothing.
func moveTo(b *match.Contestant, dir string) error {
	if dir == "" {
		return nil
	}
	b.Dir = dir
	for i, word := range b.Command[1:] {
		if _, err := os.Stat(word); err != nil {
			continue
		}
		path, err := filepath.Abs(word)
		if err != nil {
			return err
		}
		b.Command[1+i] = path
		if inside, err := filepath.Rel(dir, path); err != nil || !filepath.IsLocal(inside) {
			b.Show = append(b.Show, path)
		}
	}
	return nil
}

// splitCommand splits a command into its words. If line is the path of a file, it is one word, even with spaces;
// a file that is not executable is run by the interpreter of its language.
func splitCommand(line string) ([]string, error) {
	if info, err := os.Stat(line); err == nil && info.Mode().IsRegular() {
		path := line
		if !strings.Contains(path, string(filepath.Separator)) {
			path = "." + string(filepath.Separator) + path // otherwise a program on the PATH would run
		}
		if _, err := exec.LookPath(path); err != nil {
			m, unknown := SingleFileManifest(filepath.Base(line))
			if unknown != nil {
				return nil, fmt.Errorf("bot: %w, or make it executable (chmod +x)", unknown)
			}
			return append(m.Run[:len(m.Run)-1], line), nil // the last word is the file, as the user wrote it
		}
		return []string{path}, nil
	}
	parser := shellwords.NewParser()
	words, err := parser.Parse(line)
	if err != nil || len(words) == 0 && parser.Position < 0 {
		return nil, fmt.Errorf("bot: %q is neither a directory nor a command: check the quotes", line)
	}
	if parser.Position >= 0 {
		return nil, fmt.Errorf("bot: %q: commands are not run by a shell, so %q has no effect: write a script, or use sh -c '...'", line, []rune(line)[parser.Position])
	}
	return words, nil
}

// splitWords splits a text into words, with quotes as in a shell.
func splitWords(line string) ([]string, error) {
	parser := shellwords.NewParser()
	words, err := parser.Parse(line)
	if err != nil {
		return nil, fmt.Errorf("%q has a quote without its end: check the quotes", line)
	}
	if parser.Position >= 0 {
		return nil, fmt.Errorf("no shell reads this, so %q has no effect: quote it", []rune(line)[parser.Position])
	}
	return words, nil
}

// commandFile returns the word of a command that names the bot: the last word that is the path of a file, otherwise
// the first word.
func commandFile(words []string) string {
	for _, w := range slices.Backward(words) {
		if info, err := os.Stat(w); err == nil && info.Mode().IsRegular() {
			return w
		}
	}
	return words[0]
}

// printable replaces spaces and everything but printable ASCII in name by "_".
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
