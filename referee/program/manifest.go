package program

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/internal/tomltext"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sandbox/interpreter"
)

// ManifestFile is the name of the file, in a bot's directory, that describes the bot.
const ManifestFile = "timba.toml"

// BotSchema is the JSON schema of a manifest, for editors.
//
//go:embed bot.schema.json
var BotSchema []byte

// MaxManifest is the largest size of a manifest in bytes. Manifests of uploaded bots are not trusted.
const MaxManifest = 64 << 10

// Manifest is the content of a bot's ManifestFile, which says how to build and start the bot. docs/writing-a-bot.md,
// "The manifest", describes its keys.
type Manifest struct {
	Name    string
	Version string
	Games   []string  // the games that it plays, as in "brisca players=2"; nil means all
	Build   []string  // the command that builds the bot, with its arguments; nil if it needs no build
	Run     []string  // the command that starts the bot in its directory, with its arguments
	Match   Overrides // the bot's own settings in a local match

	language string
	training json.RawMessage
}

// mainFile is the name of a source file by which a bot without a manifest is recognized. It also has the commands
// that build and run such a bot.
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
	{"model" + house.ModelExt, "timba model", nil, []string{modelProgram, "bot", "model" + house.ModelExt}},
}

// modelProgram is the first word of the command that plays a model file. The word stands for the running timba program,
// even if no program with this name can be found.
const modelProgram = "timba"

// languageOf returns a programming language that a file name in a command reveals by its extension. It takes the
// first such word, and returns "" if there is none.
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

// ReadManifest returns the manifest of the bot in the directory source. Without a ManifestFile in the directory, it
// derives the manifest from a main file with a known name, such as bot.py. For a model file, the manifest has the game
// for which the model was trained. ReadManifest returns an error if there is neither file, or if the manifest or the
// model is not valid.
func ReadManifest(source string) (Manifest, error) {
	m, err := readManifest(source)
	if err == nil && m.IsModel() {
		err = m.readModel(filepath.Join(source, m.Run[2]))
	}
	return m, err
}

// IsModel reports whether the bot is a model file in the bot's directory, which timba itself plays. The command of such
// a bot, m.Run, is "timba bot FILE.timba".
func (m Manifest) IsModel() bool {
	return len(m.Run) == 3 && m.Run[0] == modelProgram && m.Run[1] == "bot" && strings.HasSuffix(m.Run[2], house.ModelExt) && filepath.IsLocal(m.Run[2])
}

// readModel sets m.Games to the game for which the model file at path was trained, and m.training to the JSON that says
// how it was trained. It returns an error if the beginning of the file, which has these data, is not valid.
func (m *Manifest) readModel(path string) error {
	h, claim, err := house.ReadModelHeader(path)
	if err != nil {
		return phrase.Errorf("%s: %w", path, err)
	}
	m.Games, m.training = []string{claim}, h.Training
	return nil
}

func readManifest(source string) (Manifest, error) {
	file := filepath.Join(source, ManifestFile)
	data, err := readManifestFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return recogniseMainFile(source)
	}
	if err != nil {
		return Manifest{}, err
	}
	m, err := parseManifest(data)
	if err == nil {
		err = m.checkCommands(source)
	}
	if err != nil {
		return m, phrase.Errorf("%s: %w", file, err)
	}
	if m.Name == "" {
		m.Name = filepath.Base(source)
	}
	m.language = languageOf(append(slices.Clone(m.Build), m.Run...))
	return m, nil
}

// readManifestFile returns the content of a manifest. It returns an error if the file has more than MaxManifest
// bytes.
func readManifestFile(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		return "", phrase.Errorf("%s is not a file: write the keys of the manifest into a file of that name", path)
	case info.Size() > MaxManifest:
		return "", phrase.Errorf("%s has %d bytes: at most %d are read", path, info.Size(), MaxManifest)
	default:
		var data []byte
		if data, err = os.ReadFile(path); err == nil {
			return string(data), nil
		}
	}
	if failed := new(fs.PathError); errors.As(err, &failed) {
		err = failed.Err
	}
	return "", phrase.Errorf("%s: %w", path, err)
}

