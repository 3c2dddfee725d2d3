package bundle

import (
	"archive/zip"
	"cmp"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"slices"
)

// visitZip calls v for each entry of a zip archive that is part of the bot.
func (r *reader) visitZip(f *os.File, v visitor) error {
	z, err := r.readZipList(f)
	if err != nil {
		return err
	}
	if len(z.File) > r.limits.Files {
		return r.tooManyError()
	}
	files := make([]*zip.File, 0, len(z.File))
	entries := make([]entry, 0, len(z.File))
	for _, file := range z.File {
		e, skip, err := r.checkZipEntry(file)
		if err != nil {
			return err
		}
		if !skip {
			files, entries = append(files, file), append(entries, e)
		}
	}
	if err := r.checkRatio(r.bytes); err != nil {
		return err
	}
	if err := r.checkOverlap(z.File); err != nil {
		return err
	}
	for i, file := range files {
		if err := visitZipContent(file, entries[i], v); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) tooManyError() error {
	return tooLarge("leave out what the bot does not need, such as .git, caches and build outputs",
		"it lists more than %d files and directories", r.limits.Files)
}

// readZipList reads the list of files at the end of the archive (the central directory). It limits how much it
// reads, because the list is held in memory and could be as long as the archive.
func (r *reader) readZipList(f *os.File) (*zip.Reader, error) {
	const end = 68 << 10 // the end of the list, and what is read to find it
	const perFile = 46 + 128
	// A section reader returns no *fs.PathError for a negative offset, which is the archive's fault.
	budget := &budget{io.NewSectionReader(f, 0, r.size), end + int64(r.limits.Files)*int64(perFile+r.limits.PathSize)}
	z, err := zip.NewReader(budget, r.size)
	switch {
	case errors.Is(err, errBudget):
		return nil, r.tooManyError()
	case err != nil && !errors.Is(err, zip.ErrInsecurePath):
		return nil, err
	}
	budget.remaining = 1 << 62 // later reads have their own checks
	return z, r.checkZipEnd(f, len(z.Comment))
}

// checkZipEnd returns an error for an archive with data after its end record. comment is the length of the
// comment in that record, in bytes.
func (r *reader) checkZipEnd(f *os.File, comment int) error {
	const length = 22 // of the record without its comment
	sign := make([]byte, 4)
	if _, err := f.ReadAt(sign, max(0, r.size-length-int64(comment))); err != nil {
		return err
	}
	if string(sign) != "PK\x05\x06" {
		return errTrailingData
	}
	return nil
}

var errBudget = errors.New("too much to read")

// budget is a reader that fails once it has read a certain number of bytes.
type budget struct {
	source    io.ReaderAt
	remaining int64
}

func (b *budget) ReadAt(p []byte, off int64) (int, error) {
	if b.remaining -= int64(len(p)); b.remaining < 0 {
		return 0, errBudget
	}
	return b.source.ReadAt(p, off)
}

// checkZipEntry checks f, an entry of the archive's list of files. skip is true if the entry is not part of the
// bot.
func (r *reader) checkZipEntry(f *zip.File) (e entry, skip bool, err error) {
	mode := f.Mode()
	if f.UncompressedSize64 > uint64(r.limits.UnpackedSize) {
		return e, false, tooLarge(makeSmaller, "%s has more than %s unpacked", quote(f.Name), FormatSize(r.limits.UnpackedSize))
	}
	if f.CompressedSize64 > uint64(r.size) {
		return e, false, invalid("pack it again", "%s is larger than the whole archive", quote(f.Name))
	}
	e, skip, err = r.admit(f.Name, mode.IsDir(), int64(f.UncompressedSize64))
	if err != nil || skip {
		return e, skip, err
	}
	const dos, ntfs, vfat = 0, 10, 14 // systems without execute bits, as a zip archive numbers them
	e.exec = mode&0o111 != 0
	e.guessExec = slices.Contains([]uint16{dos, ntfs, vfat}, f.CreatorVersion>>8)
	switch {
	case f.Flags&1 != 0:
		return e, false, invalid("pack it without a password", "%s is encrypted", quote(f.Name))
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return e, false, invalid("pack it with deflate, which is zip's default", "%s is compressed by method %d", quote(f.Name), f.Method)
	case mode&fs.ModeSymlink != 0:
		return e, false, linkError(f.Name, zipTarget(f))
	case mode&(fs.ModeDevice|fs.ModeCharDevice) != 0:
		return e, false, notFileError(f.Name, "device")
	case mode&fs.ModeNamedPipe != 0:
		return e, false, notFileError(f.Name, "fifo")
	case mode&fs.ModeSocket != 0:
		return e, false, notFileError(f.Name, "socket")
	case e.dir && e.size > 0:
		return e, false, invalid("pack it again", "%s is a directory with content", quote(f.Name))
	}
	return e, false, r.paths.add(e.path, e.dir)
}

// zipTarget returns the target of the symbolic link f, or "" if it cannot be read.
func zipTarget(f *zip.File) string {
	content, err := f.Open()
	if err != nil {
		return ""
	}
	defer content.Close()
	target, _ := io.ReadAll(io.LimitReader(content, 256))
	return string(target)
}

// checkOverlap returns an error if two files share bytes of the archive. With such files a small archive could
// unpack to a very large size.
func (r *reader) checkOverlap(files []*zip.File) error {
	const headerSize = 30 // bytes of a file's header before its data
	type span struct {
		start, end int64
		name       string
	}
	var spans []span
	for _, f := range files {
		data, err := f.DataOffset()
		if err != nil {
			return err
		}
		spans = append(spans, span{data - headerSize, data + int64(f.CompressedSize64), f.Name})
	}
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	for i, s := range spans {
		if i > 0 && s.start < spans[i-1].end {
			return invalid("pack it again", "%s and %s overlap", quote(spans[i-1].name), quote(s.name))
		}
		if s.end > r.size {
			return io.ErrUnexpectedEOF
		}
	}
	return nil
}

// visitZipContent calls v with the entry e and the content of f. It returns an error unless the content has the
// size and the checksum in the list of files. Package zip checks both, but accepts any content if the checksum is
// 0.
func visitZipContent(f *zip.File, e entry, v visitor) error {
	if e.dir {
		return v(e, nil)
	}
	content, err := f.Open()
	if err != nil {
		return err
	}
	defer content.Close()
	sum := crc32.NewIEEE()
	err = v.visit(e, io.TeeReader(content, sum))
	if err == nil && sum.Sum32() != f.CRC32 {
		err = zip.ErrChecksum
	}
	if err != nil {
		if errors.Is(err, zip.ErrFormat) {
			return invalid("pack it again", "%s has more content than the list says", quote(f.Name))
		}
		if errors.Is(err, zip.ErrChecksum) {
			return invalid("pack it again, or send it again", "%s does not match its checksum", quote(f.Name))
		}
		return err
	}
	return nil
}
