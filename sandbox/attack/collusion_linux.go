package main

import (
	"bytes"
	"net"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// collusion are the attacks in which two bots of a match, or two in turn, try to pass a word to each other. They share
// their directory and all that the system has.
var collusion = []attack{
	{Name: "collude-tmp", Help: "two bots of a match share a temporary file", First: leaveNote(scratch()), Run: findNote(scratch())},
	{Name: "collude-shm", Help: "two bots of a match share a file in /dev/shm", First: leaveNote("/dev/shm"), Run: findNote("/dev/shm")},
	{Name: "collude-later", Help: "a bot finds the temporary file of the one before it", First: leaveNote(scratch()), Run: findNote(scratch()), Setup: setup{Leave: true}},
	{Name: "collude-abstract", Help: "two bots of a match talk over an abstract socket", First: firstAbstract, Run: func(t *target) (string, error) { return dial("unix", "@"+t.Abstract+"-two") }},
	{Name: "collude-port", Help: "two bots of a match talk over the loopback interface", First: firstPort, Run: findPort},
	{Name: "collude-flock", Help: "two bots of a match see each other's flock on a file of their directory", First: firstFlock("notes.txt"), Run: findFlock("notes.txt"), Ends: endForbidden},
	{Name: "collude-flock-usr", Help: "two bots of a match see each other's flock on a program of the system", First: firstFlock("/usr/bin/env"), Run: findFlock("/usr/bin/env"), Ends: endForbidden},
	{Name: "collude-record", Help: "two bots of a match see each other's record locks", First: firstRecord(unix.F_SETLK), Run: findRecord(unix.F_GETLK), Ends: endForbidden},
	{Name: "collude-ofd", Help: "two bots of a match see each other's locks of open files", First: firstRecord(unix.F_OFD_SETLK), Run: findRecord(unix.F_OFD_GETLK), Ends: endForbidden},
	{Name: "collude-lease", Help: "two bots of a match see each other's leases", First: firstLease, Run: findLease, Ends: endForbidden},
	{Name: "collude-inotify", Help: "a bot sees that the other one opens a file of their directory", First: firstInotify, Run: findInotify, Ends: endForbidden},
	{Name: "collude-fifo", Help: "two bots of a match talk through a pipe in their directory", First: firstFifo, Run: findFifo},
	{Name: "collude-message", Help: "two bots of a match talk over a System V message queue", First: firstMessage, Run: findMessage, Ends: endForbidden},
	{Name: "collude-shmget", Help: "two bots of a match share System V memory", First: firstShared, Run: findShared, Ends: endForbidden},
	{Name: "collude-mqueue", Help: "two bots of a match talk over a POSIX message queue", First: firstQueue, Run: findQueue, Ends: endForbidden},
	{Name: "collude-name", Help: "a bot reads what the other one calls itself", First: firstName, Run: findName},
	{Name: "collude-atime", Help: "a bot sees that the other one has read a file of their directory", First: firstRead, Run: findRead,
		Idle: never("files have no access times here", hasAccessTimes)},
	{Name: "collude-kill", Help: "a bot ends the other one", First: firstVictim, Run: findVictim, Setup: setup{Judge: byOther}, Ends: endForbidden | endSignal},
}

const word = "collusion"

func note(t *target, dir string) string { return dir + "/" + t.prefix() + "note" }

func leaveNote(dir string) func(*target) error {
	return func(t *target) error { return os.WriteFile(note(t, dir), []byte(word), 0o666) }
}

func findNote(dir string) func(*target) (string, error) {
	return func(t *target) (string, error) {
		data, err := os.ReadFile(note(t, dir))
		if err != nil {
			return "", err
		}
		defer os.Remove(note(t, dir))
		return heard(data)
	}
}

func heard(data []byte) (string, error) {
	if len(data) < len(word) || string(data[:len(word)]) != word {
		return "", errNothing
	}
	return "heard " + word, nil
}

func firstAbstract(t *target) error {
	_, err := net.Listen("unix", "@"+t.Abstract+"-two")
	return err
}

// firstPort listens on a port that both can compute.
func firstPort(t *target) error {
	_, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port(t)})
	return err
}

func findPort(t *target) (string, error) {
	c, err := net.DialTCP("tcp", nil, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port(t)})
	if err != nil {
		return "", err
	}
	return "the other bot answers", c.Close()
}

func port(t *target) int { return 20000 + t.Key%10000 }

func firstFlock(path string) func(*target) error {
	return func(*target) error {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		for patience := enough; patience > 0; patience -= doze() { // others may attack the same file
			if err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != unix.EWOULDBLOCK {
				break
			}
		}
		return err
	}
}

func findFlock(path string) func(*target) (string, error) {
	return func(*target) (string, error) {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return "", err
		}
		switch err := unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB); err {
		case unix.EWOULDBLOCK:
			return "the lock of the other bot", nil
		case nil:
			return "", errNothing
		default:
			return "", err
		}
	}
}

