package initproc

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"syscall"
)

// copier copies the contents of one directory to another. It follows no symbolic links in either of them.
type copier struct {
	source, target *os.Root
	uid            int      // owner of the copies; -1 means the calling user
	fromSandbox    bool     // the source is in a sandbox and not trusted: links are left out, and existing files are replaced
	paths          []string // relative paths of everything that was copied, directories before their contents
}

// maxDepth is the largest depth of nested directories that are copied out of a sandbox.
const maxDepth = 64

// copyBelow copies one directory of the source with everything in it. below is the directory's path relative to the
// source; it is "" or ends with a slash. depth is the number of the directory's parents within the source.
func (c *copier) copyBelow(below string, depth int) error {
	if c.fromSandbox && depth > maxDepth {
		return errors.New("directories are nested more than " + strconv.Itoa(maxDepth) + " deep")
	}
	d, err := c.source.Open("./" + below)
	if err != nil {
		return pathError(below, err)
	}
	entries, err := d.ReadDir(-1)
	d.Close()
	if err != nil {
		return pathError(below, err)
	}
	for _, e := range entries {
		path := below + e.Name()
		switch {
		case e.IsDir():
			err = c.mkdir(path)
		case e.Type().IsRegular():
			err = c.copyFile(path)
		case e.Type() == fs.ModeSymlink && !c.fromSandbox:
			err = c.copyLink(path)
		default: // a socket or device, or a link that the program may have made
			continue
		}
		c.paths = append(c.paths, path)
		if err == nil && c.uid >= 0 {
			err = c.target.Lchown(path, c.uid, c.uid)
		}
		if err != nil {
			return pathError(path, err)
		}
		if e.IsDir() {
			if err := c.copyBelow(path+"/", depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// mkdir makes a directory in the target of the copy. If the source is in a sandbox, the directory may exist already.
// A file in its place is then removed, but a symbolic link there is an error.
func (c *copier) mkdir(path string) error {
	err := c.target.Mkdir(path, 0o755)
	if !c.fromSandbox || !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := c.target.Lstat(path)
	switch {
	case err != nil || info.IsDir():
		return err
	case info.Mode().IsRegular():
		return errors.Join(c.target.Remove(path), c.target.Mkdir(path, 0o755))
	}
	return syscall.ENOTDIR
}

func (c *copier) copyLink(path string) error {
	target, err := c.source.Readlink(path)
	if err != nil {
		return err
	}
	return c.target.Symlink(target, path)
}

func (c *copier) copyFile(path string) error {
	src, err := c.source.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	if c.fromSandbox {
		if err := c.target.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	dst, err := c.target.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644|info.Mode()&0o111)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// pathError returns err with the path in front of it. The path is quoted, because an untrusted program may have
// chosen it.
func pathError(path string, err error) error {
	if p, ok := err.(*fs.PathError); ok {
		err = p.Err
	}
	return wrap(strconv.Quote(path), err)
}

// copyTree copies the files in one directory into another, which must be empty. from and to are their paths. The
// copies belong to the user uid, or to the calling user if uid is -1. Nobody may change the first directory
// meanwhile. The caller must close c.source and c.target.
func copyTree(from, to string, uid int) (c *copier, err error) {
	c = &copier{uid: uid}
	if c.source, err = os.OpenRoot(from); err != nil {
		return nil, err
	}
	if c.target, err = os.OpenRoot(to); err != nil {
		return nil, err
	}
	if uid >= 0 {
		if err := os.Lchown(to, uid, uid); err != nil {
			return nil, err
		}
	}
	return c, c.copyBelow("", 0)
}

// returnBuild copies the result of a build back to the bot's directory; the build has worked on a copy of that
// directory. Files that the build has deleted are also deleted there, and files that were never copied stay. All
// processes of the sandbox must have ended.
func (c *Config) returnBuild() error {
	original, built := c.buildCopy.source, c.buildCopy.target
	for _, path := range slices.Backward(c.buildCopy.paths) { // contents before their directory
		_, err := built.Lstat(path)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) { // ENOTDIR means that a file replaced its directory
			continue
		}
		err = original.Remove(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
			return pathError(path, err)
		}
	}
	back := copier{source: built, target: original, uid: -1, fromSandbox: true}
	return back.copyBelow("", 0)
}
