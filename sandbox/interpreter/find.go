package interpreter

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/timba-arena/timba/sandbox/internal/plan"
)

// Program is what a command starts, and what that needs to see besides the system's directories.
type Program struct {
	Path         string   // of the file to start
	VisiblePaths []string // directories, files and links
	Env          []string // PATH, if it needs more than the system's
}

// Find returns the program that a command's first word starts in a sandbox: of a version manager's
// shim, for example, the program behind it. A relative path starts from dir, the directory of the
// bot or "".
func Find(word, dir string) (Program, error) {
	var p program
	if err := p.add(word, dir, 0); err != nil {
		return Program{}, err
	}
	if p.startsOthers {
		more := installedInterpreters()
		p.VisiblePaths, p.bins = append(p.VisiblePaths, more.VisiblePaths...), append(p.bins, more.bins...)
	}
	if bins := slices.Compact(p.bins); len(bins) > 0 {
		p.Env = []string{"PATH=" + strings.Join(append(bins, plan.SystemPath), ":")}
	}
	return p.Program, nil
}

// program is a Program that is being found.
type program struct {
	Program
	bins         []string // further directories of PATH
	startsOthers bool     // it may start others by name
}

// add adds a program and, for a script, the programs that its first line names.
func (p *program) add(word, dir string, depth int) error {
	path, err := locate(word, dir)
	if err != nil {
		return err
	}
	if path, err = resolveShim(path, dir); err != nil {
		return err
	}
	if depth == 0 {
		p.Path = path
	}
	leads, err := Bounds{Dir: dir, IsKnown: IsKnownPath}.Follow(path)
	if err != nil {
		return err
	}
	if name := filepath.Base(path); slices.Contains(starters, name) && (depth == 0 || name != "env") {
		p.startsOthers = true
	}
	// A Python that is started by its bare name looks for its own files by PATH, and so do
	// the programs that a program starts.
	if depth > 0 || !plan.IsWithin(path, plan.ProgramDirs...) && !plan.IsWithin(path, dir) {
		p.bins = append([]string{filepath.Dir(path)}, p.bins...)
	}
	// The program may find its own files by any of the links, as a Python environment
	// does.
	for _, path := range slices.Concat(leads.Links, leads.Bases, []string{leads.RealPath}) {
		p.showPrefix(path, dir)
	}
	if len(leads.Programs) > 0 && depth+1 == MaxDepth {
		return tooDeep(word)
	}
	for _, word := range leads.Programs {
		if err := p.add(word, dir, depth+1); err != nil {
			return fmt.Errorf("%s: its first line: %w", leads.RealPath, err)
		}
	}
	return nil
}

// locate returns the absolute path of a command's first word.
func locate(word, dir string) (string, error) {
	if strings.Contains(word, "/") {
		if !filepath.IsAbs(word) {
			word = filepath.Join(dir, word)
		}
		if !filepath.IsAbs(word) {
			return "", fmt.Errorf("%q is a relative path, but the program has no directory", word)
		}
		if _, err := os.Stat(word); err != nil {
			return "", err
		}
		return word, nil
	}
	path, err := exec.LookPath(word)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// showPrefix shows the installation that a program belongs to: the directory above its
// bin. If that is the user's home, a shared part of it, or a directory that the
// program's user may not read, it shows only the program.
func (p *program) showPrefix(path, dir string) {
	if plan.IsWithin(path, plan.ProgramDirs...) || plan.IsWithin(path, dir) || plan.IsWithin(path, p.VisiblePaths...) {
		return
	}
	prefix := filepath.Dir(path)
	if filepath.Base(prefix) == "bin" {
		prefix = filepath.Dir(prefix)
	}
	hidden := isPrivate(prefix) || isPrivate(filepath.Dir(path))
	if !hidden && !IsSharedDir(prefix) {
		p.VisiblePaths = append(p.VisiblePaths, prefix)
		return
	}
	p.VisiblePaths = append(p.VisiblePaths, path)
	if !hidden && filepath.Base(filepath.Dir(path)) == "bin" && isInHome(prefix) {
		for _, part := range []string{"lib", "lib64", "libexec", "conf"} {
			if info, err := os.Stat(filepath.Join(prefix, part)); err == nil && info.IsDir() {
				p.VisiblePaths = append(p.VisiblePaths, filepath.Join(prefix, part))
			}
		}
	}
}

// isInHome reports whether a directory is directly in the user's home. It may be an
// installation, such as ~/miniconda3, or shared, such as ~/.local, ~/.cargo or ~/go: of
// both, only the parts that programs need are shown.
func isInHome(dir string) bool {
	home, err := os.UserHomeDir()
	return err == nil && home != "" && filepath.Dir(dir) == filepath.Clean(home)
}

// isPrivate reports whether only root may read a directory, so that the users that programs
// run as cannot.
func isPrivate(dir string) bool {
	info, err := os.Stat(dir)
	return os.Geteuid() == 0 && err == nil && info.Mode()&0o005 != 0o005
}

// IsSharedDir reports whether a directory has more than one installation or program, such as
// the user's home and all directories above it. It must not be shown as a whole.
func IsSharedDir(dir string) bool { return IsWideDir(dir) || isInHome(dir) }

// IsWideDir reports whether a directory is the user's home, one above it, or one of the system with much else in it.
func IsWideDir(dir string) bool {
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		home = "/"
	}
	return plan.IsWithin(home, dir) || // the home and all above it
		plan.IsWithin(os.TempDir(), dir) ||
		slices.Contains([]string{"/", "/opt", "/srv", "/var", "/etc", "/home", "/root", "/mnt", "/media", "/run", "/tmp", "/var/tmp", "/dev/shm"}, dir)
}

