// Package starters contains a complete and simple bot for each of several languages. Users begin with a copy of it.
package starters

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/rules/games"
)

//go:embed all:python all:c all:bash all:javascript all:cpp all:rust all:java all:go all:perl all:ruby all:lua all:tcl all:php
var files embed.FS

// readme is the README.md of every starter. Words in capitals are placeholders.
//
//go:embed README.md.tmpl
var readme string

// Language is a programming language for which there is a starter, a complete simple bot that users copy.
type Language struct {
	Name     string   // name of the language in commands, and of the starter's directory
	Title    string   // name for people
	Aliases  []string // other names that users may type
	Programs []string // names of the programs that build and run the bot
	Source   string   // main file

	// Texts for README.md: code that writes to the log, code that writes a comment, and when output is sent.
	Debug, Comment, Flush string
}

// Languages has all languages with a starter, in the order in which users see them.
var Languages = []Language{
	{"python", "Python", []string{"py", "python3"}, []string{"python3"}, "bot.py",
		`print("hm", file=sys.stderr)`, `print("# hm", flush=True)`,
		"Output of `print` to a pipe stays in a buffer: the bot prints with `flush=True` (or run `python3 -u`)"},
	{"javascript", "JavaScript", []string{"js", "node"}, []string{"node"}, "bot.js",
		`console.error("hm")`, `console.log("# hm")`,
		"`console.log` to a pipe writes at once on Linux; you need not flush"},
	{"c", "C", nil, []string{"cc"}, "bot.c",
		`fprintf(stderr, "hm\n")`, `puts("# hm")`,
		"Output of stdio to a pipe stays in a buffer: the bot calls `fflush(stdout)` after each line it has read"},
	{"cpp", "C++", []string{"c++", "cxx"}, []string{"c++"}, "bot.cpp",
		`std::cerr << "hm\n"`, `std::cout << "# hm" << std::endl`,
		"Output of `std::cout` to a pipe stays in a buffer: the bot ends an answer with `std::endl`, which flushes"},
	{"rust", "Rust", []string{"rs"}, []string{"rustc"}, "bot.rs",
		`eprintln!("hm")`, `println!("# hm")`,
		"`println!` writes at the end of each line; if you use your own `BufWriter`, call `flush()`"},
	{"java", "Java", nil, []string{"javac", "java"}, "Bot.java",
		`System.err.println("hm")`, `System.out.println("# hm")`,
		"Output of `System.out` may stay in a buffer: the bot calls `System.out.flush()` after each answer"},
	{"go", "Go", []string{"golang"}, []string{"go"}, "bot.go",
		`fmt.Fprintln(os.Stderr, "hm")`, `fmt.Println("# hm")`,
		"`fmt.Println` writes at once; if you use your own `bufio.Writer`, call `Flush()`"},
	{"bash", "Bash", []string{"sh", "shell"}, []string{"bash"}, "bot.sh",
		"echo hm >&2", `echo "# hm"`,
		"`echo` and `printf` write at once; programs that you start (awk, sed) may buffer their output"},
	{"perl", "Perl", []string{"pl"}, []string{"perl"}, "bot.pl",
		`print STDERR "hm\n"`, `print "# hm\n"`,
		"Output of `print` to a pipe stays in a buffer: `$| = 1` at the top flushes after every print"},
	{"ruby", "Ruby", []string{"rb"}, []string{"ruby"}, "bot.rb",
		`warn "hm"`, `puts "# hm"`,
		"Output of `puts` to a pipe stays in a buffer: `$stdout.sync = true` at the top flushes after every line"},
	{"lua", "Lua", nil, []string{"lua5.4"}, "bot.lua",
		`io.stderr:write("hm\n")`, `print("# hm")`,
		"Output of `print` to a pipe stays in a buffer: `io.stdout:setvbuf(\"line\")` at the top flushes after every line"},
	{"tcl", "Tcl", []string{"tclsh"}, []string{"tclsh"}, "bot.tcl",
		"puts stderr hm", `puts "# hm"`,
		"Output of `puts` to a pipe stays in a buffer: `fconfigure stdout -buffering line` at the top flushes after every line"},
	{"php", "PHP", nil, []string{"php"}, "bot.php",
		`fwrite(STDERR, "hm\n")`, `echo "# hm\n"`,
		"`echo` writes at once; if you use `ob_start()`, call `ob_flush()` and `flush()`"},
}

