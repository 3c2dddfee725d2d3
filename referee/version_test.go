package referee

import (
	"runtime/debug"
	"testing"
)

// The version is that of timba, whatever module the program is of.
func TestVersionIn(t *testing.T) {
	const timba = "github.com/timba-arena/timba"
	other := debug.Module{Path: "example.org/arena", Version: "v9.9.9"}
	for want, info := range map[string]*debug.BuildInfo{
		"v1.2.3": {Main: debug.Module{Path: timba, Version: "v1.2.3"}},
		"v1.2.4": {Main: other, Deps: []*debug.Module{{Path: "example.org/x", Version: "v5.0.0"}, {Path: timba, Version: "v1.2.4"}}},
		"v1.2.5": {Main: other, Deps: []*debug.Module{{Path: timba, Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/fork", Version: "v1.2.5"}}}},
		"devel":  {Main: other, Deps: []*debug.Module{{Path: timba, Version: "v1.0.0", Replace: &debug.Module{Path: "../timba"}}}},
	} {
		if got := versionIn(info); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
