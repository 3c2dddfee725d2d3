package program

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/trees"
)

func TestDirErrors(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		words []string
	}{
		"not installed": {map[string]string{"timba.toml": `run = ["no-such-program"]`}, []string{"no-such-program", "install it, or change run in timba.toml"}},
		"empty":         {nil, []string{"no timba.toml and no recognised main file", "it is empty: write a timba.toml"}},
		"notes":         {map[string]string{"README.md": "", "src/main.py": ""}, []string{"it has README.md, src/: write a timba.toml with run = [...]"}},
		"capitals":      {map[string]string{"Bot.py": ""}, []string{"it has Bot.py: rename that file to bot.py"}},
		"below":         {map[string]string{"README.md": "", "a/b/bot.py": ""}, []string{"it has a/b/bot.py: use the directory of that file"}},
		"below, TOML":   {map[string]string{"README.md": "", "mine/timba.toml": ""}, []string{"it has mine/timba.toml: use the directory of that file"}},
		"not there":     {map[string]string{"timba.toml": `run = ["./bot"]`}, []string{"bot", "write it, or change run in timba.toml"}},
		"one word":      {map[string]string{"timba.toml": `run = ["python3 bot.py"]`}, []string{"python3 bot.py", `quotes of its own, as in ["python3", "bot.py"]`}},
		"no path":       {map[string]string{"timba.toml": `run = ["bot"]`, "bot+x": "#!/bin/sh\n"}, []string{"write ./bot, the file in the bot's directory, into run"}},
		"other case":    {map[string]string{"timba.toml": `run = ["sh", "-e", "Bot.sh"]`, "bot.sh": ""}, []string{`the command names "Bot.sh", and there is only "bot.sh"`}},
		"other place":   {map[string]string{"timba.toml": `run = ["sh", "bot.sh"]`, "src/bot.sh": ""}, []string{`the command names "bot.sh", and there is only "src/bot.sh"`}},
		"no script":     {map[string]string{"timba.toml": `run = ["sh", "bot.sh"]`, "README.md": ""}, []string{`the command names "bot.sh", which is not there: write that file`}},
		"builder words": {map[string]string{"timba.toml": "build = [\"sh bot.sh\"]\nrun = [\"./bot\"]"}, []string{"each word of build has quotes of its own"}},
		"wildcard":      {map[string]string{"timba.toml": "build = [\"ls\", \"*.c\"]\nrun = [\"./bot\"]"}, []string{`no shell reads the words of build, so that "*.c" is not replaced: write ["sh", "-c", "ls *.c"]`}},
		"not a program": {map[string]string{"timba.toml": `run = ["./bot"]`, "bot": ""}, []string{"permission denied", "chmod +x"}},
		"not built":     {map[string]string{"timba.toml": "build = [\"true\"]\nrun = [\"./bot\"]"}, []string{"let the build make it"}},
		"no builder":    {map[string]string{"timba.toml": "build = [\"no-such-compiler\", \"a\"]\nrun = [\"./bot\"]"}, []string{"building", "no-such-compiler a"}},
		"build fails": {map[string]string{"timba.toml": "build = [\"sh\", \"-c\", \"echo line 7 is wrong; exit 3\"]\nrun = [\"./bot\"]"},
			[]string{"building", "exit status 3", "line 7 is wrong"}},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			dir := newDir(t, "mine", c.files)
			_, err := Resolver{Log: &log, Cache: withHouse.Cache}.Resolve(t.Context(), dir)
			refused(t, err, append(c.words, dir)...)
			if text := log.String(); strings.Contains(text, "wrong\n") {
				t.Errorf("the log repeats the error: %q", text)
			}
		})
	}
}

