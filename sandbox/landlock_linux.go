package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ruleset is a Landlock ruleset that is not enforced yet.
type ruleset struct {
	fd      int
	abi     int
	handled uint64
}

// Sets of rights.
const (
	landlockRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	landlockFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV // the rights that apply to files
	landlockWrite = 1<<16 - 1 // all but making devices
)

// landlockABI returns the version of Landlock, or an error if the kernel has none.
func landlockABI() (int, error) {
	const version = 1 << 0
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, version)
	if errno != 0 {
		return 0, errno
	}
	return int(abi), nil
}

// landlock prepares the second protection of files, which is the only one in a sandbox
// without namespaces. In a sandbox with namespaces, a kernel without Landlock is not an
// error.
func (c *config) landlock() (ruleset, error) {
	abi, err := landlockABI()
	if err != nil {
		if c.Level > Weak {
			return ruleset{fd: -1}, nil
		}
		return ruleset{}, err
	}
	r := ruleset{fd: -1, abi: abi, handled: landlockHandled(abi)}
	if r.fd, err = createRuleset(abi, r.handled); err != nil {
		return r, err
	}
	for _, device := range c.devices() {
		err = errors.Join(err, r.allow("/dev/"+device, landlockFiles))
	}
	if c.Level > Weak {
		err = errors.Join(err, r.allow("/", landlockRead), r.allow(c.Home, landlockWrite), r.allow("/dev/shm", landlockWrite))
		if c.Build {
			err = errors.Join(err, r.allow(c.Own.Target, landlockWrite))
		}
		return r, err
	}
	return r, errors.Join(err, c.allowWeak(r))
}

// allowWeak allows reading what a sandbox with namespaces would show, and no writing.
func (c *config) allowWeak(r ruleset) error {
	// Most files of other processes in /proc need the right to trace them, which
	// Landlock denies; their command lines are visible.
	paths := append([]string{"/proc", "/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage"}, systemPaths...)
	for _, pattern := range systemPatterns {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return err
		}
		paths = append(paths, found...)
	}
	for _, path := range paths {
		if err := r.allow(path, landlockRead); err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EACCES) {
			return err
		}
	}
	show := c.Show
	if c.Own != nil {
		show = append(show, *c.Own)
	}
	for _, b := range show {
		if err := r.allow(b.Source, landlockRead); err != nil {
			return err
		}
	}
	return nil
}

// landlockHandled returns the rights that a version handles.
func landlockHandled(abi int) uint64 {
	handled := uint64(1)<<13 - 1
	for _, f := range []struct {
		abi   int
		right uint64
	}{{2, unix.LANDLOCK_ACCESS_FS_REFER}, {3, unix.LANDLOCK_ACCESS_FS_TRUNCATE}, {5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV}} {
		if abi >= f.abi {
			handled |= f.right
		}
	}
	return handled
}

func createRuleset(abi int, handled uint64) (int, error) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handled}
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if abi >= 4 {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		size += unsafe.Sizeof(attr.Handled_access_net)
	}
	if abi >= 6 { // denies abstract sockets, and signals to others
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		size += unsafe.Sizeof(attr.Scoped)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return -1, fmt.Errorf("a ruleset: %w", errno)
	}
	return int(fd), nil
}

// allow grants rights below a path.
func (r ruleset) allow(path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= landlockFiles
	} else {
		rights &^= unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights & r.handled, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return &os.PathError{Op: "landlock", Path: path, Err: errno}
	}
	return nil
}

// enforce applies the rules to this thread and everything that it starts.
func (r ruleset) enforce() error {
	if r.fd < 0 {
		return nil
	}
	_, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0)
	unix.Close(r.fd)
	if errno != 0 {
		return errno
	}
	return nil
}
