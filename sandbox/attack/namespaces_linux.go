package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const mountRoot = "it needs CAP_SYS_ADMIN"

var namespaces = []attack{
	{Name: "unshare-user", Help: "a user namespace by unshare", Run: unshareUser, Ends: endForbidden, Idle: hasUserNS},
	{Name: "clone-user", Help: "a user namespace by clone, with an identity in it", Run: cloneUser, Ends: endForbidden, Idle: hasUserNS},
	{Name: "clone3-user", Help: "a user namespace by clone3", Run: clone3User, Ends: endForbidden, Idle: hasUserNS},
	{Name: "unshare-mount", Help: "a mount namespace by unshare", Run: unshareMount, Ends: endForbidden, Idle: rootOnly(mountRoot)},
	{Name: "userns-mount", Help: "mounts a tmpfs in a user namespace", Run: usernsMount, Ends: endForbidden, Idle: hasUserNS},
	{Name: "setns", Help: "enters a namespace again", Run: setns, Ends: endForbidden, Idle: rootOnly(mountRoot)},
	{Name: "mount", Help: "mounts a tmpfs", Run: mount, Ends: endForbidden, Idle: rootOnly(mountRoot)},
	{Name: "remount", Help: "makes its directory writable by a remount", Run: remount, Ends: endForbidden, Idle: rootOnly(mountRoot)},
	{Name: "umount", Help: "takes away what is mounted over its directory", Run: umount, Ends: endForbidden, Idle: rootOnly(mountRoot)},
	{Name: "fsopen", Help: "makes a file system by the newer calls", Run: fsopen, Ends: endForbidden, Idle: rootOnly(mountRoot)},
	{Name: "open-tree", Help: "copies a mount by open_tree", Run: openTree, Ends: endForbidden, Idle: rootOnly(mountRoot)},
	{Name: "mount-setattr", Help: "makes its directory writable by mount_setattr", Run: mountSetattr, Ends: endForbidden, Idle: rootOnly(mountRoot)},
	{Name: "pivot-root", Help: "pivot_root", Run: pivotRoot, Ends: endForbidden, Idle: rootOnly(mountRoot)},
	{Name: "chroot", Help: "leaves a root by chroot", Run: chroot, Ends: endForbidden, Idle: rootOnly("it needs CAP_SYS_CHROOT")},
	{Name: "capabilities", Help: "has a capability", Run: capabilities, Idle: rootOnly("the user has none")},
	{Name: "bounding-set", Help: "could get a capability by running a program", Run: boundingSet},
	{Name: "identity", Help: "is root, or is in one of root's groups", Run: identity, Idle: rootOnly("the user is not root")},
	{Name: "setuid-call", Help: "takes another identity by setresuid and setgroups", Run: setIdentity, Idle: rootOnly("it needs CAP_SETUID")},
	{Name: "cgroup-move", Help: "moves itself to the control group above", Run: cgroupMove, Setup: setup{Parent: true, Group: true}, Idle: needsGroups},
	{Name: "release-agent", Help: "opens the file that names a program which the kernel runs as root", Run: releaseAgent,
		Idle: both(rootOnly("it is root's"), needs("/sys/fs/cgroup/pids/release_agent", "/sys/fs/cgroup/memory/release_agent"))},
	{Name: "cgroup-mount", Help: "mounts the control groups", Run: cgroupMount, Ends: endForbidden, Idle: rootOnly(mountRoot)},
}

func hasUserNS() string {
	c := exec.Command("/proc/self/exe", "nothing")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
	if err := c.Run(); err != nil && c.ProcessState == nil {
		return "user namespaces: " + err.Error()
	}
	return ""
}

func runWith(attr *syscall.SysProcAttr, args ...string) error {
	c := exec.Command("/proc/self/exe", args...)
	c.SysProcAttr = attr
	return c.Run()
}

func unshareUser(*target) (string, error) {
	return "unshare", runWith(&syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWUSER}, "nothing")
}

func cloneUser(*target) (string, error) {
	return "root in a namespace of its own", runWith(&syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
	}, "nothing")
}

func clone3User(*target) (string, error) {
	args := struct{ flags, pidfd, childTID, parentTID, signal, stack, stackSize, tls uint64 }{
		flags: unix.CLONE_NEWUSER, signal: uint64(unix.SIGCHLD),
	}
	pid, _, errno := syscall.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
	if errno != 0 {
		return "", errno
	}
	if pid == 0 {
		leave(0)
	}
	_, err := unix.Wait4(int(pid), nil, 0, nil)
	return "clone3", err
}

func unshareMount(*target) (string, error) {
	return "unshare", runWith(&syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}, "nothing")
}

