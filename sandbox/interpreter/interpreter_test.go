package interpreter

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// tree makes a tree of files in a new directory, called ROOT in their text: a bot in /bot, a home in
// /home/ana and the system's programs in /usr/bin. A text that begins with "->" makes a link.
func tree(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	kit.Must(t, err)
	for _, name := range []string{"/usr/bin/env", "/usr/bin/sh", "/usr/bin/python3", "/home/ana/.ssh/secret", "/bot/data"} {
		if _, ok := files[name]; !ok {
			files[name] = "\x7fELF"
		}
	}
	for name, text := range files {
		text = strings.ReplaceAll(text, "ROOT", root)
		path := filepath.Join(root, name)
		kit.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if target, ok := strings.CutPrefix(text, "->"); ok {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o755)
		}
		kit.Must(t, err)
	}
	return root
}

// bounds returns the bounds of the bot in a tree. The bot may use the system and what a version manager has
// installed.
func bounds(root string) Bounds {
	return Bounds{Dir: root + "/bot", IsKnown: func(path string) bool {
		return strings.HasPrefix(path, root+"/usr/") || strings.HasPrefix(path, root+"/home/ana/.pyenv/versions/") || strings.HasPrefix(path, root+"/home/ana/.nvm/versions/")
	}}
}

const out = "which is neither in the bot's directory nor a program"

