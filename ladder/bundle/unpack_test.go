package bundle

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
)

// Valid archives in every format are unpacked as the table says.
func TestUnpack(t *testing.T) {
	for _, c := range []struct {
		name    string
		entries []testEntry
		tarOnly bool
		want    map[string]string
		top     string
		left    []string
	}{
		{name: "plain", entries: []testEntry{{name: "bot.py", body: "x"}, {name: "lib/a.py", body: "y"}},
			want: map[string]string{"bot.py": "-rw-r--r-- x", "lib": "drwxr-xr-x", "lib/a.py": "-rw-r--r-- y"}},
		{name: "with dots", entries: []testEntry{{name: "./"}, {name: "./bot.py", body: "x"}, {name: "./lib//a.py"}},
			want: map[string]string{"bot.py": "-rw-r--r-- x", "lib": "drwxr-xr-x", "lib/a.py": "-rw-r--r-- "}},
		{name: "top directory", entries: []testEntry{{name: "me-bot-1234/"}, {name: "me-bot-1234/bot.py", body: "x"}, {name: "me-bot-1234/empty/"}},
			top: "me-bot-1234", want: map[string]string{"bot.py": "-rw-r--r-- x", "empty": "drwxr-xr-x"}},
		{name: "top directory, never named", entries: []testEntry{{name: "top/a/b", body: "x"}, {name: "top/c"}},
			top: "top", want: map[string]string{"a": "drwxr-xr-x", "a/b": "-rw-r--r-- x", "c": "-rw-r--r-- "}},
		{name: "two directories", entries: []testEntry{{name: "a/x"}, {name: "b/"}},
			want: map[string]string{"a": "drwxr-xr-x", "a/x": "-rw-r--r-- ", "b": "drwxr-xr-x"}},
		{name: "top directory twice", entries: []testEntry{{name: "a/b/x"}},
			top: "a", want: map[string]string{"b": "drwxr-xr-x", "b/x": "-rw-r--r-- "}},
		{name: "modes", entries: []testEntry{{name: "a", mode: 0o4755}, {name: "b", mode: 0o2771}, {name: "c", mode: 0o1666}, {name: "d", mode: 0o600}, {name: "e", mode: 0o100}, {name: "f/", mode: 0o700}},
			want: map[string]string{"a": "-rwxr-xr-x ", "b": "-rwxr-xr-x ", "c": "-rw-r--r-- ", "d": "-rw-r--r-- ", "e": "-rwxr-xr-x ", "f": "drwxr-xr-x"}},
		{name: "junk", entries: []testEntry{{name: "bot.py"}, {name: ".git/"}, {name: ".git/config"}, {name: "lib/__pycache__/a.pyc"}, {name: "__MACOSX/._bot.py"}, {name: ".DS_Store"}, {name: ".gitignore"}},
			left: []string{".DS_Store", ".git", ".git/config", "__MACOSX/._bot.py", "lib/__pycache__/a.pyc"},
			want: map[string]string{"bot.py": "-rw-r--r-- ", ".gitignore": "-rw-r--r-- "}},
		{name: "links in junk", entries: []testEntry{{name: "bot.py"}, {name: ".git/link", kind: tar.TypeSymlink, link: "/"}}, left: []string{".git/link"}, want: map[string]string{"bot.py": "-rw-r--r-- "}},
		{name: "letters", entries: []testEntry{{name: "señal/日本.txt"}, {name: "a b.py"}},
			want: map[string]string{"señal": "drwxr-xr-x", "señal/日本.txt": "-rw-r--r-- ", "a b.py": "-rw-r--r-- "}},
		{name: "git archive", tarOnly: true, entries: []testEntry{{name: "pax_global_header", kind: tar.TypeXGlobalHeader, pax: map[string]string{"comment": "1234"}}, {name: "x"}},
			want: map[string]string{"x": "-rw-r--r-- "}},
		{name: "attributes", tarOnly: true, entries: []testEntry{{name: "x", pax: map[string]string{"SCHILY.xattr.user.a": "b"}}}, want: map[string]string{"x": "-rw-r--r-- "}},
	} {
		archives := map[string][]byte{"tar": tarOf(c.entries...), "tar.gz": tgz(c.entries...), "tar.zst": zst(tarOf(c.entries...))}
		if !c.tarOnly {
			archives["zip"] = zipOf(c.entries...)
		}
		for kind, data := range archives {
			file, into := writeArchive(t, data)
			os.Mkdir(filepath.Dir(into), 0o755)
			tree, err := Unpack(file, into, small)
			if err != nil {
				t.Errorf("%s, %s: %v", c.name, kind, err)
				continue
			}
			if diff := cmp.Diff(c.want, kit.Tree(t, into)); diff != "" {
				t.Errorf("%s, %s: %s", c.name, kind, diff)
			}
			if tree.Top != c.top || !slices.Equal(tree.SkippedPaths, c.left) || len(tree.Files)+len(tree.Dirs) != len(c.want) {
				t.Errorf("%s, %s: the tree is %+v", c.name, kind, tree)
			}
		}
	}
}

