package sandbox

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// program is what a command comes to: which file to start, and what must be seen
// for it beside the system's own folders.
type program struct {
	path string
	show []string // resolved folders and files, and the paths of links to them
	bins []string // further folders of PATH
	any  bool     // it may start others by their names
}

// basePath is PATH in a sandbox; the folders of programs that stand elsewhere go
// before it.
const basePath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// findProgram resolves a command's first word; dir is where a relative path
// starts from.
func findProgram(word, dir string) (program, error) {
	var p program
	err := p.find(word, dir, 0)
	return p, err
}

// find adds a program and, for a script, its interpreter.
func (p *program) find(word, dir string, depth int) error {
	path, err := locate(word, dir)
	if err != nil {
		return err
	}
	if path, err = behindShim(path, dir); err != nil {
		return err
	}
	if depth == 0 {
		p.path = path
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		err = mayLead(path, real, dir)
	}
	if err != nil {
		return err
	}
	if name := filepath.Base(path); slices.Contains(starters, name) && (depth == 0 || name != "env") {
		p.any = true
	}
	if depth > 0 {
		p.bins = append([]string{filepath.Dir(path)}, p.bins...)
	}
	// Each link on the way may be how the program finds its own files, as that of
	// a Python environment is.
	for range 16 {
		p.showPrefix(path, dir)
		if err := p.showBase(path, dir); err != nil {
			return err
		}
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		if err := mayLead(path, target, dir); err != nil {
			return err
		}
		path = target
	}
	p.showPrefix(real, dir)
	if depth < 4 {
		return p.findInterpreter(real, dir, depth)
	}
	return nil
}

// Program is the file that a command's first word is in a sandbox: behind the shim
// of a version manager, for one. dir is where a relative path starts from.
func Program(word, dir string) (path string, err error) {
	p, err := findProgram(word, dir)
	return p.path, err
}

// locate gives the absolute path of a command's first word.
func locate(word, dir string) (string, error) {
	if strings.Contains(word, "/") {
		if !filepath.IsAbs(word) {
			word = filepath.Join(dir, word)
		}
		if !filepath.IsAbs(word) {
			return "", fmt.Errorf("%q is not absolute, and there is no folder for it to start from", word)
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

// findInterpreter adds what a script names in its first line.
func (p *program) findInterpreter(path, dir string, depth int) error {
	f, err := os.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return nil // it can be run, maybe
		}
		return err
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 256)).ReadString('\n')
	words, ok := strings.CutPrefix(line, "#!")
	fields := strings.Fields(words)
	if !ok || len(fields) == 0 {
		return nil
	}
	if err := p.findNamed(path, fields[0], dir, depth); err != nil {
		return err
	}
	if filepath.Base(fields[0]) != "env" {
		return nil
	}
	for i := 1; i < len(fields); i++ {
		word := strings.TrimPrefix(fields[i], "-S")
		switch {
		case word == "-u" || word == "-C":
			i++
			continue
		case word == "" || strings.HasPrefix(word, "-") || strings.Contains(word, "="):
			continue
		}
		return p.findNamed(path, word, dir, depth)
	}
	return nil
}

// findNamed adds what a script's first line names.
func (p *program) findNamed(script, word, dir string, depth int) error {
	if strings.Contains(word, "/") {
		to := word
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		if err := mayLead(script, to, dir); err != nil {
			return err
		}
	}
	if err := p.find(word, dir, depth+1); err != nil {
		return fmt.Errorf("%s: its first line: %w", script, err)
	}
	return nil
}

// shownFolders are seen in every sandbox.
var shownFolders = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/libx32", "/lib64"}

func within(path string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(f string) bool {
		return f != "" && (path == f || strings.HasPrefix(path, strings.TrimSuffix(f, "/")+"/"))
	})
}

// showPrefix shows the installation that a program belongs to: the folder above
// its bin. Where that is the user's home or a part of it that is shared, or a
// folder that the program's user may not look into, the program alone is shown.
func (p *program) showPrefix(path, dir string) {
	if within(path, shownFolders...) || within(path, dir) || within(path, p.show...) {
		return
	}
	prefix := filepath.Dir(path)
	if filepath.Base(prefix) == "bin" {
		prefix = filepath.Dir(prefix)
	}
	hidden := private(prefix) || private(filepath.Dir(path))
	if !hidden && !Shared(prefix) {
		p.show = append(p.show, prefix)
		return
	}
	p.show = append(p.show, path)
	if !hidden && filepath.Base(filepath.Dir(path)) == "bin" && inHome(prefix) {
		for _, part := range []string{"lib", "lib64", "libexec", "conf"} {
			if info, err := os.Stat(filepath.Join(prefix, part)); err == nil && info.IsDir() {
				p.show = append(p.show, filepath.Join(prefix, part))
			}
		}
	}
}

