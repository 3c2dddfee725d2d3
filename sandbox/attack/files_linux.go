package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

var files = []attack{
	{Name: "read-secret", Help: "reads a file outside of its directory", Run: readSecret},
	{Name: "read-database", Help: "reads the database of the user who runs it", Run: readDatabase},
	{Name: "stat-outside", Help: "sees that a file outside is there", Run: func(t *target) (string, error) { return t.Secret, unix.Stat(t.Secret, new(unix.Stat_t)) }},
	{Name: "read-home", Help: "lists the home of the user who runs it", Run: readHome},
	{Name: "read-other-bot", Help: "reads the directory of another bot", Run: readOther},
	{Name: "read-root", Help: "opens /root", Run: func(*target) (string, error) { return listOne("/root") }, Idle: rootOnly("/root is root's")},
	{Name: "read-shadow", Help: "opens /etc/shadow", Run: readShadow, Idle: rootOnly("/etc/shadow is root's")},
	{Name: "read-passwd", Help: "reads the machine's /etc/passwd", Run: readPasswd},
	{Name: "read-var", Help: "lists /var, /run, /home, /srv, /boot or /mnt", Run: readVar},
	{Name: "read-tmp", Help: "finds the harness's directory in /tmp", Run: readTmp},
	{Name: "dot-dot", Help: "reads a file outside by a path with many ..", Run: dotDot},
	{Name: "symlink", Help: "reads a file outside through a symbolic link", Run: linked(os.Symlink)},
	{Name: "hard-link", Help: "links a file outside into the directory for temporary files and reads it", Run: linked(os.Link)},
	{Name: "bind-handle", Help: "opens a file outside by its handle (open_by_handle_at)", Run: byHandle, Ends: endForbidden,
		Idle: both(rootOnly("open_by_handle_at needs CAP_DAC_READ_SEARCH"), never("there are no handles on this file system", hasHandles))},
	{Name: "write-root", Help: "makes a file in /", Run: writeIn("/"), Idle: rootOnly("/ is root's")},
	{Name: "write-usr", Help: "makes a file in /usr/bin", Run: writeIn("/usr/bin"), Idle: rootOnly("/usr/bin is root's")},
	{Name: "write-etc", Help: "makes a file in /etc", Run: writeIn("/etc"), Idle: rootOnly("/etc is root's")},
	{Name: "write-dev", Help: "makes a file in /dev", Run: writeIn("/dev"), Idle: rootOnly("/dev is root's")},
	{Name: "write-home", Help: "makes a file in the home of the user who runs it", Run: func(t *target) (string, error) { return writeIn(t.Home)(t) }},
	{Name: "write-own", Help: "makes a file in its own directory", Run: writeIn(".")},
	{Name: "write-other-bot", Help: "makes a file in the directory of another bot", Run: func(t *target) (string, error) { return writeIn(t.Other)(t) }},
	{Name: "append-own", Help: "opens a file of its directory for writing", Run: func(*target) (string, error) { return "notes.txt", mayOpen("notes.txt", unix.O_WRONLY) }},
	{Name: "append-self", Help: "opens its own program for writing", Run: func(*target) (string, error) { return "/proc/self/exe", mayOpen("/proc/self/exe", unix.O_RDWR) }},
	{Name: "truncate-own", Help: "truncates a file of its directory", Run: func(*target) (string, error) { return "notes.txt", unix.Truncate("notes.txt", 3) }},
	{Name: "rename-own", Help: "renames a file of its directory", Run: func(*target) (string, error) { return "notes.txt", os.Rename("notes.txt", "moved.txt") }},
	{Name: "unlink-own", Help: "removes a file of its directory", Run: func(*target) (string, error) { return "notes.txt", os.Remove("notes.txt") }},
	{Name: "chmod-own", Help: "changes the mode of a file of its directory", Run: onOwn(func(p string) error { return unix.Chmod(p, 0o755) })},
	{Name: "chown-own", Help: "changes the owner of a file of its directory, to itself", Run: onOwn(func(p string) error { return unix.Chown(p, os.Getuid(), -1) })},
	{Name: "utime-own", Help: "changes the times of a file of its directory", Run: onOwn(func(p string) error { return unix.Utimes(p, make([]unix.Timeval, 2)) })},
	{Name: "xattr-own", Help: "sets an attribute of a file of its directory", Run: onOwn(func(p string) error { return unix.Setxattr(p, "user.attack", []byte("1"), 0) }),
		Idle: never("there are no such attributes on this file system", hasXattr)},
	{Name: "fd-writes", Help: "changes mode and times of a file of its directory through a descriptor", Run: byDescriptor},
	{Name: "inotify", Help: "watches a file that others use as well", Run: watch("/usr/bin/env"), Ends: endForbidden},
	{Name: "fanotify", Help: "watches a whole file system", Run: fanotify, Ends: endForbidden,
		Idle: never("this kernel keeps it for root", hasFanotify)},
	{Name: "setuid-planted", Help: "becomes another by a setuid program in its directory", Run: setuidPlanted, Setup: setup{Drop: true},
		Idle: rootOnly("only root can put it there")},
	{Name: "setuid-system", Help: "becomes root by a setuid program of the system", Run: setuidSystem, Setup: setup{Drop: true},
		Idle: needs(setuidPrograms...)},
}

func readMarked(t *target, path string) (string, error) {
	data, err := readSome(path)
	if err != nil {
		return "", err
	}
	return secretIn(t, data, path)
}

func readSecret(t *target) (string, error)   { return readMarked(t, t.Secret) }
func readDatabase(t *target) (string, error) { return readMarked(t, t.Database) }
func readOther(t *target) (string, error)    { return readMarked(t, filepath.Join(t.Other, "notes.txt")) }

