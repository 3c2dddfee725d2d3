package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/kit"
)

// fixture has the things to attack: files, listeners and a victim process.
type fixture struct {
	target
	victim    *exec.Cmd
	listeners []net.Listener
}

// dir returns the directory of the attacking bot.
func (f *fixture) dir() string { return f.Base + "/bots/a" }

func newFixture(base, home string) (*fixture, error) {
	f := &fixture{target: target{Base: home, Harness: os.Getpid()}}
	if err := f.makeFiles(base); err != nil {
		return nil, err
	}
	if err := f.listen(); err != nil {
		return nil, err
	}
	// Every process inherits this file unless somebody closes it.
	if _, err := syscall.Open(f.secret(), syscall.O_RDONLY, 0); err != nil {
		return nil, err
	}
	f.victim = exec.Command(f.dir()+"/attack", "victim")
	if _, err := f.victim.StdinPipe(); err != nil { // it ends with the pipe
		return nil, err
	}
	if err := f.victim.Start(); err != nil {
		return nil, err
	}
	f.Victim = f.victim.Process.Pid
	return f, nil
}

func (f *fixture) makeFiles(base string) error {
	for _, dir := range []string{"bots/a", "bots/b", "home", "tmp"} {
		if err := os.MkdirAll(filepath.Join(f.Base, dir), 0o755); err != nil {
			return err
		}
	}
	program, err := os.ReadFile(base + "/attack")
	if err != nil {
		return err
	}
	setuid := f.dir() + "/setuid"
	err = errors.Join(
		os.WriteFile(f.secret(), []byte("secret\n"), 0o644),
		os.WriteFile(f.Base+"/bots/b/notes.txt", []byte("secret\n"), 0o644),
		os.WriteFile(f.dir()+"/attack", program, 0o755),
		os.WriteFile(setuid, program, 0o755),
	)
	if os.Getuid() == 0 {
		const nobody = 65534
		device := f.dir() + "/device"
		err = errors.Join(err, unix.Mknod(device, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))), os.Chmod(device, 0o666),
			os.Chown(setuid, nobody, nobody), os.Chmod(setuid, 0o755|os.ModeSetuid))
	}
	for _, path := range []string{f.Base + "/fifo", f.dir() + "/fifo"} {
		err = errors.Join(err, unix.Mkfifo(path, 0o666), os.Chmod(path, 0o666))
		if _, openErr := unix.Open(path, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); openErr != nil { // so that attacks can write to it
			err = errors.Join(err, openErr)
		}
	}
	return errors.Join(err, f.restore())
}

// restore undoes what attacks without a sandbox change of a file, and sets its access time to 1970.
func (f *fixture) restore() error {
	path := f.dir() + "/" + notes
	return errors.Join(os.WriteFile(path, []byte(notesText), 0o644), os.Chmod(path, 0o644), os.Chtimes(path, time.Unix(1, 0), time.Now()))
}

// listen opens the sockets that attacks connect to.
func (f *fixture) listen() error {
	for _, door := range []string{"tcp 127.0.0.1:0", "unix " + f.dir() + "/door", "unix @" + f.prefix()} {
		network, address, _ := strings.Cut(door, " ")
		l, err := net.Listen(network, address)
		if err != nil {
			return err
		}
		f.listeners = append(f.listeners, l)
		if network == "tcp" {
			f.Address = l.Addr().String()
		}
	}
	return os.Chmod(f.dir()+"/door", 0o777)
}

// close ends the victim and returns what the attacks have left behind.
func (f *fixture) close() (left []string) {
	f.victim.Process.Kill()
	f.victim.Wait()
	for _, pid := range f.strays() {
		left = append(left, fmt.Sprint("process ", pid))
	}
	for _, pattern := range []string{f.Base + "/tmp/*", "/tmp/PREFIX*", "/dev/shm/PREFIX*", "/usr/bin/PREFIX*", "/etc/PREFIX*", "/dev/PREFIX*", "/PREFIX*"} {
		paths, _ := filepath.Glob(strings.ReplaceAll(pattern, "PREFIX", f.prefix()))
		left = append(left, paths...)
	}
	groups := fmt.Sprintf("timba-%d-", os.Getpid())
	filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		// The scope that systemd made for this process ends after the process.
		if err == nil && strings.HasPrefix(d.Name(), groups) && !strings.HasSuffix(d.Name(), ".scope") {
			left = append(left, path)
		}
		return nil
	})
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, f.Base) {
			left = append(left, "the mount "+line)
		}
	}
	return left
}

// files returns the attributes of all files that an attack must not change.
func (f *fixture) files() map[string]string {
	files := map[string]string{}
	filepath.WalkDir(f.Base, func(path string, d fs.DirEntry, err error) error {
		if path == f.Base+"/tmp" {
			return fs.SkipDir
		}
		var st unix.Stat_t
		if err == nil && unix.Lstat(path, &st) == nil {
			files[path] = fmt.Sprint(st.Mode, st.Uid, st.Gid, st.Nlink, st.Size, st.Mtim, st.Ctim)
		}
		return nil
	})
	return files
}

// difference returns the paths whose attributes differ.
func difference(before, after map[string]string) []string {
	all := maps.Clone(before)
	maps.Copy(all, after)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(path string) bool { return before[path] == after[path] })
}

// strays returns the PIDs of attack processes, which have the directory of the tests in their command line.
// It leaves out the victim and processes that are ending.
func (f *fixture) strays() (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() || pid == f.Victim {
			continue
		}
		command, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline") // it has ended
		if strings.Contains(string(command), f.Base) && (signals(pid, "SigPnd")|signals(pid, "ShdPnd"))>>(unix.SIGKILL-1)&1 == 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// signals returns a set of signals from the status of a process.
func signals(pid int, set string) (bits uint64) {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(data), "\n"+set+":\t")
	fmt.Sscanf(rest, "%x", &bits)
	return bits
}

// endStrays kills all strays and returns how many there were. It looks several times and switches off chains
// of processes, because their processes come and go.
func (f *fixture) endStrays(looks int) (found int) {
	for range looks {
		found = max(found, len(f.strays()))
	}
	if found == 0 {
		return 0
	}
	off := f.Base + "/off"
	if err := os.WriteFile(off, nil, 0o644); err != nil {
		fail("worker: %v", err)
	}
	clear := 0 // consecutive looks without a stray
	kit.Until(process{}, "strays end", func() bool {
		clear++
		for _, pid := range f.strays() {
			unix.Kill(pid, unix.SIGKILL)
			clear = 0
		}
		return clear == looks
	})
	if err := os.Remove(off); err != nil {
		fail("worker: %v", err)
	}
	return found
}

func (f *fixture) argument(first bool, victim int) string {
	t := f.target
	t.First, t.Victim = first, victim
	data, err := json.Marshal(t)
	if err != nil {
		fail("worker: %v", err)
	}
	return string(data)
}