// inHome tells whether a folder stands in the user's home itself. It may be an
// installation, as ~/miniconda3 is, or shared, as ~/.local is: of both only the
// parts are shown that programs need.
func inHome(dir string) bool {
	home, err := os.UserHomeDir()
	return err == nil && home != "" && filepath.Dir(dir) == filepath.Clean(home)
}

// showBase shows the installation that a Python environment was made from.
func (p *program) showBase(path, dir string) error {
	config := filepath.Join(filepath.Dir(filepath.Dir(path)), "pyvenv.cfg")
	data, err := os.ReadFile(config)
	if err != nil {
		return nil // it is no environment
	}
	for line := range strings.Lines(string(data)) {
		key, value, ok := strings.Cut(line, "=")
		bin := strings.TrimSpace(value)
		if !ok || strings.TrimSpace(key) != "home" || !filepath.IsAbs(bin) {
			continue
		}
		folders := []string{bin}
		if real, err := filepath.EvalSymlinks(bin); err == nil {
			folders = append(folders, real)
		}
		for _, folder := range folders {
			base := filepath.Join(folder, filepath.Base(path))
			if err := mayLead(config, base, dir); err != nil {
				return err
			}
			p.showPrefix(base, dir)
		}
	}
	return nil
}

// private tells whether a folder is root's alone, so that the users that programs
// run as cannot look into it.
func private(dir string) bool {
	info, err := os.Stat(dir)
	return os.Geteuid() == 0 && err == nil && info.Mode()&0o005 != 0o005
}

// Shared tells whether a folder holds more than one installation or program: the
// user's home and all above it, for one. Such a folder is not to be shown.
func Shared(dir string) bool {
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		home = "/"
	}
	return within(home, dir) || // home and all above it
		within(os.TempDir(), dir) ||
		slices.Contains([]string{"/", "/opt", "/srv", "/var", "/etc", "/home", "/root", "/mnt", "/media", "/run", "/tmp", "/var/tmp", "/dev/shm"}, dir) ||
		filepath.Dir(dir) == home // ~/.local, ~/.cargo, ~/go
}

// behindShim gives the program that a version manager's shim starts. The shims
// are scripts that need the whole manager; the program does not.
func behindShim(path, dir string) (string, error) {
	name, folder := filepath.Base(path), filepath.Dir(path)
	root := filepath.Dir(folder)
	target, _ := os.Readlink(path)
	switch {
	case within(path, shownFolders...) || within(path, dir):
		return path, nil
	case filepath.Base(folder) == "shims": // pyenv, rbenv, nodenv, asdf, mise
		if real := chosenVersion(root, name, dir); real != "" {
			return real, nil
		}
		if real := tellsItself(path); real != "" {
			return real, nil
		}
		return askManager(strings.TrimPrefix(filepath.Base(root), "."), "which", name)
	case filepath.Base(target) == "volta-shim":
		return askManager(filepath.Join(folder, "volta"), "which", name)
	case filepath.Base(folder) == "bin" && name != "rustup" && isFile(filepath.Join(folder, "rustup")) && sameFile(path, filepath.Join(folder, "rustup")):
		return askManager(filepath.Join(folder, "rustup"), "which", name)
	case isScript(path):
		if real := tellsItself(path); real != "" {
			return real, nil
		}
	}
	return path, nil
}

// chosenVersion does what "pyenv which" does, without the half second that it
// takes: a variable, a file above the program's folder, the manager's own.
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

// askManager asks a version manager for a program.
func askManager(manager string, args ...string) (string, error) {
	out, err := exec.Command(manager, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", manager, strings.Join(args, " "), err)
	}
	path := strings.TrimSpace(string(out))
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%s %s: %q is not a path", manager, strings.Join(args, " "), path)
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

// environment is all that a program finds, with the sizes that runtimes would
// else take from the machine.
func environment(l Limit, home string, bins, more []string) []string {
	const mb = 1 << 20
	path := strings.Join(append(slices.Compact(bins), basePath), ":")
	env := []string{
		"PATH=" + path,
		"HOME=" + cmp.Or(home, "/"),
		"LANG=C.UTF-8",
		"USER=bot",
		// Half for the heap: the rest of a JVM is as large. Its counters would go to
		// a file.
		fmt.Sprintf("JDK_JAVA_OPTIONS=-Xmx%dm -XX:+UseSerialGC -XX:-UsePerfData", max(8, l.Memory/2/mb)),
		fmt.Sprintf("NODE_OPTIONS=--max-old-space-size=%d", max(16, l.Memory*6/10/mb)),
		fmt.Sprintf("GOMEMLIMIT=%d", l.Memory*8/10),
		"MALLOC_ARENA_MAX=2",
	}
	if home != "" {
		env = append(env, "TMPDIR="+home)
	}
	for _, e := range more {
		name, _, _ := strings.Cut(e, "=")
		env = slices.DeleteFunc(env, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		env = append(env, e)
	}
	return env
}
