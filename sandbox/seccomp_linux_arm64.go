package sandbox

import "golang.org/x/sys/unix"

const auditArch uint32 = unix.AUDIT_ARCH_AARCH64

// System calls of this architecture that complete the lists for all architectures: oldAttacks is added to
// attackCalls, oldRefused to refusedCalls, and so on.
var (
	oldAttacks     = []uint32{unix.SYS_NFSSERVCTL}
	oldRefused     = []uint32{unix.SYS_LOOKUP_DCOOKIE}
	oldCovert      []uint32
	oldWeakRefused []uint32
)