// counted returns the directory of a bot, and a function that returns how often the bot was built.
func counted(t testing.TB) (dir string, builds func() int) {
	t.Helper()
	times := filepath.Join(t.TempDir(), "times")
	dir = newDir(t, "mine", map[string]string{
		"timba.toml": "build = [\"./build.sh\", \"" + times + "\"]\nrun = [\"./bot\", \"x\"]",
		"build.sh+x": "#!/bin/sh\nset -e\ntest ! -e .git\ntest -d empty\necho built >> \"$1\"\ncp source bot\nchmod +x bot\necho a warning >&2\n",
		"source":     "#!/bin/sh\n",
		".git/x":     "1",
	})
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir, func() int {
		data, _ := os.ReadFile(times)
		return bytes.Count(data, []byte("\n"))
	}
}

func resolve(t testing.TB, bot string) Program {
	t.Helper()
	p, err := withHouse.Resolve(t.Context(), bot)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A bot is built once for each content, elsewhere than in its directory.
func TestBuildOnce(t *testing.T) {
	dir, builds := counted(t)
	var log bytes.Buffer
	first, err := Resolver{Log: &log, Cache: withHouse.Cache}.Resolve(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(log.String(), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "building "+dir+": ./build.sh ") || lines[1] != "a warning" {
		t.Errorf("the log has %q", lines)
	}
	if _, err := os.Stat(filepath.Join(dir, "bot")); err == nil {
		t.Error("the bot was built in its own directory")
	}
	if first.Dir == dir || first.Command[0] != filepath.Join(first.Dir, "bot") || first.Command[1] != "x" || first.Source != dir {
		t.Errorf("it runs as %q in %s", first.Command, first.Dir)
	}
	for _, c := range []struct {
		name   string
		change func()
		builds int
		same   bool // as at first
	}{
		{"nothing", func() {}, 1, true},
		{".git", func() { write(t, filepath.Join(dir, ".git/x"), "2") }, 1, true},
		{"__pycache__", func() { write(t, filepath.Join(dir, "__pycache__/bot.pyc"), "2") }, 1, true},
		{"a link to nowhere", func() { os.Symlink("gone", filepath.Join(dir, ".#source")) }, 1, true},
		{"a byte", func() { write(t, filepath.Join(dir, "source"), "#!/bin/sh\n#\n") }, 2, false},
		{"back", func() { write(t, filepath.Join(dir, "source"), "#!/bin/sh\n") }, 2, true},
		{"a new file", func() { write(t, filepath.Join(dir, "sub/data"), "") }, 3, false},
		{"a mode", func() { os.Chmod(filepath.Join(dir, "source"), 0o755) }, 4, false},
	} {
		c.change()
		p := resolve(t, dir)
		if builds() != c.builds {
			t.Errorf("after a change of %s it has been built %d times, want %d", c.name, builds(), c.builds)
		}
		if same := p.Hash == first.Hash && p.Dir == first.Dir; same != c.same {
			t.Errorf("after a change of %s it is the program of before: %v", c.name, same)
		}
	}
}

// Several at once build safely, and all get what runs.
func TestBuildAtOnce(t *testing.T) {
	dir, builds := counted(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			p, err := withHouse.Resolve(t.Context(), dir)
			if err != nil {
				t.Error(err)
				return
			}
			if info, err := os.Stat(p.Command[0]); err != nil || info.Mode()&0o100 == 0 {
				t.Errorf("%v, %v", info, err)
			}
		})
	}
	wg.Wait()
	before := builds()
	resolve(t, dir)
	if before < 1 || builds() != before {
		t.Errorf("built %d times at once, and %d times after that", before, builds()-before)
	}
	if left, _ := filepath.Glob(filepath.Join(withHouse.Cache, ".trees", "new-*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// A build that was not used for long, and what is too much for the cache, go at the next build. What this program uses
// stays until the context of its use has ended.
func TestOldBuildsGo(t *testing.T) {
	dir, builds := counted(t)
	cache := t.TempDir()
	r := Resolver{Cache: cache}
	ctx, end := context.WithCancel(t.Context())
	used := kit.Get[Program](t)(r.Resolve(ctx, dir))
	s := trees.NewStore(cache, trees.Options{})
	add := func(key string, size int64) {
		h := kit.Get[*trees.Hold](t)(s.Add(t.Context(), key, func(_ context.Context, path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, size))
		}))
		h.Release()
	}
	s.Now = func() time.Time { return time.Now().Add(-maxUnused - time.Hour) }
	kit.Get[*trees.Hold](t)(s.Get(filepath.Base(used.Dir))).Release()
	add("old", 1)
	s.Now = time.Now
	add("large", MaxCache)
	add("small", 1)
	write(t, filepath.Join(dir, "source"), "#!/bin/sh\n# 2\n")
	other := kit.Get[Program](t)(r.Resolve(t.Context(), dir))
	left := func() (keys []string) {
		for _, e := range kit.Get[[]trees.Entry](t)(s.Entries()) {
			keys = append(keys, e.Key)
		}
		slices.Sort(keys)
		return keys
	}
	want := []string{"small", filepath.Base(used.Dir), filepath.Base(other.Dir)}
	slices.Sort(want)
	if diff := cmp.Diff(want, left()); diff != "" {
		t.Error(diff)
	}
	write(t, filepath.Join(dir, "source"), "#!/bin/sh\n")
	if again := kit.Get[Program](t)(r.Resolve(ctx, dir)); again.Dir != used.Dir || builds() != 2 {
		t.Errorf("it has been built %d times, at last in %s", builds(), again.Dir)
	}
	end()
	kit.Until(t, "the build that is not in use any more goes", func() bool {
		kit.Get[trees.Eviction](t)(s.Evict(trees.Limits{Bytes: 1}, nil))
		return len(left()) == 1
	})
	if diff := cmp.Diff([]string{filepath.Base(other.Dir)}, left()); diff != "" {
		t.Error(diff)
	}
}

// A failing build is tried again.
func TestFailedBuildIsNotKept(t *testing.T) {
	flag := filepath.Join(t.TempDir(), "flag")
	dir := newDir(t, "mine", map[string]string{"timba.toml": "build = [\"sh\", \"-c\", \"test -e " + flag + " && touch bot && chmod +x bot\"]\nrun = [\"./bot\"]"})
	_, err := withHouse.Resolve(t.Context(), dir)
	refused(t, err, "building")
	write(t, flag, "")
	resolve(t, dir)
}

// run may name a program by its whole path, one on the PATH or one in the directory.
func TestRunPaths(t *testing.T) {
	for run, want := range map[string]string{"/bin/sh": "/bin/sh", "sh": "sh", "./bot": "bot", "sub/bot": "sub/bot"} {
		dir := newDir(t, "mine", map[string]string{"timba.toml": `run = ["` + run + `"]`, "bot+x": "", "sub/bot+x": ""})
		p := resolve(t, dir)
		if !strings.HasSuffix(p.Command[0], want) || !filepath.IsAbs(p.Command[0]) || strings.Contains(run, "bot") != strings.HasPrefix(p.Command[0], dir) || p.Dir != dir {
			t.Errorf("run %q is %q in %s", run, p.Command, p.Dir)
		}
	}
}

// A home directory in which nothing can be written is like none: the cache is elsewhere, unless the user has chosen it.
func TestCacheDirWithoutHome(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	kit.Must(t, os.WriteFile(file, nil, 0o644))
	t.Setenv("XDG_CACHE_HOME", "")
	for _, home := range []string{"", file} {
		t.Setenv("HOME", home)
		dir, err := CacheDir("test-of-home")
		if err != nil || strings.HasPrefix(dir, file) {
			t.Errorf("HOME=%q: %s, %v", home, dir, err)
		}
		os.Remove(dir)
	}
	t.Setenv("XDG_CACHE_HOME", file)
	_, err := CacheDir("test-of-home")
	refused(t, err, file, ": set XDG_CACHE_HOME to a writable directory")
}
