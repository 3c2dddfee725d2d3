package initproc

import (
	"errors"
	"os"
	"syscall"
	"unsafe"

	"github.com/timba-arena/timba/sandbox/internal/sys"
)

// ruleset is a Landlock ruleset under construction; it applies only after enforce. If fd is -1, the ruleset is empty
// and enforce does nothing.
type ruleset struct {
	fd            int
	handledRights uint64
}

// Sets of Landlock access rights: to read files and directories, to use files, and to do everything.
const (
	landlockRead  = sys.LANDLOCK_ACCESS_FS_EXECUTE | sys.LANDLOCK_ACCESS_FS_READ_FILE | sys.LANDLOCK_ACCESS_FS_READ_DIR
	landlockFiles = sys.LANDLOCK_ACCESS_FS_EXECUTE | sys.LANDLOCK_ACCESS_FS_READ_FILE | sys.LANDLOCK_ACCESS_FS_WRITE_FILE |
		sys.LANDLOCK_ACCESS_FS_TRUNCATE | sys.LANDLOCK_ACCESS_FS_IOCTL_DEV // those that apply to files
	landlockWrite = 1<<16 - 1 // allow removes the rights to make devices
)

// landlock returns the Landlock rules of the sandbox. With namespaces, the rules protect files in addition to the
// mounts; without namespaces, they are the only protection. If the kernel has no Landlock, the ruleset is empty.
func (c *Config) landlock() (ruleset, error) {
	if c.LandlockABI == 0 {
		return ruleset{fd: -1}, nil
	}
	r := ruleset{fd: -1, handledRights: landlockRights(c.LandlockABI)}
	var err error
	if r.fd, err = createRuleset(c.LandlockABI, r.handledRights); err != nil {
		return r, err
	}
	for _, device := range c.devices() {
		err = errors.Join(err, r.allow("/dev/"+device, landlockFiles))
	}
	if c.HasNamespaces {
		err = errors.Join(err, r.allow("/", landlockRead), r.allow(c.Home, landlockWrite), r.allow("/dev/shm", landlockWrite))
		if c.Build {
			err = errors.Join(err, r.allow(c.OwnDir.Target, landlockWrite))
		}
		return r, err
	}
	return r, errors.Join(err, c.allowWeak(r))
}

// allowWeak adds rules to r that allow reading everything that would be visible in a sandbox with namespaces. They do
// not allow writing.
func (c *Config) allowWeak(r ruleset) error {
	// Most files of other processes in /proc require the right to trace them, which Landlock denies. Only
	// their command lines are visible.
	paths := append([]string{"/proc", "/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage"}, c.SystemPaths...)
	for _, path := range paths {
		if err := r.allow(path, landlockRead); err != nil && !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.EACCES) {
			return err
		}
	}
	for _, b := range append(c.Binds, c.OwnDir) {
		if b.Source == "" {
			continue
		}
		if err := r.allow(b.Source, landlockRead); err != nil {
			return err
		}
	}
	return nil
}

// landlockRights returns the access rights to files that the given version of Landlock can restrict.
func landlockRights(abi int) uint64 {
	rights := uint64(1)<<13 - 1
	for _, f := range []struct {
		abi   int
		right uint64
	}{{2, sys.LANDLOCK_ACCESS_FS_REFER}, {3, sys.LANDLOCK_ACCESS_FS_TRUNCATE}, {5, sys.LANDLOCK_ACCESS_FS_IOCTL_DEV}} {
		if abi >= f.abi {
			rights |= f.right
		}
	}
	return rights
}

func createRuleset(abi int, rights uint64) (int, error) {
	attr := sys.LandlockRulesetAttr{Handled_access_fs: rights}
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if abi >= 4 {
		attr.Handled_access_net = sys.LANDLOCK_ACCESS_NET_BIND_TCP | sys.LANDLOCK_ACCESS_NET_CONNECT_TCP
		size += unsafe.Sizeof(attr.Handled_access_net)
	}
	if abi >= 6 { // denies abstract sockets, and signals to processes outside
		attr.Scoped = sys.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | sys.LANDLOCK_SCOPE_SIGNAL
		size += unsafe.Sizeof(attr.Scoped)
	}
	fd, _, errno := syscall.Syscall(sys.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return -1, wrap("a ruleset", errno)
	}
	return int(fd), nil
}

// allow grants rights to the file at path, or to everything below the directory at path.
func (r ruleset) allow(path string, rights uint64) error {
	fd, err := syscall.Open(path, sys.O_PATH|syscall.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		rights &= landlockFiles
	} else {
		rights &^= sys.LANDLOCK_ACCESS_FS_MAKE_CHAR | sys.LANDLOCK_ACCESS_FS_MAKE_BLOCK
	}
	rule := sys.LandlockPathBeneathAttr{Allowed_access: rights & r.handledRights, Parent_fd: int32(fd)}
	_, _, errno := syscall.Syscall6(sys.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), sys.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return &os.PathError{Op: "landlock", Path: path, Err: errno}
	}
	return nil
}

// enforce restricts this thread and everything that it starts to the rights of the ruleset.
func (r ruleset) enforce() error {
	if r.fd < 0 {
		return nil
	}
	_, _, errno := syscall.RawSyscall(sys.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0)
	syscall.Close(r.fd)
	return sys.Err(errno)
}
