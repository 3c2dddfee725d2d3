package main

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// machine are the attacks on the machine itself. If one is allowed it changes nothing: it asks for nonsense, or for
// what the machine has already.
var machine = []attack{
	{Name: "reboot", Help: "restarts the machine", Run: reboot, Ends: endForbidden, Idle: rootOnly("it needs CAP_SYS_BOOT")},
	{Name: "swapon", Help: "adds swap", Run: swapon, Ends: endForbidden, Idle: rootOnly(mountRoot)},
	{Name: "settimeofday", Help: "sets the clock", Run: setTime, Ends: endForbidden, Idle: rootOnly("it needs CAP_SYS_TIME")},
	{Name: "clock-adjtime", Help: "makes the clock faster", Run: adjustTime, Ends: endForbidden, Idle: rootOnly("it needs CAP_SYS_TIME")},
	{Name: "sethostname", Help: "sets the machine's name", Run: setHostname, Ends: endForbidden, Idle: rootOnly(mountRoot)},
	{Name: "acct", Help: "has the kernel write accounts of all processes", Run: acct, Ends: endForbidden, Idle: rootOnly("it needs CAP_SYS_PACCT")},
	{Name: "kexec", Help: "loads another kernel", Run: kexec, Ends: endForbidden, Idle: has(unix.SYS_KEXEC_LOAD, "kexec")},
	{Name: "module", Help: "loads a module into the kernel", Run: module, Ends: endForbidden, Idle: has(unix.SYS_FINIT_MODULE, "modules")},
	{Name: "proc-sys", Help: "opens a setting of the kernel for writing", Run: opens(unix.O_WRONLY, "/proc/sys/kernel/core_pattern", "/proc/sys/vm/overcommit_memory"), Idle: rootOnly("they are root's")},
	{Name: "sysrq", Help: "opens the trigger of emergency actions", Run: opens(unix.O_WRONLY, "/proc/sysrq-trigger"), Idle: both(rootOnly("it is root's"), needs("/proc/sysrq-trigger"))},
	{Name: "kcore", Help: "opens the kernel's memory", Run: opens(unix.O_RDONLY, "/proc/kcore"), Idle: both(rootOnly("it is root's"), needs("/proc/kcore"))},
	{Name: "proc-kernel", Help: "opens what /proc tells of the kernel", Run: opens(unix.O_RDONLY, "/proc/kmsg", "/proc/kpagecount", "/proc/kpageflags", "/proc/vmallocinfo"), Idle: rootOnly("they are root's")},
	{Name: "proc-irq", Help: "opens a setting of interrupts for writing", Run: opens(unix.O_WRONLY, "/proc/irq/default_smp_affinity"), Idle: both(rootOnly("it is root's"), needs("/proc/irq/default_smp_affinity"))},
	{Name: "sys", Help: "opens a setting in /sys for writing", Run: opens(unix.O_WRONLY, "/sys/power/state", "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/uevent_helper"), Idle: rootOnly("they are root's")},
	{Name: "debugfs", Help: "lists the kernel's debugging files", Run: listDebug, Idle: both(rootOnly("they are root's"), needs("/sys/kernel/debug", "/sys/kernel/tracing"))},
}

// has is for calls that a kernel may be built without.
func has(nr uintptr, what string) func() string {
	return both(rootOnly("it is root's"), never("this kernel has no "+what, func() bool { return call(nr) != unix.ENOSYS }))
}

func opens(flags int, paths ...string) func(*target) (string, error) {
	return func(*target) (string, error) {
		return firstOf(paths, func(p string) error { return mayOpen(p, flags) })
	}
}

func reboot(*target) (string, error) {
	return "reboot", obeyed(call(unix.SYS_REBOOT, 0, 0, 0, 0), unix.EINVAL)
}

func swapon(*target) (string, error) {
	path := []byte("/proc/none\x00")
	return "swapon", obeyed(call(unix.SYS_SWAPON, uintptr(unsafe.Pointer(&path[0])), 0), unix.ENOENT)
}

func setTime(*target) (string, error) {
	return "settimeofday", call(unix.SYS_SETTIMEOFDAY, 0, 0)
}

// adjustTime sets the tick to what it is.
func adjustTime(*target) (string, error) {
	var now unix.Timex
	if _, err := unix.Adjtimex(&now); err != nil {
		return "", err
	}
	_, err := unix.Adjtimex(&unix.Timex{Modes: unix.ADJ_TICK, Tick: now.Tick})
	return "adjtimex", err
}

func setHostname(*target) (string, error) {
	name, err := os.Hostname()
	if err != nil {
		return "", err
	}
	return "sethostname", unix.Sethostname([]byte(name))
}

func acct(*target) (string, error) {
	return "acct", obeyed(unix.Acct("/proc/none"), unix.ENOENT)
}

func kexec(*target) (string, error) {
	return "kexec_load", obeyed(call(unix.SYS_KEXEC_LOAD, 0, 1<<20, 0, 0), unix.EINVAL)
}

func module(*target) (string, error) {
	return "finit_module", obeyed(unix.FinitModule(-1, "", 0), unix.EBADF)
}

func listDebug(*target) (string, error) {
	return firstOf([]string{"/sys/kernel/debug", "/sys/kernel/tracing", "/sys/kernel"}, func(d string) error {
		_, err := listOne(d)
		return err
	})
}
