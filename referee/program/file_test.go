package program

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
)

// A single file of every language is a bot: its manifest is that of the main file under the file's name.
func TestSingleFiles(t *testing.T) {
	for _, f := range mainFiles {
		for _, base := range []string{"Mine", "my-bot_2"} {
			dir, name := filepath.Join(t.TempDir(), "x"), base+filepath.Ext(f.name)
			kit.Must(t, WriteFile(dir, name, []byte("x"), []string{"teeko"}))
			m, err := ReadManifest(dir)
			if err != nil || m.Name != base || m.language != f.language || !slices.Equal(m.Games, []string{"teeko"}) || len(m.Build) != len(f.build) || len(m.Run) != len(f.run) {
				t.Errorf("%s: %+v, %v", name, m, err)
			}
			if words := append(m.Build, m.Run...); !slices.Contains(words, name) || slices.Contains(words, f.name) {
				t.Errorf("%s: the commands are %q", name, words)
			}
		}
		m, err := ForFile(f.name)
		if err != nil || m.Name != "" || !slices.Equal(m.Run, f.run) || !slices.Equal(m.Build, f.build) {
			t.Errorf("%s: %+v, %v", f.name, m, err)
		}
	}
	for _, name := range []string{"notes.txt", "bot", "", ".py", "-c.py", "my bot.py", "../bot.py", "a/b.py", "ñ.py"} {
		_, err := ForFile(name)
		refused(t, err, "file "+`"`+name+`"`, "bot.py")
	}
	_, err := ForFile("notes.txt")
	refused(t, err, "bot.cpp", "Bot.java", "timba.toml")
}

// A file that has no executable bit is run by its interpreter, or built, as a directory with it is.
func TestSingleFileOfMatch(t *testing.T) {
	dir := newDir(t, "mine", map[string]string{"one.sh": "echo ready", "two.c": "int main(void) { return 0; }"})
	t.Chdir(dir)
	p := resolve(t, "one.sh")
	if p.Name != "one.sh" || p.Language != "Bash" || filepath.Base(p.Command[0]) != "bash" || p.Command[1] != "one.sh" {
		t.Errorf("a script is %+v", p)
	}
	p = resolve(t, "two.c")
	if info, err := os.Stat(p.Command[0]); p.Name != "two.c" || p.Language != "C" || LanguageOf("two.c") != "C" || err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("a program is %+v, %v", p, err)
	}
	before := p.Hash
	write(t, "two.c", "int main(void) { return 1; }")
	if p = resolve(t, "two.c"); p.Hash == before {
		t.Error("a changed file has the same hash")
	}
}

// A file that was first resolved long ago, and is built only now, is not pruned before it is built.
func TestOldSingleFile(t *testing.T) {
	r := Resolver{Cache: t.TempDir()}
	file := filepath.Join(newDir(t, "old", map[string]string{"old.c": "int main(void) { return 0; }"}), "old.c")
	_, err := r.Resolve(t.Context(), file)
	kit.Must(t, err)
	long := time.Now().Add(-2 * keepUnused)
	for _, e := range kit.Get[[]os.DirEntry](t)(os.ReadDir(r.Cache)) {
		path := filepath.Join(r.Cache, e.Name())
		kit.Must(t, os.Chtimes(path, long, long))
		if !strings.HasPrefix(e.Name(), "file-") {
			kit.Must(t, os.RemoveAll(path)) // another version of timba had other words for the build
		}
	}
	if _, err := r.Resolve(t.Context(), file); err != nil {
		t.Error(err)
	}
}
