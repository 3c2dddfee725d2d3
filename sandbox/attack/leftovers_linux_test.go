package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// processesOf returns the processes whose command names a directory.
func processesOf(dir string) (pids []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		command, err := os.ReadFile(proc(pid, "cmdline"))
		if err == nil && strings.Contains(string(command), dir) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// strays returns the processes below this one other than the victim, and, when it is
// worth a look at all processes, those of attacks wherever they are.
func (p *fixture) strays(all bool) (pids []int) {
	seen := map[int]bool{os.Getpid(): true, p.target.Victim: true, os.Getppid(): true}
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	var found []int
	if all {
		found = processesOf(p.home)
	}
	for _, t := range tasks {
		list, _ := os.ReadFile(t)
		for _, f := range strings.Fields(string(list)) {
			if pid, err := strconv.Atoi(f); err == nil {
				found = append(found, pid)
			}
		}
	}
	for _, pid := range found {
		if !seen[pid] && !isGuardian(pid) && !dying(pid) {
			seen[pid] = true
			pids = append(pids, pid)
		}
	}
	return pids
}

// isGuardian reports whether a process is this program's own helper, which stays as
// long as it does; no attack runs this program under that name.
func isGuardian(pid int) bool {
	command, err := os.ReadFile(proc(pid, "cmdline"))
	theirs, theirErr := os.Readlink(proc(pid, "exe"))
	own, ownErr := os.Readlink("/proc/self/exe")
	return err == nil && theirErr == nil && ownErr == nil && theirs == own && string(command) == "timba-sandbox-cleaner\x00"
}

// dying reports whether a process is on its way out: it exits, or has been sent SIGKILL.
func dying(pid int) bool {
	stat, err := os.ReadFile(proc(pid, "stat"))
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if err != nil || len(fields) < 7 || fields[0] == "Z" || fields[0] == "X" {
		return true
	}
	const exiting = 4 // PF_EXITING
	flags, _ := strconv.Atoi(fields[6])
	if flags&exiting != 0 {
		return true
	}
	for _, set := range []string{"SigPnd", "ShdPnd"} {
		if signals(pid, set)>>(unix.SIGKILL-1)&1 != 0 {
			return true
		}
	}
	return false
}

// signals returns a set of signals of a process.
func signals(pid int, set string) (bits uint64) {
	data, _ := os.ReadFile(proc(pid, "status"))
	_, rest, _ := strings.Cut(string(data), "\n"+set+":\t")
	fmt.Sscanf(rest, "%x", &bits)
	return bits
}

// endStrays kills strays until there are none, and tells how many there were.
func (p *fixture) endStrays(all bool) int {
	found := p.strays(all)
	until("strays end", func() bool {
		left := p.strays(all)
		for _, pid := range left {
			unix.Kill(pid, unix.SIGKILL)
		}
		return len(left) == 0
	})
	return len(found)
}

// state is what an attack must not change.
type state struct {
	files  map[string]string
	hits   int64
	bytes  int
	victim bool
	mounts mountTable
}

func (p *fixture) state() (state, error) {
	err := p.settle()
	s := state{files: map[string]string{}, hits: p.hits.Load() - p.own, bytes: p.drain(), victim: p.victimWell()}
	s.mounts, _ = mounts()
	filepath.WalkDir(p.home, func(path string, d fs.DirEntry, err error) error {
		if path == p.home+"/tmp" {
			return fs.SkipDir
		}
		var st unix.Stat_t
		if err == nil && unix.Lstat(path, &st) == nil {
			s.files[path] = fmt.Sprint(st.Mode, st.Uid, st.Gid, st.Nlink, st.Size, st.Mtim, st.Ctim)
		}
		return nil
	})
	return s, err
}

// changes reports what is different in a later state.
func (s state) changes(later state) (all []string) {
	for path, now := range later.files {
		if was, ok := s.files[path]; !ok {
			all = append(all, path+" is new")
		} else if was != now {
			all = append(all, path+" has changed")
		}
	}
	for path := range s.files {
		if _, ok := later.files[path]; !ok {
			all = append(all, path+" is gone")
		}
	}
	if later.hits != s.hits {
		all = append(all, fmt.Sprint(later.hits-s.hits, " messages have arrived"))
	}
	if later.bytes > 0 {
		all = append(all, fmt.Sprint(later.bytes, " bytes came through a pipe"))
	}
	if s.victim && !later.victim {
		all = append(all, "the process outside is not well")
	}
	return append(all, s.mounts.changes(later.mounts)...)
}

// mountTable has the lines of mountinfo by the numbers of the mounts.
type mountTable map[string]string

func mounts() (mountTable, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	return tableOf(data), err
}

func tableOf(data []byte) mountTable {
	table := mountTable{}
	for line := range strings.Lines(string(data)) {
		id, rest, _ := strings.Cut(line, " ")
		table[id] = strings.Replace(rest, deleted, "", 1)
	}
	return table
}

// deleted marks a mount whose source somebody has removed.
const deleted = "//deleted"

// point returns where the mount of a line is.
func point(line string) string {
	fields := strings.Fields(line)
	if len(fields) < 4 {
		return line
	}
	return strings.ReplaceAll(fields[3], `\040`, " ")
}

// changes reports what is different in a later table. A mount whose directory is
// removed is gone in all namespaces: tests of other packages mount below temporary
// directories of their own, which they remove. What an attack unmounts leaves its
// directory behind.
func (m mountTable) changes(later mountTable) (all []string) {
	for id, now := range later {
		if was, ok := m[id]; !ok {
			all = append(all, "a mount on "+point(now)+" is new")
		} else if was != now {
			all = append(all, "the mount on "+point(was)+" has changed")
		}
	}
	for id, was := range m {
		if _, ok := later[id]; ok {
			continue
		}
		if _, err := os.Lstat(point(was)); !errors.Is(err, fs.ErrNotExist) {
			all = append(all, "the mount on "+point(was)+" is gone")
		}
	}
	return all
}

// leftovers returns what is there when all is over, and should not be.
func (p *fixture) leftovers() (left []string) {
	for _, pid := range p.strays(true) {
		left = append(left, fmt.Sprint("process ", pid))
	}
	now, err := mounts()
	if err != nil {
		left = append(left, err.Error())
	}
	left = append(left, p.mounts.changes(now)...)
	names, _ := os.ReadDir(p.home + "/tmp")
	for _, n := range names {
		left = append(left, "tmp/"+n.Name())
	}
	for _, dir := range []string{"/tmp", "/dev/shm", "/usr/bin", "/etc", "/dev", "/"} {
		paths, _ := filepath.Glob(filepath.Join(dir, p.prefix()+"*"))
		left = append(left, paths...)
	}
	left = append(left, ownGroups()...)
	for _, kind := range []string{"shm", "msg", "sem"} {
		data, _ := os.ReadFile("/proc/sysvipc/" + kind)
		if strings.Contains(string(data), fmt.Sprintf("\n%10d ", p.Key)) {
			left = append(left, "System V "+kind)
		}
	}
	return left
}

// ownGroups returns control groups that this process has made, wherever they are in
// the trees. The scope that it is in itself, for systemd ends that after it, is
// none.
func ownGroups() (found []string) {
	names := regexp.MustCompile(fmt.Sprintf(`^timba-(attack-)?%d(-\d+-\d+)?$`, os.Getpid()))
	filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && names.MatchString(d.Name()) {
			found = append(found, path)
		}
		return nil
	})
	return found
}
