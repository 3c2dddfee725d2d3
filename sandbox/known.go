package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What a command says is its user's choice, and is shown to the program. What a
// bot's own files say is the bot's: the first line of a script, a link, a Python
// environment. They may lead to the programs of this machine and nowhere else, or
// a bot could have any folder shown that it can guess the name of.

// programFolders are where systems keep programs beside the shown folders.
var programFolders = []string{"/opt", "/nix/store", "/gnu/store", "/snap", "/home/linuxbrew/.linuxbrew"}

// Known tells whether an absolute path is where this machine's programs stand: in
// the system's folders, or in an installation that PATH leads to.
func Known(path string) bool {
	if path != filepath.Clean(path) {
		return false // what "dir/.." leads to depends on links
	}
	if within(path, shownFolders...) || within(path, programFolders...) || within(path, interpreters().show...) {
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

// own tells whether a path is in the bot's folder, by its name or in fact.
func own(path, dir string) bool {
	if dir == "" {
		return false
	}
	if within(path, dir) {
		return true
	}
	real, err := filepath.EvalSymlinks(dir)
	return err == nil && within(path, real)
}

// mayLead refuses what a bot's file leads to when it is neither in the bot's
// folder nor a program of this machine.
func mayLead(from, to, dir string) error {
	if !own(from, dir) || own(to, dir) || Known(to) {
		return nil
	}
	return fmt.Errorf("%s leads to %q, which is no program that this machine has for everybody: name one without a path, as in #!/usr/bin/env python3", from, strings.ToValidUTF8(to, "?"))
}
