package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// fixture is all that attacks reach for: files, listeners, a victim.
type fixture struct {
	target
	home  string // the user's directory
	hits  atomic.Int64
	own   int64 // how many of them settle has sent
	doors []door
	fifos []int
	keep  []io.Closer

	victim *exec.Cmd
	ask    io.WriteCloser // the victim ends with it
	answer *os.File
	mounts mountTable
}

// door is where a listener is, and how it tells that it heard settle's word; a
// stream does by its end.
type door struct {
	network, address string
	heard            chan struct{}
}

func newFixture(base, home string) (*fixture, error) {
	p := &fixture{home: home, target: target{
		Base: home, Marker: os.Getenv(marker),
		Secret: home + "/secret.txt", Database: home + "/timba.db", Home: home + "/home",
		Other: home + "/bots/b", Fifo: home + "/fifo", Unix: home + "/socket",
		Abstract: fmt.Sprint("timba-attack-", os.Getpid()), Key: 0x71b0000 + os.Getpid(),
	}}
	steps := []func() error{
		func() error { return p.files(base) }, p.restore, p.listeners, p.handle, p.passwd, p.groups, p.startVictim, p.leak, softLimits,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	var err error
	p.mounts, err = mounts()
	return p, err
}

func (p *fixture) files(base string) error {
	for _, dir := range []string{"bots/a/deep/down", "bots/b", "home", "tmp"} {
		if err := os.MkdirAll(filepath.Join(p.home, dir), 0o755); err != nil {
			return err
		}
	}
	program, err := os.ReadFile(base + "/attack")
	if err != nil {
		return err
	}
	text := []byte("put there: " + p.Marker + "\n")
	err = errors.Join(
		os.WriteFile(p.Secret, text, 0o644),
		os.WriteFile(p.Database, text, 0o600),
		os.WriteFile(p.Home+"/letter.txt", text, 0o644),
		os.WriteFile(p.Other+"/notes.txt", text, 0o644),
		os.WriteFile(p.dir()+"/attack", program, 0o755),
		os.WriteFile(p.dir()+"/setuid", program, 0o755),
		os.Chmod(p.dir()+"/setuid", 0o4755|os.ModeSetuid),
	)
	if err == nil && os.Getuid() == 0 {
		err = errors.Join(unix.Mknod(p.dir()+"/device", unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))), os.Chmod(p.dir()+"/device", 0o666))
	}
	if err != nil {
		return err
	}
	for _, path := range []string{p.Fifo, p.dir() + "/fifo", p.dir() + "/deep/down/fifo"} {
		if err := errors.Join(unix.Mkfifo(path, 0o666), os.Chmod(path, 0o666)); err != nil {
			return err
		}
		fd, err := unix.Open(path, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		p.fifos = append(p.fifos, fd)
	}
	return nil
}

// restore makes right what attacks without a sandbox have changed.
func (p *fixture) restore() error {
	p.drain()
	if p.victim != nil && !p.victimWell() {
		if err := p.startVictim(); err != nil {
			return err
		}
	}
	notes := p.dir() + "/notes.txt"
	os.Remove(p.dir() + "/moved.txt")
	if data, err := os.ReadFile(notes); err != nil || string(data) != openings {
		if err := os.WriteFile(notes, []byte(openings), 0o644); err != nil {
			return err
		}
	}
	// Not read since 1970, so that who reads it shows.
	return errors.Join(os.Chmod(notes, 0o644), os.Chtimes(notes, time.Unix(1, 0), time.Now()))
}

const openings = "a book of openings\n"

// drain empties the pipes, and tells how many bytes there were.
func (p *fixture) drain() (bytes int) {
	var b [4096]byte
	for _, fd := range p.fifos {
		for {
			n, err := unix.Read(fd, b[:])
			if err != nil || n == 0 {
				break
			}
			bytes += n
		}
	}
	return bytes
}

// listeners count who comes.
func (p *fixture) listeners() error {
	for _, l := range []struct{ network, address string }{
		{"tcp", "127.0.0.1:0"}, {"unix", p.Unix}, {"unix", p.dir() + "/door"}, {"unix", "@" + p.Abstract},
	} {
		listener, err := net.Listen(l.network, l.address)
		if err != nil {
			return err
		}
		p.keep = append(p.keep, listener)
		p.doors = append(p.doors, door{l.network, listener.Addr().String(), nil})
		if l.network == "tcp" {
			p.TCP = listener.Addr().String()
		} else if l.address[0] == '/' {
			os.Chmod(l.address, 0o777)
		}
		go func() {
			for {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				p.hits.Add(1)
				c.Close()
			}
		}()
	}
	for _, l := range []struct{ network, address string }{{"udp", "127.0.0.1:0"}, {"unixgram", p.Unix + "gram"}} {
		c, err := net.ListenPacket(l.network, l.address)
		if err != nil {
			return err
		}
		p.keep = append(p.keep, c)
		heard := make(chan struct{}, 1)
		p.doors = append(p.doors, door{l.network, c.LocalAddr().String(), heard})
		if l.network == "udp" {
			p.UDP = c.LocalAddr().String()
		} else {
			os.Chmod(l.address, 0o777)
		}
		go func() {
			for b := make([]byte, 64); ; {
				n, _, err := c.ReadFrom(b)
				if err != nil {
					return
				}
				p.hits.Add(1)
				if string(b[:n]) == settled {
					heard <- struct{}{}
				}
			}
		}()
	}
	return nil
}

