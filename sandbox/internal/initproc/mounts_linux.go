package initproc

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"github.com/timba-arena/timba/sandbox/internal/sys"
)

// Directories that exist while the new root is built. They do not hide directories of the old root with the same
// names, because the old root is moved to oldRoot first.
const (
	stage     = "/tmp"
	oldRoot   = "/old"
	newRoot   = "/new"
	scratch   = "/scratch"
	stagedDir = "/staged"
)

// buildRoot gives this process a root directory in which only the paths of the configuration are visible. It
// calls pivot_root twice: first to move the old root aside, so that its directories can be mounted at any path,
// even below /tmp; then to leave the old root.
func (c *Config) buildRoot() error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return wrap("mounts", wrap("making them private", err))
	}
	for _, part := range []func() error{makeStage, c.showSystem, c.makeScratch, c.makeDevices, c.makeEtc, c.showDirs} {
		if err := part(); err != nil {
			return wrap("mounts", err)
		}
	}
	if err := mountProc(); err != nil {
		return wrap("proc", err)
	}
	attr := sys.MountAttr{Attr_set: readOnly}
	if err := sys.MountSetattr(sys.AT_FDCWD, newRoot, 0, &attr); err != nil {
		return wrap("mounts", wrap("making the root read-only", err))
	}
	return wrap("mounts", enterRoot())
}

func makeStage() error {
	if err := mountTmpfs(stage, 1<<20, 64); err != nil {
		return err
	}
	for _, dir := range []string{oldRoot, newRoot, scratch, stagedDir} {
		if err := syscall.Mkdir(stage+dir, 0o755); err != nil {
			return wrap(dir, err)
		}
	}
	if err := syscall.PivotRoot(stage, stage+oldRoot); err != nil {
		return wrap("pivot_root", err)
	}
	if err := syscall.Chdir("/"); err != nil {
		return wrap("/", err)
	}
	return mountTmpfs(newRoot, 1<<20, 2048)
}

// mountTmpfs mounts a file system in memory at dir. It has room for the given numbers of bytes and of inodes (files
// and directories). The inodes are limited because empty files use memory as well.
func mountTmpfs(dir string, bytes, inodes int64) error {
	options := "size=" + strconv.FormatInt(bytes, 10) + ",nr_inodes=" + strconv.FormatInt(inodes, 10) + ",mode=755"
	return wrap("a tmpfs of "+options, syscall.Mount("timba", dir, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, options))
}

// enterRoot makes newRoot the root directory and unmounts the old root.
func enterRoot() error {
	if err := syscall.Chdir(newRoot); err != nil {
		return err
	}
	if err := syscall.PivotRoot(".", "."); err != nil {
		return wrap("pivot_root", err)
	}
	if err := syscall.Unmount(".", syscall.MNT_DETACH); err != nil {
		return wrap("leaving the old root", err)
	}
	return syscall.Chdir("/")
}

func (c *Config) showSystem() error {
	for _, path := range c.SystemPaths {
		info, err := os.Lstat(oldRoot + path)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission):
			continue
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			err = copyLink(oldRoot+path, newRoot+path)
		default:
			err = bindReadOnly(oldRoot+path, newRoot+path)
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
	if err := os.MkdirAll(dirOf(to), 0o755); err != nil {
		return err
	}
	return os.Symlink(target, to)
}

// Attributes of mounts.
const (
	writable = sys.MOUNT_ATTR_NOSUID | sys.MOUNT_ATTR_NODEV
	readOnly = sys.MOUNT_ATTR_RDONLY | writable
)

func bindReadOnly(from, to string) error { return bindMount(from, to, readOnly) }

func bindMount(from, to string, attr uint64) error {
	// This changes a copy of the mount before it is attached. Unlike a remount, it also changes the mounts below it.
	fd, err := sys.OpenTree(sys.AT_FDCWD, from, sys.OPEN_TREE_CLONE|sys.OPEN_TREE_CLOEXEC|sys.AT_RECURSIVE)
	if err != nil {
		return wrap(trimPrefix(from, oldRoot)+": open_tree", err)
	}
	defer syscall.Close(fd)
	if err := sys.MountSetattr(fd, "", sys.AT_EMPTY_PATH|sys.AT_RECURSIVE, &sys.MountAttr{Attr_set: attr}); err != nil {
		return wrap(trimPrefix(from, oldRoot)+": mount_setattr", err)
	}
	if err := mountPoint(fd, to); err != nil {
		return err
	}
	return wrap(trimPrefix(to, newRoot)+": move_mount", sys.MoveMount(fd, "", sys.AT_FDCWD, to, sys.MOVE_MOUNT_F_EMPTY_PATH))
}