// A tar.gz with several members, as parallel compressors write it, is one archive.
func TestGzipMembers(t *testing.T) {
	whole := tarOf(testEntry{name: "a", body: noise(3000)})
	file, into := writeArchive(t, append(gz(whole[:1000]), gz(whole[1000:])...))
	os.Mkdir(filepath.Dir(into), 0o755)
	if tree, err := Unpack(file, into, small); err != nil || tree.Bytes != 3000 {
		t.Errorf("%+v, %v", tree, err)
	}
}

// Unpack does not write into an existing directory.
func TestUnpackIntoExisting(t *testing.T) {
	file, into := writeArchive(t, tgz(testEntry{name: "a", body: "new"}))
	kit.Must(t, os.MkdirAll(into, 0o755))
	kit.Must(t, os.WriteFile(filepath.Join(into, "a"), []byte("old"), 0o644))
	_, err := Unpack(file, into, small)
	if err == nil || ladder.CodeOf(err) != "" || kit.Tree(t, into)["a"] != "-rw-r--r-- old" {
		t.Errorf("%v, %v", err, kit.Tree(t, into))
	}
	if _, err := Unpack(file+"x", into, small); !errors.Is(err, os.ErrNotExist) || ladder.CodeOf(err) != "" {
		t.Errorf("no such file: %v", err)
	}
}

// Each limit accepts its value and refuses one more.
func TestLimitsAreExact(t *testing.T) {
	for _, c := range []struct {
		name       string
		good, over []testEntry
	}{
		{"files", manyEntries(50), manyEntries(51)},
		{"files and directories", append(manyEntries(48), testEntry{name: "d/x"}), append(manyEntries(49), testEntry{name: "d/x"})},
		{"depth", []testEntry{{name: "1/2/3/4/5"}, {name: "x"}}, []testEntry{{name: "1/2/3/4/5/6"}, {name: "x"}}},
		{"path", []testEntry{{name: strings.Repeat("x", 100)}}, []testEntry{{name: strings.Repeat("x", 101)}}},
		{"unpacked", []testEntry{{name: "a", body: halfCompressible(64 << 10)}, {name: "b", body: halfCompressible(64 << 10)}}, []testEntry{{name: "a", body: halfCompressible(64 << 10)}, {name: "b", body: halfCompressible(64<<10 + 1)}}},
	} {
		for kind, pack := range map[string]func(...testEntry) []byte{"tar.gz": tgz, "zip": zipOf} {
			l := small
			l.UnpackedSize = 128 << 10
			file, into := writeArchive(t, pack(c.good...))
			os.Mkdir(filepath.Dir(into), 0o755)
			if _, err := Unpack(file, into, l); err != nil {
				t.Errorf("%s, %s: %v", c.name, kind, err)
			}
			refusesArchive(t, pack(c.over...), l, ladder.TooLarge, nil)
		}
	}
}

// halfCompressible returns n bytes that compress to about half.
func halfCompressible(n int) string {
	s := noise((n + 1) / 2)
	return (s + s)[:n]
}

