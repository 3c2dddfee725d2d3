package program

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
)

func TestNoName(t *testing.T) {
	_, err := Resolver{}.Resolve(t.Context(), "")
	refused(t, err, "bot: the name is empty: use a house bot (@random, ", "a directory or a command")
}

func TestHouseBots(t *testing.T) {
	p := resolve(t, "@random")
	if p.Name != "@random" || len(p.Command) != 3 || p.Command[1] != "bot" || p.Command[2] != "random" || len(p.Hash) != 64 || p.Games != nil || !p.Plays("tute") {
		t.Errorf("@random is %+v", p)
	}
	if other := resolve(t, "@first"); other.Hash == p.Hash {
		t.Error("two house bots have the same hash")
	}
	_, err := withHouse.Resolve(t.Context(), "@randum")
	refused(t, err, `"randum"`, "random", "first", "greedy")
	_, err = withHouse.Resolve(t.Context(), "@random:depth=3")
	refused(t, err, `"depth=3"`, "random has no options")
}

func TestCommands(t *testing.T) {
	dir := newDir(t, "my bots", map[string]string{"bot.py": "1", "run me+x": "#!/bin/sh\n", "data": "", "tool.sh": ""})
	t.Chdir(dir)
	for line, want := range map[string]struct {
		words          []string
		name, language string
	}{
		"sh bot.py":                    {[]string{"bot.py"}, "bot.py", "Python"},
		`sh -c 'echo "a  b"' x\ y`:     {[]string{"-c", `echo "a  b"`, "x y"}, "sh", "Bash"},
		`sh "bot.py" --level=3 ''`:     {[]string{"bot.py", "--level=3", ""}, "bot.py", "Python"},
		"run me":                       {[]string{}, "run_me", "Bash"},
		filepath.Join(dir, "run me"):   {[]string{}, "run_me", "Bash"},
		"sh -c 'true | false; exit 1'": {[]string{"-c", "true | false; exit 1"}, "sh", "Bash"},
	} {
		p := resolve(t, line)
		if !filepath.IsAbs(p.Command[0]) || !slices.Equal(p.Command[1:], want.words) || p.Name != want.name || p.Language != want.language {
			t.Errorf("%s: %q is called %s, in %q; want %q", line, p.Command, p.Name, p.Language, want)
		}
	}
}

func TestCommandErrors(t *testing.T) {
	dir := newDir(t, "mine", map[string]string{"bot.py": "", "data": "", "my bot.py": "",
		"packed.py": "PK\x03\x04 and more", "packed.zip": "\x1f\x8b and more", "packed.c": "7z\xbc\xaf and more"})
	t.Chdir(dir)
	for line, words := range map[string][]string{
		"":                    {"empty", "@random", "@greedy"},
		"  ":                  {`"  "`, "check the quotes"},
		`sh "bot.py`:          {`"sh \"bot.py"`, "check the quotes"},
		"no-such-program x":   {`"no-such-program x": there is no program "no-such-program" in the directories of PATH`, "install it"},
		"no-such-program":     {`"no-such-program" is not a house bot, directory or command`, "try @random"},
		"~/bot.py":            {"only a shell replaces ~", "write /"},
		"$HOME/bot.py x":      {"only a shell replaces variables", "write the value"},
		"A=1 sh bot.py":       {"only a shell sets a variable by A=", `"env A=1 sh bot.py"`},
		"./data x":            {`bot: "./data x": ./data is not executable`, "chmod +x"},
		"./no/such/program x": {"./no/such/program does not exist"},
		"./no/such/directory": {`bot: "./no/such/directory" does not exist`, "try @random"},
		"./no/such/file.py":   {`bot: "./no/such/file.py" does not exist`},
		"packed.py":           {`"packed.py" is an archive in the format zip: unpack it`},
		"packed.zip":          {`"packed.zip" is an archive in the format tar.gz`},
		"packed.c":            {`"packed.c" is an archive in the format 7z`},
		"cat x | sh bot.py":   {"'|'", "commands are not run by a shell", "sh -c"},
		"sh bot.py > log":     {"'>'", "commands are not run by a shell"},
		"sh bot.py; true":     {"';'"},
		"> log":               {"'>'"},
		"data":                {`"data": its name tells no language`, "bot.py", "timba.toml", "chmod +x"},
		"my bot.py":           {`"my bot.py"`, "rename it, as in bot.py"},
		"random":              {`"random"`, "try the house bot @random"},
		"sh bot.py $(date) (": {"check the quotes"},
	} {
		_, err := withHouse.Resolve(t.Context(), line)
		refused(t, err, words...)
		if strings.Contains(line, "/") && !strings.Contains(line, " ") && strings.Count(err.Error(), line) > 1 {
			t.Errorf("the path is named twice: %v", err)
		}
	}
}

// The hash says what runs: it changes with the script, the words and the program.
func TestCommandHash(t *testing.T) {
	dir := newDir(t, "mine", map[string]string{"bot.py": "1", "other.py": "1"})
	t.Chdir(dir)
	first := resolve(t, "sh bot.py")
	if again := resolve(t, "sh  'bot.py'"); again.Hash != first.Hash {
		t.Error("the same words have another hash")
	}
	for _, line := range []string{"sh bot.py x", "sh other.py", "cat bot.py"} {
		if p := resolve(t, line); p.Hash == first.Hash {
			t.Errorf("%s has the hash of sh bot.py", line)
		}
	}
	write(t, "bot.py", "2")
	if p := resolve(t, "sh bot.py"); p.Hash == first.Hash {
		t.Error("the hash is the same after a change of the script")
	}
	write(t, "bot.py", "1")
	if p := resolve(t, "sh bot.py"); p.Hash != first.Hash {
		t.Error("the hash is not the same after the change was undone")
	}
}

// Names fit into a table and a protocol line.
func TestNamesArePrintable(t *testing.T) {
	for name, want := range map[string]string{"my bot": "my_bot", "señal\t": "se_al_", "a\nb": "a_b", "ok-1.2": "ok-1.2"} {
		dir := newDir(t, "mine", map[string]string{"bot.sh": ""})
		kit.Must(t, os.Rename(dir, filepath.Join(filepath.Dir(dir), name)))
		if p := resolve(t, filepath.Join(filepath.Dir(dir), name)); p.Name != want {
			t.Errorf("%q is called %q, want %q", name, p.Name, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := printable(rapid.String().Draw(t, "name"))
		for _, c := range []byte(name) {
			if c <= ' ' || c > '~' {
				t.Fatalf("%q", name)
			}
		}
	})
}

// A bot that claims some games plays no others.
func TestPlays(t *testing.T) {
	p := resolve(t, newDir(t, "mine", map[string]string{"timba.toml": "games = [\"tute\"]\nrun = [\"sh\"]"}))
	if !p.Plays("tute") || p.Plays("brisca") {
		t.Errorf("it claims %q", p.Games)
	}
}
