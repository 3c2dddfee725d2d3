package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

var network = []attack{
	{Name: "tcp", Help: "connects to a listener on the loopback interface", Run: func(t *target) (string, error) { return dial("tcp", t.TCP) }},
	{Name: "udp", Help: "sends a packet to a listener on the loopback interface", Run: func(t *target) (string, error) { return dial("udp", t.UDP) }},
	{Name: "tcp-listen", Help: "listens, so that a process outside can connect", Run: listen, Setup: setup{}},
	{Name: "unix-path", Help: "connects to a socket outside of its directory", Run: func(t *target) (string, error) { return dial("unix", t.Unix) }},
	{Name: "unix-own", Help: "connects to a socket in its directory", Run: func(*target) (string, error) { return dial("unix", "door") }},
	{Name: "unix-datagram", Help: "sends a packet to a socket outside of its directory", Run: func(t *target) (string, error) { return dial("unixgram", t.Unix+"gram") }},
	{Name: "unix-abstract", Help: "connects to an abstract socket", Run: func(t *target) (string, error) { return dial("unix", "@"+t.Abstract) }},
	{Name: "fifo", Help: "writes to a pipe outside of its directory", Run: func(t *target) (string, error) { return writeFifo(t.Fifo) }},
	{Name: "fifo-own", Help: "writes to a pipe in its directory, which read-only mounts allow", Run: func(*target) (string, error) { return writeFifo("fifo") }},
	{Name: "fifo-deep", Help: "writes to a pipe deep in its directory", Run: func(*target) (string, error) { return writeFifo("deep/down/fifo") }},
	{Name: "netlink", Help: "sees the machine's network interfaces", Run: netlink, Ends: endForbidden,
		Idle: never("this machine has none but lo", func() bool { return others() != "" })},
	{Name: "netlink-audit", Help: "opens netlink sockets of the kernel", Run: netlinkAudit, Ends: endForbidden},
	{Name: "vsock", Help: "makes a socket to the machine's host", Run: socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0), Ends: endForbidden},
	{Name: "packet", Help: "makes a socket that hears all packets", Run: socket(unix.AF_PACKET, unix.SOCK_RAW, 0), Ends: endForbidden,
		Idle: rootOnly("it needs CAP_NET_RAW")},
	{Name: "raw-ip", Help: "makes a socket that sends packets of any address", Run: socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP), Ends: endForbidden,
		Idle: rootOnly("it needs CAP_NET_RAW")},
	{Name: "alg", Help: "makes a socket to the kernel's cryptography", Run: socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0), Ends: endForbidden,
		Idle: never("this kernel has no AF_ALG", func() bool { return hasFamily(unix.AF_ALG) })},
	{Name: "net-sysfs", Help: "lists the machine's network interfaces in /sys", Run: func(*target) (string, error) { return listOne("/sys/class/net") },
		Idle: needs("/sys/class/net")},
}

func dial(kind, address string) (string, error) {
	c, err := net.DialTimeout(kind, address, enough)
	if err != nil {
		return "", err
	}
	defer c.Close()
	// To be connected is enough; a packet has to be sent.
	if _, err := c.Write([]byte("hello\n")); err != nil && !errors.Is(err, unix.EPIPE) && !errors.Is(err, unix.ECONNRESET) {
		return "", err
	}
	return kind + " " + address, nil
}

// listen takes a connection of another process, which the harness makes.
func listen(t *target) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	// The harness answers on the way that a bot has.
	fmt.Println("DIAL", l.Addr())
	l.(*net.TCPListener).SetDeadline(time.Now().Add(enough))
	c, err := l.Accept()
	if err != nil {
		return "", err
	}
	defer c.Close()
	return "a connection to " + l.Addr().String(), nil
}

func writeFifo(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || st.Mode()&os.ModeNamedPipe == 0 {
		return "", errNothing
	}
	_, err = f.WriteString("hello\n")
	return path, err
}

// others names an interface other than lo.
func others() string {
	interfaces, _ := net.Interfaces()
	for _, i := range interfaces {
		if i.Flags&net.FlagLoopback == 0 {
			return i.Name
		}
	}
	return ""
}

func netlink(*target) (string, error) {
	if name := others(); name != "" {
		return name, nil
	}
	return "", errNothing
}

func netlinkAudit(*target) (string, error) {
	for _, protocol := range []int{unix.NETLINK_AUDIT, unix.NETLINK_KOBJECT_UEVENT, unix.NETLINK_NETFILTER, unix.NETLINK_GENERIC} {
		if fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, protocol); err == nil {
			unix.Close(fd)
			return fmt.Sprint("netlink ", protocol), nil
		}
	}
	return "", errNothing
}

func socket(family, kind, protocol int) func(*target) (string, error) {
	return func(*target) (string, error) {
		fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, protocol)
		if err != nil {
			return "", err
		}
		return fmt.Sprint("a socket of family ", family), unix.Close(fd)
	}
}

func hasFamily(family int) bool {
	fd, err := unix.Socket(family, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err == nil
}