func parseManifest(data string) (Manifest, error) {
	var m Manifest
	var values map[string]any
	meta, err := toml.Decode(data, &values)
	if err != nil {
		return m, &phrase.TextError{Text: tomltext.Message(err)}
	}
	for _, key := range meta.Keys() {
		if err := m.set(key[0], values[key[0]]); err != nil {
			return m, err
		}
	}
	if len(m.Run) == 0 {
		return m, phrase.Errorf(`run is missing: set the command that starts the bot, as in run = ["python3", "bot.py"]`)
	}
	return m, nil
}

// set stores the value of a top-level key of a manifest. The case of the key does not matter, as usual for TOML in
// Go.
func (m *Manifest) set(key string, value any) (err error) {
	switch strings.ToLower(key) {
	case "name":
		m.Name, err = textOf(key, value, `"mybot"`)
	case "version":
		m.Version, err = textOf(key, value, `"1.0"`)
	case "games":
		m.Games, err = wordList(key, value, `["brisca", "teeko"]`)
	case "build":
		m.Build, err = wordList(key, value, `["cc", "-O2", "-o", "bot", "bot.c"]`)
	case "run":
		m.Run, err = wordList(key, value, `["python3", "bot.py"]`)
	case "match":
		err = m.setMatch(key, value)
	default:
		err = phrase.Errorf("unknown key %q: try name, version, games, build, run or match", key)
	}
	return err
}

// setMatch stores the keys of the TOML table [match], which has the bot's settings for local matches. table is the
// name of the table as the author wrote it, for errors.
func (m *Manifest) setMatch(table string, value any) error {
	keys, ok := value.(map[string]any)
	if !ok {
		return phrase.Errorf("%s must be one table, as in [match] with movetime = 50 in the next line, not %s", table, inTOML(value))
	}
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		key := strings.ToLower(name)
		if !slices.Contains(overrideKeys, key) {
			last := len(overrideKeys) - 1
			return phrase.Errorf("unknown key %q in %s: try %s or %s", name, table, strings.Join(overrideKeys[:last], ", "), overrideKeys[last])
		}
		words, err := overrideValue(name, key == "memory", keys[name])
		if err != nil {
			return phrase.Errorf("%s: %w", table, err)
		}
		if err := m.Match.set(key, words); err != nil {
			return phrase.Errorf("%s: %w", table, err)
		}
	}
	if err := m.Match.check(); err != nil {
		return phrase.Errorf("%s: %w", table, err)
	}
	return nil
}

// overrideValue returns a value of the TOML table [match] as text, in the form that users write on the command line.
// If quoted is true, the value must be a string in TOML; otherwise it must be a whole number. name is the name of the
// key, for errors.
func overrideValue(name string, quoted bool, value any) (string, error) {
	switch v := value.(type) {
	case string:
		if quoted {
			return v, nil
		}
	case int64:
		if !quoted {
			return strconv.FormatInt(v, 10), nil
		}
	}
	if quoted {
		return "", phrase.Errorf(`%s must be text in quotes, as in "300m", not %s`, name, inTOML(value))
	}
	return "", phrase.Errorf("%s must be a whole number without quotes, not %s", name, inTOML(value))
}

func textOf(key string, value any, example string) (string, error) {
	s, ok := value.(string)
	if !ok {
		return "", phrase.Errorf("%s must be text in quotes, as in %s, not %s", key, example, inTOML(value))
	}
	return s, nil
}

func wordList(key string, value any, example string) ([]string, error) {
	items, ok := value.([]any)
	if !ok {
		return nil, phrase.Errorf("%s must be a list of words, as in %s, not %s", key, example, inTOML(value))
	}
	var words []string
	for _, item := range items {
		word, ok := item.(string)
		if !ok {
			return nil, phrase.Errorf("%s must be a list of words in quotes, as in %s: %s is not in quotes", key, example, inTOML(item))
		}
		words = append(words, word)
	}
	return words, nil
}

// inTOML describes a value of a manifest for an error message. A string is quoted and shortened; a list or table is
// named as such.
func inTOML(value any) phrase.Text {
	switch v := value.(type) {
	case string:
		const most = 60
		if utf8.RuneCountInString(v) > most {
			v = string([]rune(v)[:most]) + "..."
		}
		return phrase.New("%q", v)
	case []any:
		return phrase.New("a list")
	case map[string]any:
		return phrase.New("a table")
	case []map[string]any:
		return phrase.New("a list of tables")
	case time.Time:
		return phrase.New("a date or a time")
	}
	return phrase.Plain(fmt.Sprint(value))
}

