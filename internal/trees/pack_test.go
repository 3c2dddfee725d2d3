package trees

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/timba-arena/timba/internal/kit"
)

// packed returns the output of Pack for a directory.
func packed(t testing.TB, dir string) *bytes.Buffer {
	t.Helper()
	b := new(bytes.Buffer)
	kit.Must(t, Pack(b, dir))
	return b
}

// TestPack checks that files are the same after packing and unpacking, including links and modes.
func TestPack(t *testing.T) {
	dir := kit.Files(t, filepath.Join(t.TempDir(), "bot"), map[string]string{"run": "#!/bin/sh\n", "lib/a.py": "a = 1\n"})
	kit.Must(t, os.Chmod(filepath.Join(dir, "run"), 0o755))
	if runtime.GOOS != "windows" {
		kit.Must(t, errors.Join(os.Symlink("/usr/bin/python3", filepath.Join(dir, "python")), os.Symlink("lib", filepath.Join(dir, "link"))))
	}
	into := filepath.Join(t.TempDir(), "out")
	kit.Must(t, Unpack(packed(t, dir), into, 10, 1<<20))
	want := kit.Get[string](t)(Hash(dir))
	if got, err := Hash(into); err != nil || got != want {
		t.Errorf("it has the hash %s, not %s, %v", got, want, err)
	}
	file := filepath.Join(t.TempDir(), "packed")
	kit.Must(t, os.WriteFile(file, packed(t, dir).Bytes(), 0o644))
	if got, err := HashPacked(file); err != nil || got != want {
		t.Errorf("packed it has the hash %s, not %s, %v", got, want, err)
	}
	if diff := cmp.Diff(kit.Get[[]File](t)(List(dir)), kit.Get[[]File](t)(List(into))); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(filepath.Join(into, "lib/a.py")); err != nil || info.Mode().Perm()&0o222 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	kit.Must(t, os.WriteFile(filepath.Join(dir, "run"), nil, 0o755))
	if got, err := Hash(dir); err != nil || got == want {
		t.Errorf("another tree has the same hash, %v", err)
	}
}

// TestHashes checks that hashes stay the same in all versions of timba. Replays record the hash of a bot's
// source, and servers and workers compare the hash of its built files.
func TestHashes(t *testing.T) {
	long := strings.Repeat("long", 30) // longer than a name may be in the header of an archive
	dir := kit.Files(t, filepath.Join(t.TempDir(), "bot"), map[string]string{
		"lib/a.py": "a = 1\n", "run": "#!/bin/sh\n", ".git/x": "x", "ñ.txt": "ñ", filepath.Join(long, long+".py"): "y",
	})
	kit.Must(t, errors.Join(os.Mkdir(filepath.Join(dir, "empty"), 0o700), os.Chmod(filepath.Join(dir, "run"), 0o755)))
	check := func(name string, hash func(string) (string, error), want string) {
		t.Helper()
		if got, err := hash(dir); err != nil || got != want {
			t.Errorf("the hash of the %s is %s, %v, want %s", name, got, err, want)
		}
	}
	const source = "5725b46ebdf3354f211a715ef8bd63298f02bb1680962e643f8b5297d68e77c9"
	check("source", HashSource, source)
	check("tree", Hash, "319347988675758b5f64b18be3635670373b0f05267f9037ece8ea842bf006ca")
	kit.Must(t, errors.Join(os.Symlink("lib", filepath.Join(dir, "link")), os.Symlink("lib/a.py", filepath.Join(dir, "file"))))
	check("source with links", HashSource, "675dc5780ff8f5495b2b655a3a10371c683bd9f91ca72479cd50afcd9420b187")
	check("tree with links", Hash, "6189298313ad511ea5ddec947de31f5f05f4b3e88f92eb66b69160d013f99374")
	out := filepath.Join(t.TempDir(), "out")
	kit.Must(t, errors.Join(os.Remove(filepath.Join(dir, "link")), os.Remove(filepath.Join(dir, "file")), CopySource(out, dir)))
	dir = out
	check("copied source", HashSource, source)
}

// entry is an entry of an archive that Pack did not make.
type entry struct {
	tar.Header
	content string
}

// archive packs entries.
func archive(t testing.TB, entries ...entry) io.Reader {
	t.Helper()
	var b bytes.Buffer
	z := kit.Get[*zstd.Encoder](t)(zstd.NewWriter(&b))
	w := tar.NewWriter(z)
	for _, e := range entries {
		kit.Must(t, w.WriteHeader(&e.Header))
		kit.Get[int](t)(w.Write([]byte(e.content)))
	}
	kit.Must(t, z.Close())
	return &b
}