func usernsMount(*target) (string, error) {
	return "a tmpfs", runWith(&syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
	}, "mounting")
}

// setns enters the network namespace of a process outside, or else its own,
// which takes the same rights.
func setns(t *target) (string, error) {
	return firstOf([]string{proc(t.Victim, "ns/net"), "/proc/self/ns/net"}, func(path string) error {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Setns(fd, unix.CLONE_NEWNET)
	})
}

// mount asks for a mount with an option that is none: rights come first.
func mount(*target) (string, error) {
	err := unix.Mount("none", ".", "tmpfs", 0, "size=bad")
	return "mount", obeyed(err, unix.EINVAL)
}

func remount(*target) (string, error) {
	err := unix.Mount("", ".", "", unix.MS_REMOUNT|unix.MS_BIND, "")
	return "remount", obeyed(err, unix.EINVAL)
}

func umount(*target) (string, error) {
	return "umount", obeyed(unix.Unmount(".", unix.MNT_DETACH), unix.EINVAL)
}

func fsopen(*target) (string, error) {
	fs, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return "", err
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return "", err
	}
	_, err = unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, 0)
	return "a tmpfs", err
}

func openTree(*target) (string, error) {
	_, err := unix.OpenTree(unix.AT_FDCWD, ".", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	return "a copy of its mount", err
}

func mountSetattr(*target) (string, error) {
	err := unix.MountSetattr(unix.AT_FDCWD, ".", 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
	return "mount_setattr", obeyed(err, unix.EINVAL)
}

func pivotRoot(*target) (string, error) {
	return "pivot_root", obeyed(unix.PivotRoot(".", "."), unix.EINVAL, unix.EBUSY)
}

func chroot(*target) (string, error) {
	return "chroot", runWith(&syscall.SysProcAttr{Chroot: "/"}, "nothing")
}

func capabilities(*target) (string, error) {
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var d [2]unix.CapUserData
	if err := unix.Capget(&h, &d[0]); err != nil {
		return "", err
	}
	if got := d[0].Effective | d[1].Effective | d[0].Permitted | d[1].Permitted | d[0].Inheritable | d[1].Inheritable; got != 0 {
		return fmt.Sprintf("capabilities %x", got), nil
	}
	return "", errNothing
}

// boundingSet looks for a capability that a program could still give, with no
// promise that running programs gives no rights.
func boundingSet(*target) (string, error) {
	if promised, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || promised == 1 {
		return "", errNothing
	}
	for c := range uintptr(unix.CAP_LAST_CAP + 1) {
		if has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0); err == nil && has == 1 {
			return fmt.Sprint("capability ", c), nil
		}
	}
	return "", errNothing
}

// identity looks at who it is outside of its user namespace.
func identity(*target) (string, error) {
	if outside("uid_map", os.Getuid()) == 0 || outside("uid_map", os.Geteuid()) == 0 {
		return "user 0", nil
	}
	groups, err := os.Getgroups()
	if err != nil {
		return "", err
	}
	for _, g := range append(groups, os.Getgid(), os.Getegid()) {
		if outside("gid_map", g) == 0 {
			return "group 0", nil
		}
	}
	return "", errNothing
}

// outside translates a number of the user namespace that this process is in; it
// is the same where there is none.
func outside(table string, id int) int {
	data, err := os.ReadFile("/proc/self/" + table)
	if err != nil {
		return id
	}
	for line := range strings.Lines(string(data)) {
		var inner, outer, n int
		if _, err := fmt.Sscan(line, &inner, &outer, &n); err == nil && id >= inner && id < inner+n {
			return outer + id - inner
		}
	}
	return -1
}

func setIdentity(*target) (string, error) {
	if err := unix.Setgroups([]int{0}); err == nil {
		return "group 0", nil
	}
	return "user 1", unix.Setresuid(1, 1, 1)
}

func needsGroups() string {
	if why := rootOnly("the control groups are root's")(); why != "" {
		return why
	}
	return needs("/sys/fs/cgroup/pids/cgroup.procs", "/sys/fs/cgroup/cgroup.procs")()
}

func cgroupMove(t *target) (string, error) {
	path := filepath.Join(t.Top, "cgroup.procs")
	return path, writeExisting(path, "0")
}

func releaseAgent(*target) (string, error) {
	return firstOf([]string{"/sys/fs/cgroup/pids/release_agent", "/sys/fs/cgroup/memory/release_agent"}, func(p string) error {
		return mayOpen(p, unix.O_WRONLY)
	})
}

func cgroupMount(*target) (string, error) {
	fs, err := unix.Fsopen("cgroup2", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return "", err
	}
	return "cgroup2", unix.Close(fs)
}