// checkCommands returns an error if the build or run command is malformed. It also returns an error if the first word
// of a command is a path that leads out of source, the bot's directory, to anything but a known program.
func (m *Manifest) checkCommands(source string) error {
	for _, c := range []struct {
		key     string
		command []string
	}{{"build", m.Build}, {"run", m.Run}} {
		if len(c.command) == 0 {
			continue
		}
		if c.command[0] == "" {
			return phrase.Errorf("%s: the first word is empty: name a program, as in [\"python3\", \"bot.py\"]", c.key)
		}
		if slices.ContainsFunc(c.command[1:], func(word string) bool { return strings.ContainsRune(word, 0) }) {
			return phrase.Errorf("%s has a word with a zero byte: no program can be given one", c.key)
		}
		if err := (interpreter.Bounds{Dir: source, IsKnown: interpreter.IsKnownPath}).CheckPath(c.command[0]); err != nil {
			return phrase.Errorf("%s: %w", c.key, err)
		}
	}
	return nil
}

// CheckCommandWord checks word, the first word of an uploaded bot's command. It returns an error if word leads out of
// dir, the bot's directory, to anything but a program of the system. A sandbox makes such a program visible, together
// with the directory in which it is installed. Therefore it is also an error if that directory contains the directory
// private or is in it.
func CheckCommandWord(dir, private, word string) error {
	known := func(path string) bool { return interpreter.IsSystemPath(path) && !sharesInstallation(path, private) }
	return interpreter.Bounds{Dir: dir, IsKnown: known}.CheckCommand(word)
}

// sharesInstallation reports whether the program at path was installed below the directory private, or in a directory
// that contains private.
func sharesInstallation(path, private string) bool {
	installation := filepath.Dir(path)
	if filepath.Base(installation) == "bin" {
		installation = filepath.Dir(installation)
	}
	inside := func(path, dir string) bool { return strings.HasPrefix(path, dir+"/") }
	return inside(path, private) || inside(private+"/", installation)
}

func recogniseMainFile(source string) (Manifest, error) {
	var names []string
	for _, f := range mainFiles {
		if info, err := os.Stat(filepath.Join(source, f.name)); err == nil && info.Mode().IsRegular() {
			return Manifest{Name: filepath.Base(source), Build: f.build, Run: f.run, language: f.language}, nil
		}
		names = append(names, f.name)
	}
	return Manifest{}, phrase.Errorf("%s: no %s and no recognised main file (%s): %s", source, ManifestFile, strings.Join(names, ", "), fixSource(source))
}

// fixSource returns advice for a user who has named the directory source, in which no bot is recognized. The advice
// says what the directory has, and what to change.
func fixSource(source string) phrase.Text {
	isMain := func(name string) bool {
		return name == ManifestFile || slices.ContainsFunc(mainFiles, func(f mainFile) bool { return f.name == name })
	}
	entries, _ := os.ReadDir(source) // on an error the list is shorter
	var has []string
	for _, e := range entries {
		name := e.Name()
		for _, f := range append([]mainFile{{name: ManifestFile}}, mainFiles...) {
			if strings.EqualFold(name, f.name) && !e.IsDir() {
				return phrase.New("it has %s: rename that file to %s", name, f.name)
			}
		}
		if e.IsDir() {
			name += "/"
		}
		has = append(has, name)
	}
	for _, pattern := range []string{"*/*", "*/*/*"} {
		found, _ := fs.Glob(os.DirFS(source), pattern)
		for _, name := range found {
			if isMain(path.Base(name)) {
				return phrase.New("it has %s: use the directory of that file", name)
			}
		}
	}
	if len(has) == 0 {
		return phrase.New("it is empty: write a %s with run = [...]", ManifestFile)
	}
	const most = 10 // names that are listed
	if rest := len(has) - most; rest > 0 {
		has = append(has[:most:most], fmt.Sprintf("... (+%d)", rest))
	}
	return phrase.New("it has %s: write a %s with run = [...]", strings.Join(has, ", "), ManifestFile)
}

