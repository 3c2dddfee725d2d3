package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/kit"
)

// TestFixNamespaces checks that the advice of timba doctor fits the user: it never tells root to become root.
func TestFixNamespaces(t *testing.T) {
	for name, c := range map[string]struct {
		status string // of the process
		uid    int
		err    error
		want   string // "!" begins a text that the advice must not have
	}{
		"a user":                     {"CapEff:\t0000000000000000\nSeccomp:\t0\n", 1000, unix.EPERM, "sysctl kernel.unprivileged_userns_clone=1|; or run timba as root|!seccomp"},
		"a user in a container":      {"CapEff:\t0000000000000000\nSeccomp:\t2\n", 1000, unix.EPERM, "--security-opt seccomp=unconfined|; then allow user namespaces|!as root"},
		"root of a container":        {"CapEff:\t00000000a80425fb\nSeccomp:\t2\n", 0, unix.EPERM, "--cap-add SYS_ADMIN|seccomp=unconfined|!as root"},
		"root under a filter":        {"CapEff:\t000001ffffffffff\nSeccomp:\t2\n", 0, unix.EPERM, "seccomp=unconfined|neither RestrictNamespaces|!SYS_ADMIN|!as root"},
		"root, a filter says ENOSYS": {"CapEff:\t000001ffffffffff\nSeccomp:\t2\n", 0, unix.ENOSYS, "seccomp=unconfined|!kernel of"},
		"root under AppArmor":        {"CapEff:\t000001ffffffffff\nSeccomp:\t0\n", 0, unix.EACCES, "apparmor=unconfined|!as root"},
		"an old kernel":              {"CapEff:\t000001ffffffffff\nSeccomp:\t0\n", 0, unix.ENOSYS, "a kernel of 5.12"},
	} {
		got := namespacesFix(wrapStep("namespaces", c.err), parseRights(c.status, c.uid))
		for want := range strings.SplitSeq(c.want, "|") {
			if no, ok := strings.CutPrefix(want, "!"); ok == strings.Contains(got, no) {
				t.Errorf("%s: %q, and the advice is %q", name, want, got)
			}
		}
	}
}

func init() { actions["probe-filtered"] = probeFiltered }

// probeFiltered prints the layers of this machine for a process under a filter that refuses namespaces.
func probeFiltered([]string) {
	runtime.LockOSThread()
	code, err := assembleFilter([]filterRule{
		{calls: calls(unix.SYS_CLONE), when: all(not(maskedArgument(0, namespaces|unix.CLONE_NEWUSER, 0))), verdict: retErrno(unix.EPERM)},
		{calls: calls(unix.SYS_CLONE3), verdict: retErrno(unix.ENOSYS)},
		{calls: calls(unix.SYS_UNSHARE), verdict: retErrno(unix.EPERM)},
	})
	var raw []bpf.RawInstruction
	if err == nil {
		raw, err = bpf.Assemble(code)
	}
	if err == nil {
		err = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	}
	if err == nil {
		program := unix.SockFprog{Len: uint16(len(raw)), Filter: (*unix.SockFilter)(unsafe.Pointer(&raw[0]))}
		if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program))); errno != 0 {
			err = errno
		}
	}
	fmt.Println(err)
	for _, l := range probe().Layers {
		fmt.Printf("%s: %t: %s: %s\n", l.Name, l.OK, l.Error, l.Fix)
	}
}

// TestProbeFiltered checks the advice under a real filter that refuses namespaces, as root if the test runs as root.
func TestProbeFiltered(t *testing.T) {
	kit.Slow(t)
	out, err := exec.Command(kit.Get[string](t)(os.Executable()), "do", "probe-filtered").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "<nil>\n") {
		t.Fatalf("%v: %s", err, out)
	}
	if text := string(out); !strings.Contains(text, "namespaces: false: sandbox: namespaces: ") || !strings.Contains(text, ": "+withoutFilter) || strings.Contains(text, "as root") && os.Geteuid() == 0 {
		t.Errorf("%s", text)
	}
}