// For any names either all files are unpacked under exactly these names, or none.
func TestNamesProperty(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.OneOf(rapid.SampledFrom([]string{"a", "b", "A", "..", ".", "", "nul", "é", "e\u0301", "x ", "c:", `\`, ".git"}), rapid.StringMatching(`[a-c.]{1,3}`), rapid.String())
		path := rapid.Map(rapid.SliceOfN(part, 1, 4), func(p []string) string { return strings.Join(p, "/") })
		kept := func(name string) bool { return !strings.ContainsRune(name, 0) && strings.Trim(name, "/") != "" } // in a tar archive
		names := rapid.SliceOfNDistinct(path.Filter(kept), 1, 5, rapid.ID[string]).Draw(t, "names")
		var entries []testEntry
		for _, name := range names {
			entries = append(entries, testEntry{name: strings.TrimSuffix(name, "/"), body: name})
		}
		n++
		base := filepath.Join(dir, fmt.Sprint(n))
		kit.Must(t, os.MkdirAll(base, 0o755))
		file, into := filepath.Join(base, "archive"), filepath.Join(base, "bot")
		kit.Must(t, os.WriteFile(file, tarOf(entries...), 0o644))
		tree, err := Unpack(file, into, small)
		found, _ := os.ReadDir(base)
		switch {
		case err != nil && (ladder.CodeOf(err) == "" || len(found) != 1):
			t.Fatalf("%v, and there are %v", err, found)
		case err == nil && len(found) != 2:
			t.Fatalf("there are %v", found)
		}
		for _, f := range tree.Files {
			data, err := os.ReadFile(filepath.Join(into, f.Path))
			if err != nil || !slices.Contains(names, string(data)) || int64(len(data)) != f.Size {
				t.Fatalf("%+v has %q, %v", f, data, err)
			}
		}
	})
}

// checkUnpack unpacks any data: they are refused completely, or the files are within every limit.
func checkUnpack(t *testing.T, data []byte) {
	file, into := writeArchive(t, data)
	base := filepath.Dir(filepath.Dir(into))
	os.Mkdir(filepath.Dir(into), 0o755)
	tree, err := Unpack(file, into, small)
	found := kit.Tree(t, base)
	delete(found, "archive")
	delete(found, "in")
	if err != nil {
		if ladder.CodeOf(err) == "" {
			t.Errorf("nobody's error: %v", err)
		}
		if len(found) > 0 {
			t.Errorf("after %q there is %v", err, found)
		}
		return
	}
	var bytes int64
	files := 0
	for path, text := range found {
		rel, inside := strings.CutPrefix(path, "in/bot")
		if !inside {
			t.Errorf("%q is outside", path)
		}
		if text[0] == '-' {
			files++
			mode, content, _ := strings.Cut(text, " ")
			if bytes += int64(len(content)); mode != "-rw-r--r--" && mode != "-rwxr-xr-x" {
				t.Errorf("%q has the mode %s", path, mode)
			}
		} else if !strings.HasPrefix(text, "drwxr-xr-x") {
			t.Errorf("%q is %s", path, text)
		}
		if len(rel) > small.PathSize+1 || strings.Count(rel, "/") > small.Depth {
			t.Errorf("%q is too long or too deep", path)
		}
	}
	if bytes > small.UnpackedSize || bytes != tree.Bytes || len(found)-1 > small.Files || files != len(tree.Files) {
		t.Errorf("%d files with %d bytes: %+v", len(found)-1, bytes, tree)
	}
}

// addShort adds data to the corpus if they are short enough for the fuzzer.
func addShort(f *testing.F, data []byte) {
	if len(data) < 8<<10 {
		f.Add(data)
	}
}

func FuzzTar(f *testing.F) {
	f.Add(tarOf(testEntry{name: "top/bot.py", body: "x"}, testEntry{name: "top/lib/"}))
	f.Add(tarOf(testEntry{name: "pax_global_header", kind: tar.TypeXGlobalHeader, pax: map[string]string{"comment": "1"}}, testEntry{name: strings.Repeat("é", 40)}))
	f.Add(tarOf(testEntry{name: "l", kind: tar.TypeSymlink, link: "x"}))
	f.Add(append(tarHeader("././@LongLink", tar.TypeGNULongName, 600), make([]byte, 4096)...))
	for _, c := range hostile {
		if c.entries != nil && len(c.entries) < 5 {
			addShort(f, tarOf(c.entries...))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkUnpack(t, data)
		if !bytes.HasPrefix(data, []byte("\x1f\x8b")) {
			checkUnpack(t, gz(data))
		}
	})
}

func FuzzZip(f *testing.F) {
	f.Add(zipOf(testEntry{name: "top/bot.py", body: "x"}, testEntry{name: "top/lib/"}))
	f.Add(overlap())
	f.Add(zip64Lie(5)())
	f.Add(zipRaw(-1, rawEntry{name: "a", body: []byte("x"), size: 10}))
	for _, c := range hostile {
		if c.entries != nil && len(c.entries) < 5 && !c.tarOnly {
			addShort(f, zipOf(c.entries...))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkUnpack(t, data) })
}

// In an archive from a system without execute bits, scripts and programs are executable, and nothing else is.
func TestArchivesWithoutExecuteBits(t *testing.T) {
	bodies := map[string]string{"run": "#!/bin/sh\n", "bot": "\x7fELF", "bot.py": "print()\n", "empty": ""}
	var zipped, tarred bytes.Buffer
	z, tr := zip.NewWriter(&zipped), tar.NewWriter(&tarred)
	for name, body := range bodies {
		w := kit.Get[io.Writer](t)(z.CreateHeader(&zip.FileHeader{Name: name, CreatorVersion: 10 << 8, Method: zip.Deflate}))
		kit.Get[int](t)(w.Write([]byte(body)))
		kit.Must(t, tr.WriteHeader(&tar.Header{Name: name, Mode: 0o666, Size: int64(len(body)), Typeflag: tar.TypeReg}))
		kit.Get[int](t)(tr.Write([]byte(body)))
	}
	kit.Must(t, errors.Join(z.Close(), tr.Close()))
	for kind, archive := range map[string][]byte{"zip": zipped.Bytes(), "tar": tarred.Bytes()} {
		file, into := filepath.Join(t.TempDir(), "archive"), filepath.Join(t.TempDir(), "bot")
		kit.Must(t, os.WriteFile(file, archive, 0o644))
		tree, err := Unpack(file, into, Default)
		if err != nil || len(tree.Files) != len(bodies) {
			t.Fatalf("%s: %+v, %v", kind, tree, err)
		}
		for _, f := range tree.Files {
			mode := kit.Get[os.FileInfo](t)(os.Stat(filepath.Join(into, f.Path))).Mode()
			if want := f.Path == "run" || f.Path == "bot"; f.Exec != want || mode&0o111 != 0 != want {
				t.Errorf("%s: %s is executable: %v, %v, want %v", kind, f.Path, f.Exec, mode, want)
			}
			if data := kit.Get[[]byte](t)(os.ReadFile(filepath.Join(into, f.Path))); string(data) != bodies[f.Path] {
				t.Errorf("%s: %s has %q", kind, f.Path, data)
			}
		}
	}
}