// resolveShim returns the program that a version manager's shim starts. Shims are scripts
// that need the whole manager; the program does not.
func resolveShim(path, dir string) (string, error) {
	name, directory := filepath.Base(path), filepath.Dir(path)
	root := filepath.Dir(directory)
	target, _ := os.Readlink(path)
	switch {
	case plan.IsWithin(path, plan.ProgramDirs...) || plan.IsWithin(path, dir):
		return path, nil
	case filepath.Base(directory) == "shims": // pyenv, rbenv, nodenv, asdf, mise
		if real := chosenVersion(root, name, dir); real != "" {
			return real, nil
		}
		if real := askPath(path); real != "" {
			return real, nil
		}
		return askManager(strings.TrimPrefix(filepath.Base(root), "."), name)
	case filepath.Base(target) == "volta-shim":
		return askManager(filepath.Join(directory, "volta"), name)
	case filepath.Base(directory) == "bin" && name != "rustup" && isFile(filepath.Join(directory, "rustup")) && sameFile(path, filepath.Join(directory, "rustup")):
		return askManager(filepath.Join(directory, "rustup"), name)
	case IsScript(path):
		if real := askPath(path); real != "" {
			return real, nil
		}
	}
	return path, nil
}

// chosenVersion does what "pyenv which" does, without its half second: it reads a
// variable, a file in or above the program's directory, or the manager's own file.
func chosenVersion(root, name, dir string) string {
	var versions []string
	manager := strings.TrimPrefix(filepath.Base(root), ".") // pyenv
	language := map[string]string{"pyenv": "python", "rbenv": "ruby", "nodenv": "node"}[manager]
	if language == "" {
		return ""
	}
	versions = append(versions, strings.Split(os.Getenv(strings.ToUpper(manager)+"_VERSION"), ":")...)
	for d := dir; d != "" && d != "/" && d != "."; d = filepath.Dir(d) {
		versions = append(versions, readVersions(filepath.Join(d, "."+language+"-version"))...)
	}
	versions = append(versions, readVersions(filepath.Join(root, "version"))...)
	for _, v := range versions {
		if v == "" || strings.Contains(v, "/") || strings.Contains(v, "..") {
			continue
		}
		if path := filepath.Join(root, "versions", v, "bin", name); isFile(path) {
			return path
		}
	}
	return ""
}

func readVersions(path string) []string {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return strings.Fields(string(data))
}

// askManager asks a version manager which program it starts by a name.
func askManager(manager, name string) (string, error) {
	out, _, err := ask(manager, "which", name)
	if err != nil {
		return "", err
	}
	path := strings.TrimSpace(out)
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%s which %s: %q is not a path", manager, name, path)
	}
	return path, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// programDirs are directories of programs besides those that are always shown.
var programDirs = []string{"/opt", "/nix/store", "/gnu/store", "/snap", "/home/linuxbrew/.linuxbrew"}

// IsKnownPath reports whether an absolute path is in a place for programs of this machine: in
// the system's directories, or in an installation that PATH leads to.
func IsKnownPath(path string) bool {
	if path != filepath.Clean(path) {
		return false // what "dir/.." leads to depends on links
	}
	if plan.IsWithin(path, plan.ProgramDirs...) || plan.IsWithin(path, programDirs...) || plan.IsWithin(path, installedInterpreters().VisiblePaths...) {
		return true
	}
	return slices.ContainsFunc(filepath.SplitList(os.Getenv("PATH")), func(bin string) bool {
		if !filepath.IsAbs(bin) {
			return false
		}
		root := filepath.Dir(bin)
		switch {
		case filepath.Base(bin) == "shims": // of a version manager
			return plan.IsWithin(path, filepath.Join(root, "versions"), filepath.Join(root, "installs"))
		case filepath.Base(bin) == "bin" && !IsSharedDir(root):
			return plan.IsWithin(path, root)
		}
		return !IsSharedDir(bin) && plan.IsWithin(path, bin)
	})
}

// IsSystemPath reports whether an absolute path is below the system's directories of programs,
// whatever PATH is. On a server, strangers' bots may use only these.
func IsSystemPath(path string) bool {
	return path == filepath.Clean(path) && slices.ContainsFunc(append([]string{"/opt"}, plan.ProgramDirs...), func(dir string) bool {
		return strings.HasPrefix(path, dir+"/")
	})
}
