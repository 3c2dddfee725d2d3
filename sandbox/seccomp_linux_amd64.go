package sandbox

import "golang.org/x/sys/unix"

const auditArch uint32 = unix.AUDIT_ARCH_X86_64

// System calls that only older architectures have. They complete the lists for all architectures: oldAttacks is
// added to attackCalls, oldRefused to refusedCalls, and so on.
var (
	oldAttacks     = []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_CREATE_MODULE, unix.SYS_NFSSERVCTL, unix.SYS__SYSCTL}
	oldRefused     = []uint32{unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS, unix.SYS_LOOKUP_DCOOKIE}
	oldCovert      = []uint32{unix.SYS_INOTIFY_INIT}
	oldWeakRefused = []uint32{unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}
)
