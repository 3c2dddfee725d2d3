// Package trees handles whole directories of files: it lists, hashes, packs and unpacks them, and stores them
// under their hashes in a Store with limits.
package trees

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// File is a file, directory or symbolic link of a tree.
type File struct {
	Path string      // relative to the tree, with slashes
	Mode fs.FileMode // type and permissions
	Size int64       // size of a regular file
	Link string      // target of a symbolic link
}

// List returns the files, directories and symbolic links below a directory; each directory precedes its content.
// Permissions are normalized: 0444 for files and links, 0555 for executable files, and 0755 for directories. If there
// is anything else, such as a device, List returns an error.
func List(dir string) ([]File, error) {
	return list(dir, func(path string, d fs.DirEntry) (*File, error) {
		switch {
		case d.IsDir():
			return &File{Mode: fs.ModeDir | 0o755}, nil
		case d.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			return &File{Mode: fs.ModeSymlink | 0o444, Link: target}, err
		case d.Type().IsRegular():
			info, err := d.Info()
			if err != nil {
				return nil, err
			}
			return fileOf(info, 0o444), nil
		default:
			return nil, fmt.Errorf("%s is neither a file nor a directory nor a link", path)
		}
	})
}

// Ignored lists the names of directories that do not belong to a bot's source: those of Git and Python.
var Ignored = []string{".git", "__pycache__"}

// ListSource returns the files and directories of a bot's source, in the order of List. A symbolic link to a file is
// listed as a file. ListSource leaves out the directories in Ignored, links to directories, broken links, and
// everything else that is neither a file nor a directory. Files have the permissions 0644 or, if they are executable,
// 0755.
func ListSource(dir string) ([]File, error) {
	return list(dir, func(path string, d fs.DirEntry) (*File, error) {
		if d.IsDir() {
			if slices.Contains(Ignored, d.Name()) {
				return nil, fs.SkipDir
			}
			return &File{Mode: fs.ModeDir | 0o755}, nil
		}
		info, err := os.Stat(path)
		switch {
		case err != nil && d.Type()&fs.ModeSymlink != 0: // a broken link, such as an editor's lock
			return nil, nil
		case err != nil || !info.Mode().IsRegular():
			return nil, err
		}
		return fileOf(info, 0o644), nil
	})
}

// list calls look for everything below a directory, in the order of filepath.WalkDir. It sets the paths of the
// results and returns those that are not nil. If look returns fs.SkipDir for a directory, list leaves out the
// directory.
func list(dir string, look func(path string, d fs.DirEntry) (*File, error)) (files []File, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		f, err := look(path, d)
		if err != nil || f == nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		f.Path = filepath.ToSlash(rel)
		files = append(files, *f)
		return err
	})
	return files, err
}

// fileOf returns a File for a regular file, with the given permissions. If the file is executable by anybody, the
// result also has permission to execute for everybody.
func fileOf(info fs.FileInfo, permissions fs.FileMode) *File {
	if info.Mode()&0o111 != 0 {
		permissions |= 0o111
	}
	return &File{Mode: permissions, Size: info.Size()}
}

// HashSource returns the hash of a bot's source, in hexadecimal. It is the SHA-256 of the path, the executable bit,
// the size and the content of each file that ListSource returns, without directories.
func HashSource(dir string) (string, error) {
	return hashOf(func(w io.Writer) error {
		list, err := ListSource(dir)
		if err != nil {
			return err
		}
		for _, f := range list {
			if f.Mode.IsDir() {
				continue
			}
			fmt.Fprintf(w, "%q %t %d\n", f.Path, f.Mode&0o111 != 0, f.Size)
			if _, err := copyFile(w, f.pathIn(dir)); err != nil {
				return err
			}
		}
		return nil
	})
}

// HashFile returns the SHA-256 of a file in hexadecimal.
func HashFile(path string) (string, error) {
	return hashOf(func(w io.Writer) error {
		_, err := copyFile(w, path)
		return err
	})
}

// hashOf returns the SHA-256, in hexadecimal, of the bytes that the function write writes.
func hashOf(write func(io.Writer) error) (string, error) {
	h := sha256.New()
	if err := write(h); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// CopySource makes a new directory at the path given by to, and copies there the files that ListSource finds in the
// directory given by from. If it fails, it removes the new directory.
func CopySource(to, from string) error {
	list, err := ListSource(from)
	if err != nil {
		return err
	}
	return Write(to, func(w *Writer) error {
		for _, f := range list {
			if err := w.copy(f, from); err != nil {
				return err
			}
		}
		return nil
	})
}

// copy adds f to the new tree. The content is read from the same path in the directory dir.
func (w *Writer) copy(f File, dir string) error {
	if f.Mode.IsDir() {
		return w.Add(f, nil)
	}
	in, err := os.Open(f.pathIn(dir))
	if err != nil {
		return err
	}
	defer in.Close()
	return w.Add(f, in)
}

func (f File) pathIn(dir string) string { return filepath.Join(dir, filepath.FromSlash(f.Path)) }

func copyFile(w io.Writer, path string) (int64, error) {
	in, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	return io.Copy(w, in)
}

// Writer writes files into a new directory, and never outside of it, even if a path is malicious.
type Writer struct{ root *os.Root }

// Write creates the directory dir, whose parent must exist, and calls add to fill it. If add fails, Write removes the
// directory.
func Write(dir string, add func(*Writer) error) (err error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := root.Chmod(".", 0o755); err != nil { // independent of the umask
		return err
	}
	return add(&Writer{root})
}

// Add adds a file, a directory or a symbolic link to the new directory. f.Path is its path there: the parent must
// exist, and nothing may exist at the path itself. content is read only for a file.
func (w *Writer) Add(f File, content io.Reader) error {
	name := filepath.FromSlash(f.Path)
	switch f.Mode.Type() {
	case fs.ModeDir:
		if err := w.root.Mkdir(name, 0o755); err != nil {
			return err
		}
		return w.root.Chmod(name, f.Mode.Perm())
	case fs.ModeSymlink:
		return w.root.Symlink(f.Link, name)
	}
	out, err := w.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, content)
	return errors.Join(err, out.Chmod(f.Mode.Perm()), out.Close())
}

// Size returns the total size in bytes of all regular files at or below a path. files is the number of files,
// directories and others below the path, without the path itself. What does not exist or disappears during the call
// does not count.
func Size(path string) (bytes int64, files int, err error) {
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if file != path {
			files++
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	return bytes, files, err
}
