package bundle

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/ladder"
)

// format is an archive format. It is recognized by the content of the archive, not by its name.
type format string

const (
	zipFormat format = "zip"
	gzFormat  format = "tar.gz"
	zstFormat format = "tar.zst"
	tarFormat format = "tar"
)

// useFormats is the hint for a file that is not an archive in one of the supported formats.
const useFormats = "send a .zip, .tar.gz, .tar.zst or .tar of the bot's directory; timba submit DIR makes one"

// formatOf returns the format of the archive whose first bytes are head. If the format is known but not supported,
// the error names it.
func formatOf(head []byte) (format, error) {
	switch kind := format(trees.FormatOf(head)); {
	case len(head) == 0:
		return "", invalid(useFormats, "the archive is empty")
	case slices.Contains([]format{zipFormat, gzFormat, zstFormat, tarFormat}, kind):
		return kind, nil
	case kind != "":
		return "", invalid(useFormats, "the format of the archive is %q", kind)
	}
	return "", invalid(useFormats, "the format of the archive is unknown: it begins with %s", quote(string(head[:min(len(head), 8)])))
}

func formatIn(f io.ReaderAt) (format, error) {
	head := make([]byte, trees.HeadSize)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return "", err
	}
	return formatOf(head[:n])
}

// Suffix returns the file name suffix for the format of the archive f, such as ".zip".
func Suffix(f io.ReaderAt) (string, error) {
	kind, err := formatIn(f)
	return "." + string(kind), err
}

// Head returns the first trees.HeadSize bytes of the upload r, or fewer if r is shorter. Afterwards the caller must
// read from content instead of r; it yields the whole upload, including these bytes. Head returns an error if it
// cannot read the first bytes.
func Head(r io.Reader) (head []byte, content io.Reader, err error) {
	in := bufio.NewReaderSize(r, trees.HeadSize)
	if head, err = in.Peek(trees.HeadSize); err != nil && err != io.EOF {
		return head, in, CutOff(err) // return it here, because in would not return it again
	}
	return head, in, nil
}

// entry is a valid file or directory of an archive.
type entry struct {
	path string
	dir  bool
	exec bool
	// guessExec means that the archive comes from a system without execute bits. The content of the file then decides
	// whether it is executable.
	guessExec bool
	size      int64 // of the unpacked content, in bytes
}

// reader reads the entries of an archive once and checks them. It stops with an error at the first invalid one.
type reader struct {
	limits       Limits
	size         int64 // of the archive
	count        int   // number of entries so far
	bytes        int64 // unpacked bytes of the entries so far
	paths        paths
	skippedPaths []string // paths that are not part of the bot
}

// visitor is a function that is called with each entry of an archive that is part of the bot. content has exactly
// e.size bytes; it is nil for a directory in a zip archive.
type visitor func(e entry, content io.Reader) error

// visit calls v with e and its content. If e.guessExec is set for a file, visit first sets e.exec: it is true if the
// content is that of a program (see isProgram).
func (v visitor) visit(e entry, content io.Reader) error {
	if !e.guessExec || e.dir {
		return v(e, content)
	}
	start := bufio.NewReader(content)
	head, _ := start.Peek(trees.HeadSize) // v gets the error, too
	e.exec = isProgram(head)
	return v(e, start)
}

// visitAll calls v for each entry of the archive f that is part of the bot.
func (r *reader) visitAll(f *os.File, v visitor) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	r.size = info.Size()
	if r.size > r.limits.UploadSize {
		return tooLarge(makeSmaller, "the archive has %s: at most %s are allowed", FormatSize(r.size), FormatSize(r.limits.UploadSize))
	}
	kind, err := formatIn(f)
	if err != nil {
		return err
	}
	if kind == zipFormat {
		return damageError(r.visitZip(f, v))
	}
	return damageError(r.visitTar(io.NewSectionReader(f, 0, r.size), kind, v))
}

// damageError turns an error of an archive library into an error with advice for the sender. It returns other errors
// unchanged.
func damageError(err error) error {
	switch {
	case err == nil || ladder.CodeOf(err) != "" || errors.As(err, new(*fs.PathError)):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF:
		return invalid("send it again", "the archive is cut off")
	}
	return invalid("pack it again", "the archive is damaged: %w", err)
}

// visitTar calls v for each entry of a tar archive, except for metadata and other entries that are not part of
// the bot. kind is the compression of the archive.
func (r *reader) visitTar(archive io.Reader, kind format, v visitor) error {
	file := bufio.NewReaderSize(archive, 64<<10)
	switch kind {
	case gzFormat:
		z, err := newGzipMembers(file)
		if err != nil {
			return err
		}
		defer z.Close()
		file = bufio.NewReaderSize(z, 64<<10)
	case zstFormat:
		z, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(32<<20), zstd.WithDecoderLowmem(true))
		if err != nil {
			return err
		}
		defer z.Close()
		file = bufio.NewReaderSize(z, 64<<10)
	}
	if kind != tarFormat {
		head, err := file.Peek(trees.HeadSize)
		if inner, unknown := formatOf(head); unknown == nil && inner != tarFormat {
			return invalid("pack the directory once: timba submit DIR does", "there is a .%s inside of the .%s", inner, kind)
		}
		if err == io.EOF { // every tar archive is longer than trees.HeadSize
			return invalid(useFormats, "what is compressed in the archive is no .tar")
		}
		if err != nil {
			return err
		}
	}
	stream := &stream{source: file, reader: r}
	t := tar.NewReader(stream)
	for {
		h, err := t.Next()
		if err == io.EOF {
			return stream.readRest()
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			if errors.Is(err, tar.ErrFieldTooLong) {
				return tooLarge("use shorter names", "a header after %d files has a field that is too long", r.count)
			}
			return err
		}
		e, skip, err := r.checkTarEntry(h)
		if err != nil {
			return err
		}
		if skip {
			continue
		}
		if err := v.visit(e, t); err != nil {
			return err
		}
	}
}

