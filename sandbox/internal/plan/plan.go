// Package plan defines the directories and the PATH that the sandbox and the search for programs both use.
package plan

import (
	"slices"
	"strings"
)

// ProgramDirs are the system's directories of programs, which are visible in every sandbox.
var ProgramDirs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/libx32", "/lib64"}

// SystemPath is the value of PATH in every sandbox. If a program needs further directories, they are put before it.
const SystemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// IsWithin reports whether path is one of the directories dirs or below one of them. path must be clean (see
// filepath.Clean). An empty element of dirs contains nothing.
func IsWithin(path string, dirs ...string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return dir != "" && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"))
	})
}
