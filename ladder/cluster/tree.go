package cluster

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/timba-arena/timba/ladder/bundle"
)

// writeTree writes a bot's built files as a tar archive. The same files make the same bytes:
// times and owners are left out, and of the modes all but whether a file is executable.
func writeTree(w io.Writer, dir string) error {
	t := tar.NewWriter(w)
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || file == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		h := &tar.Header{Name: filepath.ToSlash(name), Mode: 0o444, Format: tar.FormatPAX}
		switch {
		case d.IsDir():
			h.Typeflag, h.Name, h.Mode = tar.TypeDir, h.Name+"/", 0o755
			return t.WriteHeader(h)
		case d.Type()&fs.ModeSymlink != 0:
			h.Typeflag = tar.TypeSymlink
			if h.Linkname, err = os.Readlink(file); err != nil {
				return err
			}
			return t.WriteHeader(h)
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is neither a file nor a directory nor a link", name)
		}
		h.Typeflag, h.Size = tar.TypeReg, info.Size()
		if info.Mode()&0o111 != 0 {
			h.Mode = 0o555
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(t, f)
		return err
	})
	return errors.Join(err, t.Close())
}

// hashTree returns the SHA-256 of the archive of a bot's built files, in hexadecimal.
func hashTree(dir string) (string, error) {
	h := sha256.New()
	if err := writeTree(h, dir); err != nil {
		return "", fmt.Errorf("bot: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// packTree writes the compressed archive of a directory.
func packTree(w io.Writer, dir string) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	return errors.Join(writeTree(z, dir), z.Close())
}

// unpackTree unpacks a compressed archive into a new directory, with so many files and directories, and bytes, at
// most. os.Root keeps all writes inside of it.
func unpackTree(packed io.Reader, dir string, mostFiles int, most int64) (err error) {
	z, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(32<<20))
	if err != nil {
		return fmt.Errorf("bot: %w", err)
	}
	defer z.Close()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("bot: %w", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // whatever the umask is
		return fmt.Errorf("bot: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("bot: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	files, left := 0, most
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("bot: %w", err)
		}
		files++
		left -= h.Size
		if files > mostFiles || left < 0 {
			return fmt.Errorf("bot: it has more than %d files or %s", mostFiles, bundle.Size(most))
		}
		if err := unpackEntry(root, h, t); err != nil {
			return fmt.Errorf("bot: unpacking %q: %w", h.Name, err)
		}
	}
}

func unpackEntry(root *os.Root, h *tar.Header, content io.Reader) error {
	name := path.Clean(h.Name)
	switch h.Typeflag {
	case tar.TypeDir:
		if err := root.Mkdir(name, 0o755); err != nil {
			return err
		}
		return root.Chmod(name, 0o755)
	case tar.TypeSymlink:
		return root.Symlink(h.Linkname, name)
	case tar.TypeReg:
	default:
		return fmt.Errorf("type %q is not that of a file, directory or link", h.Typeflag)
	}
	mode := fs.FileMode(h.Mode) & 0o555
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Chmod(mode), f.Close())
}
