package bundle

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
)

// fileTree makes a directory of files that only their owner may read, and returns its path.
func fileTree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := kit.Files(t, filepath.Join(t.TempDir(), "mine"), files)
	kit.Must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Chmod(path, info.Mode()&0o700)
	}))
	return dir
}

// The same files give the same archive on another day and with another version of timba, even with long paths.
func TestPackedBytes(t *testing.T) {
	long := strings.Repeat("long", 15)
	dir := fileTree(t, map[string]string{"bot.py": "x", "run+x": "#!/bin/sh", long + "/" + long: "y", long + "ñ/" + long: ""})
	l := small
	l.PathSize = 200
	p := kit.Get[*Archive](t)(Pack(dir, l))
	tar := kit.Get[[]byte](t)(io.ReadAll(kit.Get[*gzip.Reader](t)(gzip.NewReader(bytes.NewReader(p.Data)))))
	const want = "309befbee2adcc89c8fd574d410fa680cd71cef98da845b9e2ebe0d1e5051e95"
	if got := fmt.Sprintf("%x", sha256.Sum256(tar)); got != want {
		t.Errorf("the archive has the hash %s, want %s", got, want)
	}
}

// A packed directory can be unpacked, and the same files always give the same bytes.
func TestPackAndUnpack(t *testing.T) {
	files := map[string]string{"bot.py": "x", "run+x": "#!/bin/sh", "lib/a.py": "y", "lib/deep/b": ""}
	dir := fileTree(t, files)
	kit.Must(t, os.Mkdir(filepath.Join(dir, "empty"), 0o755))
	p := kit.Get[*Archive](t)(Pack(dir, small))
	file, into := writeArchive(t, p.Data)
	os.Mkdir(filepath.Dir(into), 0o755)
	tree := kit.Get[Tree](t)(Unpack(file, into, small))
	want := map[string]string{
		"bot.py": "-rw-r--r-- x", "run": "-rwxr-xr-x #!/bin/sh", "lib": "drwxr-xr-x", "lib/a.py": "-rw-r--r-- y",
		"lib/deep": "drwxr-xr-x", "lib/deep/b": "-rw-r--r-- ", "empty": "drwxr-xr-x",
	}
	if diff := cmp.Diff(want, kit.Tree(t, into)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(p.Files, tree.Files); diff != "" || p.Bytes != tree.Bytes {
		t.Errorf("%s", diff)
	}
	again := fileTree(t, files)
	kit.Must(t, os.Mkdir(filepath.Join(again, "empty"), 0o700))
	kit.Must(t, os.Chtimes(filepath.Join(again, "bot.py"), time.Unix(1, 0), time.Unix(1, 0)))
	if other, err := Pack(again, small); err != nil || !bytes.Equal(other.Data, p.Data) {
		t.Errorf("the same files make other bytes: %v", err)
	}
}

func TestPackLeavesOut(t *testing.T) {
	dir := fileTree(t, map[string]string{
		"bot.py": "", ".git/config": "", "__pycache__/x": "", "sub/__pycache__/x": "", ".DS_Store": "", "a~": "", ".bot.py.swp": "", ".idea/x": "", "x.pyc": "",
		"target/a": "", "deep/target/a": "", "data/big.bin": "", "data/keep.bin": "", "log1.txt": "", "log22.txt": "", "{x}": "", "only/here": "", "sub/only/here": "", ".vscode/x": "",
		IgnoreFile: "# what the build makes\n\ntarget/\n*.bin\n!keep.bin\nlog?.txt\n/only\n{x}\r\n!.vscode/\n",
	})
	for _, link := range []string{".#bot.py", "target/link"} {
		kit.Must(t, os.Symlink("nowhere", filepath.Join(dir, link)))
	}
	p := kit.Get[*Archive](t)(Pack(dir, small))
	var names []string
	for _, f := range p.Files {
		names = append(names, f.Path)
	}
	want := []string{".vscode/x", "bot.py", "data/keep.bin", "log22.txt", "sub/only/here"}
	if !slices.Equal(names, want) {
		t.Errorf("%q are packed, want %q", names, want)
	}
	if !slices.Contains(p.SkippedPaths, "target") || !slices.Contains(p.SkippedPaths, "only") || slices.Contains(p.SkippedPaths, "target/a") {
		t.Errorf("%q are left out", p.SkippedPaths)
	}
}

func TestPackErrors(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		links []string
		code  ladder.ErrorCode
		words []string
	}{
		"links":      {map[string]string{"bot.py": ""}, []string{"a", "b"}, ladder.Invalid, []string{`"a", "b"`, "cp -L", IgnoreFile}},
		"many links": {map[string]string{"bot.py": ""}, strings.Split("abcdefg", ""), ladder.Invalid, []string{`"e" and 2 more`}},
		"too large":  {map[string]string{"x": halfCompressible(1 << 20), "y": halfCompressible(1 << 20), "z": "1"}, nil, ladder.TooLarge, []string{"2 MiB", "at most 2 MiB", `"x" (1 MiB), "y" (1 MiB), "z" (1 bytes)`, IgnoreFile}},
		"too large packed": {map[string]string{"x": noise(300 << 10), "y": "1"}, nil, ladder.TooLarge,
			[]string{"when it is packed", "at most 256 KiB", `"x" (300 KiB)`}},
		"too many":   {manyNames(51), nil, ladder.TooLarge, []string{"52 files and directories", "at most 50", `"sub"`}},
		"nothing":    {map[string]string{".git/x": ""}, nil, ladder.Invalid, []string{"no files"}},
		"capitals":   {map[string]string{"A": "", "a": ""}, nil, ladder.Invalid, []string{"capitals"}},
		"bad name":   {map[string]string{"a\nb": ""}, nil, ladder.Invalid, []string{"U+000A"}},
		"bad ignore": {map[string]string{"a": "", IgnoreFile: "x\n[a\n"}, nil, ladder.Invalid, []string{"line 2", IgnoreFile, "[a"}},
	} {
		dir := fileTree(t, c.files)
		for _, link := range c.links {
			kit.Must(t, os.Symlink("bot.py", filepath.Join(dir, link)))
		}
		_, err := Pack(dir, small)
		wantError(t, name, err, c.code, c.words)
	}
	if _, err := Pack(filepath.Join(t.TempDir(), "none"), small); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	file, _ := writeArchive(t, nil)
	if _, err := Pack(file, small); ladder.CodeOf(err) != ladder.Invalid {
		t.Errorf("a file: %v", err)
	}
}

