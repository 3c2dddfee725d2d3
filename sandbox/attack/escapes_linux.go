package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// escapes are attacks of more than one system call that try to reach things outside the sandbox.
var escapes = []attack{
	{name: "leaked", help: "finds an open descriptor that it was not given", run: findLeakedFile},
	{name: "capabilities", help: "has a capability, or could get one by running a program", run: capabilities, obstacle: rootOnly("the user has none")},
	{name: "identity", help: "is root, or is in one of root's groups", run: identity, obstacle: rootOnly("the user is not root")},
	{name: "setuid", help: "becomes another user by a setuid program in its directory", run: setuid, obstacle: rootOnly("only root can put it there")},
	{name: "create", help: "makes a file in a directory of the system, of its user, of another bot or of its own", run: create},
	{name: "read-passwd", help: "finds root in /etc/passwd", run: readPasswd},
	{name: "read-time", help: "leaves a time of access when it reads a file", run: readTime, obstacle: hasAccessTimes},
	{name: "mknod", help: "makes a device", run: mknod, obstacle: rootOnly("it needs CAP_MKNOD")},
	{name: "devices", help: "opens devices of the machine", run: openDevices, obstacle: rootOnly("they are root's")},
	{name: "interfaces", help: "sees the machine's network interfaces", run: interfaces, obstacle: hasInterfaces},
	{name: "dial", help: "connects to a listener: a port, a socket in its directory, an abstract socket", run: dial},
	{name: "kill-init", help: "ends the sandbox's init by signals to its threads, whose numbers a filter may not know", run: killInit, ends: endSignal,
		obstacle: func() string { return "without a sandbox its parent is the test" }},
	{name: "share-tmp", help: "two bots of a match share a temporary file", prepareOther: func(t *target) error { return leaveNote(t, os.TempDir()) },
		run: func(t *target) (string, error) { return findNote(t, os.TempDir()) }},
	{name: "share-shm", help: "two bots of a match share a file in /dev/shm", prepareOther: func(t *target) error { return leaveNote(t, "/dev/shm") },
		run: func(t *target) (string, error) { return findNote(t, "/dev/shm") }},
	{name: "kill-opponent", help: "a bot may signal the other one of its match", prepareOther: func(*target) error { return nil }, run: killOpponent},
}

// rootOnly returns a function for the field attack.obstacle of an attack that only root can make. The function
// returns the text why unless this process runs as root.
func rootOnly(why string) func() string {
	return func() string {
		if os.Getuid() != 0 {
			return why
		}
		return ""
	}
}

// firstOf calls try with each text in order, until a call returns no error, and returns that text. If all calls
// fail, it returns the last error.
func firstOf(texts []string, try func(string) error) (got string, err error) {
	for _, text := range texts {
		if err = try(text); err == nil {
			return text, nil
		}
	}
	return "", err
}

// findLeakedFile looks for open descriptors of files, pipes and sockets that the sandbox did not mean to give to
// the program.
func findLeakedFile(*target) (string, error) {
	for fd := 3; fd < 4096; fd++ {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT != 0 {
			path, _ := os.Readlink(fmt.Sprint("/proc/self/fd/", fd))
			return fmt.Sprintf("descriptor %d, mode %o, %s", fd, st.Mode, path), nil
		}
	}
	return "", errNothing
}

// capabilities looks for a Linux capability of this process. It also succeeds if no_new_privs is not set, because the
// process could then get capabilities by running a program.
func capabilities(*target) (string, error) {
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var d [2]unix.CapUserData
	if err := unix.Capget(&h, &d[0]); err != nil {
		return "", err
	}
	if d[0].Effective|d[1].Effective|d[0].Permitted|d[1].Permitted|d[0].Inheritable|d[1].Inheritable != 0 {
		return fmt.Sprintf("capabilities %+v", d), nil
	}
	if promise, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || promise == 0 {
		return "no promise that programs give no rights", err
	}
	return "", errNothing
}

// identity checks whether this process, seen from outside its user namespace, has the user or a group of root. It
// returns which of them, or an error if it has neither.
func identity(*target) (string, error) {
	groups, err := os.Getgroups()
	if err != nil {
		return "", err
	}
	for _, id := range []int{os.Getuid(), os.Geteuid()} {
		if hostID("uid_map", id) == 0 {
			return "user 0", nil
		}
	}
	for _, id := range append(groups, os.Getgid(), os.Getegid()) {
		if hostID("gid_map", id) == 0 {
			return "group 0", nil
		}
	}
	return "", errNothing
}

// hostID converts a user or group ID inside the user namespace to the ID outside. It returns -1 if there is none.
// table is the name of the file with the mapping in /proc/self.
func hostID(table string, id int) int {
	data, err := os.ReadFile("/proc/self/" + table)
	if err != nil {
		return id
	}
	for line := range strings.Lines(string(data)) {
		var inner, outer, n int
		if _, err := fmt.Sscan(line, &inner, &outer, &n); err == nil && id >= inner && id < inner+n {
			return outer + id - inner
		}
	}
	return -1
}

