package proc

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// Read returns a file of /proc. os.ReadFile asks for its size, too, and whether it can be waited for,
// which takes eight times as long.
func Read(name string) ([]byte, error) {
	fd, err := open(name, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	var data []byte
	for {
		data = slices.Grow(data, 512)
		n, err := syscall.Read(fd, data[len(data):cap(data)])
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return nil, err
		case n == 0:
			return data, nil
		}
		data = data[:len(data)+n]
	}
}

func open(name string, flags int) (int, error) {
	for {
		fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC|flags, 0)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}

// Ticks returns a time that the kernel tells in ticks.
func Ticks(field []byte) time.Duration {
	n, _ := strconv.ParseInt(string(field), 10, 64)
	return time.Duration(n) * Tick
}

// Stat returns the fields of the stat file of a directory of /proc, from the state on. The name before it may
// have spaces and brackets.
func Stat(dir string) [][]byte {
	stat, err := Read(dir + "/stat")
	if err != nil {
		return nil
	}
	i := bytes.LastIndexByte(stat, ')')
	return bytes.Fields(stat[i+1:])
}

// CPU returns the CPU time of a process, by its directory, and its ended children; 0 if the process has
// ended.
func CPU(dir string) time.Duration {
	f := Stat(dir)
	if len(f) < 15 {
		return 0
	}
	total := time.Duration(0)
	for _, field := range f[11:15] {
		total += Ticks(field)
	}
	return total
}

// Kilobytes returns a number of a status file, in kilobytes if it is a size; 0 if it is
// missing.
func Kilobytes(status []byte, key string) int64 {
	_, rest, _ := bytes.Cut(status, []byte(key))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, _ := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(line), []byte(" kB"))), 10, 64)
	return n
}

// Numbers returns the entries of a directory that are numbers.
func Numbers(dir string) (pids []int) {
	fd, err := open(dir, syscall.O_DIRECTORY)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	buf := make([]byte, 4096)
	for {
		n, err := syscall.ReadDirent(fd, buf)
		if err == syscall.EINTR {
			continue
		}
		if n <= 0 {
			return pids
		}
		_, _, names := syscall.ParseDirent(buf[:n], -1, nil)
		for _, name := range names {
			if pid, err := strconv.Atoi(name); err == nil {
				pids = append(pids, pid)
			}
		}
	}
}

// Children returns the children of all threads of a process.
func Children(pid int) (pids []int) {
	dir := "/proc/" + strconv.Itoa(pid) + "/task/"
	for _, tid := range Numbers(dir) {
		pids = append(pids, ChildrenOf(dir+strconv.Itoa(tid))...)
	}
	return pids
}

// ChildrenOf returns the children of a thread, by its directory.
func ChildrenOf(thread string) (pids []int) {
	list, _ := Read(thread + "/children") // nothing if it has ended
	for _, f := range bytes.Fields(list) {
		if pid, err := strconv.Atoi(string(f)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// ProcessTree returns a process and its descendants.
func ProcessTree(pid int) []int {
	pids := []int{pid}
	for i := 0; i < len(pids); i++ {
		pids = append(pids, Children(pids[i])...)
	}
	return pids
}

// FindByEnv returns the processes, but this one, with a variable in their environment that begins with a
// text, "NAME=VALUE".
func FindByEnv(variable string) (pids []int) {
	want := []byte("\x00" + variable)
	for _, pid := range Numbers("/proc") {
		// It is empty for a process that has ended but was not waited for.
		env, err := Read("/proc/" + strconv.Itoa(pid) + "/environ")
		if err == nil && pid != os.Getpid() && bytes.Contains(append([]byte{0}, env...), want) {
			pids = append(pids, pid)
		}
	}
	return pids
}