// TestUnpackLimits checks that an archive is refused if it has too many files or bytes, is cut off, or is not
// an archive.
func TestUnpackLimits(t *testing.T) {
	dir := kit.Files(t, filepath.Join(t.TempDir(), "bot"), map[string]string{"a": "12345", "b": "12345", "lib/c": ""})
	for _, test := range []struct {
		name    string
		archive io.Reader
		files   int
		bytes   int64
		says    string
	}{
		{"as much as is allowed", packed(t, dir), 4, 10, ""},
		{"a file more", packed(t, dir), 3, 10, "more than 3 files"},
		{"a byte more", packed(t, dir), 4, 9, "9 bytes"},
		{"a size that lies", archive(t, entry{Header: tar.Header{Name: "a", Typeflag: tar.TypeReg, Size: 1 << 62}}), 10, 1 << 20, "more than"},
		{"junk", strings.NewReader("junk"), 10, 1 << 20, "magic"},
		{"cut off", io.LimitReader(packed(t, dir), 50), 10, 1 << 20, "EOF"},
	} {
		out := filepath.Join(t.TempDir(), "out")
		err := Unpack(test.archive, out, test.files, test.bytes)
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", test.name, err)
		}
		if _, missing := os.Stat(out); err != nil && !errors.Is(missing, fs.ErrNotExist) {
			t.Errorf("%s: something is left, %v", test.name, missing)
		}
	}
}

// TestUnpackHostile checks that Unpack writes nothing outside of the directory, and only files, directories
// and links.
func TestUnpackHostile(t *testing.T) {
	file := func(name string) entry {
		return entry{tar.Header{Name: name, Typeflag: tar.TypeReg, Size: 1}, "x"}
	}
	link := func(name, to string) entry {
		return entry{Header: tar.Header{Name: name, Linkname: to, Typeflag: tar.TypeSymlink}}
	}
	for name, entries := range map[string][]entry{
		"above":         {file("../outside")},
		"from the root": {file("/outside")},
		"by a link":     {link("up", ".."), file("up/outside")},
		"onto a link":   {link("a", "../outside"), file("a")},
		"twice":         {file("a"), file("a")},
		"no directory":  {file("a/b")},
		"a hard link":   {entry{Header: tar.Header{Name: "a", Linkname: "/etc/passwd", Typeflag: tar.TypeLink}}},
		"a device":      {entry{Header: tar.Header{Name: "a", Typeflag: tar.TypeChar}}},
		"a fifo":        {entry{Header: tar.Header{Name: "a", Typeflag: tar.TypeFifo}}},
		"no name":       {file(".")},
		"a link above":  {link("../outside", "x")},
		"a dir above":   {entry{Header: tar.Header{Name: "../outside/", Typeflag: tar.TypeDir}}},
	} {
		base := t.TempDir()
		if err := Unpack(archive(t, entries...), filepath.Join(base, "out"), 10, 1<<20); err == nil {
			t.Errorf("%s: it is unpacked", name)
		}
		if left := kit.Get[[]os.DirEntry](t)(os.ReadDir(base)); len(left) > 0 {
			t.Errorf("%s: %v is left", name, left)
		}
	}
	set := archive(t, entry{tar.Header{Name: "a", Typeflag: tar.TypeReg, Mode: 0o6777, Size: 1}, "x"})
	out := filepath.Join(t.TempDir(), "out")
	kit.Must(t, Unpack(set, out, 10, 1<<20))
	if info, err := os.Stat(filepath.Join(out, "a")); err != nil || info.Mode() != 0o555 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestHashSource checks that the hash of a source depends on the path, the executable bit and the content of
// each file, as replays have recorded it.
func TestHashSource(t *testing.T) {
	dir := kit.Files(t, filepath.Join(t.TempDir(), "bot"), map[string]string{"timba.toml": "run = [\"./bot\"]\n", "bot": "#!/bin/sh\n", "lib/a": ""})
	kit.Must(t, os.Chmod(filepath.Join(dir, "bot"), 0o755))
	const want = "6584bf86dd0aa2c9f22d25f9863a1f4c8b2addd092a7fca9f3863a938af9e9e5"
	same := func(what string) {
		t.Helper()
		if got, err := HashSource(dir); err != nil || got != want {
			t.Errorf("%s: %s, %v", what, got, err)
		}
	}
	same("as it is")
	kit.Files(t, dir, map[string]string{".git/HEAD": "x", "lib/__pycache__/a.pyc": "x"})
	kit.Must(t, os.Mkdir(filepath.Join(dir, "empty"), 0o755))
	same("with directories that do not count")
	if runtime.GOOS == "windows" {
		return
	}
	kit.Must(t, errors.Join(os.Symlink("nowhere", filepath.Join(dir, ".#lock")), os.Symlink("lib", filepath.Join(dir, "link"))))
	same("with links that do not count")
	kit.Must(t, errors.Join(os.Remove(filepath.Join(dir, "lib/a")), os.WriteFile(filepath.Join(dir, "empty/a"), nil, 0o600)))
	kit.Must(t, os.Symlink("../empty/a", filepath.Join(dir, "lib/a")))
	kit.Must(t, os.Rename(filepath.Join(dir, "empty"), filepath.Join(dir, ".git/empty")))
	kit.Must(t, errors.Join(os.Remove(filepath.Join(dir, "lib/a")), os.Symlink("../.git/empty/a", filepath.Join(dir, "lib/a"))))
	same("with a link to a file")
	copied := filepath.Join(t.TempDir(), "copy")
	kit.Must(t, CopySource(copied, dir))
	if got, err := HashSource(copied); err != nil || got != want {
		t.Errorf("copied: %s, %v", got, err)
	}
}