// separateWords returns advice for a key of the manifest whose first word is a whole command.
func separateWords(key string) string {
	return "each word of " + key + " has quotes of its own, as in [\"python3\", \"bot.py\"]"
}

// Language returns the language of the bot, guessed from its commands, or "" if it is unknown.
func (m Manifest) Language() string { return m.language }

// Training returns JSON that says how the bot was trained, if the bot is a model file and ReadManifest has read it.
// Otherwise it returns nil.
func (m Manifest) Training() json.RawMessage { return m.training }

// Command returns the command that starts the bot, with the absolute path of its program. dir is the directory where
// the bot was built. Command returns an error if the program does not exist or is not executable.
func (m Manifest) Command(dir string) ([]string, error) {
	if m.IsModel() {
		executable, err := house.Executable()
		return append([]string{executable}, m.Run[1:]...), err
	}
	command := slices.Clone(m.Run)
	if strings.Contains(command[0], "/") && !filepath.IsAbs(command[0]) {
		command[0] = filepath.Join(dir, command[0])
	}
	var err error
	if command[0], err = exec.LookPath(command[0]); err != nil {
		return nil, phrase.Errorf("%w: %s", err, m.fixRun(dir, err))
	}
	return command, m.checkScript(dir)
}

// Contestant returns the bot that was built in the directory dir, in the form that a match needs, but without a name.
// It returns an error if the program or the script that m.Run names does not exist or cannot be executed.
func (m Manifest) Contestant(dir string) (match.Contestant, error) {
	command, err := m.Command(dir)
	c := match.Contestant{Command: command, Dir: dir}
	if m.IsModel() {
		c.Show = command[:1]
	}
	return c, err
}

// checkScript returns an error if the command runs an interpreter with a script of the directory dir, and dir has no
// such file.
func (m Manifest) checkScript(dir string) error {
	script := m.script()
	if script == "" || filepath.IsAbs(script) {
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, script)); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if target, err := os.Readlink(filepath.Join(dir, script)); err == nil {
		return phrase.Errorf("the command names %q, a link to %q, which does not exist: replace the link with the file", script, target)
	}
	for _, pattern := range []string{"*", "*/*", "*/*/*"} {
		found, _ := fs.Glob(os.DirFS(dir), pattern)
		for _, name := range found {
			if strings.EqualFold(path.Base(name), path.Base(script)) {
				return phrase.Errorf("the command names %q, and there is only %q: write that name, with the same letters and the path, into run", script, name)
			}
		}
	}
	return phrase.Errorf("the command names %q, which is not there: write that file, or change run in %s", script, ManifestFile)
}

// script returns the file that the command gives to an interpreter, or "" if the command has none: the first argument
// that is no option, if its extension is that of a language whose programs are not built.
func (m Manifest) script() string {
	i := slices.IndexFunc(m.Run, func(word string) bool { return !strings.HasPrefix(word, "-") && word != m.Run[0] })
	isScript := func(f mainFile) bool { return f.build == nil && path.Ext(m.Run[i]) == path.Ext(f.name) }
	if i < 0 || strings.Contains(m.Run[0], "/") || !slices.ContainsFunc(mainFiles, isScript) {
		return ""
	}
	return m.Run[i]
}

// fixRun returns advice for a bot whose command could not be found in the directory dir, for the reason err.
func (m Manifest) fixRun(dir string, err error) string {
	inside := filepath.Join(dir, m.Run[0])
	target, linkErr := os.Readlink(inside)
	switch _, statErr := os.Stat(inside); {
	case strings.Contains(m.Run[0], " "):
		return separateWords("run")
	case linkErr == nil && statErr != nil:
		return fmt.Sprintf("it is a link to %s, which does not exist: replace the link with the file", target)
	case !strings.Contains(m.Run[0], "/") && statErr == nil:
		return fmt.Sprintf("write ./%s, the file in the bot's directory, into run", m.Run[0])
	case !strings.Contains(m.Run[0], "/"):
		return "install it, or change run in " + ManifestFile
	case len(m.Build) > 0:
		return "let the build make it, executable and not as a link out of the directory (python3 -m venv --copies), or change run in " + ManifestFile
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "write it, or change run in " + ManifestFile
	}
	return "chmod +x it, or write its interpreter before it in run, as in [\"python3\", \"bot.py\"]"
}
