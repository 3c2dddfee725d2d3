package trees

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/klauspost/compress/zstd"
)

// ChangedError is the error for a file whose size changed while it was being packed.
type ChangedError struct{ Path string }

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%q was changed while it was packed", e.Path)
}

// WriteTar writes a tar archive in the given format. It contains the files of list, whose paths are relative to dir,
// in the order of the list. It omits times and owners, so that the same files always give the same bytes. If the size
// of a file has changed since it was listed, WriteTar returns a *ChangedError.
func WriteTar(w io.Writer, dir string, list []File, format tar.Format) error {
	t := tar.NewWriter(w)
	for _, f := range list {
		if err := writeEntry(t, dir, f, format); err != nil {
			return err
		}
	}
	return t.Close()
}

func writeEntry(t *tar.Writer, dir string, f File, format tar.Format) error {
	h := &tar.Header{Format: format, Typeflag: tar.TypeReg, Name: f.Path, Mode: int64(f.Mode.Perm()), Size: f.Size, Linkname: f.Link}
	switch f.Mode.Type() {
	case fs.ModeDir:
		h.Typeflag, h.Name = tar.TypeDir, f.Path+"/"
	case fs.ModeSymlink:
		h.Typeflag = tar.TypeSymlink
	}
	if err := t.WriteHeader(h); err != nil || h.Typeflag != tar.TypeReg {
		return err
	}
	n, err := copyFile(t, f.pathIn(dir))
	if errors.Is(err, tar.ErrWriteTooLong) || err == nil && n != f.Size {
		return &ChangedError{f.Path}
	}
	return err
}

// Hash returns the hash of a directory tree, in hexadecimal. It is the SHA-256 of a tar archive in PAX format with
// the files that List returns for dir.
func Hash(dir string) (string, error) {
	return hashOf(func(w io.Writer) error { return writeTree(w, dir) })
}

// writeTree writes the tree in dir as a tar archive. Hash is the SHA-256 of this archive.
func writeTree(w io.Writer, dir string) error {
	list, err := List(dir)
	if err != nil {
		return err
	}
	return WriteTar(w, dir, list, tar.FormatPAX)
}

// Pack writes all files of the tree in dir as a tar archive, compressed by zstd. Unpack unpacks it.
func Pack(w io.Writer, dir string) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	return errors.Join(writeTree(z, dir), z.Close())
}

// newReader returns a reader that decompresses the output of Pack to a tar archive. It refuses input that needs more
// than 32 MiB for the window of zstd.
func newReader(packed io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(32<<20))
}

// HashPacked returns the hash of the tree in a file that Pack has written, without unpacking it. Hash returns the
// same for the unpacked tree.
func HashPacked(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	z, err := newReader(f)
	if err != nil {
		return "", err
	}
	defer z.Close()
	return hashOf(func(w io.Writer) error {
		_, err := io.Copy(w, z)
		return err
	})
}

// Unpack unpacks the output of Pack into a new directory, whose parent must exist. It returns an error if the
// archive has more than maxFiles files, directories and links, or more than maxBytes bytes. The archive may
// come from an untrusted source.
func Unpack(packed io.Reader, dir string, maxFiles int, maxBytes int64) error {
	z, err := newReader(packed)
	if err != nil {
		return err
	}
	defer z.Close()
	return Write(dir, func(w *Writer) error {
		files, bytes := 0, int64(0)
		for t := tar.NewReader(z); ; {
			h, err := t.Next()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			files++
			if files > maxFiles || h.Size > maxBytes-bytes {
				return fmt.Errorf("the archive has more than %d files or %d bytes", maxFiles, maxBytes)
			}
			bytes += h.Size
			if err := w.addEntry(h, t); err != nil {
				return fmt.Errorf("unpacking %q: %w", h.Name, err)
			}
		}
	})
}

// addEntry adds an entry of a tar archive, with its content, to the new directory. Files become read-only. If the
// entry is no file, directory or symbolic link, addEntry returns an error.
func (w *Writer) addEntry(h *tar.Header, content io.Reader) error {
	f := File{Path: path.Clean(h.Name), Mode: fs.FileMode(h.Mode) & 0o555, Link: h.Linkname}
	switch h.Typeflag {
	case tar.TypeDir:
		f.Mode = fs.ModeDir | 0o755
	case tar.TypeSymlink:
		f.Mode |= fs.ModeSymlink
	case tar.TypeReg:
	default:
		return fmt.Errorf("the type %q is not that of a file, directory or link", h.Typeflag)
	}
	return w.Add(f, content)
}
