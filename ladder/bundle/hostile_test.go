package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
)

// hostile has archives that are refused, and words of the error. By default each is tried as .tar.gz and as .zip.
var hostile = []struct {
	name    string
	entries []testEntry   // in both formats
	make    func() []byte // replaces entries
	tarOnly bool
	limits  func(*Limits)
	code    ladder.ErrorCode // empty means Invalid
	words   []string
}{
	// Paths out of the directory.
	{name: "up", entries: []testEntry{{name: "../evil"}}, words: []string{`"../evil"`, `".."`}},
	{name: "up from inside", entries: []testEntry{{name: "a/../../evil"}}, words: []string{`"a/../../evil"`, `".."`}},
	{name: "up and in again", entries: []testEntry{{name: "a/../b"}}, words: []string{`"a/../b"`, `".."`}},
	{name: "directory up", entries: []testEntry{{name: "../"}, {name: "x"}}, words: []string{`"../"`, `".."`}},
	{name: "absolute", entries: []testEntry{{name: "/etc/passwd"}}, words: []string{`"/etc/passwd"`, "absolute"}},
	{name: "absolute, twice", entries: []testEntry{{name: "//evil"}}, words: []string{`"//evil"`, "absolute"}},
	{name: "backslashes", entries: []testEntry{{name: `..\evil`}}, words: []string{`"..\\evil"`, "backslash"}},
	{name: "drive", entries: []testEntry{{name: "C:/evil"}}, words: []string{`"C:/evil"`, "':'"}},
	{name: "drive, relative", entries: []testEntry{{name: "c:evil"}}, words: []string{`"c:evil"`, "':'"}},
	{name: "UNC", entries: []testEntry{{name: `\\host\share\evil`}}, words: []string{"backslash"}},
	{name: "stream of a file", entries: []testEntry{{name: "bot.py:hidden"}}, words: []string{`"bot.py:hidden"`, "':'"}},
	{name: "in junk too", entries: []testEntry{{name: ".git/../../evil"}, {name: "x"}}, words: []string{`".."`}},

	// Names that are not the same everywhere.
	{name: "device name", entries: []testEntry{{name: "nul"}}, words: []string{`"nul"`, "device on Windows"}},
	{name: "device name, extension", entries: []testEntry{{name: "src/CON.txt"}}, words: []string{`"src/CON.txt"`, "device on Windows"}},
	{name: "device directory", entries: []testEntry{{name: "Lpt1/x"}}, words: []string{`"Lpt1/x"`, "device on Windows"}},
	{name: "dot at the end", entries: []testEntry{{name: "bot."}}, words: []string{`"bot."`, "dot or a space"}},
	{name: "space at the end", entries: []testEntry{{name: "bot /x"}}, words: []string{`"bot /x"`, "dot or a space"}},
	{name: "star", entries: []testEntry{{name: "*.py"}}, words: []string{`"*.py"`, "'*'"}},
	{name: "line end", entries: []testEntry{{name: "a\nb"}}, words: []string{`"a\nb"`, "U+000A"}},
	{name: "escape", entries: []testEntry{{name: "a\x1b[2Jb"}}, words: []string{`"a\x1b[2Jb"`, "U+001B"}},
	{name: "delete", entries: []testEntry{{name: "a\x7f"}}, words: []string{"U+007F"}},
	{name: "C1", entries: []testEntry{{name: "a\u0085b"}}, words: []string{"U+0085"}},
	{name: "bidi override", entries: []testEntry{{name: "bot\u202eyp.exe"}}, words: []string{`"bot\u202eyp.exe"`, "U+202E"}},
	{name: "bidi isolate", entries: []testEntry{{name: "a\u2066b"}}, words: []string{"U+2066"}},
	{name: "zero width", entries: []testEntry{{name: "a\u200bb"}}, words: []string{"U+200B"}},
	{name: "byte order mark", entries: []testEntry{{name: "\ufeffbot.py"}}, words: []string{"U+FEFF"}},
	{name: "no UTF-8", entries: []testEntry{{name: "se\xf1al"}}, words: []string{`"se\xf1al"`, "not UTF-8"}},
	{name: "overlong UTF-8", entries: []testEntry{{name: "a\xc0\xafb"}}, words: []string{"not UTF-8"}},
	{name: "surrogate", entries: []testEntry{{name: "a\xed\xa0\x80"}}, words: []string{"not UTF-8"}},
	{name: "NFD", entries: []testEntry{{name: "sen\u0303al"}}, words: []string{`"sen\u0303al"`, "NFC"}},
	{name: "Kelvin", entries: []testEntry{{name: "K"}, {name: "\u212a"}}, words: []string{`"\u212a"`, "NFC"}},

	// Two names of one file.
	{name: "twice", entries: []testEntry{{name: "bot.py", body: "1"}, {name: "bot.py", body: "2"}}, words: []string{`"bot.py"`, "twice"}},
	{name: "twice, dot", entries: []testEntry{{name: "bot.py"}, {name: "./bot.py"}}, words: []string{`"bot.py"`, "twice"}},
	{name: "twice, slashes", entries: []testEntry{{name: "a/b"}, {name: "a//b"}}, words: []string{`"a/b"`, "twice"}},
	{name: "capitals", entries: []testEntry{{name: "Bot.py"}, {name: "bot.py"}}, words: []string{`"Bot.py"`, `"bot.py"`, "capitals"}},
	{name: "capitals of a directory", entries: []testEntry{{name: "Src/a"}, {name: "src/b"}}, words: []string{`"Src"`, `"src"`, "capitals"}},
	{name: "capitals, full", entries: []testEntry{{name: "straße"}, {name: "STRASSE"}}, words: []string{"capitals"}},
	{name: "capitals, long s", entries: []testEntry{{name: "s"}, {name: "\u017f"}}, words: []string{"capitals"}},
	{name: "file and directory", entries: []testEntry{{name: "a"}, {name: "a/b"}}, words: []string{`"a"`, "both a file and a directory"}},
	{name: "directory and file", entries: []testEntry{{name: "a/b"}, {name: "a"}}, words: []string{`"a"`, "both a file and a directory"}},

	// Not files.
	{name: "symlink", entries: []testEntry{{name: "x"}, {name: "evil", kind: tar.TypeSymlink, link: "/etc/passwd"}}, words: []string{`"evil"`, "link to", `"/etc/passwd"`, "copy"}},
	{name: "symlink inside", entries: []testEntry{{name: "x"}, {name: "y", kind: tar.TypeSymlink, link: "x"}}, words: []string{`"y"`, "link to"}},
	{name: "symlink and through it", entries: []testEntry{{name: "d", kind: tar.TypeSymlink, link: "/tmp"}, {name: "d/evil"}}, words: []string{`"d"`, "link to"}},
	{name: "hard link", tarOnly: true, entries: []testEntry{{name: "evil", kind: tar.TypeLink, link: "/etc/shadow"}}, words: []string{`"evil"`, "link to", `"/etc/shadow"`}},
	{name: "character device", entries: []testEntry{{name: "evil", kind: tar.TypeChar}}, words: []string{`"evil"`, "device"}},
	{name: "block device", entries: []testEntry{{name: "evil", kind: tar.TypeBlock}}, words: []string{`"evil"`, "device"}},
	{name: "fifo", entries: []testEntry{{name: "evil", kind: tar.TypeFifo}}, words: []string{`"evil"`, "fifo"}},
	{name: "socket", make: func() []byte { return zipOf(testEntry{name: "evil", kind: 's'}) }, words: []string{`"evil"`, "socket"}},
	{name: "unknown type", make: func() []byte { return gz(append(tarHeader("evil", 'Z', 0), make([]byte, 1024)...)) }, words: []string{`"evil"`, `'Z'`}},
	{name: "contiguous", make: func() []byte { return gz(append(tarHeader("evil", tar.TypeCont, 0), make([]byte, 1024)...)) }, words: []string{`"evil"`, `'7'`}},
	{name: "directory with content", make: func() []byte { return zipRaw(-1, rawEntry{name: "a/", body: []byte("x")}) }, words: []string{`"a/"`, "directory with content"}},

	// Too much.
	{name: "too many", entries: manyEntries(51), code: ladder.TooLarge, words: []string{"more than 50 files"}},
	{name: "too many directories", entries: deepDirs(60), limits: func(l *Limits) { l.Depth = 100; l.PathSize = 1000 }, code: ladder.TooLarge, words: []string{"62 files and directories", "at most 50"}},
	{name: "too deep", entries: []testEntry{{name: "1/2/3/4/5/6"}}, code: ladder.TooLarge, words: []string{`"1/2/3/4/5/6"`, "6 names deep", "at most 5"}},
	{name: "too long", entries: []testEntry{{name: strings.Repeat("x", 101)}}, code: ladder.TooLarge, words: []string{"101 bytes", "at most 100"}},
	{name: "much too long", entries: []testEntry{{name: strings.Repeat("x", 60000)}}, code: ladder.TooLarge, words: []string{"60000 bytes", "more bytes"}},
	{name: "too much", entries: []testEntry{{name: "a", body: noise(100 << 10)}, {name: "b", body: noise(200 << 10)}}, limits: func(l *Limits) { l.UnpackedSize = 256 << 10; l.UploadSize = 1 << 20 }, code: ladder.TooLarge, words: []string{`"b"`, "more than 256 KiB"}},
	{name: "upload too large", entries: []testEntry{{name: "a", body: noise(300 << 10)}}, code: ladder.TooLarge, words: []string{"at most 256 KiB"}},
	{name: "ratio", entries: []testEntry{{name: "zeros", body: strings.Repeat("\x00", 2<<20)}}, code: ladder.TooLarge, words: []string{"50 times"}},
	{name: "a million files", make: tarOfMillion, limits: func(l *Limits) { l.UploadSize = 64 << 20 }, code: ladder.TooLarge, words: []string{"more than 50 files"}},

	// Tar.
	{name: "size of exabytes", make: func() []byte { return gz(tarHeader("big", tar.TypeReg, 1<<62)) }, code: ladder.TooLarge, words: []string{`"big"`, "more than 2 MiB"}},
	{name: "sparse", make: sparse, words: []string{`"holes"`, "sparse"}},
	{name: "sparse, old", make: func() []byte { return gz(append(tarHeader("holes", tar.TypeGNUSparse, 0), make([]byte, 1024)...)) }, words: []string{`"holes"`, "sparse"}},
	{name: "long name of 1 GB", make: func() []byte {
		return gz(append(tarHeader("././@LongLink", tar.TypeGNULongName, 1<<30), make([]byte, 2<<20)...))
	}, limits: func(l *Limits) { l.Ratio = 1 << 40 }, code: ladder.TooLarge, words: []string{"too long"}},
	{name: "attributes of 1 GB", make: func() []byte { return gz(append(tarHeader("x", tar.TypeXHeader, 1<<30), make([]byte, 2<<20)...)) }, limits: func(l *Limits) { l.Ratio = 1 << 40 }, code: ladder.TooLarge, words: []string{"too long"}},
	{name: "attributes without end", make: endlessAttributes, limits: func(l *Limits) { l.Ratio = 1 << 40 }, code: ladder.TooLarge, words: []string{"unpacks to more than 2 MiB"}},
	{name: "global header", tarOnly: true, entries: []testEntry{{name: "g", kind: tar.TypeXGlobalHeader, pax: map[string]string{"path": "evil"}}, {name: "x"}}, words: []string{"global header", `"path"`}},
	{name: "long name of PAX", tarOnly: true, entries: []testEntry{{name: strings.Repeat("é", 2000)}}, code: ladder.TooLarge, words: []string{"4000 bytes"}},
	{name: "two archives", make: func() []byte { return gz(append(tarOf(testEntry{name: "a"}), tarOf(testEntry{name: "b"})...)) }, words: []string{"data follow the end of the archive"}},
	{name: "two members", make: func() []byte { return append(tgz(testEntry{name: "a"}), tgz(testEntry{name: "b"})...) }, words: []string{"data follow the end of the archive"}},
	{name: "bomb after the end", make: bombBehind, code: ladder.TooLarge, words: []string{"50 times"}},
	{name: "bytes after gzip", make: func() []byte { return append(tgz(testEntry{name: "a"}), "xxxxxxxxxx"...) }, words: []string{"data follow the end of the archive"}},
	{name: "a byte after gzip", make: func() []byte { return append(tgz(testEntry{name: "a"}), 'x') }, words: []string{"data follow the end of the archive"}},
	{name: "bytes after tar", make: func() []byte { return append(tarOf(testEntry{name: "a"}), "xxxxxxxxxx"...) }, words: []string{"data follow the end of the archive"}},
	{name: "gzip in gzip", make: func() []byte { return gz(tgz(testEntry{name: "a"})) }, words: []string{"there is a .tar.gz inside of the .tar.gz", "pack the directory once"}},
	{name: "zip in gzip", make: func() []byte { return gz(zipOf(testEntry{name: "a"})) }, words: []string{"there is a .zip inside of the .tar.gz"}},
	{name: "a line in gzip", make: func() []byte { return gz([]byte("hello\n")) }, words: []string{"no .tar"}},
	{name: "sparse by GNU tar", make: func() []byte {
		z, _ := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(gnuSparse)))
		data, _ := io.ReadAll(z)
		return gz(data)
	}, words: []string{`"d/holes"`, "sparse"}},
	{name: "sparse by GNU tar, cut out", make: func() []byte { return gz(append(tarHeader("holes", tar.TypeGNUSparse, 512), make([]byte, 2048)...)) }, words: []string{`"holes"`, "sparse"}},
	{name: "wrong checksum", make: func() []byte { b := tgz(testEntry{name: "a", body: "x"}); b[len(b)-6] ^= 1; return b }, words: []string{"damaged"}},
	{name: "cut off", make: func() []byte { b := tgz(testEntry{name: "a", body: noise(5000)}); return b[:len(b)/2] }, words: []string{"cut off"}},
	{name: "cut off tar", make: func() []byte { return tarOf(testEntry{name: "a", body: noise(5000)})[:3000] }, words: []string{"cut off"}},
	{name: "negative size", make: func() []byte { h := tarHeader("a", tar.TypeReg, 0); copy(h[124:], "-0000000001"); return gz(h) }, words: []string{"damaged"}},
	{name: "zstd bomb", make: func() []byte { return zst(tarOf(testEntry{name: "zeros", body: strings.Repeat("\x00", 2<<20)})) }, code: ladder.TooLarge, words: []string{"50 times"}},
	{name: "no tar in gzip", make: func() []byte { return gz([]byte(strings.Repeat("no tar ", 1000))) }, words: []string{"damaged"}},

	// Zip.
	{name: "size that lies, less", make: func() []byte { return zipRaw(-1, rawEntry{name: "a", body: []byte(noise(1000)), size: 10}) }, words: []string{`"a"`, "more content than the list says"}},
	{name: "size that lies, more", make: func() []byte { return zipRaw(-1, rawEntry{name: "a", body: []byte("x"), size: 1000}) }, words: []string{"cut off"}},
	{name: "zip64 that lies", make: zip64Lie(1 << 63), code: ladder.TooLarge, words: []string{`"a"`, "more than 2 MiB"}},
	{name: "zip64 that overflows", make: zip64Lie(1<<64 - 1), code: ladder.TooLarge, words: []string{`"a"`, "more than 2 MiB"}},
	{name: "zip64, packed size lies", make: func() []byte {
		return zipRaw(-1, rawEntry{name: "a", body: []byte("x"), size: 1<<32 - 1, packed: 1<<32 - 1, zip64: zip64Sizes(1, 1<<63)})
	}, words: []string{`"a"`, "larger than the whole archive"}},
	{name: "same data twice", make: func() []byte {
		zero := 0
		return zipRaw(-1, rawEntry{name: "a", body: []byte(noise(1000))}, rawEntry{name: "b", body: []byte(noise(1000)), at: &zero})
	}, words: []string{`"a"`, `"b"`, "overlap"}},
	{name: "overlap", make: overlap, words: []string{"overlap"}},
	{name: "list of a million", make: zipOfMillion, limits: func(l *Limits) { l.UploadSize = 64 << 20 }, code: ladder.TooLarge, words: []string{"more than 50 files"}},
	{name: "list of few that has many", make: func() []byte { return zipRaw(1, make([]rawEntry, 10_000)...) }, limits: func(l *Limits) { l.UploadSize = 64 << 20 }, code: ladder.TooLarge, words: []string{"more than 50 files"}},
	{name: "list of many that has few", make: func() []byte { return zipRaw(40, rawEntry{name: "a"}) }, words: []string{"cut off"}},
	{name: "encrypted", make: func() []byte { return zipRaw(-1, rawEntry{name: "a", body: []byte("x"), flags: 1}) }, words: []string{`"a"`, "encrypted"}},
	{name: "unknown method", make: func() []byte { return zipRaw(-1, rawEntry{name: "a", body: []byte("x"), method: 12}) }, words: []string{`"a"`, "method 12"}},
	{name: "wrong content", make: func() []byte { return zipRaw(-1, rawEntry{name: "a", body: []byte("x"), crc: 7}) }, words: []string{`"a"`, "checksum"}},
	{name: "checksum of 0", make: func() []byte {
		b := zipOf(testEntry{name: "a", body: "x"})
		for _, at := range []int{bytes.Index(b, []byte("PK\x01\x02")) + 16, bytes.Index(b, []byte("PK\x07\x08")) + 4} {
			copy(b[at:], "\x00\x00\x00\x00")
		}
		return b
	}, words: []string{`"a"`, "checksum"}},
	{name: "bytes after zip", make: func() []byte { return append(zipOf(testEntry{name: "a"}), 'x') }, words: []string{"data follow the end of the archive"}},
	{name: "cut off zip", make: func() []byte { b := zipOf(testEntry{name: "a", body: noise(5000)}); return b[:len(b)/2] }, words: []string{"damaged"}},
	{name: "header elsewhere", make: func() []byte { n := 1 << 30; return zipRaw(-1, rawEntry{name: "a"}, rawEntry{name: "b", at: &n}) }, words: []string{"archive"}},

	// Not archives.
	{name: "nothing", make: func() []byte { return nil }, words: []string{"empty"}},
	{name: "no files", entries: []testEntry{{name: "a/"}}, words: []string{"no files"}},
	{name: "only junk", entries: []testEntry{{name: ".git/config"}}, words: []string{"no files"}},
	{name: "no files at all", entries: []testEntry{}, words: []string{"no files"}},
	{name: "text", make: func() []byte { return []byte("print('hello')\n") }, words: []string{"archive is unknown", ".zip, .tar.gz"}},
	{name: "7z", make: func() []byte { return []byte("7z\xbc\xaf\x27\x1c") }, words: []string{`"7z"`, ".zip, .tar.gz"}},
	{name: "program", make: func() []byte { return []byte("\x7fELF\x02\x01") }, words: []string{"Linux program"}},
	{name: "self-extracting", make: func() []byte { return append([]byte("#!/bin/sh\n"), zipOf(testEntry{name: "a"})...) }, words: []string{"archive is unknown"}},
}

