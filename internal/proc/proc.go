// Package proc reads what Linux tells of processes in /proc.
package proc

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// Tick is the unit of the times in /proc/stat and /proc/PID/stat: USER_HZ is 100 everywhere.
const Tick = time.Second / 100

// Ticks returns a time that the kernel tells in ticks.
func Ticks(field []byte) time.Duration {
	n, _ := strconv.ParseInt(string(field), 10, 64)
	return time.Duration(n) * Tick
}

// Stat returns the fields of the stat file of a directory of /proc, from the state on. The name before it may
// have spaces and brackets.
func Stat(dir string) [][]byte {
	stat, err := os.ReadFile(dir + "/stat")
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
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Children returns the children of all threads of a process.
func Children(pid int) (pids []int) {
	dir := "/proc/" + strconv.Itoa(pid) + "/task/"
	for _, tid := range Numbers(dir) {
		list, err := os.ReadFile(dir + strconv.Itoa(tid) + "/children")
		if err != nil {
			continue
		}
		for _, f := range bytes.Fields(list) {
			if pid, err := strconv.Atoi(string(f)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// Below returns a process and its descendants.
func Below(pid int) []int {
	pids := []int{pid}
	for i := 0; i < len(pids); i++ {
		pids = append(pids, Children(pids[i])...)
	}
	return pids
}

// Marked returns the processes, but this one, with a variable in their environment that begins with a
// text, "NAME=VALUE".
func Marked(variable string) (pids []int) {
	want := []byte("\x00" + variable)
	for _, pid := range Numbers("/proc") {
		// It is empty for a process that has ended but was not waited for.
		env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err == nil && pid != os.Getpid() && bytes.Contains(append([]byte{0}, env...), want) {
			pids = append(pids, pid)
		}
	}
	return pids
}
