package bundle

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
)

// ReceivedArchive is an uploaded archive in a temporary file.
type ReceivedArchive struct {
	SHA256 string // in hexadecimal
	Size   int64
	Path   string // of its temporary file, until Store or Discard
	dir    datadir.Dir
}

// Receive writes an upload to a temporary file in the data directory dir. If the upload is too large, is cut off,
// or does not begin like an archive, Receive returns an error and leaves no file. Otherwise the caller must call
// Store or Discard.
//
// Errors that the sender causes have the codes Invalid and TooLarge; errors of the machine have the code
// Unavailable.
func Receive(r io.Reader, dir datadir.Dir, l Limits) (*ReceivedArchive, error) {
	for _, d := range []string{dir.Temp(), dir.Bundles()} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, unavailable(err)
		}
	}
	f, err := os.CreateTemp(dir.Temp(), "upload-*")
	if err != nil {
		return nil, unavailable(err)
	}
	u := &ReceivedArchive{Path: f.Name(), dir: dir}
	err = u.receive(f, r, l)
	if closeErr := f.Close(); err == nil && closeErr != nil {
		err = unavailable(closeErr)
	}
	if err != nil {
		u.Discard()
		return nil, err
	}
	return u, nil
}

// Store moves the upload from its temporary file to its place in the data directory and syncs that directory.
// It replaces an earlier upload with the same content.
func (u *ReceivedArchive) Store() error {
	path, err := u.dir.Bundle(u.SHA256)
	if err == nil {
		err = os.Rename(u.Path, path)
	}
	if err == nil {
		err = datadir.Sync(u.dir.Bundles())
	}
	if err != nil {
		return unavailable(err)
	}
	return nil
}

// Discard removes the temporary file of the upload. After Store it does nothing.
func (u *ReceivedArchive) Discard() { os.Remove(u.Path) }

// receive copies the upload r into the file f, and sets u.SHA256 and u.Size. It returns an error for an upload that
// l does not allow.
func (u *ReceivedArchive) receive(f *os.File, r io.Reader, l Limits) error {
	in := bufio.NewReaderSize(io.LimitReader(r, l.UploadSize+1), 64<<10)
	head, err := in.Peek(trees.HeadSize)
	if err != nil && err != io.EOF {
		return CutOff(err)
	}
	if _, err := formatOf(head); err != nil {
		return err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), in)
	switch {
	case errors.As(err, new(*fs.PathError)): // an error of the disk, not of the sender
		return unavailable(err)
	case n > l.UploadSize:
		return tooLarge(makeSmaller, "the archive is larger than the limit of %s", FormatSize(l.UploadSize))
	case err != nil:
		return CutOff(err)
	}
	if err := f.Sync(); err != nil {
		return unavailable(err)
	}
	u.SHA256, u.Size = hex.EncodeToString(sum.Sum(nil)), n
	return nil
}

// CutOff returns the error for an upload that ended too early, because of err.
func CutOff(err error) error {
	return invalid("send it again", "the upload was cut off: %w", err)
}

// unavailable wraps err in an error with the code Unavailable. err is a failure of the server itself, such as
// a full disk, and not the fault of the upload.
func unavailable(err error) error {
	text := phrase.New("the upload cannot be stored")
	if errors.Is(err, syscall.ENOSPC) {
		text = phrase.New("the server's disk is full")
	}
	return &ladder.Error{Code: ladder.Unavailable, Text: text, Hint: phrase.New("try again later"), Err: fmt.Errorf("bundle: %w", err)}
}