// Find returns the language whose name or alias is word, in upper or lower case. If there is none, the error
// lists the names.
func Find(word string) (Language, error) {
	word = strings.ToLower(word)
	var known []string
	for _, l := range Languages {
		if word == l.Name || slices.Contains(l.Aliases, word) {
			return l, nil
		}
		names := l.Name
		if len(l.Aliases) > 0 {
			names += " (" + strings.Join(l.Aliases, ", ") + ")"
		}
		known = append(known, names)
	}
	return Language{}, fmt.Errorf("language %q has no starter: try %s; bots in other languages work, too: see SPEC.md", word, strings.Join(known, ", "))
}

// MissingPrograms returns the names in l.Programs of programs that are not installed on this machine.
func (l Language) MissingPrograms() (programs []string) {
	for _, program := range l.Programs {
		if _, err := exec.LookPath(program); err != nil {
			programs = append(programs, program)
		}
	}
	return programs
}

// Write copies the files of the starter to dir, which must be empty or not exist. It returns the name of the bot,
// which it derives from the name of dir.
func (l Language) Write(dir string) (name string, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("starter: %w", err)
	}
	if err := checkEmpty(dir); err != nil {
		return "", err
	}
	name = botName(filepath.Base(dir))
	content, err := l.Files(name)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	for file, text := range content {
		if err == nil {
			err = create(filepath.Join(dir, file), text)
		}
	}
	if err != nil {
		return "", fmt.Errorf("starter: %w", err)
	}
	return name, nil
}

// Files returns the contents of the starter's files, by file name, for a bot with the given name.
func (l Language) Files(name string) (map[string]string, error) {
	fill := strings.NewReplacer("NAME", name, "TITLE", l.Title, "SOURCE", l.Source,
		"DEBUG", l.Debug, "COMMENT", l.Comment, "FLUSH", l.Flush)
	content := map[string]string{"README.md": fill.Replace(readme)}
	var plays []string
	for _, g := range games.All() {
		plays = append(plays, strconv.Quote(g.Name))
	}
	entries, err := files.ReadDir(l.Name)
	for _, e := range entries {
		data, err := files.ReadFile(l.Name + "/" + e.Name())
		if err != nil {
			return nil, err
		}
		content[e.Name()] = strings.ReplaceAll(string(data), "my-"+l.Name+"-bot", name) // the name is in the manifest and in the source
	}
	content["timba.toml"] = gamesLine.ReplaceAllString(content["timba.toml"], "games = ["+strings.Join(plays, ", ")+"]")
	return content, err
}

// gamesLine matches the line in timba.toml, the manifest, that lists the games of the bot.
var gamesLine = regexp.MustCompile(`(?m)^games = .*$`)

// checkEmpty returns an error if dir exists and is not empty. It ignores .git, so that dir may be a new repository.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("starter: %w: name a new directory", err)
	}
	for _, e := range entries {
		if e.Name() != ".git" {
			return fmt.Errorf("starter: %s is not empty (%s is in it): name a new directory", dir, e.Name())
		}
	}
	return nil
}

// create writes text to a new file at path. It returns an error if the file exists.
func create(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// botName returns a name for a bot that needs no quoting in any of the languages. It is the name of the directory
// dir, in which other characters are replaced by hyphens.
func botName(dir string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '-'
	}, dir)
	if name = strings.Trim(name, "-."); name == "" {
		return "my-bot"
	}
	return name
}
