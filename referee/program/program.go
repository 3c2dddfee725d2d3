// Package program finds the program for a BOT as a user names it: a house bot (@random, @greedy:key=value), a
// directory with a timba.toml or a recognized main file, a single file, or a command. It builds a bot only once as
// long as the content stays the same, and identifies the bot by a hash. Begin with Resolver.
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

// Plays reports whether the program can play a game with at least some values of its options, according to its
// manifest. A program whose manifest lists no games can play all.
func (p Program) Plays(game string) bool { return rules.ClaimsGame(p.Games, game) }

// Check returns an error if the program cannot play v, which is a game with values for its options. It also returns
// an error if the program is part of timba and needs a trained model that does not exist for v.
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

// Resolver finds and builds the programs of bots. It accepts a bot in the form in which a user writes it: the name of
// a house bot, a directory, a file or a command.
type Resolver struct {
	Log   io.Writer     // receives the output of builds; may be nil
	Level sandbox.Level // level of the sandbox for builds; sandbox.LevelNone means no sandbox
	Cache string        // the directory where built bots are stored; "" means one in the user's cache
}

// Resolve returns the program of a bot. bot is what the user has written: the name of a house bot (part of timba), a
// directory, a file or a command. Resolve builds the bot unless the cache has it. When ctx ends, a running build is
// stopped, and the cache may remove the built files of the program.
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
	if isModelPath(bot) {
		return resolveModel(bot)
	}
	if _, ok := isFile(bot); ok {
		return r.resolveFile(ctx, bot)
	}
	return resolveCommand(bot)
}

// archiveFormat returns the format of the archive at path, such as "zip". It returns "" if the file is not an archive
// or cannot be read.
func archiveFormat(path string) string {
	head, _ := interpreter.ReadStart(path, trees.HeadSize) // a file that cannot be read has no format here
	if kind := trees.FormatOf([]byte(head)); kind != trees.WindowsProgram && kind != trees.LinuxProgram {
		return kind
	}
	return ""
}

// LanguageOf returns the programming language of a bot, without building the bot. bot is what the user has written,
// such as a path or a command. LanguageOf returns "" if the language is unknown.
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

// ResolveAll returns the programs of a match, each with a unique name. A bot that is not part of timba may occur
// several times without names. If number is true, ResolveAll then numbers the copies; otherwise it returns an error
// that asks the user to name them.
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

// isBareInterpreter reports whether bot, as the user has written it, is only the name of an interpreter, without a
// file to run.
func isBareInterpreter(bot string) bool {
	_, err := os.Stat(bot)
	return err != nil && !strings.Contains(bot, "/") && slices.ContainsFunc(mainFiles, func(m mainFile) bool { return m.run[0] == bot })
}

func resolveHouse(spec string) (Program, error) {
	spec, err := house.CanonicalSpec(spec)
	if err != nil {
		return Program{}, err
	}
	executable, hash, err := thisProgram()
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

// thisProgram returns the path of the running timba program, which plays house bots (part of timba) and model files,
// and the SHA-256 of that program in hexadecimal. Tests replace the program by way of house.Executable.
func thisProgram() (executable, hash string, err error) {
	if executable, err = house.Executable(); err != nil {
		return "", "", fmt.Errorf("finding the path of the program that plays it: %w", err)
	}
	hash, err = hashOnce(executable)
	return executable, hash, err
}

// hashOnce returns the hash of an executable. It computes the hash only at the first call, since the file does
// not change while this program runs.
func hashOnce(executable string) (string, error) {
	once, _ := hashes.LoadOrStore(executable, sync.OnceValues(func() (string, error) { return trees.HashFile(executable) }))
	return once.(func() (string, error))()
}

var hashes sync.Map

// assignment matches a word such as NAME=value, by which a shell sets a variable of the environment.
var assignment = regexp.MustCompile(`^[A-Za-z_]\w*=`)

// notFoundError returns the error for a bot whose first word names no program. line is the whole text that the user
// wrote, and words are its words. The error quotes the word, and says where it was looked for or what only a shell
// would do with it.
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

// ownDir returns the directory in which a bot runs and whose files it can read. file is the file that the bot's
// command names, as the user wrote it, and place is its full path. The result is the directory of that file or "",
// which means that the bot runs in the current directory. It is "" in three cases: the file is below the current
// directory; it is a program of the system; or its directory contains much else, like the user's home.
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

// moveTo makes b run in the directory dir, and makes the paths in its command absolute. Files outside dir are added
// to b.Show, which makes them visible in the sandbox. If dir is "", moveTo does nothing.
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

// splitCommand splits a command into its words. If line is the path of a file, it is a single word, even with spaces.
// If that file is not executable, the result is the command by which the interpreter of its language runs it.
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

// splitWords splits a text into words, which may be quoted as in a shell. It returns an error if a quote has no end,
// or if a character has a special meaning in a shell.
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

// commandFile returns the word of a command that identifies the bot. It is the last word that is the path of a file
// or, if there is none, the first word.
func commandFile(words []string) string {
	for _, w := range slices.Backward(words) {
		if info, err := os.Stat(w); err == nil && info.Mode().IsRegular() {
			return w
		}
	}
	return words[0]
}

// printable returns name with each character replaced by "_" that is not printable ASCII or is a space.
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
