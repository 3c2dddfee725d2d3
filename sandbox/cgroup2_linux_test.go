package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/sandbox/systemd"
)

// TestBaseV2 checks which directory of a tree of version 2 is divided. A case lists directories with the
// controllers that they enable; a star means that systemd has marked it, a dash that it is not writable.
func TestBaseV2(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("root may write to every directory: the cases of a dash are left out")
	}
	for _, c := range []struct{ name, tree, own, want string }{
		{"a login session", "user.slice:memory pids user.slice/session-2.scope:", "user.slice/session-2.scope", ""},
		{"a service", "system.slice:memory pids system.slice/x.service:", "system.slice/x.service", ""},
		{"a service with Delegate=yes", "system.slice:memory pids system.slice/*x.service:", "system.slice/x.service", "system.slice/x.service"},
		{"one that is divided already", "s:memory pids s/*x.service:memory pids s/x.service/timba:", "s/x.service/timba", "s/x.service"},
		{"one with DelegateSubgroup", "s:memory pids s/*x.service: s/x.service/main:", "s/x.service/main", "s/x.service"},
		{"a scope of our own", "s:cpu memory pids s/*timba-7-9.scope:cpu memory pids s/timba-7-9.scope/timba:", "s/timba-7-9.scope/timba", "s/timba-7-9.scope"},
		{"a container", "c:", "c", ""},
		{"a container that is divided already", "c:memory pids c/timba:", "c/timba", "c"},
		{"a part that lacks a controller", "c:pids c/timba:", "c/timba", ""},
		{"the root of the tree", "r:cpuset cpu memory pids", "r", "r"},
		{"names that are no controllers", "r:memory.high pids", "r", ""},
		{"another user's that is divided", "s:memory pids -s/*x.scope:memory pids s/x.scope/timba:", "s/x.scope/timba", ""},
		{"another user's", "s:memory pids -s/*x.service:", "s/x.service", ""},
	} {
		if strings.Contains(c.tree, "-s/") && os.Geteuid() == 0 {
			continue
		}
		top, marked := layOut(t, c.tree)
		got := baseV2(filepath.Join(top, c.own), func(dir string) bool { return slices.Contains(marked, dir) })
		if rel, _ := filepath.Rel(top, got); got != "" {
			got = rel
		}
		if got != c.want {
			t.Errorf("%s: %q is divided, want %q", c.name, got, c.want)
		}
	}
}

// layOut makes directories like those of a cgroup tree.
func layOut(t *testing.T, tree string) (top string, marked []string) {
	t.Helper()
	top = t.TempDir()
	var dir string
	lists := map[string]string{}
	var order []string
	for _, word := range strings.Fields(tree) {
		if path, first, ok := strings.Cut(word, ":"); ok {
			dir, word = path, first
			order = append(order, path)
		}
		lists[dir] = strings.TrimSpace(lists[dir] + " " + word)
	}
	for _, path := range order {
		dir := filepath.Join(top, strings.NewReplacer("*", "", "-s/", "s/").Replace(path))
		mkdir(t, dir)
		if strings.Contains(path, "*") {
			marked = append(marked, dir)
		}
		for name, text := range map[string]string{enabledFile: lists[path] + "\n", "cgroup.procs": ""} {
			kit.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		}
		if strings.HasPrefix(path, "-") {
			kit.Must(t, os.Chmod(filepath.Join(dir, "cgroup.procs"), 0o444))
		}
	}
	return top, marked
}

// TestVacate checks that processes are moved in a real cgroup of version 2. Machines of version 1 often have
// one, too, without controllers.
func TestVacate(t *testing.T) {
	_, base, err := ownGroups()
	kit.Must(t, err)
	controllers := []string(nil)
	if all, err := cgroups(); err == nil {
		if g, ok := all.(groupMakerV2); ok {
			base, controllers = g.base, requiredV2
		}
	}
	if base == "" || !isWritable(base) {
		t.Logf("no cgroup of version 2 is ours: %q", base)
		return
	}
	dir := filepath.Join(base, groupName())
	kit.Must(t, os.Mkdir(dir, 0o755))
	t.Cleanup(func() {
		if err := removeGroup(dir); err != nil {
			t.Error(err)
		}
	})
	f, err := os.Open(dir)
	kit.Must(t, err)
	defer f.Close()
	var pids []string
	for range 3 {
		cmd := exec.Command(exe(), "do", "sleep")
		cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(f.Fd())}
		kit.Must(t, cmd.Start())
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		pids = append(pids, fmt.Sprint(cmd.Process.Pid))
	}
	if controllers == nil {
		err = moveToLeaf(dir)
	} else {
		err = enableControllers(dir, controllers)
	}
	kit.Must(t, err)
	if missing := missingController(dir, enabledFile, controllers); missing != "" {
		t.Errorf("%s is not handed on", missing)
	}
	for name, want := range map[string][]string{"cgroup.procs": nil, leafV2 + "/cgroup.procs": pids} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		got := strings.Fields(string(data))
		slices.Sort(got)
		slices.Sort(want)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s has the processes %v (%v), want %v", name, got, err, want)
		}
	}
}

// TestOpenAgain checks that opening cgroups again, as a program started by timba does, finds the same directory.
func TestOpenAgain(t *testing.T) {
	first, err := cgroups()
	if err != nil {
		t.Logf("there are no groups: %v", err)
		return
	}
	again, err := openGroupMaker()
	if err != nil || fmt.Sprint(again) != fmt.Sprint(first) {
		t.Errorf("groups are in %v and then in %v: %v", first, again, err)
	}
}

// TestFixGroups checks that the advice of timba doctor matches the cause.
func TestFixGroups(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("systemd: %w", &systemd.NoManagerError{Err: os.ErrNotExist}), "loginctl enable-linger " + userName()},
		{fmt.Errorf("cgroup: %w", &controllerError{"/sys/fs/cgroup/x", "memory"}), "cgroup_enable=memory"},
		{&controllerError{"/sys/fs/cgroup/x", "pids"}, "Delegate=yes"},
	} {
		if got := cgroupFix(c.err); !strings.Contains(got, c.want) {
			t.Errorf("%v: %q does not tell %q", c.err, got, c.want)
		}
	}
}
