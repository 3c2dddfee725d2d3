package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/sandbox/systemd"
)

// cgroups returns the groupMaker of this process, and cachedReport returns what this machine supports. Both are
// computed at the first call.
var (
	cgroups      = sync.OnceValues(openGroupMaker)
	cachedReport = sync.OnceValue(probe)
)

// Probe returns the strictest level of sandbox that this machine supports, and which kernel mechanisms work. To find
// out, it starts sandboxes and tests them from inside; it does not rely on the version of the kernel. The result is
// computed once.
func Probe() MachineReport { return cachedReport() }

func probe() MachineReport {
	layers := []Layer{
		newLayer("seccomp", seccompError(), "a kernel with CONFIG_SECCOMP_FILTER, on amd64 or arm64"),
		landlockLayer(),
	}
	_, err := cgroups()
	full := err
	if full == nil {
		full = tryLevel(LevelFull)
	}
	spaces := error(nil)
	if full != nil {
		spaces = tryLevel(LevelReduced)
	}
	fix := cgroupFix(full)
	if err == nil && spaces != nil { // the cgroup was made, and then the namespaces failed
		fix = "what namespaces needs"
	}
	layers = append(layers, newLayer("namespaces", spaces, namespacesFix(spaces, ownRights())), newLayer("cgroup", full, fix))
	r := MachineReport{Layers: layers}
	switch {
	case !layers[0].OK:
	case full == nil:
		r.Level = LevelFull
	case spaces == nil:
		r.Level = LevelReduced
	default:
		weak := tryLevel(LevelWeak)
		if weak == nil {
			r.Level = LevelWeak
		} else {
			r.Layers = append(r.Layers, newLayer("weak", weak, "run timba as a separate user, in a container or a virtual machine"))
		}
	}
	return r
}

func newLayer(name string, err error, fix string) Layer {
	if err == nil {
		return Layer{Name: name, OK: true}
	}
	return Layer{Name: name, Error: err.Error(), Fix: fix}
}

func seccompError() error {
	if auditArch == 0 {
		return errors.New("the system calls of this architecture are not known")
	}
	action := uint32(unix.SECCOMP_RET_KILL_PROCESS)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	if errno != 0 {
		return errno
	}
	return nil
}

// landlockABI returns the version of the kernel's Landlock interface, or an error if the kernel does not support
// Landlock.
func landlockABI() (int, error) {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, errno
	}
	return int(abi), nil
}

func landlockLayer() Layer {
	_, err := landlockABI()
	fix := "a kernel of 5.13 or newer with landlock in its lsm= list"
	if ownRights().isFiltered {
		fix += ", and " + withoutFilter
	}
	return newLayer("landlock", err, fix+"; without it only mount namespaces protect files")
}

// rights are the privileges of a process.
type rights struct {
	isRoot     bool
	isAdmin    bool // it has the capability CAP_SYS_ADMIN
	isFiltered bool // it was started under a filter of system calls
}

func ownRights() rights {
	status, _ := os.ReadFile("/proc/self/status")
	return parseRights(string(status), os.Geteuid())
}

// parseRights returns the rights of a process. status is the content of its file /proc/PID/status, and uid is its
// user.
func parseRights(status string, uid int) rights {
	r := rights{isRoot: uid == 0}
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); name {
		case "CapEff":
			capabilities, _ := strconv.ParseUint(value, 16, 64)
			r.isAdmin = capabilities>>unix.CAP_SYS_ADMIN&1 == 1
		case "Seccomp":
			r.isFiltered = value == "2"
		}
	}
	return r
}

const (
	allowNamespaces = "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, on Ubuntu sysctl kernel.apparmor_restrict_unprivileged_userns=0"
	withoutFilter   = "no filter of system calls (seccomp) around timba that refuses them: in a container --security-opt seccomp=unconfined (in Kubernetes seccompProfile: Unconfined), in a unit of systemd neither RestrictNamespaces nor SystemCallFilter"
)

// namespacesFix returns advice for the user on what this process needs so that it can create namespaces. err is the
// error of its attempt to create them, and r has its rights.
func namespacesFix(err error, r rights) string {
	isRefused := errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES)
	var s *StepError
	switch {
	case errors.As(err, &s) && s.Step == "proc":
		return "container engines mask parts of /proc: start the container with --security-opt systempaths=unconfined, or run timba outside it"
	case errors.Is(err, unix.ENOSPC):
		return "sysctl user.max_user_namespaces=10000"
	case isRefused && r.isRoot && !r.isAdmin:
		return "the capability CAP_SYS_ADMIN, which root lacks here: in a container --cap-add SYS_ADMIN with --security-opt seccomp=unconfined and --security-opt systempaths=unconfined, in a unit of systemd a CapabilityBoundingSet that has it"
	case isRefused && r.isRoot && r.isFiltered:
		return withoutFilter
	case isRefused && r.isRoot:
		return "no security module that refuses them: in a container --security-opt apparmor=unconfined or, with SELinux, --security-opt label=disable"
	case isRefused && r.isFiltered:
		return withoutFilter + "; then " + allowNamespaces
	case isRefused:
		return allowNamespaces + "; or run timba as root"
	case errors.Is(err, unix.ENOSYS) && r.isFiltered:
		return withoutFilter
	case errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL):
		return "a kernel of 5.12 or newer with user, pid, net, ipc, uts and cgroup namespaces"
	}
	return "run timba on a separate machine"
}

