package clitest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/internal/kit"
)

// Example is a command line in the documentation or in the help of a program.
type Example struct {
	Source, Line string // Source is the path of a page, or the command with this help
	Output       string // first line below the command in a "console" block; "" elsewhere
}

// Lines returns the command lines in the Markdown pages of the module and in the examples of a program's --help,
// where newRoot returns the top command of the program. These are all lines of an "sh" block, the texts after "$ " in
// a "console" block, and the lines of an indented block that begin with the name of a program.
func Lines(t *testing.T, newRoot func() *cobra.Command) (list []Example) {
	t.Helper()
	root := root(t)
	for _, page := range kit.Get[[]string](t)(kit.Pages(root)) {
		data := kit.Get[[]byte](t)(os.ReadFile(filepath.Join(root, page)))
		kind, last := "", false // last: the line before is a command
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSuffix(line, "\n")
			fence, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
			command := ""
			switch {
			case isFence && kind == "":
				kind = "." + fence
			case isFence:
				kind = ""
			case kind == ".sh":
				command = line
			case kind == ".console":
				command, _ = strings.CutPrefix(line, "$ ")
				if command == line && !strings.HasPrefix(line, "(gdb) ") {
					command = ""
				}
			case kind == "" && program.MatchString(line):
				command = line
			}
			if kind == ".console" && command == "" && len(list) > 0 && last {
				list[len(list)-1].Output = line
			}
			command = withoutComment(command)
			if last = command != ""; last {
				list = append(list, Example{Source: page, Line: command})
			}
		}
	}
	for _, c := range Commands(newRoot()) {
		for line := range strings.Lines(c.Example) {
			if line = withoutComment(line); program.MatchString("    " + line) {
				list = append(list, Example{Source: c.CommandPath(), Line: line})
			}
		}
	}
	return list
}

// root returns the path of the module's directory, relative to the directory of a test.
func root(t *testing.T) string {
	t.Helper()
	for dir := ".."; len(dir) < 30; dir += "/.." {
		if _, err := os.Stat(dir + "/go.mod"); err == nil {
			return dir
		}
	}
	t.Fatal("no directory above that of the test has a go.mod")
	return ""
}

// program matches the beginning of an indented command line that starts timba or timba-lab.
var program = regexp.MustCompile(`^    timba(-lab)? `)

func withoutComment(line string) string {
	line, _, _ = strings.Cut(line, "  #")
	return strings.TrimPrefix(strings.TrimSpace(line), "./")
}

// Rule replaces a part of command lines when a test runs them.
type Rule struct {
	Pattern     *regexp.Regexp
	Replacement string
}

// Shorter are rules that shorten trainings and experiments to a moment.
var Shorter = []Rule{
	{regexp.MustCompile(`(train data .*)--each \d+`), "$1--each 2"},
	{regexp.MustCompile(`(train rl .*)`), "$1 --episodes 500"},
	{regexp.MustCompile(`(train sl .*)`), "$1 --games 320 --epochs 1"},
	{regexp.MustCompile(`(train ga .*)`), "$1 --generations 2 --final 10"},
	{regexp.MustCompile(`(train net .*)`), "$1 --generations 2 --games 50"},
	{regexp.MustCompile(`(train tebes-weights .*)`), "$1 --games 1 --evaluations 1 --finalists 0"},
	{regexp.MustCompile(`(experiment tebes-[\w-]+)( --scale \S+)?( --time-scale \S+)?`), "$1 --scale 0.01 --time-scale 0.0005"},
	{regexp.MustCompile(`(experiment --study \w+)`), "$1 --hours 0"},
	{regexp.MustCompile(`(experiment thesis-[\w-]+)( --scale \S+)?( --train-scale \S+)?`), "$1 --scale 0.02 --train-scale 0.0002"},
}

// CheckUsage checks each call of a program in the Markdown pages and in the program's --help. It fails the test if a
// command, a flag or the number of arguments is not valid. It also fails the test if it finds too few calls; least is
// the number that it must find. newRoot returns the top command of the program.
func CheckUsage(t *testing.T, newRoot func() *cobra.Command, least int) {
	parsed := 0
	for _, d := range Lines(t, newRoot) {
		for _, words := range Words(newRoot().Name(), d.Line) {
			c, rest, err := newRoot().Find(words)
			if err == nil {
				err = c.ParseFlags(rest)
			}
			if err == nil {
				err = c.ValidateArgs(c.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: %s: %v", d.Source, d.Line, err)
			}
			parsed++
		}
	}
	if parsed < least {
		t.Errorf("%d commands were parsed", parsed)
	}
}

// commandWord matches a shell word, or an operator that ends a command.
var commandWord = regexp.MustCompile(`(?:"[^"]*"|'[^']*'|[^\s"'|&;<>])+|[|&;<>]`)

// Words returns the arguments of each call of the named program in a shell command line.
func Words(program, line string) (commands [][]string) {
	var words []string
	add := func() {
		if len(words) > 0 && words[0] == program {
			commands = append(commands, words[1:])
		}
		words = nil
	}
	for _, word := range commandWord.FindAllString(line, -1) {
		if strings.ContainsAny(word[:1], "|&;<>") {
			add()
			if strings.ContainsAny(word, "<>") {
				words = []string{"into"} // a file name follows
			}
			continue
		}
		words = append(words, strings.NewReplacer(`"`, "", "'", "").Replace(word))
	}
	add()
	return commands
}

// CheckText checks each command of a program that is mentioned in the text of the Markdown pages. It fails the test
// if a command or one of its flags does not exist. It also fails the test if it finds too few commands; least is the
// number that it must find. newRoot returns the top command of the program.
func CheckText(t *testing.T, newRoot func() *cobra.Command, least int) {
	inline := regexp.MustCompile("`(?:\\./)?" + newRoot().Name() + " ([a-z][^`]*)`")
	found := 0
	root := root(t)
	for _, page := range kit.Get[[]string](t)(kit.Pages(root)) {
		data := kit.Get[[]byte](t)(os.ReadFile(filepath.Join(root, page)))
		for _, m := range inline.FindAllStringSubmatch(string(data), -1) {
			found++
			first, others, _ := strings.Cut(strings.Fields(m[1])[0], "\\|")
			words := append([]string{first}, strings.Fields(m[1])[1:]...)
			names := [][]string{words}
			for _, name := range strings.FieldsFunc(others, func(r rune) bool { return r == '|' || r == '\\' }) {
				names = append(names, []string{name})
			}
			if len(words) > 1 && strings.Contains(words[1], "\\|") {
				names = nil
				for _, name := range strings.Split(words[1], "\\|") {
					names = append(names, []string{words[0], name})
				}
			}
			for _, words := range names {
				c, _, err := newRoot().Find(words)
				if err != nil || !c.HasParent() || c.HasSubCommands() && !c.Runnable() {
					t.Errorf("%s: `%s`: there is no such command", page, m[0])
					continue
				}
				if i := slices.Index(words, "--"); i >= 0 {
					words = words[:i] // the rest belongs to another program
				}
				for _, word := range words {
					name, isFlag := strings.CutPrefix(strings.Trim(word, "[]"), "--")
					if name, _, _ = strings.Cut(name, "="); isFlag && c.Flag(name) == nil {
						t.Errorf("%s: `%s`: %s has no flag --%s", page, m[0], c.CommandPath(), name)
					}
				}
			}
		}
	}
	if found < least {
		t.Errorf("%d commands found", found)
	}
}
