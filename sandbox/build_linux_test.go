package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// TestBuildRemoves checks that files which a build removes are removed outside, and that files it never had stay.
func TestBuildRemoves(t *testing.T) {
	for _, level := range levelsHere(t) {
		if level == LevelWeak {
			continue
		}
		_, dir := world(t)
		for _, name := range []string{"bot.c", "notes", "src/a.c", "src/deep/b.c", "kept/c"} {
			write(t, filepath.Join(dir, name), "x", 0o644)
		}
		spec := command(t, level, dir, "sh", "-c", "rm -r src notes kept/c; mkdir made; echo > made/bot; rm bot.c; echo > bot.c")
		spec.Build = true
		s, out := runToEnd(t, spec)
		if s.Reason != Exited || s.Code != 0 {
			t.Fatalf("at %s it %s (%v) and says %q", level, s, s.Err, out)
		}
		var found []string
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			found = append(found, strings.TrimPrefix(path, dir))
			return err
		})
		if want := []string{"", "/bot.c", "/kept", "/made", "/made/bot"}; err != nil || !slices.Equal(found, want) {
			t.Errorf("at %s there is %q, want %q; %v", level, found, want, err)
		}
		if data, err := os.ReadFile(filepath.Join(dir, "bot.c")); err != nil || string(data) != "\n" {
			t.Errorf("at %s bot.c is %q; %v", level, data, err)
		}
	}
}

// TestBuildReplaces checks that a build may replace a directory by a file, and a file by a directory.
func TestBuildReplaces(t *testing.T) {
	for _, level := range levelsHere(t) {
		if level == LevelWeak {
			continue
		}
		_, dir := world(t)
		write(t, filepath.Join(dir, "bot/src/main.c"), "x", 0o644)
		write(t, filepath.Join(dir, "out"), "x", 0o644)
		spec := command(t, level, dir, "sh", "-c", "rm -r bot out; echo > bot; mkdir out; echo > out/data")
		spec.Build = true
		if s, out := runToEnd(t, spec); s.Reason != Exited || s.Code != 0 {
			t.Fatalf("at %s it %s (%v) and says %q", level, s, s.Err, out)
		}
		for _, name := range []string{"bot", "out/data"} {
			if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != "\n" {
				t.Errorf("at %s %s is %q; %v", level, name, data, err)
			}
		}
	}
}

// TestBuildKeepsOutOfLinks checks that a link in the original directory is not followed, whatever the build
// makes of it.
func TestBuildKeepsOutOfLinks(t *testing.T) {
	for _, level := range levelsHere(t) {
		if level == LevelWeak {
			continue
		}
		for name, outside := range map[string]bool{"outside": true, "inside": false} {
			_, dir := world(t)
			target := mkdir(t, filepath.Join(dir, "target"))
			if outside {
				target = mkdir(t, filepath.Join(filepath.Dir(dir), "target"))
			}
			kit.Must(t, os.Symlink(target, filepath.Join(dir, "link")))
			spec := command(t, level, dir, "sh", "-c", "rm link; mkdir link; echo > link/file")
			spec.Build = true
			s, out := runToEnd(t, spec)
			if s.Reason != NotStarted || s.Step != "keep the build" || !errors.Is(s.Err, syscall.ENOTDIR) || out != "" {
				t.Errorf("%s at %s it %s and says %q", name, level, s, out)
			}
			if left := kit.Get[[]os.DirEntry](t)(os.ReadDir(target)); len(left) > 0 {
				t.Errorf("%s at %s there is %v", name, level, left)
			}
		}
	}
}
