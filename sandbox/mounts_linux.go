package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/sandbox/internal/plan"
)

// systemPaths are shown in every sandbox if they exist: programs, libraries and their
// configuration. Links stay links.
var systemPaths = append(slices.Clone(plan.Programs),
	"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
	"/etc/ssl/openssl.cnf", // without it Node exits
	"/etc/localtime", "/etc/magic", "/etc/mime.types", "/etc/perl", "/etc/php",
)

// systemPatterns are further paths, as patterns.
var systemPatterns = []string{"/etc/java*", "/etc/python*"}

// The parts of the new root while it is built. They cover nothing that is to be shown,
// since the old root is moved aside first.
const (
	stage     = "/tmp"
	oldRoot   = "/old"
	newRoot   = "/new"
	scratch   = "/scratch"
	stagedDir = "/staged"
)

// buildRoot gives this process a separate root with only what is to be shown. It pivots
// twice: first to move the old root aside, so that its directories can be shown at any
// path, even below /tmp; then to leave everything else behind.
func (c *config) buildRoot() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return step("mounts", fmt.Errorf("making them private: %w", err))
	}
	if c.Build {
		fd, err := unix.Open(c.Own.Source, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return step("mounts", fmt.Errorf("%s: %w", c.Own.Source, err))
		}
		c.into = fd
	}
	if err := makeStage(); err != nil {
		return step("mounts", err)
	}
	for _, part := range []func() error{c.showSystem, c.makeScratch, c.makeDevices, c.makeEtc, c.showDirs} {
		if err := part(); err != nil {
			return step("mounts", err)
		}
	}
	if err := mountProc(); err != nil {
		return step("proc", err)
	}
	if err := setMount(newRoot, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {
		return step("mounts", fmt.Errorf("making the root read-only: %w", err))
	}
	return step("mounts", enterRoot())
}

func makeStage() error {
	if err := unix.Mount("timba", stage, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=1m,nr_inodes=64,mode=755"); err != nil {
		return fmt.Errorf("a tmpfs: %w", err)
	}
	for _, dir := range []string{oldRoot, newRoot, scratch, stagedDir} {
		if err := unix.Mkdir(stage+dir, 0o755); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	if err := unix.PivotRoot(stage, stage+oldRoot); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return fmt.Errorf("/: %w", err)
	}
	if err := unix.Mount("timba", newRoot, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=1m,nr_inodes=2048,mode=755"); err != nil {
		return fmt.Errorf("a tmpfs: %w", err)
	}
	return nil
}

// enterRoot leaves the old root behind: it is stacked on the new one for a moment, and
// then unmounted.
func enterRoot() error {
	if err := unix.Chdir(newRoot); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leaving the old root: %w", err)
	}
	return unix.Chdir("/")
}

