package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// helpers are subcommands that attack nothing.
var helpers map[string]func(*target, []string)

func init() {
	helpers = map[string]func(*target, []string){
		"list":        func(*target, []string) { list() },
		"echo":        echo,
		"victim":      victim,
		"middle":      middle,
		"linger":      linger,
		"stop-parent": stopParent,
		"regicide":    regicide,
		"say":         say,
		"crash":       crash,
		"euid":        func(*target, []string) { fmt.Println(os.Geteuid()) },
		"mounting":    mounting,
		"nothing":     func(*target, []string) {},
	}
}

// echo is a bot that plays well: it answers lines until there are no more.
func echo(*target, []string) {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		fmt.Println("answer", in.Text())
	}
}

// victim is a process to be robbed: the marker is in its environment, in its
// memory and in a file that it holds open. It tells where, and answers as long as it
// lives.
func victim(t *target, _ []string) {
	page, err := unix.Mmap(-1, 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		fail("attack: victim: %v", err)
	}
	copy(page, t.Marker)
	fd, err := unix.Open(t.Secret, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		fail("attack: victim: %v", err)
	}
	json.NewEncoder(os.Stdout).Encode(target{
		Victim: os.Getpid(), Address: uint64(uintptr(unsafe.Pointer(&page[0]))), FD: fd,
	})
	var b [1]byte
	for {
		if n, err := os.Stdin.Read(b[:]); n == 0 || err != nil {
			return
		}
		os.Stdout.Write(b[:])
	}
}

// middle runs an attack as its child, so that the attack has a parent of its own
// to turn on: args are a target and the name of an attack.
func middle(t *target, args []string) {
	if t.Group != "" {
		if err := os.WriteFile(t.Group+"/cgroup.procs", []byte("0"), 0); err != nil {
			fail("attack: middle: %v", err)
		}
	}
	if _, err := unix.Open(t.Secret, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		fail("attack: middle: %v", err)
	}
	c := exec.Command("/proc/self/exe", args[1], args[0])
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := c.Run()
	if err != nil && c.ProcessState == nil {
		fail("attack: middle: %v", err)
	}
	os.Exit(c.ProcessState.ExitCode())
}

// say stays, so that others may see what it was called with.
func say(*target, []string) {
	ready()
	var b [1]byte
	os.Stdin.Read(b[:])
}

// stopParent stops its parent, and says so in its name.
func stopParent(*target, []string) {
	if err := unix.Kill(os.Getppid(), unix.SIGSTOP); err != nil {
		blocked(err)
	}
	fmt.Println("READY", os.Getppid())
}

// linger lives for a while, whatever happens.
func linger(*target, []string) {
	deafen()
	time.Sleep(bound)
}

// mounting mounts a tmpfs over the directory that it is in.
func mounting(*target, []string) {
	if err := unix.Mount("none", ".", "tmpfs", 0, "size=64k"); err != nil {
		fail("attack: mount: %v", err)
	}
}

// crash dumps core, if it may.
func crash(*target, []string) {
	debug.SetTraceback("crash")
	panic("crash")
}

// secretIn reports that data holds the marker.
func secretIn(t *target, data []byte, what string) (string, error) {
	if t.Marker != "" && strings.Contains(string(data), t.Marker) {
		return what, nil
	}
	return "", errNothing
}