func setuid(*target) (string, error) {
	out, err := exec.Command("./setuid", "euid").Output()
	if err != nil {
		return "", err
	}
	if got := strings.TrimSpace(string(out)); got != strconv.Itoa(os.Geteuid()) {
		return "effective user " + got, nil
	}
	return "", errNothing
}

func create(t *target) (string, error) {
	return firstOf([]string{"/", "/usr/bin", "/etc", "/dev", "/var/tmp", t.Base + "/home", t.Base + "/bots/b", "."}, func(dir string) error {
		f, err := os.CreateTemp(dir, t.prefix())
		if err != nil {
			return err
		}
		return errors.Join(f.Close(), os.Remove(f.Name()))
	})
}

// readPasswd looks for root in /etc/passwd. In a sandbox the file has only the bot's own user.
func readPasswd(*target) (string, error) {
	data, err := os.ReadFile("/etc/passwd")
	if err == nil && !strings.Contains(string(data), "root:") {
		err = errNothing
	}
	return "the users of this machine", err
}

func hasAccessTimes() string {
	var st unix.Statfs_t
	if unix.Statfs(".", &st) != nil || st.Flags&unix.ST_NOATIME != 0 {
		return "files have no access times here"
	}
	return ""
}

// readTime reads a file whose access time is in 1970 and checks whether the access time changes. Such a change
// would be a signal to the other bot of a match.
func readTime(*target) (string, error) {
	if _, err := os.ReadFile(notes); err != nil {
		return "", err
	}
	var st unix.Stat_t
	if err := unix.Stat(notes, &st); err != nil {
		return "", err
	}
	if st.Atim.Sec < 1<<20 {
		return "", errNothing
	}
	return "a time of access", nil
}

// mknod tries to make a device with the numbers of /dev/zero, and returns its path. An error means that it was
// refused.
func mknod(t *target) (string, error) {
	path := os.TempDir() + "/" + t.prefix() + "zero"
	defer os.Remove(path)
	return path, unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5)))
}

func openDevices(*target) (string, error) {
	return firstOf([]string{"/dev/kmsg", "/dev/fuse", "/dev/kvm", "/dev/net/tun", "/dev/loop-control", "/dev/console", "/dev/tty0", "/dev/mem", "/dev/vda", "/dev/sda", "/dev/nvme0n1"}, func(path string) error {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
		unix.Close(fd)
		return err
	})
}

// interfaces looks for a network interface that does not exist in a new network namespace.
func interfaces(*target) (string, error) {
	data, err := os.ReadFile("/proc/net/dev")
	for line := range strings.Lines(string(data)) {
		if name, _, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) != "lo" {
			return strings.TrimSpace(name), nil
		}
	}
	return "", errors.Join(errNothing, err)
}

func hasInterfaces() string {
	if _, err := interfaces(nil); err != nil {
		return "this machine has no network interface but lo"
	}
	return ""
}

func dial(t *target) (string, error) {
	return firstOf([]string{"tcp " + t.Address, "unix door", "unix @" + t.prefix()}, func(door string) error {
		network, address, _ := strings.Cut(door, " ")
		c, err := net.Dial(network, address)
		if err != nil {
			return err
		}
		return c.Close()
	})
}

// killInit sends signals to the threads of its parent, the sandbox's init process: SIGKILL, SIGSTOP, and those
// that end a Go program. If /proc does not show the threads, it tries the lowest IDs of the PID namespace.
func killInit(*target) (string, error) {
	parent := os.Getppid()
	var tids []int
	names, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", parent))
	for _, n := range names {
		tid, _ := strconv.Atoi(n.Name())
		tids = append(tids, tid)
	}
	for tid := 1; parent == 1 && tid < os.Getpid(); tid++ {
		tids = append(tids, tid)
	}
	var err error = errNothing
	for _, tid := range append(tids, parent) {
		for s := unix.Signal(64); s > 0; s-- {
			_, _, tkill := unix.RawSyscall(unix.SYS_TKILL, uintptr(tid), uintptr(s), 0)
			if e := unix.Kill(tid, s); e != nil && tkill != 0 {
				err = e
			}
		}
	}
	// The parent needs some time on the processor to end.
	for range 300 {
		if os.Getppid() != parent {
			return fmt.Sprint("process ", parent, " has ended"), nil
		}
		time.Sleep(time.Millisecond)
	}
	return "", err
}

func leaveNote(t *target, dir string) error {
	return os.WriteFile(dir+"/"+t.prefix()+"note", []byte("note"), 0o666)
}

func findNote(t *target, dir string) (string, error) {
	path := dir + "/" + t.prefix() + "note"
	if _, err := os.ReadFile(path); err != nil {
		return "", err
	}
	return path, os.Remove(path)
}

// killOpponent checks whether it may send a signal to the other bot of the match, whose PID is t.Victim. In a PID
// namespace of its own the number would mean another process.
func killOpponent(t *target) (string, error) {
	if os.Getppid() == 1 {
		return "", errNothing
	}
	return "may signal the other bot", unix.Kill(t.Victim, 0)
}

// echo is a harmless bot: it answers lines until its input ends.
func echo(*target) {
	for {
		var line string
		if _, err := fmt.Scanln(&line); err != nil {
			return
		}
		fmt.Println("answer", line)
	}
}