func (c *config) showSystem() error {
	paths := systemPaths
	for _, pattern := range systemPatterns {
		found, err := filepath.Glob(oldRoot + pattern)
		if err != nil {
			return err
		}
		for _, path := range found {
			paths = append(paths, strings.TrimPrefix(path, oldRoot))
		}
	}
	for _, path := range paths {
		info, err := os.Lstat(oldRoot + path)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission):
			continue
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			err = copyLink(oldRoot+path, newRoot+path)
		default:
			err = show(oldRoot+path, newRoot+path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func copyLink(from, to string) error {
	target, err := os.Readlink(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.Symlink(target, to)
}

// show binds a file or directory of the old root read-only, with all mounts below it.
func show(from, to string) error {
	return bindMount(from, to, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
}

func bindMount(from, to string, attr uint64) error {
	// A copy of the mount is changed before it is attached: unlike a remount,
	// this includes the mounts below it.
	fd, err := unix.OpenTree(unix.AT_FDCWD, from, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return fmt.Errorf("%s: open_tree: %w", strings.TrimPrefix(from, oldRoot), err)
	}
	defer unix.Close(fd)
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: attr}); err != nil {
		return fmt.Errorf("%s: mount_setattr: %w", strings.TrimPrefix(from, oldRoot), err)
	}
	if err := mountPoint(fd, to); err != nil {
		return err
	}
	if err := unix.MoveMount(fd, "", unix.AT_FDCWD, to, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("%s: move_mount: %w", strings.TrimPrefix(to, newRoot), err)
	}
	return nil
}

// mountPoint makes a file or directory to mount something of the same kind on.
func mountPoint(fd int, to string) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return os.MkdirAll(to, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_RDONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

func setMount(path string, attr uint64) error {
	return unix.MountSetattr(unix.AT_FDCWD, path, 0, &unix.MountAttr{Attr_set: attr})
}

// makeScratch makes one tmpfs for the home and /dev/shm, so that they share its limits.
// Without a limit of inodes, empty files would fill the memory.
func (c *config) makeScratch() error {
	l := c.Limit
	options := fmt.Sprintf("size=%d,nr_inodes=%d,mode=755", l.Disk, l.Inodes)
	if err := unix.Mount("timba", scratch, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("a tmpfs of %s: %w", options, err)
	}
	for from, to := range map[string]string{scratch + "/tmp": newRoot + c.Home, scratch + "/shm": newRoot + "/dev/shm"} {
		if err := os.Mkdir(from, 0o777); err != nil {
			return err
		}
		if err := unix.Chmod(from, 0o1777); err != nil {
			return err
		}
		if err := bindMount(from, to, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {
			return err
		}
	}
	return nil
}

// devices are the files in a sandbox's /dev.
var devices = []string{"null", "full", "random", "urandom", "zero"}

// devices leaves out /dev/zero if no cgroup counts memory: a shared mapping of it belongs
// to no process.
func (c *config) devices() []string {
	if c.Group {
		return devices
	}
	return devices[:len(devices)-1]
}

func (c *config) makeDevices() error {
	for _, name := range c.devices() {
		attr := uint64(unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC)
		if err := bindMount(oldRoot+"/dev/"+name, newRoot+"/dev/"+name, attr); err != nil {
			return err
		}
	}
	for name, target := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(target, newRoot+"/dev/"+name); err != nil {
			return err
		}
	}
	return nil
}

// makeEtc makes files of /etc that name only the program's own user.
func (c *config) makeEtc() error {
	id := max(0, c.UID)
	for name, text := range map[string]string{
		"passwd":        fmt.Sprintf("bot:x:%d:%d:bot:%s:/bin/sh\n", id, id, c.Home),
		"group":         fmt.Sprintf("bot:x:%d:\n", id),
		"hosts":         "127.0.0.1 localhost timba\n",
		"nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
	} {
		if err := os.MkdirAll(newRoot+"/etc", 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(newRoot+"/etc/"+name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// showDirs shows the paths of the configuration and the program's own directory.
func (c *config) showDirs() error {
	for _, b := range c.Show {
		if err := show(oldRoot+b.Source, newRoot+b.Target); err != nil {
			return err
		}
	}
	if c.Own == nil {
		return nil
	}
	from, to := oldRoot+c.Own.Source, newRoot+c.Own.Target
	if c.Build {
		return c.copyDir(from, to, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	}
	if c.UID >= 0 && !readable(from) {
		// The program's user may not read it, whatever it contains.
		return c.copyDir(from, to, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	}
	return show(from, to)
}

// readable reports whether everybody may read a directory.
func readable(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode()&0o005 == 0o005
}

// copyDir shows a copy that belongs to the program's user.
func (c *config) copyDir(from, to string, attr uint64) error {
	options := fmt.Sprintf("size=%d,nr_inodes=%d,mode=755", c.Limit.Disk, c.Limit.Inodes)
	if err := unix.Mount("timba", stagedDir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("a tmpfs of %s: %w", options, err)
	}
	var err error
	if c.copied, err = copyTree(from, stagedDir, c.UID); err != nil {
		return fmt.Errorf("copying %s: %w", c.Own.Source, err)
	}
	return bindMount(stagedDir, to, attr)
}

// mountProc mounts a read-only /proc with the sandbox's own processes, except init.
func mountProc() error {
	if err := os.MkdirAll(newRoot+"/proc", 0o755); err != nil {
		return err
	}
	return unix.Mount("proc", newRoot+"/proc", "proc", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "hidepid=2")
}