// mountPoint creates an empty directory at the path to if fd refers to a directory, and otherwise an empty file. Then
// the directory or file that fd refers to can be mounted there.
func mountPoint(fd int, to string) error {
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		return os.MkdirAll(to, 0o755)
	}
	if err := os.MkdirAll(dirOf(to), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_RDONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// makeScratch mounts the same tmpfs at Config.Home and /dev/shm, so that one limit applies to both.
func (c *Config) makeScratch() error {
	if err := mountTmpfs(scratch, c.Limit.Disk, c.Limit.Inodes); err != nil {
		return err
	}
	for from, to := range map[string]string{scratch + "/tmp": newRoot + c.Home, scratch + "/shm": newRoot + "/dev/shm"} {
		if err := os.Mkdir(from, 0o777); err != nil {
			return err
		}
		if err := syscall.Chmod(from, 0o1777); err != nil {
			return err
		}
		if err := bindMount(from, to, writable); err != nil {
			return err
		}
	}
	return nil
}

// devices are the device files in /dev of a sandbox.
var devices = []string{"null", "full", "random", "urandom", "zero"}

// devices returns the names of the device files in /dev of the sandbox. Without a cgroup it leaves out /dev/zero,
// because the memory of a shared mapping of that file belongs to no process and would not be counted.
func (c *Config) devices() []string {
	if c.HasCgroup {
		return devices
	}
	return devices[:len(devices)-1]
}

func (c *Config) makeDevices() error {
	for _, name := range c.devices() {
		attr := uint64(sys.MOUNT_ATTR_RDONLY | sys.MOUNT_ATTR_NOSUID | sys.MOUNT_ATTR_NOEXEC)
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

// makeEtc writes the files of the sandbox's /etc, in which only the program's own user exists.
func (c *Config) makeEtc() error {
	id := strconv.Itoa(max(0, c.UID))
	if err := os.MkdirAll(newRoot+"/etc", 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"passwd":        "bot:x:" + id + ":" + id + ":bot:" + c.Home + ":/bin/sh\n",
		"group":         "bot:x:" + id + ":\n",
		"hosts":         "127.0.0.1 localhost timba\n",
		"nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
	} {
		if err := os.WriteFile(newRoot+"/etc/"+name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// showDirs mounts Config.Binds and the program's own directory in the new root.
func (c *Config) showDirs() error {
	for _, b := range c.Binds {
		if err := bindReadOnly(oldRoot+b.Source, newRoot+b.Target); err != nil {
			return err
		}
	}
	if c.OwnDir.Source == "" {
		return nil
	}
	from, to := oldRoot+c.OwnDir.Source, newRoot+c.OwnDir.Target
	if c.Build {
		return c.copyDir(from, to, writable)
	}
	if c.UID >= 0 && !isReadable(from) {
		// The program's user cannot read the directory, so it gets a copy.
		return c.copyDir(from, to, readOnly)
	}
	return bindReadOnly(from, to)
}

func isReadable(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode()&0o005 == 0o005
}

// copyDir makes a copy of the directory from visible in the sandbox, at the path to. attr has the attributes of the
// mount. The copy belongs to the program's user.
func (c *Config) copyDir(from, to string, attr uint64) error {
	if err := mountTmpfs(stagedDir, c.Limit.Disk, c.Limit.Inodes); err != nil {
		return err
	}
	copied, err := copyTree(from, stagedDir, c.UID)
	if err != nil {
		return wrap("copying "+c.OwnDir.Source, err)
	}
	if c.Build {
		c.buildCopy = copied
	} else {
		copied.source.Close()
		copied.target.Close()
	}
	return bindMount(stagedDir, to, attr)
}

// mountProc mounts /proc read-only in the new root. The program sees its own processes there, but not init.
func mountProc() error {
	if err := os.MkdirAll(newRoot+"/proc", 0o755); err != nil {
		return err
	}
	return syscall.Mount("proc", newRoot+"/proc", "proc", syscall.MS_RDONLY|syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, "hidepid=2")
}