// noise returns n bytes that cannot be compressed, and are always the same.
func noise(n int) string {
	b, x := make([]byte, n), uint64(1)
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x >> 32)
	}
	return string(b)
}

func deepDirs(n int) []testEntry {
	return []testEntry{{name: strings.Repeat("d/", n) + "x"}, {name: "y"}}
}

func sparse() []byte {
	records := func(pairs ...string) (s string) {
		for i := 0; i < len(pairs); i += 2 {
			body := " " + pairs[i] + "=" + pairs[i+1] + "\n"
			s += fmt.Sprintf("%d%s", len(body)+2, body)
		}
		return s
	}
	pax := records("GNU.sparse.major", "1", "GNU.sparse.minor", "0", "GNU.sparse.name", "holes", "GNU.sparse.realsize", "999999999999")
	b := append(tarHeader("x", tar.TypeXHeader, int64(len(pax))), pax...)
	b = append(b, make([]byte, 512-len(pax))...)
	b = append(b, tarHeader("holes", tar.TypeReg, 512)...)
	b = append(b, append([]byte("0\n"), make([]byte, 510)...)...)
	return gz(append(b, make([]byte, 1024)...))
}

func endlessAttributes() []byte {
	var b bytes.Buffer
	for range 50 {
		b.Write(tarHeader("x", tar.TypeXHeader, 64<<10))
		b.Write(bytes.Repeat(append(append([]byte("512 comment="), bytes.Repeat([]byte("x"), 512-13)...), '\n'), 128))
	}
	return gz(b.Bytes())
}

