package bundle

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/timba-arena/timba/ladder"
)

// format is a kind of archive, known by its content: names of files say nothing.
type format string

const (
	zipFormat format = "zip"
	gzFormat  format = "tar.gz"
	zstFormat format = "tar.zst"
	tarFormat format = "tar"
)

// useFormats is what to try with what is no such archive.
const useFormats = "send a .zip, .tar.gz, .tar.zst or .tar of the bot's folder; timba submit DIR makes one"

// headSize is how much of an archive tells its format.
const headSize = 512

// formatOf finds out an archive's format by its first bytes.
func formatOf(head []byte) (format, error) {
	begins := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	switch {
	case len(head) == 0:
		return "", invalid(useFormats, "it is empty")
	case begins("PK\x03\x04"), begins("PK\x05\x06"):
		return zipFormat, nil
	case begins("\x1f\x8b"):
		return gzFormat, nil
	case begins("\x28\xb5\x2f\xfd"):
		return zstFormat, nil
	case len(head) >= 262 && string(head[257:262]) == "ustar":
		return tarFormat, nil
	}
	for magic, name := range map[string]string{
		"7z\xbc\xaf": "7z", "Rar!": "rar", "\xfd7zXZ": "xz", "BZh": "bzip2", "\x04\x22\x4d\x18": "lz4", "!<arch>": "ar", "MZ": "Windows program", "\x7fELF": "Linux program",
	} {
		if begins(magic) {
			return "", invalid(useFormats, "its content is that of the kind %q", name)
		}
	}
	return "", invalid(useFormats, "its content, which begins %s, is of no kind that is known", quote(string(head[:min(len(head), 8)])))
}

// entry is a file or folder of an archive that may be unpacked.
type entry struct {
	path string
	dir  bool
	exec bool
	size int64
}

// reader goes through an archive once, and refuses it at the first entry that is
// not as it should be.
type reader struct {
	limits Limits
	size   int64 // of the archive
	count  int
	bytes  int64
	paths  paths
	left   []string
}

// visit is called with each entry that is part of the bot, and its content of
// exactly entry.size bytes.
type visit func(e entry, content io.Reader) error

// each goes through all entries of an archive.
func (r *reader) each(f *os.File, v visit) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	r.size = info.Size()
	if r.size > r.limits.Upload {
		return tooLarge(makeSmaller, "it has %s: at most %s are allowed", Size(r.size), Size(r.limits.Upload))
	}
	head := make([]byte, headSize)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	kind, err := formatOf(head[:n])
	if err != nil {
		return err
	}
	if kind == zipFormat {
		return damaged(r.zip(f, v))
	}
	return damaged(r.tarball(io.NewSectionReader(f, 0, r.size), kind, v))
}

// damaged makes an error for the author of what the readers of archives say.
func damaged(err error) error {
	var ours *fs.PathError
	switch {
	case err == nil || ladder.CodeOf(err) != "" || errors.As(err, &ours):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF:
		return invalid("send it again", "it is cut off")
	}
	return invalid("pack it again", "it is damaged: %w", err)
}

// tarball goes through a tar archive that may be compressed.
func (r *reader) tarball(file io.Reader, kind format, v visit) error {
	file = bufio.NewReaderSize(file, 64<<10)
	switch kind {
	case gzFormat:
		z, err := gzip.NewReader(file)
		if err != nil {
			return err
		}
		defer z.Close()
		file = z
	case zstFormat:
		z, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(32<<20), zstd.WithDecoderLowmem(true))
		if err != nil {
			return err
		}
		defer z.Close()
		file = z
	}
	stream := &stream{in: file, reader: r}
	t := tar.NewReader(stream)
	for {
		h, err := t.Next()
		if err == io.EOF {
			return stream.rest()
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			if errors.Is(err, tar.ErrFieldTooLong) {
				return tooLarge("use shorter names", "a header after %d files has a field that is too long", r.count)
			}
			return err
		}
		e, skip, err := r.tarEntry(h)
		if err != nil {
			return err
		}
		if skip {
			continue
		}
		if err := v(e, t); err != nil {
			return err
		}
	}
}

