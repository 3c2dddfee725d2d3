package referee

import (
	"runtime/debug"
	"sync"
)

// Version returns the version of timba: that of its module, "devel" if that is not known. Replays and results
// carry it.
var Version = sync.OnceValue(func() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
})
