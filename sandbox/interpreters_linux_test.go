package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/sandbox/interpreter"
)

// realPython returns a Python of this machine that needs files of its own installation.
func realPython(t *testing.T) string {
	t.Helper()
	found := kit.Get[interpreter.Executable](t)(interpreter.Find("python3", ""))
	return found.Path
}

func write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	kit.Must(t, os.WriteFile(path, []byte(text), mode))
	return path
}

// world makes a home with a secret and a bot in it. It is the user's home while the test runs.
func world(t *testing.T) (home, bot string) {
	t.Helper()
	base, err := os.MkdirTemp("/var/tmp", "timba-home") // not below /tmp, which is scratch inside
	kit.Must(t, err)
	t.Cleanup(func() { os.RemoveAll(base) })
	kit.Must(t, os.Chmod(base, 0o755))
	home, bot = mkdir(t, base+"/home"), mkdir(t, base+"/bot")
	write(t, home+"/.ssh/secret", "secret", 0o644)
	write(t, home+"/.local/share/secret", "secret", 0o644)
	t.Setenv("HOME", home)
	return home, bot
}

// TestInstallations checks that a bot can use an interpreter wherever it is installed, without seeing the
// user's home.
func TestInstallations(t *testing.T) {
	python := realPython(t)
	link := func(to, from string) {
		mkdir(t, filepath.Dir(from))
		kit.Must(t, os.Symlink(to, from))
	}
	run := func(name string, args ...string) {
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v: %s", name, args, err, out)
		}
	}
	path := func(dirs ...string) {
		t.Setenv("PATH", strings.Join(append(dirs, "/usr/local/bin", "/usr/bin", "/bin"), ":"))
	}
	// A program that finds one of its files relative to its own path.
	tool := func(prefix string) {
		write(t, prefix+"/lib/answer", "42\n", 0o644)
		write(t, prefix+"/bin/tool", "#!/bin/sh\nexec cat \"$(dirname \"$(readlink -f \"$0\")\")/../lib/answer\"\n", 0o755)
	}
	const bot = "print(6*7)\n"
	const samePython = `import math, subprocess, sys
other = subprocess.run(["python3", "-c", "import math, sys; print(sys.executable)"], capture_output=True, text=True).stdout.strip()
print(42 if other == sys.executable else (other, sys.executable))`
	for _, c := range []struct {
		name    string
		make    func(home, dir string)
		command []string
	}{
		{"a version manager's node", func(home, dir string) { // nvm: a directory for each version, first in PATH
			node, err := exec.LookPath("node")
			if err != nil {
				node = python // the layout is what counts
			}
			real, err := filepath.EvalSymlinks(node)
			kit.Must(t, err)
			v := home + "/.nvm/versions/node/v20.0.0"
			link(real, v+"/bin/node")
			write(t, v+"/lib/answer", "42\n", 0o644)
			write(t, v+"/bin/tool", "#!/bin/sh\nnode --version >/dev/null && cat "+v+"/lib/answer\n", 0o755)
			path(v + "/bin")
		}, []string{"tool"}},
		{"pyenv", func(home, dir string) {
			link(filepath.Dir(filepath.Dir(python)), home+"/.pyenv/versions/3.0.0")
			write(t, home+"/.pyenv/version", "3.0.0\n", 0o644)
			write(t, home+"/.pyenv/shims/python3", "#!/bin/sh\nexit 1\n", 0o755)
			path(home + "/.pyenv/shims")
		}, []string{"python3", "bot.py"}},
		{"pyenv, and the Python that it starts by name", func(home, dir string) {
			link(filepath.Dir(filepath.Dir(python)), home+"/.pyenv/versions/3.0.0")
			write(t, home+"/.pyenv/version", "3.0.0\n", 0o644)
			write(t, home+"/.pyenv/shims/python3", "#!/bin/sh\nexit 1\n", 0o755)
			path(home + "/.pyenv/shims")
		}, []string{"python3", "-c", samePython}},
		{"a shim of another kind", func(home, dir string) {
			write(t, home+"/tools/shims/python3", "#!/bin/sh\nexec "+python+" \"$@\"\n", 0o755)
			path(home + "/tools/shims")
		}, []string{"python3", "bot.py"}},
		{"a script that starts the real one", func(home, dir string) {
			write(t, home+"/bin/python3", "#!/bin/sh\nexec "+python+" \"$@\"\n", 0o755)
			path(home + "/bin")
		}, []string{"python3", "bot.py"}},
		{"a Python environment", func(home, dir string) {
			run(python, "-m", "venv", "--without-pip", home+"/envs/bot")
			path(home + "/envs/bot/bin")
		}, []string{"python3", "bot.py"}},
		{"a Python environment that is a copy", func(home, dir string) {
			run(python, "-m", "venv", "--without-pip", "--copies", home+"/envs/copy")
			path(home + "/envs/copy/bin")
		}, []string{"python3", "bot.py"}},
		{"an environment in the bot's directory", func(home, dir string) {
			run(python, "-m", "venv", "--without-pip", dir+"/venv")
			path(filepath.Dir(python))
		}, []string{"venv/bin/python", "bot.py"}},
		{"links over installations", func(home, dir string) {
			base := filepath.Dir(home)
			tool(base + "/opt/foo")
			link(base+"/opt/foo/bin/tool", base+"/local/bin/tool")
			link(base+"/local/bin/tool", base+"/local/alternatives/tool")
			path(base + "/local/alternatives")
		}, []string{"tool"}},
		{"an installation in the home itself", func(home, dir string) {
			tool(home + "/miniconda3")
			path(home + "/miniconda3/bin")
		}, []string{"tool"}},
		{"env", func(home, dir string) {
			write(t, dir+"/bot", "#!/usr/bin/env python3\n"+bot, 0o755)
			path(filepath.Dir(python))
		}, []string{"./bot"}},
		{"env with options", func(home, dir string) {
			write(t, dir+"/bot", "#!/usr/bin/env -S -u FOO A=1 python3 -u\n"+bot, 0o755)
			path(filepath.Dir(python))
		}, []string{"./bot"}},
		{"a command of a shell", func(home, dir string) { path(filepath.Dir(python)) }, []string{"sh", "-c", "python3 bot.py"}},
		{"a script that starts one", func(home, dir string) {
			write(t, dir+"/run.sh", "#!/bin/sh\nexec python3 bot.py\n", 0o755)
			write(t, home+"/tools/shims/python3", "#!/bin/sh\nexec "+python+" \"$@\"\n", 0o755)
			path(home + "/tools/shims")
		}, []string{"./run.sh"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			home, dir := world(t)
			write(t, dir+"/bot.py", bot, 0o644)
			c.make(home, dir)
			for _, level := range levelsHere(t) {
				s, out := runToEnd(t, command(t, level, dir, c.command...))
				if s.Reason != Exited || s.Code != 0 || out != "42\n" {
					t.Errorf("at %s it %s (%v) and says %q", level, s, s.Err, out)
				}
				secrets := fmt.Sprintf("cat %s/.ssh/secret %s/.local/share/secret; ls %s/.ssh", home, home, home)
				if _, out := runToEnd(t, command(t, level, dir, "sh", "-c", secrets)); strings.Contains(strings.ReplaceAll(out, "/secret", ""), "secret") {
					t.Errorf("at %s secrets are seen: %s", level, out)
				}
			}
		})
	}
}