func cgroupFix(err error) string {
	var none *systemd.NoManagerError
	var missing *controllerError
	switch v1, _, _ := ownGroups(); {
	case errors.As(err, &none):
		return "loginctl enable-linger " + userName() + ", which starts a systemd for this user; for a service, set Delegate=yes in its unit; or run timba as root"
	case errors.As(err, &missing):
		return "set Delegate=yes in the unit that timba runs in (for sessions: systemctl edit user@.service); if /sys/fs/cgroup/cgroup.controllers does not list it either, add this to the kernel's command line: cgroup_enable=" + missing.name
	case os.Geteuid() == 0:
		return "mount a cgroup file system that root may write to, with the controllers memory and pids; in a container: --cgroupns=private and a writable /sys/fs/cgroup"
	case v1["memory"] != "":
		return "only root can use cgroups of version 1: start the machine with systemd.unified_cgroup_hierarchy=1 on the kernel's command line, or run timba as root"
	}
	return "run timba in a session of systemd with cgroup v2 (loginctl enable-linger " + userName() + "), or as root"
}

// userName returns the name of the user of this process, or the user ID if the user has no name. It does not use the
// environment, which may be wrong after su.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
}

// tryLevel starts this program in a sandbox of the given level, where it tests the sandbox from inside. It returns an
// error if the sandbox does not work.
func tryLevel(level Level) error {
	p, out, err := startProbe(level, DefaultLimit, "")
	if err != nil {
		return err
	}
	defer out.Close()
	output, _ := io.ReadAll(io.LimitReader(out, 4096))
	switch s := p.Wait(); {
	case s.Reason == NotStarted:
		return wrapStep(s.Step, s.Err)
	case s.Reason != Exited || s.Code != 0:
		return fmt.Errorf("testing a sandbox %s: %s", s, bytes.TrimSpace(output))
	}
	return nil
}

// probeName is the value of os.Args[0] with which this program starts itself to test a sandbox from inside.
const probeName = "timba-sandbox-probe"

// Indexes in os.Args of the arguments with which this program starts itself to test a sandbox.
const (
	probeLevel  = 1 + iota // level of the sandbox
	probeAttack            // name of the attack to make; "" means to test the sandbox
	probeParent            // PID of the process that started the sandbox
	probeHome              // home directory of the user who started the sandbox
)

// startProbe starts this program in a sandbox. If attack is "", it tests the sandbox from inside; otherwise it makes
// the attack with that name. startProbe returns the process and a pipe with its output, which the caller must close.
func startProbe(level Level, limit Limit, attack string) (*Process, *os.File, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer w.Close()
	args := []string{probeName, level.String(), attack, strconv.Itoa(os.Getpid()), os.Getenv("HOME")}
	p, err := start(Spec{Path: exe, Args: args, VisiblePaths: []string{exe}, Stdout: w, Stderr: w, Limit: limit, Level: level})
	if err != nil {
		r.Close()
		return nil, nil, err
	}
	return p, r, nil
}

// probeMain is the main function of this program when it runs inside a sandbox. It tests the sandbox or makes an
// attack. It exits with status 0 if the sandbox works.
func probeMain() {
	level, err := ParseLevel(os.Args[probeLevel])
	if name := os.Args[probeAttack]; name != "" {
		attackMain(name, level)
	}
	for _, check := range []func(Level) error{checkStatus, checkFiles, checkNetwork} {
		err = errors.Join(err, check(level))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, strings.ReplaceAll(err.Error(), "\n", "; "))
		unix.Exit(1)
	}
	unix.Exit(0)
}

// checkStatus returns an error if this process, which runs inside a sandbox, has more rights than it should have. It
// reads the rights from /proc/self/status.
func checkStatus(level Level) error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	want := map[string]string{"NoNewPrivs": "1", "Seccomp": "2", "CapEff": strings.Repeat("0", 16), "CapPrm": strings.Repeat("0", 16)}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		if w := want[name]; w != "" && strings.TrimSpace(value) != w {
			return fmt.Errorf("/proc/self/status has %q", strings.TrimSpace(line))
		}
	}
	if level > LevelWeak && os.Getppid() != 1 {
		return fmt.Errorf("the parent is process %d, not 1", os.Getppid())
	}
	return nil
}

// checkFiles returns an error if this process, inside a sandbox, can write to directories or see files that it
// should not.
func checkFiles(level Level) error {
	for _, dir := range []string{"/", "/usr", "/etc", "/var/tmp", "/home"} {
		f, err := os.OpenFile(dir+"/timba-sandbox-probe", os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
		if err == nil {
			f.Close()
			os.Remove(f.Name())
			return fmt.Errorf("%s can be written to", dir)
		}
	}
	if level == LevelWeak {
		return nil
	}
	for _, dir := range []string{"/home", "/root", "/var", "/sys", "/etc/shadow"} {
		if _, err := os.Lstat(dir); err == nil {
			return fmt.Errorf("%s is visible", dir)
		}
	}
	return os.WriteFile(os.TempDir()+"/probe", []byte("scratch"), 0o600)
}

func checkNetwork(Level) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.Close(fd)
		return errors.New("a socket can be opened")
	}
	return nil
}
