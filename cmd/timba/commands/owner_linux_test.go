package commands

import (
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/cluster"
	"github.com/timba-arena/timba/ladder/datadir"
)

// nobody is the number of the user nobody.
const nobody = 65534

// newForeignArena returns the arena of the user nobody, for a test that runs as root.
func newForeignArena(t *testing.T) *arena {
	t.Helper()
	kit.Slow(t)
	if os.Geteuid() != 0 {
		kit.Lacks(t, "the rights of root")
	}
	a := newArena(t, quickLadders(2))
	kit.Must(t, os.Chmod(filepath.Dir(a.dir), 0o755))
	kit.Must(t, os.Chmod(filepath.Dir(a.home), 0o755))
	a.program = filepath.Join(filepath.Dir(a.dir), "timba") // where nobody may read it
	program := kit.Get[[]byte](t)(os.ReadFile(undetected(t)))
	kit.Must(t, os.WriteFile(a.program, program, 0o755))
	kit.Must(t, filepath.WalkDir(a.dir, func(path string, _ fs.DirEntry, err error) error {
		kit.Must(t, err)
		return os.Chown(path, nobody, nobody)
	}))
	a.start = func(cmd *exec.Cmd) error {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		cmd.Dir, cmd.Env = "/", append(os.Environ(), "HOME=/nonexistent", "XDG_CACHE_HOME=")
		return cmd.Start()
	}
	return a
}

// foreignFiles returns the files of the data directory that do not belong to the user nobody.
func (a *arena) foreignFiles(t *testing.T) (all []string) {
	t.Helper()
	kit.Must(t, filepath.WalkDir(a.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil { // a running server has removed it
			return nil
		}
		if info, err := d.Info(); err == nil && info.Sys().(*syscall.Stat_t).Uid != nobody {
			all = append(all, path)
		}
		return nil
	}))
	return all
}

// Commands of root leave the server of another user able to read its files. A worker that root removes is cut off
// when the command ends. Commands that only read create nothing. Root cannot start a server in the directory.
func TestCommandsOfRoot(t *testing.T) {
	t.Parallel()
	a := newForeignArena(t)
	names := func() []string { // but those that SQLite makes beside the database, for its owner
		all := slices.Sorted(maps.Keys(kit.Tree(t, a.dir)))
		return slices.DeleteFunc(all, func(name string) bool { return strings.HasPrefix(name, "timba.db-") })
	}
	before := names()
	for _, args := range [][]string{{"worker", "list"}, {"workers"}, {"storage"}} {
		a.timba(t, "", slices.Concat([]string{"admin"}, args, []string{"--data", a.dir})...)
		if after := names(); !slices.Equal(after, before) {
			t.Errorf("%v makes %v from %v", args, after, before)
		}
	}
	// Without a server, root makes the keys.
	add := func(name string) (creds string) {
		t.Helper()
		creds = filepath.Join(a.home, name+".creds")
		a.timba(t, "", "admin", "worker", "add", name, "--data", a.dir, "--out", creds)
		return creds
	}
	first := add("lab-1")
	a.timba(t, "", "admin", "rerate", "--data", a.dir)
	if all := a.foreignFiles(t); len(all) > 0 {
		t.Errorf("root keeps %v", all)
	}
	s := a.serve(t, "--cluster", "127.0.0.1:0", "--workers", "1")
	var address string
	until(t, "workers can connect", func() bool {
		_, after, found := strings.Cut(s.log(), `msg="workers can connect" address=`)
		address, _, _ = strings.Cut(after, "\n")
		return found
	})
	second := add("lab-2")
	dial := func(creds string) *cluster.Link {
		t.Helper()
		l := kit.Get[*cluster.Link](t)(cluster.Dial(t.Context(), "nats://"+address, creds, slog.New(slog.DiscardHandler)))
		t.Cleanup(l.Close)
		return l
	}
	kept, cut := dial(second), dial(first)
	a.timba(t, "", "admin", "worker", "remove", "lab-1", "--data", a.dir)
	until(t, "the worker is cut off", func() bool { return cut.Status() != nats.CONNECTED })
	if kept.Status() != nats.CONNECTED {
		t.Error("another worker is cut off, too")
	}
	a.timba(t, "", "admin", "invite", "--data", a.dir)
	a.timba(t, "", "admin", "token", "admin", "--data", a.dir)
	if all := a.foreignFiles(t); len(all) > 0 {
		t.Errorf("beside a server, root keeps %v", all)
	}
	kit.Must(t, s.Process.Signal(syscall.SIGTERM))
	s.exits(t, 0)
	out, err := exec.Command(a.program, "serve", "--data", a.dir, "--listen", "127.0.0.1:0").CombinedOutput()
	if err == nil || !strings.Contains(string(out), `belongs to nobody, and this program runs as root: start it as the owner (sudo -u nobody)`) {
		t.Errorf("root starts a server: %v\n%s", err, out)
	}
	a.serve(t, "--cluster", "127.0.0.1:0", "--workers", "1") // the server of nobody can start again
}

// A file of another user in the data directory is named, with its owner and the command that mends it.
func TestFilesOfRoot(t *testing.T) {
	t.Parallel()
	a := newForeignArena(t)
	d := datadir.Dir(a.dir)
	for _, path := range []string{d.Database() + "-wal", d.Database() + "-shm", d.Lock(), d.Bots()} {
		kit.Must(t, os.RemoveAll(path))
		kit.Must(t, os.WriteFile(path, nil, 0o600))
		s := a.launch(t)
		s.exits(t, 2)
		if want := path + " belongs to root, and this program runs as nobody: "; !strings.Contains(s.log(), want) || !strings.Contains(s.log(), "chown nobody "+path) {
			t.Errorf("it does not say %q:\n%s", want, s.log())
		}
		kit.Must(t, os.Remove(path))
	}
}
