package referee

import (
	"runtime/debug"
	"sync"
)

// Version returns the version of timba that runs, or "devel" if it is unknown. Replays and results contain it.
var Version = sync.OnceValue(func() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return versionIn(info)
	}
	return "devel"
})

// versionIn returns the version of timba that a program contains. info describes the program, which may belong to
// another module that depends on timba.
func versionIn(info *debug.BuildInfo) string {
	m := &info.Main
	for _, d := range info.Deps {
		if d.Path == "github.com/timba-arena/timba" {
			m = d
		}
	}
	if m.Replace != nil {
		m = m.Replace
	}
	if m.Version == "" || m.Version == "(devel)" {
		return "devel"
	}
	return m.Version
}