// marker is the environment variable with what secrets contain.
const marker = "TIMBA_MARKER"

const settled = "settled?"

// settle waits until the listeners have counted all that was sent to them so far:
// it sends something itself, which comes after that. What a busy machine counts
// late is then still counted where it belongs.
func (p *fixture) settle() error {
	for _, d := range p.doors {
		c, err := net.Dial(d.network, d.address)
		if err != nil {
			return err
		}
		p.own++
		if d.heard == nil {
			_, err = io.Copy(io.Discard, c)
		} else if _, err = io.WriteString(c, settled); err == nil {
			<-d.heard
		}
		c.Close()
		if err != nil {
			return fmt.Errorf("the listener %s: %w", d.address, err)
		}
	}
	return nil
}

func (p *fixture) handle() error {
	h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, p.Secret, 0)
	if err != nil {
		return nil // the attack cannot get through here, and its row knows
	}
	p.Handle, p.Kind = h.Bytes(), h.Type()
	return nil
}

func (p *fixture) passwd() error {
	data, err := os.ReadFile("/etc/passwd")
	p.Passwd = fmt.Sprintf("%x", sha256.Sum256(data))
	return err
}

// groups makes a control group that counts processes, where the user is root.
func (p *fixture) groups() error {
	for _, top := range []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup"} {
		if _, err := os.Stat(top + "/cgroup.procs"); err != nil || os.Getuid() != 0 {
			continue
		}
		old, _ := filepath.Glob(top + "/timba-attack-*")
		for _, dir := range old { // of a test that was ended
			pid, err := strconv.Atoi(dir[strings.LastIndexByte(dir, '-')+1:])
			if err == nil && unix.Kill(pid, 0) == unix.ESRCH {
				os.Remove(dir)
			}
		}
		p.Top, p.Group = top, fmt.Sprintf("%s/timba-attack-%d", top, os.Getpid())
		os.Remove(p.Group) // of an ended test whose number this process has now
		return os.Mkdir(p.Group, 0o755)
	}
	return nil
}

// leak opens a file that every process started from here inherits, if nobody
// closes it.
func (p *fixture) leak() error {
	_, err := syscall.Open(p.Secret, syscall.O_RDONLY, 0)
	return err
}

// softLimits sets one that is below its hard limit.
func softLimits() error {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &r); err != nil {
		return err
	}
	r.Cur = r.Max / 2
	return unix.Setrlimit(unix.RLIMIT_DATA, &r)
}

func (p *fixture) startVictim() error {
	p.endVictim()
	arg, err := json.Marshal(p.target)
	if err != nil {
		return err
	}
	c := exec.Command(p.dir()+"/attack", "victim", string(arg))
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	var told target
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&told); err != nil {
		return fmt.Errorf("the victim: %w", err)
	}
	p.victim, p.ask, p.answer = c, in, out.(*os.File)
	p.target.Victim, p.Address, p.FD = told.Victim, told.Address, told.FD
	return nil
}

func (p *fixture) endVictim() {
	if p.victim != nil {
		p.ask.Close()
		p.victim.Process.Kill()
		p.victim.Wait()
		p.victim = nil
	}
}

// victimWell reports that the victim is there, not stopped and untraced. It has to
// answer, too: one that has been sent a signal may not have died of it yet.
func (p *fixture) victimWell() bool {
	data, err := os.ReadFile(proc(p.target.Victim, "status"))
	if err != nil || !strings.Contains(string(data), "\nTracerPid:\t0\n") || stopped(p.target.Victim) {
		return false
	}
	var b [1]byte
	if _, err := p.ask.Write(b[:]); err != nil {
		return false
	}
	// One that is being stopped does not answer.
	answer := []unix.PollFd{{Fd: int32(p.answer.Fd()), Events: unix.POLLIN}}
	for n := 0; n == 0 && err == nil; n, err = poll(answer, 100) {
		if signals(p.target.Victim, "ShdPnd")>>(unix.SIGSTOP-1)&1 != 0 || stopped(p.target.Victim) {
			return false
		}
	}
	n, err := p.answer.Read(b[:])
	return n == 1 && err == nil
}

// stopped reports whether a process is stopped or has ended.
func stopped(pid int) bool {
	data, _ := os.ReadFile(proc(pid, "status"))
	_, state, _ := strings.Cut(string(data), "\nState:\t")
	return state == "" || strings.Contains("TtZX", state[:1])
}

// close takes everything away, and tells what cannot be.
func (p *fixture) close() (left []string) {
	p.endVictim()
	for _, c := range p.keep {
		c.Close()
	}
	for _, fd := range p.fifos {
		unix.Close(fd)
	}
	if p.Group != "" {
		until(p.Group+" is empty", func() bool { // who was in it may still be dying
			err := os.Remove(p.Group)
			return err == nil || errors.Is(err, fs.ErrNotExist)
		})
	}
	return append(left, p.leftovers()...)
}
