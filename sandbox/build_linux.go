package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// copyTree copies the files, folders and links of a folder that nobody else
// changes into an empty one, for a user; uid is -1 for oneself.
func copyTree(from, to string, uid int) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
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
		if err == nil && uid >= 0 {
			err = os.Lchown(dst, uid, uid)
		}
		return err
	})
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

// keepBuild copies what has been built back to where the folder came from. All
// processes of the sandbox have ended; the names in the folder are still theirs,
// so no link is followed, neither there nor here, and none is made.
func (c *config) keepBuild() error {
	src, err := unix.Open(c.Folder.Target, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Folder.Target, err)
	}
	defer unix.Close(src)
	return keepFolder(src, c.into, 0)
}

// maxDepth is how deep a built folder may be.
const maxDepth = 64

var errDeep = fmt.Errorf("folders are nested more than %d deep", maxDepth)

func keepFolder(src, dst, depth int) error {
	if depth > maxDepth {
		return errDeep
	}
	d := os.NewFile(uintptr(must(unix.Dup(src))), "folder")
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
			err = keepSubfolder(src, dst, name, depth)
		case unix.S_IFREG:
			err = keepFile(src, dst, name, st.Mode)
		default:
			continue
		}
		if err == errDeep { // all their names would be no help
			return err
		}
		if err != nil {
			return fmt.Errorf("%s: %w", strconv.Quote(name), err)
		}
	}
	return nil
}

// must is for a copy of a descriptor; there is room, as they are few.
func must(fd int, err error) int {
	if err != nil {
		return -1 // what is done with it fails
	}
	unix.CloseOnExec(fd)
	return fd
}

func keepSubfolder(src, dst int, name string, depth int) error {
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
	return keepFolder(from, to, depth+1)
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
