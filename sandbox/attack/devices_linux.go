package main

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

var devices = []attack{
	{Name: "tiocsti", Help: "types into the terminal of the user who runs it", Run: typeIn,
		Idle: setting("dev/tty/legacy_tiocsti", "1")},
	{Name: "tty", Help: "opens the terminal of the user who runs it", Run: opens(unix.O_RDWR, "/dev/tty")},
	{Name: "tioclinux", Help: "opens the console", Run: opens(unix.O_RDWR, "/dev/tty0", "/dev/console", "/dev/tty1"), Idle: both(rootOnly("it is root's"), needs("/dev/tty0", "/dev/console"))},
	{Name: "pty", Help: "opens the terminals of others in /dev/pts", Run: terminals, Idle: both(rootOnly("they are root's"), needs("/dev/ptmx"))},
	{Name: "device-own", Help: "opens a device in its directory", Run: opens(unix.O_RDWR, "device"), Idle: rootOnly("only root can put it there")},
	{Name: "mknod", Help: "makes a device", Run: mknod, Ends: endForbidden, Idle: rootOnly("it needs CAP_MKNOD")},
	{Name: "disk", Help: "opens a disk", Run: opens(unix.O_RDONLY, disks...), Idle: both(rootOnly("they are root's"), never("no disk can be opened here, by root either", hasDisk))},
	{Name: "kmsg", Help: "opens the kernel's log for writing", Run: opens(unix.O_WRONLY, "/dev/kmsg"), Idle: both(rootOnly("it is root's"), needs("/dev/kmsg"))},
	{Name: "dev-mem", Help: "opens the machine's memory", Run: opens(unix.O_RDONLY, "/dev/mem", "/dev/port"), Idle: both(rootOnly("it is root's"), needs("/dev/mem", "/dev/port"))},
	{Name: "fuse", Help: "opens /dev/fuse, to be a file system", Run: opens(unix.O_RDWR, "/dev/fuse"), Idle: mayUse("/dev/fuse")},
	{Name: "kvm", Help: "opens /dev/kvm, /dev/net/tun or /dev/vsock", Run: opens(unix.O_RDWR, "/dev/kvm", "/dev/net/tun", "/dev/vsock"), Idle: mayUse("/dev/kvm", "/dev/net/tun", "/dev/vsock")},
	{Name: "loop", Help: "opens the control of loop devices", Run: opens(unix.O_RDWR, "/dev/loop-control"), Idle: both(rootOnly("it is root's"), needs("/dev/loop-control"))},
}

var disks = []string{"/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/mmcblk0", "/dev/xvda"}

func hasDisk() bool {
	_, err := firstOf(disks, func(p string) error { return mayOpen(p, unix.O_RDONLY) })
	return err == nil
}

// typeIn types a space.
func typeIn(*target) (string, error) {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	key := byte(' ')
	return "typed a space", call(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, uintptr(unsafe.Pointer(&key)))
}

func terminals(*target) (string, error) {
	names, err := os.ReadDir("/dev/pts")
	if err != nil {
		return "", err
	}
	for _, n := range names {
		if n.Name() == "ptmx" {
			continue
		}
		if err = mayOpen("/dev/pts/"+n.Name(), unix.O_WRONLY); err == nil {
			return "/dev/pts/" + n.Name(), nil
		}
	}
	if err == nil {
		err = errNothing
	}
	return "", err
}

// mknod makes another /dev/zero.
func mknod(t *target) (string, error) {
	dir, err := os.MkdirTemp(scratch(), t.prefix())
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	path := dir + "/zero"
	if err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))); err != nil {
		return "", err
	}
	return fmt.Sprint("a device, ", path), mayOpen(path, unix.O_RDONLY)
}