func bombBehind() []byte { return gz(append(tarOf(testEntry{name: "a"}), make([]byte, 3<<20)...)) }

func zip64Lie(size uint64) func() []byte {
	return func() []byte {
		return zipRaw(-1, rawEntry{name: "a", body: []byte("x"), size: 1<<32 - 1, packed: 1<<32 - 1, zip64: zip64Sizes(size, 1)})
	}
}

// overlap returns an archive with a second file inside the first one.
func overlap() []byte {
	inner := zipRaw(-1, rawEntry{name: "b", body: []byte(noise(500))})
	at := 30 + len("a")
	return zipRaw(-1, rawEntry{name: "a", body: inner}, rawEntry{name: "b", body: []byte(noise(500)), at: &at})
}

// gnuSparse is the output of tar --format=gnu --sparse -cz for a file with a hole.
const gnuSparse = "H4sIAAAAAAAAA+3TSwrCMBCA4Vl7itygyTSPg3gCoYILIdBW8PimRZCq1EUJRfi/zYSZwCQZ0jVSnS1SCHMs3uO8dqG1Nnh1mko+pRTFhPpHE7kN46k3Rvqcx7V9v+p/qmsu+XoeqvaYBhy9X5m/LufvorZWzLHqqZ52n/90f//lRV55XfyUDQ30s3g/bL8BAAAAAAAAAAAAAAAAgH08ALYMDDIAKAAA"

