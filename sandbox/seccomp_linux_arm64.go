package sandbox

import "golang.org/x/sys/unix"

const auditArch uint32 = unix.AUDIT_ARCH_AARCH64

// Calls that amd64 does not have in the same list.
var (
	oldAttacks     = []uint32{unix.SYS_NFSSERVCTL}
	oldRefused     = []uint32{unix.SYS_LOOKUP_DCOOKIE}
	oldCovert      []uint32
	oldWeakRefused []uint32
)
