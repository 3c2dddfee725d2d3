package proc

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// Read returns the content of a file in /proc. It is much faster than os.ReadFile, which also asks for the
// size of the file and whether it can be polled.
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

// Ticks converts a time in a file in /proc, which is a decimal number of ticks (see Tick), to a duration. If field is
// not a number, Ticks returns 0.
func Ticks(field []byte) time.Duration {
	n, _ := strconv.ParseInt(string(field), 10, 64)
	return time.Duration(n) * Tick
}

// Stat reads the file stat of a process; dir is the directory of the process in /proc. It returns the fields after
// the name of the process; the first one is the state. If the file cannot be read, because the process has ended, it
// returns nil.
func Stat(dir string) [][]byte {
	stat, err := Read(dir + "/stat")
	if err != nil {
		return nil
	}
	i := bytes.LastIndexByte(stat, ')')
	return bytes.Fields(stat[i+1:])
}

// CPU returns the CPU time of a process and of its children that have ended and were waited for. dir is the directory
// of the process in /proc. If the process has ended, CPU returns 0.
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

// Kilobytes returns the number of kilobytes after key in status, the content of a file such as /proc/PID/status. If
// the key is missing, it returns 0.
func Kilobytes(status []byte, key string) int64 {
	_, rest, _ := bytes.Cut(status, []byte(key))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, _ := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(line), []byte(" kB"))), 10, 64)
	return n
}

// NumericEntries returns the entries of a directory whose names are numbers, as numbers, such as the process IDs in
// /proc. If the directory cannot be read, it returns nil.
func NumericEntries(dir string) (pids []int) {
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

// Children returns the IDs of the child processes of a process. If the process has ended, it returns nil.
func Children(pid int) (pids []int) {
	dir := "/proc/" + strconv.Itoa(pid) + "/task/"
	for _, tid := range NumericEntries(dir) {
		pids = append(pids, ChildrenOf(dir+strconv.Itoa(tid))...)
	}
	return pids
}

// ChildrenOf returns the IDs of the child processes that one thread has started. thread is the thread's directory in
// /proc, such as "/proc/PID/task/TID". If the thread has ended, there are none.
func ChildrenOf(thread string) (pids []int) {
	list, _ := Read(thread + "/children") // empty if the thread has ended
	for _, f := range bytes.Fields(list) {
		if pid, err := strconv.Atoi(string(f)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// ProcessTree returns the IDs of a process and of all its descendants, the process itself first.
func ProcessTree(pid int) []int {
	pids := []int{pid}
	for i := 0; i < len(pids); i++ {
		pids = append(pids, Children(pids[i])...)
	}
	return pids
}

// FindByEnv returns the IDs of the processes, except this one, that have an environment variable beginning with the
// given text, such as "NAME=" or "NAME=VALUE". It skips processes whose environment this user may not read.
func FindByEnv(variable string) (pids []int) {
	want := []byte("\x00" + variable)
	for _, pid := range NumericEntries("/proc") {
		// The environment is empty for a process that has ended but was not waited for.
		env, err := Read("/proc/" + strconv.Itoa(pid) + "/environ")
		if err == nil && pid != os.Getpid() && bytes.Contains(append([]byte{0}, env...), want) {
			pids = append(pids, pid)
		}
	}
	return pids
}
