package sandbox

import "golang.org/x/sys/unix"

const auditArch uint32 = unix.AUDIT_ARCH_AARCH64

// System calls that are in no list for all architectures, by the list to which they belong: oldRefused to
// refusedCalls, and so on.
var (
	oldAttacks     = []uint32{unix.SYS_NFSSERVCTL}
	oldRefused     = []uint32{unix.SYS_LOOKUP_DCOOKIE}
	oldCovert      []uint32
	oldWeakRefused []uint32
)