// TestFilesOfTheBotLeadNowhereElse checks that files of the bot make only programs of the machine visible,
// and no other file that exists and is readable.
func TestFilesOfTheBotLeadNowhereElse(t *testing.T) {
	const show = "#!/bin/sh\ncat \"$1\"\n"
	for _, c := range []struct {
		name string
		make func(home, dir string)
	}{
		{"a first line", func(home, dir string) {
			write(t, home+"/tools/bin/show", show, 0o755)
			write(t, dir+"/bot", "#!"+home+"/tools/bin/show\n", 0o755)
		}},
		{"a first line that is not what env takes it for", func(home, dir string) {
			write(t, dir+"/bot", "#!/usr/bin/env -S --unset "+home+"/.ssh/secret /bin/sh\n", 0o755)
		}},
		{"a first line by a way back", func(home, dir string) {
			write(t, home+"/tools/bin/show", show, 0o755)
			write(t, dir+"/bot", "#!/usr/.."+home+"/tools/bin/show\n", 0o755)
		}},
		{"a link", func(home, dir string) {
			write(t, home+"/tools/bin/show", show, 0o755)
			kit.Must(t, os.Symlink(home+"/tools/bin/show", dir+"/bot"))
		}},
		{"a link of a directory", func(home, dir string) {
			write(t, home+"/tools/bin/show", show, 0o755)
			kit.Must(t, os.Symlink(home+"/tools/bin", dir+"/bin"))
			write(t, dir+"/bot", "#!"+dir+"/bin/show\n", 0o755)
		}},
		{"a Python environment", func(home, dir string) {
			write(t, dir+"/pyvenv.cfg", "home = "+home+"/.ssh\n", 0o644)
			write(t, dir+"/bin/run", "#!/bin/sh\ncat "+home+"/.ssh/secret\n", 0o755)
			write(t, dir+"/bot", "#!"+dir+"/bin/run\n", 0o755)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			home, dir := world(t)
			t.Setenv("PATH", "/usr/local/bin:/usr/bin:/bin")
			c.make(home, dir)
			_, err := interpreter.Find("./bot", dir)
			if err == nil || !strings.Contains(err.Error(), "leads to") {
				t.Fatalf("the error is %v", err)
			}
		})
	}
}

// TestLinkInShownDirectory checks that a bot is visible if its directory is a link within a visible directory.
func TestLinkInShownDirectory(t *testing.T) {
	for _, level := range levelsHere(t) {
		t.Run(level.String(), func(t *testing.T) {
			home, dir := world(t)
			write(t, dir+"/data", "hello", 0o644)
			shown := mkdir(t, filepath.Dir(home)+"/shown")
			kit.Must(t, os.Symlink(dir, shown+"/current"))
			spec := command(t, level, shown+"/current", "sh", "-c", "read x < data; echo $x")
			spec.VisiblePaths = append(spec.VisiblePaths, shown)
			if s, out := runToEnd(t, spec); s.Reason != Exited || out != "hello\n" {
				t.Errorf("it %s and says %q", s, out)
			}
		})
	}
}
