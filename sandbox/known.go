package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// programDirs are directories of programs besides those that are always shown.
var programDirs = []string{"/opt", "/nix/store", "/gnu/store", "/snap", "/home/linuxbrew/.linuxbrew"}

// Known reports whether an absolute path is in a place for programs of this machine: in
// the system's directories, or in an installation that PATH leads to.
func Known(path string) bool {
	if path != filepath.Clean(path) {
		return false // what "dir/.." leads to depends on links
	}
	if within(path, shownDirs...) || within(path, programDirs...) || within(path, interpreters().show...) {
		return true
	}
	return slices.ContainsFunc(filepath.SplitList(os.Getenv("PATH")), func(bin string) bool {
		if !filepath.IsAbs(bin) {
			return false
		}
		root := filepath.Dir(bin)
		switch {
		case filepath.Base(bin) == "shims": // of a version manager
			return within(path, filepath.Join(root, "versions"), filepath.Join(root, "installs"))
		case filepath.Base(bin) == "bin" && !Shared(root):
			return within(path, root)
		}
		return !Shared(bin) && within(path, bin)
	})
}

// System reports whether an absolute path is below the system's directories of programs,
// whatever PATH is. On a server, strangers' bots may use only these.
func System(path string) bool {
	return path == filepath.Clean(path) && slices.ContainsFunc(append([]string{"/opt"}, shownDirs...), func(dir string) bool {
		return strings.HasPrefix(path, dir+"/")
	})
}