// firstRecord takes a lock for reading, for which the file may be read-only.
func firstRecord(set int) func(*target) error {
	return func(*target) error {
		fd, err := unix.Open("notes.txt", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		return unix.FcntlFlock(uintptr(fd), set, &unix.Flock_t{Type: unix.F_RDLCK, Start: 7, Len: 1})
	}
}

func findRecord(get int) func(*target) (string, error) {
	return func(*target) (string, error) {
		fd, err := unix.Open("notes.txt", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return "", err
		}
		lock := unix.Flock_t{Type: unix.F_WRLCK, Start: 7, Len: 1}
		if err := unix.FcntlFlock(uintptr(fd), get, &lock); err != nil {
			return "", err
		}
		if lock.Type == unix.F_UNLCK {
			return "", errNothing
		}
		return "the lock of the other bot", nil
	}
}

func firstLease(*target) error {
	fd, err := unix.Open("notes.txt", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
	return err
}

// findLease takes the same lease; with two of them a file cannot be had alone.
func findLease(*target) (string, error) {
	fd, err := unix.Open("notes.txt", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_WRLCK)
	if err == unix.EAGAIN {
		return "the lease of the other bot", nil
	}
	if err == nil {
		err = errNothing
	}
	return "", err
}

// firstInotify opens the file again and again while the other one watches it.
func firstInotify(*target) error {
	go func() {
		for {
			os.ReadFile("notes.txt")
			time.Sleep(5 * time.Millisecond)
		}
	}()
	return nil
}

func findInotify(*target) (string, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return "", err
	}
	if _, err := unix.InotifyAddWatch(fd, "notes.txt", unix.IN_OPEN); err != nil {
		return "", err
	}
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(enough.Milliseconds()))
	if err != nil {
		return "", err
	}
	if n == 0 {
		return "", errNothing
	}
	return "the other bot opens a file", nil
}

// firstFifo keeps the pipe open, so that what is written to it stays there.
func firstFifo(*target) error {
	fd, err := unix.Open("fifo", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	_, err = unix.Write(fd, []byte(word))
	return err
}

func findFifo(*target) (string, error) {
	fd, err := unix.Open("fifo", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	data := make([]byte, 64)
	n, err := unix.Read(fd, data)
	if err != nil {
		return "", err
	}
	return heard(data[:n])
}

type message struct {
	kind int64
	text [16]byte
}

func firstMessage(t *target) error {
	id, err := callFor(unix.SYS_MSGGET, uintptr(t.Key), unix.IPC_CREAT|0o666)
	if err != nil {
		return err
	}
	m := message{kind: 1}
	copy(m.text[:], word)
	return call(unix.SYS_MSGSND, uintptr(id), uintptr(unsafe.Pointer(&m)), 16, unix.IPC_NOWAIT)
}

func findMessage(t *target) (string, error) {
	id, err := callFor(unix.SYS_MSGGET, uintptr(t.Key), 0o666)
	if err != nil {
		return "", err
	}
	defer call(unix.SYS_MSGCTL, uintptr(id), unix.IPC_RMID, 0)
	var m message
	if err := call(unix.SYS_MSGRCV, uintptr(id), uintptr(unsafe.Pointer(&m)), 16, 0, unix.IPC_NOWAIT); err != nil {
		return "", err
	}
	return heard(m.text[:])
}

func firstShared(t *target) error {
	id, err := unix.SysvShmGet(t.Key, 4096, unix.IPC_CREAT|0o666)
	if err != nil {
		return err
	}
	m, err := unix.SysvShmAttach(id, 0, 0)
	if err != nil {
		return err
	}
	copy(m, word)
	return nil
}

func findShared(t *target) (string, error) {
	id, err := unix.SysvShmGet(t.Key, 4096, 0o666)
	if err != nil {
		return "", err
	}
	defer unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	m, err := unix.SysvShmAttach(id, 0, unix.SHM_RDONLY)
	if err != nil {
		return "", err
	}
	return heard(m)
}

func queueName(t *target) *byte {
	name := append([]byte(t.prefix()), 0)
	return &name[0]
}

func openQueue(t *target, flags int) (int, error) {
	attr := struct{ flags, most, size, now, _, _, _, _ int64 }{most: 1, size: 64}
	return callFor(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(queueName(t))), uintptr(flags), 0o666, uintptr(unsafe.Pointer(&attr)))
}

func firstQueue(t *target) error {
	fd, err := openQueue(t, unix.O_RDWR|unix.O_CREAT|unix.O_NONBLOCK)
	if err != nil {
		return err
	}
	text := []byte(word)
	return call(unix.SYS_MQ_TIMEDSEND, uintptr(fd), uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)), 0, 0)
}

func findQueue(t *target) (string, error) {
	fd, err := openQueue(t, unix.O_RDWR|unix.O_NONBLOCK)
	if err != nil {
		return "", err
	}
	defer call(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(queueName(t))))
	data := make([]byte, 64)
	n, err := callFor(unix.SYS_MQ_TIMEDRECEIVE, uintptr(fd), uintptr(unsafe.Pointer(&data[0])), 64, 0, 0)
	if err != nil {
		return "", err
	}
	return heard(data[:n])
}

// firstName runs itself again, with the word as an argument.
func firstName(*target) error {
	return unix.Exec("/proc/self/exe", []string{"attack", "say", "{}", word}, os.Environ())
}

func findName(t *target) (string, error) {
	data, err := os.ReadFile(proc(t.Victim, "cmdline"))
	if err != nil {
		return "", err
	}
	if !bytes.Contains(data, []byte(word)) {
		return "", errNothing
	}
	return "heard " + word, nil
}

func hasAccessTimes() bool {
	var st unix.Statfs_t
	return unix.Statfs(".", &st) == nil && st.Flags&unix.ST_NOATIME == 0
}

func firstRead(*target) error {
	_, err := os.ReadFile("notes.txt")
	return err
}

// findRead knows that nobody has read the file since 1970.
func findRead(*target) (string, error) {
	var st unix.Stat_t
	if err := unix.Stat("notes.txt", &st); err != nil {
		return "", err
	}
	if st.Atim.Sec < 1<<20 {
		return "", errNothing
	}
	return "the other bot has read a file", nil
}

// firstVictim waits to be killed: the harness tells the other one its pid.
func firstVictim(*target) error { return nil }

func findVictim(t *target) (string, error) {
	// Where each has numbers of its own, that one may be ours.
	if t.Victim == os.Getpid() {
		return "", errNothing
	}
	return "killed the other bot", unix.Kill(t.Victim, unix.SIGKILL)
}
