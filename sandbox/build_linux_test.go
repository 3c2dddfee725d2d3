package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestBuildRemoves: what a build removes is gone, and what it was never given stays.
func TestBuildRemoves(t *testing.T) {
	for _, level := range levelsHere(t) {
		if level == Weak {
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