// TestLayouts has every layout in which interpreters are installed, and every way out of a bot's directory.
// It checks that Follow of the file run and CheckCommand of ./run agree.
func TestLayouts(t *testing.T) {
	const python = "/home/ana/.pyenv/versions/3.12/bin/python3"
	for _, c := range []struct {
		name   string
		files  map[string]string
		starts []string // programs of the first line of run
		bases  []string
		links  []string // targets of links after run
		err    string   // "" for none
	}{
		{name: "a program", files: map[string]string{"/bot/run": "\x7fELF"}},
		{name: "sh", files: map[string]string{"/bot/run": "#!ROOT/usr/bin/sh -e\n"}, starts: []string{"ROOT/usr/bin/sh"}},
		{name: "sh -c", files: map[string]string{"/bot/run": "#! \tROOT/usr/bin/sh -c true\n"}, starts: []string{"ROOT/usr/bin/sh"}},
		{name: "sh -c with a path", files: map[string]string{"/bot/run": "#!ROOT/usr/bin/sh -c ROOT/home/ana/x\n"}, err: out},
		{name: "no line end", files: map[string]string{"/bot/run": "#!ROOT/usr/bin/sh"}, starts: []string{"ROOT/usr/bin/sh"}},
		{name: "nothing named", files: map[string]string{"/bot/run": "#!  \n"}},
		{name: "by the kernel's rule", files: map[string]string{"/bot/run": "#!other\n", "/bot/other": "#!ROOT/usr/bin/sh\n"}, starts: []string{"./other"}},
		{name: "out by the kernel's rule", files: map[string]string{"/bot/run": "#!other\n", "/bot/other": "#!ROOT/home/ana/.ssh/secret\n"}, starts: []string{"./other"}, err: "other leads to"},

		{name: "env", files: map[string]string{"/bot/run": "#!ROOT/usr/bin/env python3\n"}, starts: []string{"ROOT/usr/bin/env", "python3"}},
		{name: "env -S", files: map[string]string{"/bot/run": "#!ROOT/usr/bin/env -S -u FOO --chdir . A=1 python3 -u\n"}, starts: []string{"ROOT/usr/bin/env", "python3"}},
		{name: "env -Sword", files: map[string]string{"/bot/run": "#!ROOT/usr/bin/env -Spython3 -u\n"}, starts: []string{"ROOT/usr/bin/env", "python3"}},
		{name: "env --split-string", files: map[string]string{"/bot/run": "#!ROOT/usr/bin/env --split-string=python3 -u\n"}, starts: []string{"ROOT/usr/bin/env", "python3"}},
		{name: "env alone", files: map[string]string{"/bot/run": "#!ROOT/usr/bin/env\n"}, starts: []string{"ROOT/usr/bin/env"}},
		{name: "env of a file of the bot", files: map[string]string{"/bot/run": "#!ROOT/usr/bin/env -S ./bin/own\n", "/bot/bin/own": "\x7fELF"}, starts: []string{"ROOT/usr/bin/env", "./bin/own"}},
		{name: "env out", files: map[string]string{"/bot/run": "#!ROOT/usr/bin/env ROOT/home/ana/.ssh/secret\n"}, err: out},
		{name: "env out by -S", files: map[string]string{"/bot/run": "#!ROOT/usr/bin/env -SROOT/home/ana/.ssh/secret\n"}, err: out},
		{name: "env out by --split-string", files: map[string]string{"/bot/run": "#!ROOT/usr/bin/env --split-string=ROOT/home/ana/.ssh/secret\n"}, err: out},
		{name: "env out by an option's value", files: map[string]string{"/bot/run": "#!ROOT/usr/bin/env -S --unset ROOT/home/ana/.ssh/secret sh\n"}, err: out},
		{name: "env out by a relative path", files: map[string]string{"/bot/run": "#!ROOT/usr/bin/env -S A=1 ../home/ana/.ssh/secret\n"}, err: out},
		{name: "another env", files: map[string]string{"/bot/run": "#!ROOT/home/ana/env sh\n"}, err: out},

		{name: "out", files: map[string]string{"/bot/run": "#!ROOT/home/ana/.ssh/secret\n"}, err: `run leads to "`},
		{name: "out by a way back", files: map[string]string{"/bot/run": "#!ROOT/usr/../home/ana/.ssh/secret\n"}, err: out},
		{name: "in by a way back", files: map[string]string{"/bot/run": "#!ROOT/bot/bin/../own\n", "/bot/own": "\x7fELF"}, starts: []string{"ROOT/bot/bin/../own"}},
		{name: "a script of a script", files: map[string]string{"/bot/run": "#!./a\n", "/bot/a": "#!./b\n", "/bot/b": "#!ROOT/usr/bin/sh\n"}, starts: []string{"./a"}},
		{name: "out by a script of a script", files: map[string]string{"/bot/run": "#!./a\n", "/bot/a": "#!./b\n", "/bot/b": "#!ROOT/home/ana/x\n"}, starts: []string{"./a"}, err: "b leads to"},
		{name: "a script of itself", files: map[string]string{"/bot/run": "#!./run\n"}, starts: []string{"./run"}, err: "a chain of too many scripts"},

		{name: "a relative link", files: map[string]string{"/bot/run": "->bin/own", "/bot/bin/own": "\x7fELF"}, links: []string{"ROOT/bot/bin/own"}},
		{name: "a link to the system", files: map[string]string{"/bot/run": "->ROOT/usr/bin/python3"}, links: []string{"ROOT/usr/bin/python3"}},
		{name: "a link to a link", files: map[string]string{"/bot/run": "->a", "/bot/a": "->./b", "/bot/b": "#!ROOT/usr/bin/sh\n"}, links: []string{"ROOT/bot/a", "ROOT/bot/b"}, starts: []string{"ROOT/usr/bin/sh"}},
		{name: "a link out", files: map[string]string{"/bot/run": "->ROOT/home/ana/.ssh/secret"}, err: out},
		{name: "a relative link out", files: map[string]string{"/bot/run": "->../home/ana/.ssh/secret"}, err: out},
		{name: "a link out to nothing", files: map[string]string{"/bot/run": "->ROOT/home/ana/none"}, err: out},
		{name: "a link out by a way back", files: map[string]string{"/bot/run": "->ROOT/usr/bin/../../home/ana/.ssh/secret"}, err: out},
		{name: "a link out over a directory", files: map[string]string{"/bot/run": "->bin/secret", "/bot/bin": "->ROOT/home/ana/.ssh"}, err: out},
		{name: "a link to itself", files: map[string]string{"/bot/run": "->run"}, err: "leads to itself"},
		{name: "links in a loop", files: map[string]string{"/bot/run": "->a", "/bot/a": "->b", "/bot/b": "->a"}, err: "leads to itself"},
		{name: "a first line over a link out", files: map[string]string{"/bot/run": "#!./tools/x\n", "/bot/tools": "->ROOT/home/ana", "/home/ana/x": "\x7fELF"}, starts: []string{"./tools/x"}, err: out},

		{name: "a linked environment", files: map[string]string{
			"/bot/run": "#!./venv/bin/python\n", "/bot/venv/bin/python": "->python3", "/bot/venv/bin/python3": "->ROOT/usr/bin/python3", "/bot/venv/pyvenv.cfg": "home = ROOT/usr/bin\nversion = 3\n",
		}, starts: []string{"./venv/bin/python"}},
		{name: "a copied environment", files: map[string]string{"/bot/run": "->bin/python3", "/bot/bin/python3": "\x7fELF", "/bot/pyvenv.cfg": "home=ROOT/usr/bin\n"},
			links: []string{"ROOT/bot/bin/python3"}, bases: []string{"ROOT/usr/bin/python3", "ROOT/usr/bin/python3"}},
		{name: "an environment of pyenv", files: map[string]string{"/bot/run": "->bin/python3", "/bot/bin/python3": "->ROOT" + python, python: "\x7fELF", "/bot/pyvenv.cfg": "HOME = ROOT/home/ana/.pyenv/versions/3.12/bin\n"},
			links: []string{"ROOT/bot/bin/python3", "ROOT" + python}, bases: []string{"ROOT" + python, "ROOT" + python}},
		{name: "node of nvm", files: map[string]string{"/bot/run": "->ROOT/home/ana/.nvm/versions/node/v20/bin/node", "/home/ana/.nvm/versions/node/v20/bin/node": "\x7fELF"},
			links: []string{"ROOT/home/ana/.nvm/versions/node/v20/bin/node"}},
		{name: "an environment out", files: map[string]string{"/bot/run": "->bin/x", "/bot/bin/x": "\x7fELF", "/bot/pyvenv.cfg": "home = ROOT/home/ana/.ssh\n"}, err: "pyvenv.cfg leads to"},
		{name: "an environment out by a relative path", files: map[string]string{"/bot/run": "->bin/x", "/bot/bin/x": "\x7fELF", "/bot/pyvenv.cfg": "home = ../home/ana/.ssh\n"}, err: out},
		{name: "an environment out by a second line", files: map[string]string{"/bot/run": "->bin/x", "/bot/bin/x": "\x7fELF", "/bot/pyvenv.cfg": "home = ROOT/usr/bin\nhome = ROOT/home/ana/.ssh\n"}, err: out},
		{name: "an environment out over a link", files: map[string]string{"/bot/run": "->bin/x", "/bot/bin/x": "\x7fELF", "/bot/etc": "->ROOT/home/ana/.ssh", "/bot/pyvenv.cfg": "home = ROOT/bot/etc\n"}, err: out},
		{name: "an environment that is too large", files: map[string]string{"/bot/run": "->bin/x", "/bot/bin/x": "\x7fELF", "/bot/pyvenv.cfg": strings.Repeat("#", MaxConfig+1)}, err: "at most 65536 are read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := tree(t, c.files)
			b := bounds(root)
			in := func(list []string) (full []string) {
				for _, s := range list {
					full = append(full, strings.ReplaceAll(s, "ROOT", root))
				}
				return full
			}
			err := b.CheckCommand("./run")
			if refused := new(PathError); c.err == "" && err != nil || c.err != "" && (!errors.As(err, &refused) || !strings.Contains(err.Error(), c.err) || strings.Contains(refused.From, root)) {
				t.Errorf("Check: %v, want %q", err, c.err)
			}
			leads, err := b.Follow(b.Dir + "/run")
			if c.err != "" && c.starts == nil {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("Follow: %v, want %q", err, c.err)
				}
				return
			}
			links := append([]string{b.Dir + "/run"}, in(c.links)...)
			if err != nil || !slices.Equal(leads.Programs, in(c.starts)) || !slices.Equal(leads.Bases, in(c.bases)) || !slices.Equal(leads.Links, links) {
				t.Errorf("Follow: %+v, %v", leads, err)
			}
			if got := FirstLine(b.Dir + "/run"); !slices.Equal(got, in(c.starts)) {
				t.Errorf("FirstLine: %q", got)
			}
		})
	}
}

