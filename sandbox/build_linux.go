package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// copyTree copies the files, directories and links of a directory that nobody else
// changes into an empty one owned by uid; -1 is the caller. It returns the paths of the
// copies below to, directories before their contents.
func copyTree(from, to string, uid int) (copied []string, err error) {
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		dst := filepath.Join(to, rel)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			if rel != "." {
				err = os.Mkdir(dst, 0o755)
			}
		case d.Type()&fs.ModeSymlink != 0:
			err = copyLink(path, dst)
		case d.Type().IsRegular():
			err = copyFile(path, dst, 0o644|info.Mode()&0o111)
		default: // a socket or a device: nothing to build from
			return nil
		}
		if rel != "." {
			copied = append(copied, rel)
		}
		if err == nil && uid >= 0 {
			err = os.Lchown(dst, uid, uid)
		}
		return err
	})
	return copied, err
}

func copyFile(from, to string, mode fs.FileMode) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// keepBuild copies the output of a build back to the original directory. All processes
// of the sandbox have ended, but they chose the names, so links are neither followed
// on either side nor copied.
func (c *config) keepBuild() error {
	src, err := unix.Open(c.Own.Target, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Own.Target, err)
	}
	defer unix.Close(src)
	if err := c.dropRemoved(src); err != nil {
		return err
	}
	return keepDir(src, c.into, 0)
}

// dropRemoved removes from the original directory what the build has removed from its
// copy. What was not copied stays.
func (c *config) dropRemoved(src int) error {
	for _, path := range slices.Backward(c.copied) { // contents before their directory
		var st unix.Stat_t
		err := unix.Fstatat(src, path, &st, unix.AT_SYMLINK_NOFOLLOW)
		if !errors.Is(err, unix.ENOENT) {
			continue
		}
		err = unix.Unlinkat(c.into, path, 0)
		if errors.Is(err, unix.EISDIR) {
			err = unix.Unlinkat(c.into, path, unix.AT_REMOVEDIR)
		}
		if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTEMPTY) {
			return fmt.Errorf("%s: %w", strconv.Quote(path), err)
		}
	}
	return nil
}

// maxDepth is the greatest depth of a built directory.
const maxDepth = 64

var errDeep = fmt.Errorf("directories are nested more than %d deep", maxDepth)

func keepDir(src, dst, depth int) error {
	if depth > maxDepth {
		return errDeep
	}
	d := os.NewFile(uintptr(must(unix.Dup(src))), "directory")
	names, err := d.Readdirnames(-1)
	d.Close()
	if err != nil {
		return err
	}
	for _, name := range names {
		var st unix.Stat_t
		if err := unix.Fstatat(src, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return fmt.Errorf("%s: %w", strconv.Quote(name), err)
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			err = keepSubdir(src, dst, name, depth)
		case unix.S_IFREG:
			err = keepFile(src, dst, name, st.Mode)
		default:
			continue
		}
		if err == errDeep { // without the long path
			return err
		}
		if err != nil {
			return fmt.Errorf("%s: %w", strconv.Quote(name), err)
		}
	}
	return nil
}

// must returns a copied descriptor, -1 after an error; the copies are too few to fail.
func must(fd int, err error) int {
	if err != nil {
		return -1 // its use fails
	}
	unix.CloseOnExec(fd)
	return fd
}

func keepSubdir(src, dst int, name string, depth int) error {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	if err := unix.Mkdirat(dst, name, 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
		return err
	}
	from, err := unix.Openat(src, name, flags, 0)
	if err != nil {
		return err
	}
	defer unix.Close(from)
	to, err := unix.Openat(dst, name, flags, 0)
	if err != nil {
		return err
	}
	defer unix.Close(to)
	return keepDir(from, to, depth+1)
}

func keepFile(src, dst int, name string, mode uint32) error {
	from, err := unix.Openat(src, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	in := os.NewFile(uintptr(from), name)
	defer in.Close()
	if err := unix.Unlinkat(dst, name, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	to, err := unix.Openat(dst, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o644|mode&0o111)
	if err != nil {
		return err
	}
	out := os.NewFile(uintptr(to), name)
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
