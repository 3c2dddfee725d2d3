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

// Executable is the program that a command starts, with the paths and the environment that it needs in a sandbox.
type Executable struct {
	Path         string   // absolute path of the file to start
	VisiblePaths []string // paths that the sandbox must make visible in addition to the system's directories of programs
	Env          []string // the variable PATH, if it needs more than the system's directories; otherwise empty
}

// Find returns the program that a command starts in a sandbox. word is the first word of the command. A relative path
// starts from dir, the bot's directory, which may be "". If word is a shim (a script by which a version manager such
// as pyenv chooses a program), Find returns the chosen program.
func Find(word, dir string) (Executable, error) {
	var p program
	if err := p.add(word, dir, 0); err != nil {
		return Executable{}, err
	}
	if p.startsOthers {
		more := installedInterpreters()
		p.VisiblePaths, p.bins = append(p.VisiblePaths, more.VisiblePaths...), append(p.bins, more.bins...)
	}
	if bins := slices.Compact(p.bins); len(bins) > 0 {
		p.Env = []string{"PATH=" + strings.Join(append(bins, plan.SystemPath), ":")}
	}
	return p.Executable, nil
}

// program collects the parts of an Executable.
type program struct {
	Executable
	bins         []string // directories to put before the system's in PATH
	startsOthers bool     // whether it may start other programs by name, as a shell does
}

// add adds to p the program that word, the first word of a command, starts. If the program is a script, it also adds
// the programs that its #! line names, recursively. dir is the bot's directory, where relative paths start. depth is
// 0 for the command itself, and 1 more for each script. If it would reach MaxDepth, add returns an error.
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
	targets, err := Bounds{Dir: dir, IsKnown: IsKnownPath}.Follow(path)
	if err != nil {
		return err
	}
	if name := filepath.Base(path); slices.Contains(starters, name) && (depth == 0 || name != "env") {
		p.startsOthers = true
	}
	// A Python that is started by its bare name finds its own files by PATH. Programs that a program starts
	// are found by PATH, too.
	if depth > 0 || !plan.IsWithin(path, plan.ProgramDirs...) && !plan.IsWithin(path, dir) {
		p.bins = append([]string{filepath.Dir(path)}, p.bins...)
	}
	// The program may look for its own files at any of the links, as a Python environment does.
	for _, path := range slices.Concat(targets.Links, targets.Bases, []string{targets.RealPath}) {
		p.showPrefix(path, dir)
	}
	if len(targets.Programs) > 0 && depth+1 == MaxDepth {
		return tooDeep(word)
	}
	for _, word := range targets.Programs {
		if err := p.add(word, dir, depth+1); err != nil {
			return fmt.Errorf("%s: its first line: %w", targets.RealPath, err)
		}
	}
	return nil
}

// locate returns the absolute path of the program that word names. A word without a slash is searched in PATH, and a
// relative path starts from dir. If there is no such file, locate returns an error.
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

// showPrefix makes the installation of the program at path visible in the sandbox. That is usually the directory
// above bin. If that directory is shared with other programs, or the sandbox's user may not read it, only the program
// and possibly its library directories become visible. dir is the bot's directory, which is visible already.
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

// isInHome reports whether dir is directly in the user's home. Such a directory may be an installation, such as
// ~/miniconda3, or have many uses, such as ~/.local. In both cases only the parts that programs need are made visible
// in a sandbox.
func isInHome(dir string) bool {
	home, err := os.UserHomeDir()
	return err == nil && home != "" && filepath.Dir(dir) == filepath.Clean(home)
}

// isPrivate reports whether this process is root and other users cannot read dir. In that case programs in a sandbox,
// which run as other users, cannot read dir either.
func isPrivate(dir string) bool {
	info, err := os.Stat(dir)
	return os.Geteuid() == 0 && err == nil && info.Mode()&0o005 != 0o005
}

// IsSharedDir reports whether dir may contain more than one program or installation. Such directories are the user's
// home, the directories directly in it, and system directories such as /opt. They must not be visible as a whole in a
// sandbox.
func IsSharedDir(dir string) bool { return IsWideDir(dir) || isInHome(dir) }

// IsWideDir reports whether dir is too broad to be visible in a sandbox: the user's home, a directory that contains
// it, or a shared directory of the system such as /opt.
func IsWideDir(dir string) bool {
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		home = "/"
	}
	return plan.IsWithin(home, dir) || // the home and everything above it
		plan.IsWithin(os.TempDir(), dir) ||
		slices.Contains([]string{"/", "/opt", "/srv", "/var", "/etc", "/home", "/root", "/mnt", "/media", "/run", "/tmp", "/var/tmp", "/dev/shm"}, dir)
}

// resolveShim returns the program that the shim at path would start, or path if it is not a shim. A shim is a script
// by which a version manager such as pyenv chooses a program. The shim itself could run in a sandbox only with the
// whole version manager. dir is the bot's directory, whose files can name a version.
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

// chosenVersion returns the path of the program called name in the version that a version manager (pyenv, rbenv or
// nodenv) has chosen. root is the directory of the version manager. The result is that of "pyenv which NAME", but
// much faster. chosenVersion looks at the manager's environment variable, at version files in and above the bot's
// directory dir, and at the manager's own version file. If none names a version, it returns "".
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

// askManager runs a version manager, as in "pyenv which NAME", and returns the path of the program called name that
// it prints. manager is the path of the version manager.
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

// programDirs are directories of programs that are not the system's. A sandbox makes parts of them visible only
// if a program needs them.
var programDirs = []string{"/opt", "/nix/store", "/gnu/store", "/snap", "/home/linuxbrew/.linuxbrew"}

// IsKnownPath reports whether an absolute path is in a directory for programs: a directory of the system, /opt or a
// similar directory, or an installation that is in PATH.
func IsKnownPath(path string) bool {
	if path != filepath.Clean(path) {
		return false // where "dir/.." leads depends on links
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

// IsSystemPath reports whether an absolute path is below /opt or one of the system's directories of programs. It does
// not depend on PATH. On a server, uploaded bots may use only programs in these directories.
func IsSystemPath(path string) bool {
	return path == filepath.Clean(path) && slices.ContainsFunc(append([]string{"/opt"}, plan.ProgramDirs...), func(dir string) bool {
		return strings.HasPrefix(path, dir+"/")
	})
}
