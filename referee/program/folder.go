package program

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/sandbox"
)

// ManifestFile is what a bot's folder says about the bot.
const ManifestFile = "timba.toml"

// MaxManifest is how many bytes it may have: a stranger may have written it.
const MaxManifest = 64 << 10

// Manifest is the content of ManifestFile.
type Manifest struct {
	Name    string   `toml:"name"`
	Version string   `toml:"version"`
	Games   []string `toml:"games"` // what it plays; left out: all
	Build   []string `toml:"build"` // one command and its arguments; left out: nothing to build
	Run     []string `toml:"run"`   // likewise, in the bot's folder

	language string
}

// mainFile is a main file that is recognised in a folder without a manifest.
type mainFile struct {
	name, language string
	build, run     []string
}

var mainFiles = []mainFile{
	{"bot.py", "Python", nil, []string{"python3", "bot.py"}},
	{"bot.js", "JavaScript", nil, []string{"node", "bot.js"}},
	{"bot.c", "C", []string{"cc", "-O2", "-o", "bot", "bot.c", "-lm"}, []string{"./bot"}},
	{"bot.cpp", "C++", []string{"c++", "-O2", "-std=c++17", "-o", "bot", "bot.cpp"}, []string{"./bot"}},
	{"bot.rs", "Rust", []string{"rustc", "-O", "--edition", "2021", "-o", "bot", "bot.rs"}, []string{"./bot"}},
	{"Bot.java", "Java", []string{"javac", "Bot.java"}, []string{"java", "-XX:+UseSerialGC", "Bot"}},
	{"bot.go", "Go", []string{"go", "build", "-o", "bot", "bot.go"}, []string{"./bot"}},
	{"bot.sh", "Bash", nil, []string{"bash", "bot.sh"}},
	{"bot.pl", "Perl", nil, []string{"perl", "bot.pl"}},
	{"bot.rb", "Ruby", nil, []string{"ruby", "bot.rb"}},
	{"bot.lua", "Lua", nil, []string{"lua5.4", "bot.lua"}},
	{"bot.tcl", "Tcl", nil, []string{"tclsh", "bot.tcl"}},
	{"bot.php", "PHP", nil, []string{"php", "bot.php"}},
}

// languageOf guesses from the names in a command or a folder.
func languageOf(words []string) string {
	for _, w := range words {
		for _, m := range mainFiles {
			if ext := filepath.Ext(w); ext != "" && ext == filepath.Ext(m.name) {
				return m.language
			}
		}
	}
	return ""
}

// ReadManifest reads a folder's manifest, or makes one for a recognised main file.
func ReadManifest(folder string) (Manifest, error) {
	path := filepath.Join(folder, ManifestFile)
	var m Manifest
	if info, err := os.Stat(path); err == nil && info.Size() > MaxManifest {
		return m, fmt.Errorf("%s has %d bytes: at most %d are read", path, info.Size(), MaxManifest)
	}
	meta, err := toml.DecodeFile(path, &m)
	if os.IsNotExist(err) {
		return recognise(folder)
	}
	if err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return m, fmt.Errorf("%s: there is no key %q: try name, version, games, build or run", path, unknown[0])
	}
	if len(m.Run) == 0 {
		return m, fmt.Errorf("%s: run is missing: say how to start the bot, as in run = [\"python3\", \"bot.py\"]", path)
	}
	for _, c := range []struct {
		key     string
		command []string
	}{{"build", m.Build}, {"run", m.Run}} {
		if err := checkPlace(folder, c.command); err != nil {
			return m, fmt.Errorf("%s: %s: %w", path, c.key, err)
		}
	}
	if m.Name == "" {
		m.Name = filepath.Base(folder)
	}
	m.language = languageOf(append(slices.Clone(m.Build), m.Run...))
	return m, nil
}

// checkPlace refuses a command that neither is in the bot's folder nor stands where
// this machine's programs do: the folder around a program is shown to the bot.
func checkPlace(folder string, command []string) error {
	if len(command) == 0 || !strings.Contains(command[0], "/") {
		return nil
	}
	word := command[0]
	if inside := filepath.IsLocal(word); inside || filepath.IsAbs(word) && sandbox.Known(word) {
		return nil
	}
	if rel, err := filepath.Rel(folder, word); err == nil && filepath.IsLocal(rel) {
		return nil
	}
	return fmt.Errorf("%q is neither in the bot's folder nor where this machine has its programs: name a program without a path, as in python3, or put it into the folder", word)
}

func recognise(folder string) (Manifest, error) {
	var names []string
	for _, f := range mainFiles {
		if info, err := os.Stat(filepath.Join(folder, f.name)); err == nil && info.Mode().IsRegular() {
			return Manifest{Name: filepath.Base(folder), Build: f.build, Run: f.run, language: f.language}, nil
		}
		names = append(names, f.name)
	}
	return Manifest{}, fmt.Errorf("%s: neither a %s nor a main file that is recognised (%s): write a %s with run = [...]",
		folder, ManifestFile, strings.Join(names, ", "), ManifestFile)
}

func resolveFolder(ctx context.Context, folder string, log io.Writer, level sandbox.Level) (Program, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return Program{}, fmt.Errorf("bot: %w", err)
	}
	m, err := ReadManifest(folder)
	if err != nil {
		return Program{}, fmt.Errorf("bot: %w", err)
	}
	hash, err := HashFolder(folder)
	if err != nil {
		return Program{}, fmt.Errorf("bot: %s: %w", folder, err)
	}
	dir := folder
	if len(m.Build) > 0 {
		if dir, err = buildOnce(ctx, folder, hash, m.Build, log, level); err != nil {
			return Program{}, err
		}
	}
	command, err := m.Command(dir)
	if err != nil {
		return Program{}, fmt.Errorf("bot: %s: %w", folder, err)
	}
	return Program{
		Bot:      referee.Bot{Name: printable(m.Name), Version: printable(m.Version), Command: command, Dir: dir, Hash: hash},
		Games:    m.Games,
		Folder:   folder,
		Language: m.language,
	}, nil
}

