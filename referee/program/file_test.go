package program

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/trees"
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
		m, err := SingleFileManifest(f.name)
		if err != nil || m.Name != "" || !slices.Equal(m.Run, f.run) || !slices.Equal(m.Build, f.build) {
			t.Errorf("%s: %+v, %v", f.name, m, err)
		}
	}
	for _, name := range []string{"notes.txt", "bot", "", ".py", "-c.py", "my bot.py", "../bot.py", "a/b.py", "ñ.py"} {
		_, err := SingleFileManifest(name)
		refused(t, err, "file "+`"`+name+`"`, "bot.py")
	}
	_, err := SingleFileManifest("notes.txt")
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

// A file that another program has resolved long ago, and that is built only now, does not go before it is built.
func TestOldSingleFile(t *testing.T) {
	r := Resolver{Cache: t.TempDir()}
	const text = "int main(void) { return 0; }"
	file := filepath.Join(newDir(t, "old", map[string]string{"old.c": text}), "old.c")
	s := trees.NewStore(r.Cache, trees.Options{Now: func() time.Time { return time.Now().Add(-2 * maxUnused) }})
	old := kit.Get[*trees.Hold](t)(s.Add(t.Context(), "file-"+hashWords("old.c", text), func(_ context.Context, dir string) error {
		return WriteFile(dir, "old.c", []byte(text), nil)
	}))
	old.Release()
	if _, err := r.Resolve(t.Context(), file); err != nil {
		t.Error(err)
	}
	if got := kit.Get[[]trees.Entry](t)(s.Entries()); len(got) != 2 {
		t.Errorf("the cache has %v", got)
	}
}
