//go:build linux && !amd64 && !arm64

package sandbox

// auditArch is 0 on architectures whose system calls were not reviewed. Without it no filter is made and no
// sandbox started.
const auditArch uint32 = 0

var oldAttacks, oldRefused, oldCovert, oldWeakRefused []uint32
