package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/timba-arena/timba/sandbox/internal/initproc"
	"github.com/timba-arena/timba/sandbox/internal/plan"
)

// prepare checks s and returns the configuration for the sandbox's init process. The caller must add the user ID and
// the system call filter.
func (s Spec) prepare() (*initproc.Config, error) {
	limit, err := s.Limit.Check()
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(s.Path) || len(s.Args) == 0 {
		return nil, fmt.Errorf("%q is not the absolute path of a program, or there is no command", s.Path)
	}
	c := &initproc.Config{
		HasNamespaces: s.Level > LevelWeak, HasCgroup: s.Level == LevelFull, UID: -1,
		Path: s.Path, Argv: s.Args, Build: s.Build, SystemPaths: allSystemPaths(),
		Limit: initproc.Limit(limit), PerFile: perFile(limit),
	}
	if s.Dir != "" {
		if c.OwnDir, err = bindDir(s.Dir); err != nil {
			return nil, err
		}
		c.Dir = c.OwnDir.Target
	}
	if s.Build && (s.Dir == "" || s.Level == LevelWeak) {
		return nil, errors.New("a build needs a directory, and namespaces for a copy of it")
	}
	if err := addBinds(c, s.VisiblePaths); err != nil {
		return nil, err
	}
	c.LandlockABI, err = landlockABI()
	if s.Level > LevelWeak {
		c.Home = homeDir(c)
	} else if err != nil {
		return nil, err
	}
	if c.Dir == "" {
		c.Dir = cmp.Or(c.Home, "/")
	}
	c.Env = environment(limit, c.Home, s.Env)
	return c, nil
}

// homeDir returns the path of the program's writable directory. It is /tmp, or /scratch if a visible path is below
// /tmp. A Landlock rule also applies to mounts below its directory: if /tmp were writable, the program could write to
// a named pipe in a visible directory below /tmp.
func homeDir(c *initproc.Config) string {
	for _, b := range append(c.Binds, c.OwnDir) {
		if plan.IsWithin(b.Target, "/tmp") {
			return "/scratch"
		}
	}
	return "/tmp"
}

// bindDir returns the bind mount that makes a program's directory visible in the sandbox at the same path as outside.
// It returns an error if dir is not a directory, or is a directory that no program may have, such as / or /proc.
func bindDir(dir string) (b initproc.Bind, err error) {
	if b, err = bindOf(dir); err != nil {
		return b, err
	}
	info, err := os.Stat(b.Source)
	if err != nil {
		return b, err
	}
	if !info.IsDir() {
		return b, fmt.Errorf("%s is not a directory", dir)
	}
	for _, path := range []string{b.Source, b.Target} {
		if path == "/" || plan.IsWithin("/proc", path) || plan.IsWithin(path, "/proc", "/dev", "/sys") {
			return b, fmt.Errorf("%s cannot be a program's directory: put the program in a separate directory", path)
		}
	}
	return b, nil
}

// bindOf returns the bind mount that makes a file or directory visible in the sandbox at the same path as outside.
func bindOf(path string) (b initproc.Bind, err error) {
	if b.Target, err = filepath.Abs(path); err == nil {
		b.Source, err = filepath.EvalSymlinks(b.Target)
	}
	return b, err
}

// addBinds adds bind mounts of paths to c, outer directories first. If the sandbox has namespaces, addBinds leaves
// out each path that another mount already makes visible. For the same reason it removes the mount c.OwnDir of the
// program's directory, unless c.Build is set.
func addBinds(c *initproc.Config, paths []string) error {
	for _, path := range paths {
		b, err := bindOf(path)
		if err != nil {
			return err
		}
		c.Binds = append(c.Binds, b)
	}
	slices.SortStableFunc(c.Binds, func(a, b initproc.Bind) int { return len(a.Target) - len(b.Target) })
	var seen []string
	c.Binds = slices.DeleteFunc(c.Binds, func(b initproc.Bind) bool {
		covered := c.HasNamespaces && plan.IsWithin(b.Target, append(seen, plan.ProgramDirs...)...)
		seen = append(seen, b.Target)
		return covered
	})
	seen = append(seen, plan.ProgramDirs...)
	if plan.IsWithin(c.OwnDir.Target, seen...) {
		c.OwnDir.Target = c.OwnDir.Source // the visible directories already contain the links in its path
	}
	if !c.Build && plan.IsWithin(c.OwnDir.Target, seen...) {
		c.OwnDir = initproc.Bind{}
	}
	return nil
}

// environment returns the environment of a program in a sandbox. It contains heap sizes that fit the memory limit;
// without these, language runtimes would derive heap sizes from the memory of the machine. home is the writable
// directory, or "" if there is none. Variables in more replace variables with the same name.
func environment(l Limit, home string, more []string) []string {
	const mb = 1 << 20
	env := []string{
		"PATH=" + plan.SystemPath,
		"HOME=" + cmp.Or(home, "/"),
		"LANG=C.UTF-8",
		"USER=bot",
		// Half is for the heap: the rest of a JVM is about as large. Without -UsePerfData a JVM would write
		// counters to a file.
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

// systemPaths are the programs, libraries and configuration files that are visible in every sandbox, if they
// exist. Symbolic links are copied as links.
var systemPaths = append(slices.Clone(plan.ProgramDirs),
	"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
	"/etc/ssl/openssl.cnf", // without it Node exits
	"/etc/localtime", "/etc/magic", "/etc/mime.types", "/etc/perl", "/etc/php",
)

// systemPatterns are glob patterns for further paths that are visible in every sandbox.
var systemPatterns = []string{"/etc/java*", "/etc/python*"}

// allSystemPaths returns systemPaths and the matches of systemPatterns.
func allSystemPaths() []string {
	paths := slices.Clone(systemPaths)
	for _, pattern := range systemPatterns {
		found, _ := filepath.Glob(pattern) // the patterns are well-formed
		paths = append(paths, found...)
	}
	return paths
}

// perFile returns how many bytes of memory the kernel of this machine may use for each open file, by the kind of
// file. The number for a poll depends on l, the limits of the sandbox.
func perFile(l Limit) initproc.PerFile {
	buffer := readNumber("/proc/sys/net/core/wmem_default")
	if buffer == 0 {
		buffer = 212992
	}
	return initproc.PerFile{
		Socket: buffer + buffer/2, // the last packet may exceed the buffer by half of it
		Pipe:   16 * int64(os.Getpagesize()),
		Poll:   int64(l.OpenFiles) * 200, // one entry for each open file
		Other:  512,
	}
}