func listOne(dir string) (string, error) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	if len(names) == 0 {
		return "", errNothing
	}
	return fmt.Sprint(len(names), " names in ", dir), nil
}

func readHome(t *target) (string, error) { return listOne(t.Home) }

func readShadow(*target) (string, error) {
	return "opened /etc/shadow", mayOpen("/etc/shadow", unix.O_RDONLY)
}

func readPasswd(t *target) (string, error) {
	data, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return "", err
	}
	if fmt.Sprintf("%x", sha256.Sum256(data)) != t.Passwd {
		return "", errNothing
	}
	return "the users of this machine", nil
}

func readVar(*target) (string, error) {
	return firstOf([]string{"/var", "/run", "/home", "/srv", "/boot", "/mnt"}, func(d string) error {
		_, err := listOne(d)
		return err
	})
}

func readTmp(t *target) (string, error) {
	names, err := os.ReadDir("/tmp")
	if err != nil {
		return "", err
	}
	own, _ := os.Getwd()
	for _, n := range names {
		path := filepath.Join("/tmp", n.Name())
		if below, _ := os.ReadDir(path); path == t.Base && len(below) > 1 || !strings.HasPrefix(own, path) && path != t.Base {
			return path, nil
		}
	}
	return "", errNothing
}

func dotDot(t *target) (string, error) {
	return readMarked(t, strings.Repeat("../", 40)+t.Secret[1:])
}

// linked reads a file outside through a link in the directory for temporary files.
func linked(link func(from, to string) error) func(*target) (string, error) {
	return func(t *target) (string, error) {
		dir, err := os.MkdirTemp(scratch(), t.prefix())
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(dir)
		if err := link(t.Secret, dir+"/link"); err != nil {
			return "", err
		}
		return readMarked(t, dir+"/link")
	}
}

func byHandle(t *target) (string, error) {
	mount, err := unix.Open(".", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	fd, err := unix.OpenByHandleAt(mount, unix.NewFileHandle(t.Kind, t.Handle), unix.O_RDONLY)
	if err != nil {
		return "", err
	}
	data := make([]byte, 4096)
	n, err := unix.Read(fd, data)
	if err != nil {
		return "", err
	}
	return secretIn(t, data[:n], "the file of a handle")
}

func writeIn(dir string) func(*target) (string, error) {
	return func(t *target) (string, error) {
		f, err := os.CreateTemp(dir, t.prefix())
		if err != nil {
			return "", err
		}
		f.Close()
		return f.Name(), os.Remove(f.Name())
	}
}

func onOwn(try func(string) error) func(*target) (string, error) {
	return func(*target) (string, error) { return "notes.txt", try("notes.txt") }
}

func byDescriptor(*target) (string, error) {
	fd, err := unix.Open("notes.txt", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	if err := unix.Fchmod(fd, 0o711); err == nil {
		return "fchmod", nil
	}
	if err := unix.Futimes(fd, make([]unix.Timeval, 2)); err == nil {
		return "futimes", nil
	}
	if err := unix.Fsetxattr(fd, "user.attack", []byte("2"), 0); err == nil {
		return "fsetxattr", nil
	}
	return "fchown", unix.Fchown(fd, os.Getuid(), -1)
}

func watch(path string) func(*target) (string, error) {
	return func(*target) (string, error) {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
		if err != nil {
			return "", err
		}
		_, err = unix.InotifyAddWatch(fd, path, unix.IN_ALL_EVENTS)
		return "watches " + path, err
	}
}

func hasFanotify() bool {
	_, err := fanotify(nil)
	return err == nil
}

func hasHandles() bool {
	_, _, err := unix.NameToHandleAt(unix.AT_FDCWD, ".", 0)
	return err == nil
}

func hasXattr() bool {
	f, err := os.CreateTemp(".", "attack")
	if err != nil {
		return false
	}
	defer f.Close()
	defer os.Remove(f.Name())
	return unix.Fsetxattr(int(f.Fd()), "user.attack", []byte("1"), 0) == nil
}

func fanotify(*target) (string, error) {
	fd, err := unix.FanotifyInit(unix.FAN_CLASS_NOTIF|unix.FAN_CLOEXEC|unix.FAN_REPORT_FID, unix.O_RDONLY)
	if err != nil {
		return "", err
	}
	return "watches its directory", unix.FanotifyMark(fd, unix.FAN_MARK_ADD, unix.FAN_OPEN|unix.FAN_EVENT_ON_CHILD, unix.AT_FDCWD, ".")
}

func setuidPlanted(*target) (string, error) {
	out, err := exec.Command("./setuid", "euid").Output()
	if err != nil {
		return "", err
	}
	if got := strings.TrimSpace(string(out)); got != fmt.Sprint(os.Geteuid()) {
		return "effective user " + got, nil
	}
	return "", errNothing
}

var setuidPrograms = []string{"/usr/bin/su", "/bin/su", "/usr/bin/passwd"}

// setuidSystem starts a program that waits for input, and looks who it is.
func setuidSystem(*target) (string, error) {
	return firstOf(setuidPrograms, func(path string) error {
		c := exec.Command(path)
		stdin, err := c.StdinPipe()
		if err != nil {
			return err
		}
		if err := c.Start(); err != nil {
			return err
		}
		defer c.Wait()
		defer c.Process.Kill()
		defer stdin.Close()
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid))
		if err != nil {
			return err
		}
		var real, effective int
		if _, after, ok := strings.Cut(string(status), "\nUid:"); ok {
			fmt.Sscan(after, &real, &effective)
		}
		if effective == os.Geteuid() {
			return errNothing
		}
		return nil
	})
}