// Language is what the bot is written in, as far as its commands tell; "" where
// that is not known.
func (m Manifest) Language() string { return m.language }

// Command is what starts the bot that stands built in a folder.
func (m Manifest) Command(dir string) ([]string, error) {
	command := slices.Clone(m.Run)
	if strings.Contains(command[0], "/") && !filepath.IsAbs(command[0]) {
		command[0] = filepath.Join(dir, command[0])
	}
	var err error
	if command[0], err = exec.LookPath(command[0]); err != nil {
		return nil, fmt.Errorf("%w: %s", err, m.mendRun())
	}
	return command, nil
}

// mendRun says what to do when what run names cannot be run.
func (m Manifest) mendRun() string {
	switch {
	case !strings.Contains(m.Run[0], "/"):
		return "install it, or change run in " + ManifestFile
	case len(m.Build) > 0:
		return "build must make it so that it can be run, or change run in " + ManifestFile
	}
	return "chmod +x it, or change run in " + ManifestFile
}

// ignored are the folders that are no part of a bot: what git and Python keep.
var ignored = []string{".git", "__pycache__"}

// walk visits the folders and files of a bot by their path in it, links as what
// they lead to; links that lead nowhere are left out.
func walk(folder string, visit func(rel string, info fs.FileInfo) error) error {
	return filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains(ignored, d.Name()) && path != folder {
			return fs.SkipDir
		}
		info, err := os.Stat(path)
		if err != nil {
			if d.Type()&fs.ModeSymlink != 0 { // an editor's lock, for one
				return nil
			}
			return err
		}
		rel, err := filepath.Rel(folder, path)
		if err != nil || !d.IsDir() && !info.Mode().IsRegular() {
			return err
		}
		return visit(rel, info)
	})
}

// HashFolder is a hash of all files of a folder: their paths, whether they can be
// run, and what is in them. A bot's Hash is that of its folder before the build.
func HashFolder(folder string) (string, error) {
	h := sha256.New()
	err := walk(folder, func(rel string, info fs.FileInfo) error {
		if info.IsDir() {
			return nil
		}
		fmt.Fprintf(h, "%q %t %d\n", filepath.ToSlash(rel), info.Mode()&0o111 != 0, info.Size())
		return hashFile(h, filepath.Join(folder, rel))
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// copyFolder copies a bot, with what can be run.
func copyFolder(to, folder string) error {
	return walk(folder, func(rel string, info fs.FileInfo) error {
		path := filepath.Join(to, rel)
		if info.IsDir() {
			return os.MkdirAll(path, 0o755)
		}
		mode := fs.FileMode(0o644)
		if info.Mode()&0o111 != 0 {
			mode = 0o755
		}
		data, err := os.ReadFile(filepath.Join(folder, rel))
		if err != nil {
			return err
		}
		return os.WriteFile(path, data, mode)
	})
}

// buildOnce gives the folder where a bot of this content has been built by this
// command. What the build prints goes to log, or into the error.
func buildOnce(ctx context.Context, folder, hash string, build []string, log io.Writer, level sandbox.Level) (string, error) {
	cache, err := CacheDir("builds")
	if err != nil {
		return "", err
	}
	done := filepath.Join(cache, hashWords(append([]string{hash}, build...)...))
	if _, err := os.Stat(done); err == nil {
		now := time.Now()
		os.Chtimes(done, now, now) // in use: see prune
		return done, nil
	}
	prune(cache)
	fmt.Fprintf(log, "building %s: %s\n", folder, strings.Join(build, " "))
	work, err := os.MkdirTemp(cache, "tmp-")
	if err != nil {
		return "", fmt.Errorf("bot: a folder to build %s in: %w", folder, err)
	}
	sandbox.Guard(work)
	defer func() {
		os.RemoveAll(work)
		sandbox.Unguard(work)
	}()
	dir := filepath.Join(work, "bot")
	if err := copyFolder(dir, folder); err != nil {
		return "", fmt.Errorf("bot: copying %s to build it: %w", folder, err)
	}
	out, err := runBuild(ctx, dir, build, level)
	if err != nil {
		return "", fmt.Errorf("bot: building %s with %q: %w\n%s", folder, strings.Join(build, " "), err, strings.TrimSpace(string(out)))
	}
	log.Write(out)
	if err := os.Rename(dir, done); err != nil {
		if _, other := os.Stat(done); other == nil { // built by another at the same time
			return done, nil
		}
		return "", fmt.Errorf("bot: keeping the build of %s: %w", folder, err)
	}
	return done, nil
}

// keepBuilds is how long a build stays that nobody uses.
const keepBuilds = 30 * 24 * time.Hour

// prune removes builds that nobody has used for long, and what broken-off builds
// left. What it cannot remove stays.
func prune(cache string) {
	entries, _ := os.ReadDir(cache)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > keepBuilds {
			os.RemoveAll(filepath.Join(cache, e.Name()))
		}
	}
}

// CacheDir is a folder for what can be made again, below the user's cache.
func CacheDir(name string) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	dir := filepath.Join(base, "timba", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("cache: %w: set XDG_CACHE_HOME to a folder that can be written to", err)
	}
	return dir, nil
}
