package bundle

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/timba-arena/timba/internal/kit"
)

// small has limits that tests can exceed quickly.
var small = Limits{UploadSize: 256 << 10, UnpackedSize: 2 << 20, Files: 50, Depth: 5, PathSize: 100, Ratio: 50}

// testEntry is an entry of an archive: a file, unless kind or name say otherwise.
type testEntry struct {
	name, body string
	kind       byte // type flag of tar; the same letters for zip
	link       string
	mode       int64
	pax        map[string]string
}

// tarOf returns a tar archive, which may have invalid entries.
func tarOf(entries ...testEntry) []byte {
	var out bytes.Buffer
	t := tar.NewWriter(&out)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Size: int64(len(e.body)), Mode: e.mode, Linkname: e.link, PAXRecords: e.pax}
		if e.mode == 0 {
			h.Mode = 0o644
		}
		switch {
		case e.kind == 0 && strings.HasSuffix(e.name, "/"):
			h.Typeflag = tar.TypeDir
		case e.kind == 0:
			h.Typeflag = tar.TypeReg
		case e.kind == tar.TypeXGlobalHeader:
			h = &tar.Header{Name: e.name, Typeflag: e.kind, PAXRecords: e.pax}
		}
		if err := t.WriteHeader(h); err != nil {
			panic(err)
		}
		io.WriteString(t, e.body)
	}
	if err := t.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func gz(data []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(data)
	z.Close()
	return out.Bytes()
}

func zst(data []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return w.EncodeAll(data, nil)
}

func tgz(entries ...testEntry) []byte { return gz(tarOf(entries...)) }

// zipOf returns a zip archive, which may have invalid entries.
func zipOf(entries ...testEntry) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		mode := fs.FileMode(0o644)
		if e.mode != 0 {
			mode = fs.FileMode(e.mode)
		}
		switch e.kind {
		case tar.TypeSymlink:
			mode, e.body = mode|fs.ModeSymlink, e.link
		case tar.TypeChar:
			mode |= fs.ModeDevice | fs.ModeCharDevice
		case tar.TypeBlock:
			mode |= fs.ModeDevice
		case tar.TypeFifo:
			mode |= fs.ModeNamedPipe
		case 's':
			mode |= fs.ModeSocket
		}
		h.SetMode(mode)
		w, err := z.CreateHeader(h)
		if err != nil {
			panic(err)
		}
		io.WriteString(w, e.body)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// rawEntry is an entry of a zip archive whose header may be false. body is the stored content.
type rawEntry struct {
	name          string
	body          []byte
	method, flags uint16
	packed, size  uint32 // sizes in the header; 0 means the true sizes
	at            *int   // offset of the header that the list names; nil means the entry's own
	zip64         []byte // extra field
	crc           uint32
}

// zipRaw returns a zip archive, written byte by byte. count is the number of files in the end record; -1
// means the true number.
func zipRaw(count int, files ...rawEntry) []byte {
	var out bytes.Buffer
	le := binary.LittleEndian
	var list bytes.Buffer
	for _, f := range files {
		if f.packed == 0 {
			f.packed = uint32(len(f.body))
		}
		if f.size == 0 {
			f.size = uint32(len(f.body))
		}
		if f.crc == 0 {
			f.crc = crc32.ChecksumIEEE(f.body)
		}
		at := out.Len()
		if f.at == nil {
			h := make([]byte, 30)
			copy(h, "PK\x03\x04")
			le.PutUint16(h[6:], f.flags)
			le.PutUint16(h[8:], f.method)
			le.PutUint32(h[14:], f.crc)
			le.PutUint32(h[18:], f.packed)
			le.PutUint32(h[22:], f.size)
			le.PutUint16(h[26:], uint16(len(f.name)))
			out.Write(h)
			out.WriteString(f.name)
			out.Write(f.body)
		} else {
			at = *f.at
		}
		h := make([]byte, 46)
		copy(h, "PK\x01\x02")
		le.PutUint16(h[4:], 3<<8|20) // Unix
		le.PutUint16(h[8:], f.flags)
		le.PutUint16(h[10:], f.method)
		le.PutUint32(h[16:], f.crc)
		le.PutUint32(h[20:], f.packed)
		le.PutUint32(h[24:], f.size)
		le.PutUint16(h[28:], uint16(len(f.name)))
		le.PutUint16(h[30:], uint16(len(f.zip64)))
		le.PutUint32(h[38:], 0o100644<<16)
		le.PutUint32(h[42:], uint32(at))
		list.Write(h)
		list.WriteString(f.name)
		list.Write(f.zip64)
	}
	if count < 0 {
		count = len(files)
	}
	end := make([]byte, 22)
	copy(end, "PK\x05\x06")
	le.PutUint16(end[8:], uint16(count))
	le.PutUint16(end[10:], uint16(count))
	le.PutUint32(end[12:], uint32(list.Len()))
	le.PutUint32(end[16:], uint32(out.Len()))
	out.Write(list.Bytes())
	out.Write(end)
	return out.Bytes()
}

// zip64Sizes returns the extra field for sizes above 4 GiB.
func zip64Sizes(size, packed uint64) []byte {
	b := binary.LittleEndian.AppendUint16(nil, 1)
	b = binary.LittleEndian.AppendUint16(b, 16)
	b = binary.LittleEndian.AppendUint64(b, size)
	return binary.LittleEndian.AppendUint64(b, packed)
}

// tarHeader returns a header with any type and size, which tar.Writer would not write.
func tarHeader(name string, kind byte, size int64) []byte {
	h := make([]byte, 512)
	copy(h, name)
	copy(h[100:], "0000644\x00")
	if size < 1<<33 {
		copy(h[124:], fmt.Sprintf("%011o\x00", size))
	} else { // base 256
		binary.BigEndian.PutUint64(h[128:], uint64(size))
		h[124] = 0x80
	}
	copy(h[136:], "00000000000\x00")
	h[156] = kind
	copy(h[257:], "ustar  \x00")
	copy(h[148:], "        ")
	sum := 0
	for _, b := range h {
		sum += int(b)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
	return h
}

// manyEntries returns n short files.
func manyEntries(n int) (entries []testEntry) {
	for i := range n {
		entries = append(entries, testEntry{name: fmt.Sprintf("f%d", i)})
	}
	return entries
}

// tarOfMillion returns a compressed tar archive of a million empty files: many gzip members with the same
// thousand files.
func tarOfMillion() []byte {
	var block []byte
	for i := range 1000 {
		block = append(block, tarHeader(fmt.Sprintf("f%d", i), tar.TypeReg, 0)...)
	}
	return append(bytes.Repeat(gz(block), 1000), gz(make([]byte, 1024))...)
}

// zipOfMillion returns a zip archive that lists a million files. Its end record can count at most 65,535.
func zipOfMillion() []byte {
	one := zipRaw(1_000_000&0xffff, rawEntry{name: "a"})
	list, end := len(one)-22-46-1, len(one)-22
	out := append(append([]byte{}, one[:list]...), bytes.Repeat(one[list:end], 1_000_000)...)
	out = append(out, one[end:]...)
	binary.LittleEndian.PutUint32(out[len(out)-10:], 1_000_000*47)
	return out
}

// writeArchive writes an archive into a new directory, and returns its path and a path to unpack it into.
func writeArchive(t testing.TB, data []byte) (file, into string) {
	t.Helper()
	dir := t.TempDir()
	file = filepath.Join(dir, "archive")
	kit.Must(t, os.WriteFile(file, data, 0o644))
	return file, filepath.Join(dir, "in", "bot")
}