// tarEntry checks a header.
func (r *reader) tarEntry(h *tar.Header) (e entry, skip bool, err error) {
	if h.Typeflag == tar.TypeXGlobalHeader {
		for key := range h.PAXRecords {
			if key != "comment" { // git's: the commit
				return e, false, invalid("pack it with tar or timba submit", "a global header sets %s for all files", quote(key))
			}
		}
		return e, true, nil
	}
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			h.Typeflag = tar.TypeGNUSparse
		}
	}
	if h.Typeflag == tar.TypeGNUSparse { // its size is that with the holes
		return e, false, invalid("pack it without --sparse", "%s is a sparse file", quote(h.Name))
	}
	dir := h.Typeflag == tar.TypeDir
	e, skip, err = r.admit(h.Name, dir, h.Size)
	if err != nil || skip {
		return e, skip, err
	}
	e.exec = h.Mode&0o111 != 0
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeDir:
		return e, false, r.paths.add(e.path, dir)
	case tar.TypeSymlink, tar.TypeLink:
		return e, false, isLink(h.Name, h.Linkname)
	case tar.TypeChar, tar.TypeBlock:
		return e, false, isNoFile(h.Name, "device")
	case tar.TypeFifo:
		return e, false, isNoFile(h.Name, "fifo")
	}
	return e, false, invalid("pack it again without it", "%s is of the kind %q, neither file nor folder", quote(h.Name), h.Typeflag)
}

func isLink(name, target string) error {
	return invalid("put a copy of what it leads to in its place (tar -h and cp -L do), or leave it out", "%s is a link to %s", quote(name), quote(target))
}

func isNoFile(name, kind string) error {
	return invalid("leave it out", "%s is a %s, neither file nor folder", quote(name), kind)
}

// admit counts an entry and checks its name and size. What is never part of a bot
// is skipped.
func (r *reader) admit(name string, dir bool, size int64) (e entry, skip bool, err error) {
	if r.count++; r.count > r.limits.Files {
		return e, false, tooLarge("leave out what the bot does not need, such as .git, caches and build outputs",
			"it has more than %d files and folders, %s among them", r.limits.Files, quote(name))
	}
	p, err := r.limits.clean(name)
	if err != nil {
		return e, false, err
	}
	if size < 0 || size > r.limits.Unpacked-r.bytes {
		return e, false, tooLarge(makeSmaller, "with %s its files have more than %s unpacked", quote(name), Size(r.limits.Unpacked))
	}
	r.bytes += size
	if p == "." {
		if dir {
			return e, true, nil
		}
		return e, false, invalid("pack it again from the folder", "the file %s has no name", quote(name))
	}
	if junk(p, dir) {
		r.left = append(r.left, p)
		return e, true, nil
	}
	return entry{path: p, dir: dir, size: size}, false, nil
}

const makeSmaller = "leave out what the bot does not need when it plays"

// stream is an unpacked tar archive, headers and all, of which there may be so
// much and no more.
type stream struct {
	in     io.Reader
	reader *reader
	n      int64
}

// perEntry is how much of a tar archive may come with a file beside its content:
// its header, one of attributes, one of a long name, and padding.
const perEntry = 8 << 10

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.in.Read(p)
	s.n += int64(n)
	l := s.reader.limits
	if s.n > l.Unpacked+perEntry*int64(l.Files+2) {
		return 0, tooLarge(makeSmaller, "more than %s come out of it", Size(l.Unpacked))
	}
	if err := s.reader.ratio(s.n); err != nil {
		return 0, err
	}
	return n, err
}

// ratio refuses what unpacks to very much more than it is.
func (r *reader) ratio(unpacked int64) error {
	if unpacked > RatioFree && unpacked/r.limits.Ratio > r.size {
		return tooLarge("leave out files of the same byte over and over; the bot can make them when it is built",
			"%s make more than %d times as many bytes unpacked", Size(r.size), r.limits.Ratio)
	}
	return nil
}

// rest reads what follows the archive's end, so that its checksum is looked at:
// zeros, or there is a second archive that nobody would unpack.
func (s *stream) rest() error {
	buf := make([]byte, 32<<10)
	for {
		n, err := s.Read(buf)
		for _, b := range buf[:n] {
			if b != 0 {
				return invalid("pack everything into one archive", "something follows after its end")
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
