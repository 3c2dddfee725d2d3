// Package plan has what the sandbox and the search for programs agree on.
package plan

// Programs are the directories of programs that every sandbox shows.
var Programs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/libx32", "/lib64"}

// Path is PATH in a sandbox, after the directories of programs elsewhere.
const Path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Within reports whether a clean path is one of some directories, or below one. "" has nothing
// below it.
func Within(path string, dirs ...string) bool {
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		if path == dir {
			return true
		}
		if dir[len(dir)-1] == '/' {
			dir = dir[:len(dir)-1]
		}
		if len(path) > len(dir) && path[:len(dir)] == dir && path[len(dir)] == '/' {
			return true
		}
	}
	return false
}