// checkTarEntry checks the tar entry with the header h. If the entry is not part of the bot, skip is true.
func (r *reader) checkTarEntry(h *tar.Header) (e entry, skip bool, err error) {
	if h.Typeflag == tar.TypeXGlobalHeader {
		for key := range h.PAXRecords {
			if key != "comment" { // git stores the commit there
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
	if h.Typeflag == tar.TypeGNUSparse { // its size includes the holes
		return e, false, invalid("pack it without --sparse", "%s is a sparse file", quote(h.Name))
	}
	dir := h.Typeflag == tar.TypeDir
	e, skip, err = r.admit(h.Name, dir, h.Size)
	if err != nil || skip {
		return e, skip, err
	}
	e.exec = h.Mode&0o111 != 0
	e.guessExec = h.Mode&0o777 == 0o666 // programs of Windows write this mode for all files
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeDir:
		return e, false, r.paths.add(e.path, dir)
	case tar.TypeSymlink, tar.TypeLink:
		return e, false, linkError(h.Name, h.Linkname)
	case tar.TypeChar, tar.TypeBlock:
		return e, false, notFileError(h.Name, "device")
	case tar.TypeFifo:
		return e, false, notFileError(h.Name, "fifo")
	}
	return e, false, invalid("pack it again without it", "%s has the type %q: it is not a file or directory", quote(h.Name), h.Typeflag)
}

func linkError(name, target string) error {
	return invalid("replace it with a copy of its target (tar -h and cp -L do that), or leave it out", "%s is a link to %s", quote(name), quote(target))
}

func notFileError(name, kind string) error {
	return invalid("leave it out", "%s is a %s, not a file or directory", quote(name), kind)
}

// admit checks the name and the unpacked size of the next entry of an archive, and counts the entry. dir is true for
// a directory. skip is true if the entry is not part of the bot: junk, or the bot's directory itself.
func (r *reader) admit(name string, dir bool, size int64) (e entry, skip bool, err error) {
	if r.count++; r.count > r.limits.Files {
		return e, false, tooLarge("leave out what the bot does not need, such as .git, caches and build outputs",
			"it has more than %d files and directories, %s among them", r.limits.Files, quote(name))
	}
	p, err := r.limits.cleanName(name)
	if err != nil {
		return e, false, err
	}
	if size < 0 || size > r.limits.UnpackedSize-r.bytes {
		return e, false, tooLarge(makeSmaller, "with %s, the files of the archive take more than %s unpacked", quote(name), FormatSize(r.limits.UnpackedSize))
	}
	r.bytes += size
	if p == "." {
		if dir {
			return e, true, nil
		}
		return e, false, invalid("pack it again from the directory", "the file %s has no name", quote(name))
	}
	if isJunk(p, dir) {
		r.skippedPaths = append(r.skippedPaths, p)
		return e, true, nil
	}
	return entry{path: p, dir: dir, size: size}, false, nil
}

const makeSmaller = "leave out what the bot does not need when it plays"

// stream reads an uncompressed tar archive, including its headers. If there are more bytes than the limits allow,
// reading fails.
type stream struct {
	source io.Reader
	reader *reader
	n      int64
}

// perEntry is the largest number of bytes that a tar archive may need for a file in addition to the file's content:
// its header, a header for attributes, one for a long name, and padding.
const perEntry = 8 << 10

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.source.Read(p)
	s.n += int64(n)
	l := s.reader.limits
	if s.n > l.UnpackedSize+perEntry*int64(l.Files+2) {
		return 0, tooLarge(makeSmaller, "the archive unpacks to more than %s", FormatSize(l.UnpackedSize))
	}
	if err := s.reader.checkRatio(s.n); err != nil {
		return 0, err
	}
	return n, err
}

// checkRatio returns an error if the unpacked size is too large in proportion to the size of the archive. unpacked is
// the number of bytes unpacked so far.
func (r *reader) checkRatio(unpacked int64) error {
	if unpacked > RatioFree && unpacked/r.limits.Ratio > r.size {
		return tooLarge("leave out files that repeat the same bytes; the bot can make them when it is built",
			"%s unpack to more than %d times as many bytes", FormatSize(r.size), r.limits.Ratio)
	}
	return nil
}

// errTrailingData is the error for a file with data after the end of its archive.
var errTrailingData = invalid("pack everything into one archive", "data follow the end of the archive")

// gzipMembers reads a gzip file, which may consist of several compressed streams (members). If other data follow,
// Read returns an error.
type gzipMembers struct {
	source *bufio.Reader
	*gzip.Reader
}

func newGzipMembers(in *bufio.Reader) (*gzipMembers, error) {
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &gzipMembers{in, z}, nil
}

func (m *gzipMembers) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if err != io.EOF {
		return n, err
	}
	next, err := m.source.Peek(2)
	if err == io.EOF && len(next) == 0 {
		return n, io.EOF
	}
	if err != nil && err != io.EOF {
		return n, err
	}
	if string(next) != "\x1f\x8b" {
		return n, errTrailingData
	}
	if err := m.Reset(m.source); err != nil {
		return n, err
	}
	m.Multistream(false)
	return n, nil
}

// readRest reads to the end of the stream, so that its checksum is verified. It returns an error if anything
// but zeros follows the end of the archive, because a second archive would not be unpacked.
func (s *stream) readRest() error {
	buf := make([]byte, 32<<10)
	for {
		n, err := s.Read(buf)
		for _, b := range buf[:n] {
			if b != 0 {
				return errTrailingData
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
