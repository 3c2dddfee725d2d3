//go:build linux || darwin

package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// CheckOwner returns an error if the file at path belongs to a user other than the user of this process. A missing
// file is no error. Call it before creating other files beside path, which the owner of path could not open.
func CheckOwner(path string) error {
	info, err := os.Stat(path)
	if err != nil || ownerOf(info) == os.Geteuid() {
		return nil
	}
	return fmt.Errorf("%q belongs to %s, and this program runs as %s: start it as the owner (sudo -u %[2]s), or give the directory away (chown -R %[3]s %[4]s)",
		path, userName(ownerOf(info)), userName(os.Geteuid()), filepath.Dir(path))
}

// CheckAccess returns an error if this process may not read the file or directory at path. If write is true, it also
// returns an error if this process may not write there. The error names the owner, if that is another user. A missing
// file is no error.
func CheckAccess(path string, write bool) error {
	mode := uint32(unix.R_OK)
	if write {
		mode |= unix.W_OK
	}
	if err := unix.Faccessat(unix.AT_FDCWD, path, mode, unix.AT_EACCESS); err == unix.EACCES {
		return ExplainDenied(&fs.PathError{Op: "open", Path: path, Err: err})
	}
	return nil
}

// ExplainDenied explains an error that means that this process may not open or change a file of another user: it adds
// to err who owns the file and what to try. It returns other errors unchanged.
func ExplainDenied(err error) error {
	var e *fs.PathError
	if !errors.Is(err, fs.ErrPermission) || !errors.As(err, &e) {
		return err
	}
	path := e.Path
	info, statErr := os.Stat(path)
	for ; statErr != nil && path != filepath.Dir(path); info, statErr = os.Stat(path) {
		path = filepath.Dir(path)
	}
	if statErr != nil || ownerOf(info) == os.Geteuid() {
		return err
	}
	return fmt.Errorf("%w: %s belongs to %s, and this program runs as %s: start it as the owner (sudo -u %[3]s), or give the file away (chown %[4]s %[2]s)",
		err, path, userName(ownerOf(info)), userName(os.Geteuid()))
}

// GiveToOwner makes the owner of the data directory's database also the owner of path, a file or directory that this
// process has created. It does nothing unless this process runs as root.
func (d Dir) GiveToOwner(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(d.Database())
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Stat(string(d))
	}
	if err != nil {
		return err
	}
	if made, err := os.Stat(path); err != nil || ownerOf(made) == ownerOf(info) {
		return err
	}
	s := info.Sys().(*syscall.Stat_t)
	return os.Chown(path, int(s.Uid), int(s.Gid))
}

func ownerOf(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }

// userName returns the name of the user with the given ID or, if that user has no name, "#" and the ID.
func userName(id int) string {
	if u, err := user.LookupId(strconv.Itoa(id)); err == nil {
		return u.Username
	}
	return "#" + strconv.Itoa(id) // as sudo -u takes it
}