func TestHostileArchives(t *testing.T) {
	if len(hostile) < 40 {
		t.Errorf("there are %d", len(hostile))
	}
	for _, c := range hostile {
		archives := map[string][]byte{"": nil}
		switch {
		case c.make != nil:
			archives[""] = c.make()
		case c.tarOnly:
			archives[""] = tgz(c.entries...)
		default:
			archives = map[string][]byte{"tar.gz": tgz(c.entries...), "zip": zipOf(c.entries...)}
		}
		l := small
		if c.limits != nil {
			c.limits(&l)
		}
		if c.code == "" {
			c.code = ladder.Invalid
		}
		for kind, data := range archives {
			t.Run(strings.TrimSuffix(c.name+" "+kind, " "), func(t *testing.T) {
				refusesArchive(t, data, l, c.code, c.words)
			})
		}
	}
}

// An error of the disk is never reported as one of the archive, wherever it occurs.
func TestReadErrors(t *testing.T) {
	whole := tgz(testEntry{name: "bot.py", body: noise(5000)})
	for _, n := range []int{0, 5, 300, len(whole) - 1, len(whole)} {
		disk := &fs.PathError{Op: "read", Path: "x", Err: errors.New("the disk fails")}
		in := io.MultiReader(bytes.NewReader(whole[:n]), iotest.ErrReader(disk))
		r := &reader{limits: small, size: int64(len(whole))}
		err := r.visitTar(in, gzFormat, func(_ entry, content io.Reader) error {
			_, err := io.Copy(io.Discard, content)
			return err
		})
		if !errors.Is(err, disk) {
			t.Errorf("after %d of %d bytes: %v", n, len(whole), err)
		}
	}
}

// refusesArchive checks that an archive gives an error with the code and the words, and leaves no files.
func refusesArchive(t *testing.T, data []byte, l Limits, code ladder.ErrorCode, words []string) {
	t.Helper()
	file, into := writeArchive(t, data)
	kit.Must(t, os.Mkdir(filepath.Dir(into), 0o755))
	before := kit.Tree(t, filepath.Dir(file))
	tree, err := Unpack(file, into, l)
	var e *ladder.Error
	if !errors.As(err, &e) {
		t.Fatalf("it is not refused: %v, %+v", err, tree)
	}
	if e.Code != code || e.Hint.IsZero() {
		t.Errorf("%q has the code %s and the hint %q, want %s", err, e.Code, e.Hint, code)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q says nothing of %s", err, w)
		}
	}
	if len(err.Error()) > 500 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
	for path, text := range kit.Tree(t, filepath.Dir(file)) {
		if before[path] != text {
			t.Errorf("%s is left behind", path)
		}
	}
}
