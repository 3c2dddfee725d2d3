package initproc

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"syscall"

	"github.com/timba-arena/timba/sandbox/internal/sys"
)

// copyTree copies the files, directories and links of a directory that nobody else
// changes into an empty one owned by uid; -1 is the caller. It returns the paths of the
// copies below to, directories before their contents.
func copyTree(from, to string, uid int) (copied []string, err error) {
	if uid >= 0 {
		if err := os.Lchown(to, uid, uid); err != nil {
			return nil, err
		}
	}
	var copyDir func(below string) error
	copyDir = func(below string) error {
		entries, err := os.ReadDir(from + "/" + below)
		if err != nil {
			return err
		}
		for _, e := range entries {
			path := below + e.Name()
			switch {
			case e.IsDir():
				err = os.Mkdir(to+"/"+path, 0o755)
			case e.Type()&fs.ModeSymlink != 0:
				err = copyLink(from+"/"+path, to+"/"+path)
			case e.Type().IsRegular():
				err = copyFile(from+"/"+path, to+"/"+path)
			default: // a socket or a device: nothing to build from
				continue
			}
			copied = append(copied, path)
			if err == nil && uid >= 0 {
				err = os.Lchown(to+"/"+path, uid, uid)
			}
			if err == nil && e.IsDir() {
				err = copyDir(path + "/")
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return copied, copyDir("")
}

func copyFile(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644|info.Mode()&0o111)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// keepBuild copies the output of a build back to the original directory. All processes
// of the sandbox have ended, but they chose the names, so links are neither followed
// on either side nor copied.
func (c *Config) keepBuild() error {
	src, err := syscall.Open(c.Own.Target, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return wrap(c.Own.Target, err)
	}
	defer syscall.Close(src)
	if err := c.dropRemoved(src); err != nil {
		return err
	}
	return keepDir(src, c.into, 0)
}

// dropRemoved removes from the original directory what the build has removed from its
// copy. What was not copied stays.
func (c *Config) dropRemoved(src int) error {
	for _, path := range slices.Backward(c.copied) { // contents before their directory
		_, err := sys.LstatAt(src, path)

		if !errors.Is(err, syscall.ENOENT) {
			continue
		}
		err = sys.Unlinkat(c.into, path, 0)
		if errors.Is(err, syscall.EISDIR) {
			err = sys.Unlinkat(c.into, path, sys.AT_REMOVEDIR)
		}
		if err != nil && !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.ENOTEMPTY) {
			return wrap(strconv.Quote(path), err)
		}
	}
	return nil
}

// maxDepth is the greatest depth of a built directory.
const maxDepth = 64

var errDeep = errors.New("directories are nested more than " + strconv.Itoa(maxDepth) + " deep")

func keepDir(src, dst, depth int) error {
	if depth > maxDepth {
		return errDeep
	}
	d := os.NewFile(uintptr(must(syscall.Dup(src))), "directory")
	names, err := d.Readdirnames(-1)
	d.Close()
	if err != nil {
		return err
	}
	for _, name := range names {
		st, err := sys.LstatAt(src, name)
		if err != nil {
			return wrap(strconv.Quote(name), err)
		}
		switch st.Mode & syscall.S_IFMT {
		case syscall.S_IFDIR:
			err = keepSubdir(src, dst, name, depth)
		case syscall.S_IFREG:
			err = keepFile(src, dst, name, st.Mode)
		default:
			continue
		}
		if err == errDeep { // without the long path
			return err
		}
		if err != nil {
			return wrap(strconv.Quote(name), err)
		}
	}
	return nil
}

// must returns a copied descriptor, -1 after an error; the copies are too few to fail.
func must(fd int, err error) int {
	if err != nil {
		return -1 // its use fails
	}
	syscall.CloseOnExec(fd)
	return fd
}

func keepSubdir(src, dst int, name string, depth int) error {
	const flags = syscall.O_RDONLY | syscall.O_DIRECTORY | syscall.O_NOFOLLOW | syscall.O_CLOEXEC
	if err := syscall.Mkdirat(dst, name, 0o755); err != nil && !errors.Is(err, syscall.EEXIST) {
		return err
	}
	from, err := syscall.Openat(src, name, flags, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(from)
	to, err := syscall.Openat(dst, name, flags, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(to)
	return keepDir(from, to, depth+1)
}

func keepFile(src, dst int, name string, mode uint32) error {
	from, err := syscall.Openat(src, name, syscall.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	in := os.NewFile(uintptr(from), name)
	defer in.Close()
	if err := sys.Unlinkat(dst, name, 0); err != nil && !errors.Is(err, syscall.ENOENT) {
		return err
	}
	to, err := syscall.Openat(dst, name, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o644|mode&0o111)
	if err != nil {
		return err
	}
	out := os.NewFile(uintptr(to), name)
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
