package refereetest

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
)

// Files makes dir and writes files by name into it. A name may have directories
// in it; one that ends in "+x" is written without that, and is executable.
func Files(t testing.TB, dir string, files map[string]string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		name, run := strings.CutSuffix(name, "+x")
		path, mode := filepath.Join(dir, name), os.FileMode(0o644)
		if run {
			mode = 0o755
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Variant returns a game with options from "key=value key=value".
func Variant(t testing.TB, game, options string) rules.Variant {
	t.Helper()
	g, err := games.Find(game)
	if err != nil {
		t.Fatal(err)
	}
	v, err := rules.Resolve(g, protocol.Pairs(options).Map())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Until waits for a condition, for two minutes at most.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline, pause := time.Now().Add(2*time.Minute), time.Millisecond
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("not in two minutes: %s", what)
		}
		time.Sleep(pause)
		pause = min(2*pause, 32*time.Millisecond)
	}
}

// Raced reports whether the race detector is in this test binary.
func Raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