// TestOthersFiles checks that files outside the bot's directory may lead anywhere, because its user has
// chosen them.
func TestOthersFiles(t *testing.T) {
	root := tree(t, map[string]string{"/home/ana/bin/tool": "->ROOT/home/ana/tools/tool", "/home/ana/tools/tool": "#!ROOT/home/ana/.ssh/secret\n"})
	for _, dir := range []string{"", root + "/bot"} {
		b := bounds(root)
		b.Dir = dir
		leads, err := b.Follow(root + "/home/ana/bin/tool")
		if err != nil || leads.RealPath != root+"/home/ana/tools/tool" || !slices.Equal(leads.Programs, []string{root + "/home/ana/.ssh/secret"}) {
			t.Errorf("from %q: %+v, %v", dir, leads, err)
		}
	}
	// This does not apply to links back into the bot's directory.
	root = tree(t, map[string]string{"/home/ana/bin/tool": "->ROOT/bot/run", "/bot/run": "#!ROOT/home/ana/.ssh/secret\n"})
	if _, err := bounds(root).Follow(root + "/home/ana/bin/tool"); err == nil || !strings.Contains(err.Error(), out) {
		t.Errorf("by the bot's file: %v", err)
	}
}

func TestCommands(t *testing.T) {
	root := tree(t, map[string]string{"/bot/run": "\x7fELF"})
	for word, want := range map[string]bool{
		"python3": true, "./run": true, "x/../run": true, "./none": true, root + "/bot/run": true, root + "/usr/bin/sh": true,
		"../x": false, root + "/home/ana/x": false, root + "/usr/bin/../bin/sh": false, root + "/usr//bin/sh": false, root + "/bot": false, root + "/botx/y": false, "/": false, "a\x00/b": false,
	} {
		if err := bounds(root).CheckCommand(word); (err == nil) != want {
			t.Errorf("%q: %v", word, err)
		}
	}
}

func TestIsScript(t *testing.T) {
	root := tree(t, map[string]string{"/bot/a": "#!/bin/sh\n", "/bot/b": "#", "/bot/c": ""})
	for name, want := range map[string]bool{"a": true, "b": false, "c": false, "data": false, "none": false, ".": false} {
		if got := IsScript(filepath.Join(root, "bot", name)); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
