package cli

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/internal/kit"
)

// WriteFile writes to an existing pipe or device and does not replace it. A symbolic link still points to the
// file that is written.
func TestWriteFileToWhatIsThere(t *testing.T) {
	t.Chdir(t.TempDir())
	kit.Must(t, syscall.Mkfifo("pipe", 0o600))
	pipe := kit.Get[*os.File](t)(os.OpenFile("pipe", os.O_RDWR, 0)) // does not wait for the other end
	defer pipe.Close()
	kit.Must(t, os.WriteFile("file", nil, 0o600))
	kit.Must(t, os.Symlink("file", "link"))
	cmd := &cobra.Command{}
	cmd.SetErr(io.Discard)
	for _, path := range []string{"pipe", "link"} {
		before := kit.Get[os.FileInfo](t)(os.Lstat(path))
		kit.Must(t, WriteFile(cmd, path, func(w io.Writer) error { _, err := io.WriteString(w, "text"); return err }))
		if after := kit.Get[os.FileInfo](t)(os.Lstat(path)); after.Mode().Type() != before.Mode().Type() {
			t.Errorf("%s was %v and is %v", path, before.Mode(), after.Mode())
		}
	}
	if t.Failed() {
		return // the pipe would have nothing
	}
	got := make([]byte, 4)
	kit.Get[int](t)(io.ReadFull(pipe, got))
	if data := kit.Get[[]byte](t)(os.ReadFile("file")); string(data) != "text" || string(got) != "text" {
		t.Errorf("the file has %q, the pipe %q", data, got)
	}
	if left := kit.Get[[]string](t)(filepath.Glob(".timba-*")); left != nil {
		t.Errorf("%q are left", left)
	}
}

// A new file has the mode that the umask leaves. A file that is replaced retains its mode.
func TestModeOfWriteFile(t *testing.T) {
	t.Chdir(t.TempDir())
	defer syscall.Umask(syscall.Umask(0o027))
	kit.Must(t, os.WriteFile("secret", nil, 0o600))
	kit.Must(t, os.WriteFile("shared", nil, 0o600))
	kit.Must(t, os.Chmod("shared", 0o666))
	cmd := &cobra.Command{}
	cmd.SetErr(io.Discard)
	for path, want := range map[string]os.FileMode{"new": 0o640, "secret": 0o600, "shared": 0o666} {
		kit.Must(t, WriteFile(cmd, path, func(w io.Writer) error { _, err := io.WriteString(w, "text"); return err }))
		if got := kit.Get[os.FileInfo](t)(os.Stat(path)).Mode(); got != want {
			t.Errorf("%s has %v, want %v", path, got, want)
		}
	}
}
