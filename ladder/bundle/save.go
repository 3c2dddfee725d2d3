package bundle

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"

	"github.com/timba-arena/timba/ladder"
)

// Saved is an upload that is kept.
type Saved struct {
	SHA256 string // in hexadecimal: its name
	Size   int64
}

// Save keeps an upload in a data folder, by its SHA-256, exactly as it comes. What
// is too large, cut off or no archive by its first bytes is refused while it
// comes in, and leaves nothing behind. When Save returns the upload is on the disk.
//
// The errors of the sender are of the codes Invalid and TooLarge; Unavailable is
// the machine's.
func Save(r io.Reader, dir string, l Limits) (Saved, error) {
	return Take(r, dir, l, func(Saved) error { return nil }, nil)
}

// taking keeps what one upload leaves alone from being what another one needs.
var taking sync.Mutex

// Take is Save of an upload that add makes somebody's. When add fails the upload is
// gone, unless needed tells that there is somebody whose it was before: else
// people could fill the disk with what is refused.
func Take(r io.Reader, dir string, l Limits, add func(Saved) error, needed func(sum string) (bool, error)) (Saved, error) {
	tmp, to := filepath.Join(dir, tmpDir), filepath.Join(dir, bundlesDir)
	for _, d := range []string{tmp, to} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return Saved{}, notKept(err)
		}
	}
	f, err := os.CreateTemp(tmp, "upload-*")
	if err != nil {
		return Saved{}, notKept(err)
	}
	defer os.Remove(f.Name()) // fails when it has been renamed
	saved, err := receive(f, r, l)
	if closing := f.Close(); err == nil && closing != nil {
		err = notKept(closing)
	}
	if err != nil {
		return Saved{}, err
	}
	taking.Lock()
	defer taking.Unlock()
	// It may be there: then this is the same, and whole for sure.
	kept := filepath.Join(to, saved.SHA256)
	if err := os.Rename(f.Name(), kept); err != nil {
		return Saved{}, notKept(err)
	}
	if err := syncFolder(to); err != nil {
		return Saved{}, notKept(err)
	}
	if err := add(saved); err != nil {
		if others, unknown := needed(saved.SHA256); unknown == nil && !others {
			os.Remove(kept)
		}
		return Saved{}, err
	}
	return saved, nil
}

// receive copies an upload into a file.
func receive(f *os.File, r io.Reader, l Limits) (Saved, error) {
	in := bufio.NewReaderSize(io.LimitReader(r, l.Upload+1), 64<<10)
	head, err := in.Peek(headSize)
	if err != nil && err != io.EOF {
		return Saved{}, cutOff(err)
	}
	if _, err := formatOf(head); err != nil {
		return Saved{}, err
	}
	sum := sha256.New()
	out := &disk{w: f}
	n, err := io.Copy(io.MultiWriter(out, sum), in)
	switch {
	case out.err != nil:
		return Saved{}, notKept(out.err)
	case n > l.Upload:
		return Saved{}, tooLarge(makeSmaller, "it has more than the %s that are allowed", Size(l.Upload))
	case err != nil:
		return Saved{}, cutOff(err)
	}
	if err := f.Sync(); err != nil {
		return Saved{}, notKept(err)
	}
	return Saved{hex.EncodeToString(sum.Sum(nil)), n}, nil
}

// disk remembers its error, to tell it from the sender's.
type disk struct {
	w   io.Writer
	err error
}

func (d *disk) Write(p []byte) (int, error) {
	n, err := d.w.Write(p)
	d.err = err
	return n, err
}

func cutOff(err error) error {
	return invalid("send it again", "it was cut off on its way: %w", err)
}

// notKept is an error of the machine.
func notKept(err error) error {
	text := "the upload cannot be kept"
	if errors.Is(err, syscall.ENOSPC) {
		text = "the server's disk is full"
	}
	return &ladder.Error{Code: ladder.Unavailable, Text: text, Hint: "try again later", Err: fmt.Errorf("bundle: %w", err)}
}

// syncFolder makes names in a folder last.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if runtime.GOOS == "windows" || errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil // not on this file system
	}
	return errors.Join(err, d.Close())
}
