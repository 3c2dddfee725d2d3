// Package plan has what the sandbox and the search for programs agree on.
package plan

import (
	"slices"
	"strings"
)

// Programs are the directories of programs that every sandbox shows.
var Programs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/libx32", "/lib64"}

// Path is PATH in a sandbox, after the directories of programs elsewhere.
const Path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Within reports whether a clean path is one of some directories, or below one. "" has nothing
// below it.
func Within(path string, dirs ...string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return dir != "" && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"))
	})
}
