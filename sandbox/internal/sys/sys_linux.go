// Package sys has the constants, structs and system calls that the first process of a sandbox needs from
// golang.org/x/sys/unix. It does not import that package, which would have to be initialized first. Names are
// those of the kernel.
package sys

import (
	"syscall"
	"unsafe"
)

const (
	AT_FDCWD      = -100
	AT_RECURSIVE  = 0x8000
	AT_EMPTY_PATH = 0x1000
	O_PATH        = 0x200000

	CLOSE_RANGE_CLOEXEC     = 4
	OPEN_TREE_CLONE         = 1
	OPEN_TREE_CLOEXEC       = syscall.O_CLOEXEC
	MOVE_MOUNT_F_EMPTY_PATH = 4

	MOUNT_ATTR_RDONLY = 0x1
	MOUNT_ATTR_NOSUID = 0x2
	MOUNT_ATTR_NODEV  = 0x4
	MOUNT_ATTR_NOEXEC = 0x8

	PR_SET_SECCOMP         = 22
	PR_SET_CHILD_SUBREAPER = 36
	PR_SET_NO_NEW_PRIVS    = 38

	RLIMIT_NPROC      = 6
	RLIMIT_MEMLOCK    = 8
	RLIMIT_SIGPENDING = 11
	RLIMIT_MSGQUEUE   = 12
	RLIMIT_NICE       = 13
	RLIMIT_RTPRIO     = 14

	LINUX_CAPABILITY_VERSION_3 = 0x20080522

	LANDLOCK_ACCESS_FS_EXECUTE    = 1 << 0
	LANDLOCK_ACCESS_FS_WRITE_FILE = 1 << 1
	LANDLOCK_ACCESS_FS_READ_FILE  = 1 << 2
	LANDLOCK_ACCESS_FS_READ_DIR   = 1 << 3
	LANDLOCK_ACCESS_FS_MAKE_CHAR  = 1 << 6
	LANDLOCK_ACCESS_FS_MAKE_BLOCK = 1 << 11
	LANDLOCK_ACCESS_FS_REFER      = 1 << 13
	LANDLOCK_ACCESS_FS_TRUNCATE   = 1 << 14
	LANDLOCK_ACCESS_FS_IOCTL_DEV  = 1 << 15

	LANDLOCK_ACCESS_NET_BIND_TCP               = 1 << 0
	LANDLOCK_ACCESS_NET_CONNECT_TCP            = 1 << 1
	LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET        = 1 << 0
	LANDLOCK_SCOPE_SIGNAL                      = 1 << 1
	LANDLOCK_RULE_PATH_BENEATH                 = 1
	PERF_TYPE_SOFTWARE                         = 1
	PERF_COUNT_SW_TASK_CLOCK                   = 1
	PERF_FLAG_FD_CLOEXEC                       = 8
	PERF_ATTR_SIZE_VER0                        = 64
	PerfBitInherit                      uint64 = 1 << 1
	PerfBitExcludeKernel                uint64 = 1 << 5
	PerfBitExcludeHv                    uint64 = 1 << 6
)

// Numbers of system calls that are the same on all architectures.
const (
	SYS_OPEN_TREE               = 428
	SYS_MOVE_MOUNT              = 429
	SYS_CLOSE_RANGE             = 436
	SYS_MOUNT_SETATTR           = 442
	SYS_LANDLOCK_CREATE_RULESET = 444
	SYS_LANDLOCK_ADD_RULE       = 445
	SYS_LANDLOCK_RESTRICT_SELF  = 446
)

type CapUserHeader struct {
	Version uint32
	Pid     int32
}

type CapUserData struct{ Effective, Permitted, Inheritable uint32 }

type MountAttr struct{ Attr_set, Attr_clr, Propagation, Userns_fd uint64 }

type LandlockRulesetAttr struct{ Handled_access_fs, Handled_access_net, Scoped uint64 }

// LandlockPathBeneathAttr is struct landlock_path_beneath_attr, which is packed in the kernel: it has no
// padding at the end.
type LandlockPathBeneathAttr struct {
	Allowed_access uint64
	Parent_fd      int32
}

// PerfEventAttr is the oldest version of struct perf_event_attr.
type PerfEventAttr struct {
	Type, Size                               uint32
	Config, Sample, Sample_type, Read_format uint64
	Bits                                     uint64
	Wakeup, Bp_type                          uint32
	Ext1                                     uint64
}

// Err returns errno as an error, or nil if it is 0.
func Err(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

func CloseRange(first, last, flags uint) error {
	_, _, errno := syscall.Syscall(SYS_CLOSE_RANGE, uintptr(first), uintptr(last), uintptr(flags))
	return Err(errno)
}

func Prctl(option int, arg uintptr) error {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, uintptr(option), arg, 0, 0, 0, 0)
	return Err(errno)
}

func OpenTree(dirfd int, path string, flags uint) (int, error) {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return -1, err
	}
	r, _, errno := syscall.Syscall(SYS_OPEN_TREE, uintptr(dirfd), uintptr(unsafe.Pointer(p)), uintptr(flags))
	return int(r), Err(errno)
}

func MoveMount(fromfd int, from string, tofd int, to string, flags int) error {
	p, err := syscall.BytePtrFromString(from)
	if err != nil {
		return err
	}
	q, err := syscall.BytePtrFromString(to)
	if err != nil {
		return err
	}
	_, _, errno := syscall.Syscall6(SYS_MOVE_MOUNT, uintptr(fromfd), uintptr(unsafe.Pointer(p)), uintptr(tofd), uintptr(unsafe.Pointer(q)), uintptr(flags), 0)
	return Err(errno)
}

func MountSetattr(dirfd int, path string, flags uint, attr *MountAttr) error {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return err
	}
	_, _, errno := syscall.Syscall6(SYS_MOUNT_SETATTR, uintptr(dirfd), uintptr(unsafe.Pointer(p)), uintptr(flags), uintptr(unsafe.Pointer(attr)), unsafe.Sizeof(*attr), 0)
	return Err(errno)
}

func Readlinkat(dirfd int, path string, buf []byte) (int, error) {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return -1, err
	}
	r, _, errno := syscall.Syscall6(syscall.SYS_READLINKAT, uintptr(dirfd), uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0)
	return int(r), Err(errno)
}

func PerfEventOpen(attr *PerfEventAttr, pid, cpu, group, flags int) (int, error) {
	r, _, errno := syscall.Syscall6(syscall.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(attr)), uintptr(pid), uintptr(cpu), uintptr(group), uintptr(flags), 0)
	return int(r), Err(errno)
}
