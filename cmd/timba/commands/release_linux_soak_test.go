//go:build soak && linux

package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// pivot makes the tree $1 the root of new namespaces, and then runs the script $2 in it.
const pivot = `set -e
mount --bind "$1" "$1"; cd "$1"; mkdir -p old
mount -t proc proc proc; mount --rbind /sys sys; mount --rbind /dev dev
pivot_root . old; cd /; umount -l old
exec bash -ec "$2"`

// useInTree installs the package of a release in a bare Debian, serves a competition by the command and the user of its
// unit until a match has been played, and removes the package.
const useInTree = `
dpkg -i /timba.deb
timba version
zcat /usr/share/man/man1/timba-match.1.gz | grep -q 'SH OPTIONS'
bash -ec '. /usr/share/bash-completion/completions/timba; declare -F __start_timba'
unit=/usr/lib/systemd/system/timba.service
user=$(sed -n 's/^User=//p' $unit)
dir=/var/lib/$(sed -n 's/^StateDirectory=//p' $unit)
install -d -m 0700 -o $user -g $user $dir
as="setpriv --reuid $user --regid $user --clear-groups"
$as timba doctor | grep '^level:'
$as $(sed -n 's/^ExecStart=//p' $unit) >/serve.log 2>&1 &
server=$!
until grep -q admin.token /serve.log; do
	kill -0 $server || { cat /serve.log; exit 1; }
	sleep 1
done
timba login http://127.0.0.1:8080 --token-file $dir/admin.token
until timba matches --state finished --json | grep -q '"id"'; do sleep 1; done
kill $server
wait $server
dpkg -r timba
test ! -e /usr/bin/timba
test -e $dir/timba.db`

// TestRelease makes all files of a release and uses the Debian package of this processor in a bare Debian.
func TestRelease(t *testing.T) {
	if os.Geteuid() != 0 {
		kit.Lacks(t, "root: a bare Debian cannot be made")
	}
	kit.Needs(t, "debootstrap")
	clone, dist, tree := t.TempDir(), filepath.Join(t.TempDir(), "dist"), filepath.Join(t.TempDir(), "tree")
	run := func(dir, name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	run("", "git", "clone", "-q", "../../..", clone)
	run(clone, "script/release", dist)
	run(dist, "sha256sum", "-c", "checksums.txt")
	var names []string
	for _, f := range kit.Get[[]os.DirEntry](t)(os.ReadDir(dist)) {
		names = append(names, f.Name())
	}
	if list := strings.Join(names, " "); strings.Count(list, ".tar.gz") != 4 || strings.Count(list, ".zip") != 2 || strings.Count(list, ".deb") != 2 || len(names) != 10 {
		t.Errorf("the files of the release: %s", list)
	}
	run("", "debootstrap", "--variant=minbase", "stable", tree)
	packages := kit.Get[[]string](t)(filepath.Glob(filepath.Join(dist, "*_"+runtime.GOARCH+".deb")))
	run("", "cp", packages[0], filepath.Join(tree, "timba.deb"))
	out := run("", "unshare", "--mount", "--pid", "--fork", "--mount-proc", "bash", "-c", pivot, "bash", tree, useInTree)
	for _, want := range []string{"timba version v", "(commit ", "level: ", "Removing timba"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q:\n%s", want, out)
		}
	}
}
