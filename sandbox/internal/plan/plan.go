// Package plan has what the sandbox and the search for programs agree on.
package plan

import (
	"slices"
	"strings"
)

// ProgramDirs are the directories of programs that every sandbox shows.
var ProgramDirs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/libx32", "/lib64"}

// SystemPath is PATH in a sandbox, after the directories of programs elsewhere.
const SystemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// IsWithin reports whether a clean path is one of some directories, or below one. "" has nothing
// below it.
func IsWithin(path string, dirs ...string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return dir != "" && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"))
	})
}
