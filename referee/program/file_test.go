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
	"github.com/timba-arena/timba/sample-bots/house"
)

// A single file of every language is a bot: its manifest is that of the main file under the file's name.
func TestSingleFiles(t *testing.T) {
	for _, f := range mainFiles {
		for _, base := range []string{"Mine", "my-bot_2"} {
			dir, name := filepath.Join(t.TempDir(), "x"), base+filepath.Ext(f.name)
			kit.Must(t, WriteFile(dir, name, []byte("x"), []string{"teeko"}))
			m, err := ReadManifest(dir)
			if m.IsModel() {
				refused(t, err, name, "the first line is \"x\"")
				m, err = readManifest(dir) // without what only the file of a model says
			}
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

// A model file plays the games for which it was trained, as a file of a match and in a directory, and shows nothing but
// itself and this program. A directory cannot run another house bot in this way.
func TestModelFile(t *testing.T) {
	data := kit.Get[[]byte](t)(os.ReadFile("../../sample-bots/house/models/sl/tute4.timba"))
	dir := newDir(t, "mine", map[string]string{"trained.timba": string(data)})
	t.Chdir(dir)
	p := resolve(t, "trained.timba")
	executable := kit.Get[string](t)(house.Executable())
	file := filepath.Join(dir, "trained.timba")
	if p.Name != "trained.timba" || p.House || p.Language != "timba model" || !slices.Equal(p.Command, []string{executable, "bot", file}) || !slices.Equal(p.Show, p.Command[:1]) {
		t.Errorf("a model is %+v", p)
	}
	own := filepath.Join(t.TempDir(), "own")
	kit.Must(t, WriteFile(own, "trained.timba", data, []string{"brisca"}))
	d := resolve(t, own)
	if d.Name != "trained" || d.Dir != own || !slices.Equal(d.Command, []string{executable, "bot", "trained.timba"}) || !slices.Equal(d.Show, d.Command[:1]) {
		t.Errorf("a directory with a model is %+v", d)
	}
	const claim = "tute players=4 followonly=no teams=no"
	for _, b := range []Program{p, d} {
		if !slices.Equal(b.Games, []string{claim}) {
			t.Errorf("the games of a model are %q", b.Games)
		}
	}
	if m := (Manifest{Run: []string{"timba", "bot", "champion"}}); m.IsModel() {
		t.Error("a house bot is a model")
	}
	if m := (Manifest{Run: []string{"timba", "bot", "../model.timba"}}); m.IsModel() {
		t.Error("a file outside the directory is a model")
	}
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