func manyNames(n int) map[string]string {
	files := map[string]string{}
	for _, e := range manyEntries(n) {
		files["sub/"+e.name] = ""
	}
	return files
}

// Patterns have the meaning of gitignore(5).
func TestIgnorePatterns(t *testing.T) {
	for _, c := range []struct {
		lines string
		out   []string // left out; a directory ends in a slash
		in    []string
	}{
		{"foo", []string{"foo", "foo/", "a/foo", "a/b/foo/"}, []string{"food", "a/food"}},
		{"foo/", []string{"foo/", "a/foo/"}, []string{"foo", "a/foo"}},
		{"/foo", []string{"foo", "foo/"}, []string{"a/foo"}},
		{"a/foo", []string{"a/foo"}, []string{"foo", "b/a/foo"}},
		{"*.o", []string{"x.o", "a/x.o", ".o"}, []string{"x.oo"}},
		{"a/*.o", []string{"a/x.o"}, []string{"a/b/x.o", "x.o"}},
		{"**/foo", []string{"foo", "a/b/foo"}, nil},
		{"a/**/b", []string{"a/b", "a/x/b", "a/x/y/b"}, []string{"b"}},
		{"a/**", []string{"a/x", "a/x/y"}, []string{"b"}},
		{"f?o", []string{"foo", "fxo"}, []string{"f/o", "fo"}},
		{"[a-c]x", []string{"ax", "cx"}, []string{"dx"}},
		{"[!a]x", []string{"bx"}, []string{"ax"}},
		{`\#x`, []string{"#x"}, nil},
		{`\!x`, []string{"!x"}, nil},
		{"#x", nil, []string{"#x", "x"}},
		{"x  ", []string{"x"}, nil},
		{"{a,b}", []string{"{a,b}"}, []string{"a", "b"}},
		{"*\n!keep", []string{"a"}, []string{"keep"}},
		{"*\n!keep\nkeep", []string{"a", "keep"}, nil},
	} {
		list, err := parseIgnore([]byte(c.lines))
		if err != nil {
			t.Errorf("%q: %v", c.lines, err)
			continue
		}
		for want, names := range map[bool][]string{true: c.out, false: c.in} {
			for _, name := range names {
				if path, dir := strings.CutSuffix(name, "/"); list.excludes(path, dir) != want {
					t.Errorf("%q leaves out %q: %v", c.lines, name, !want)
				}
			}
		}
	}
}

// wantError checks that an error has the code and all words.
func wantError(t *testing.T, name string, err error, code ladder.ErrorCode, words []string) {
	t.Helper()
	if ladder.CodeOf(err) != code {
		t.Errorf("%s: %v, want %s", name, err, code)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: %q says nothing of %s", name, err, w)
		}
	}
}
