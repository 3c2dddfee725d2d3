package run

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

// checkpointLine is the format of the first line of a checkpoint. Its number is the size of metrics.csv, in bytes,
// at the time of the checkpoint.
const checkpointLine = "timba-checkpoint 1 %d\n"

// SaveCheckpoint replaces the checkpoint of the run. It calls write to write the content. If it fails, the old
// checkpoint stays.
func (f *Folder) SaveCheckpoint(write func(io.Writer) error) error {
	if err := f.metrics.file.Sync(); err != nil {
		return err
	}
	return f.replace(CheckpointFile, func(w io.Writer) error {
		if _, err := fmt.Fprintf(w, checkpointLine, f.metrics.size); err != nil {
			return err
		}
		z, err := zstd.NewWriter(w, zstd.WithEncoderCRC(true), zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
		if err != nil {
			return err
		}
		if err := write(z); err != nil {
			z.Close()
			return err
		}
		return z.Close()
	})
}

// SaveInterrupted writes a checkpoint after a context has ended. It calls write to write the content. It returns
// ended, which is the error of the context. If the checkpoint cannot be written, it returns the error of writing.
func (f *Folder) SaveInterrupted(ended error, write func(io.Writer) error) error {
	if err := f.SaveCheckpoint(write); err != nil {
		return fmt.Errorf("the checkpoint cannot be written: %w", err)
	}
	return ended
}

// LoadCheckpoint calls read with the content of the last checkpoint. It removes the lines of metrics.csv that were
// added after this checkpoint. If the run has no checkpoint, it does nothing.
func (f *Folder) LoadCheckpoint(read func(io.Reader) error) error {
	size, err := readCheckpoint(f.Dir, read)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return f.metrics.truncate(size)
}

// ReadCheckpoint calls read with the uncompressed content of the last checkpoint of the run in the directory dir. read
// must read all of it. ReadCheckpoint returns an error if there is no checkpoint, if the file is damaged, or if read
// fails.
func ReadCheckpoint(dir string, read func(io.Reader) error) error {
	_, err := readCheckpoint(dir, read)
	return err
}

// readCheckpoint does the same as ReadCheckpoint and returns the size that metrics.csv had at the time of the
// checkpoint, in bytes.
func readCheckpoint(dir string, read func(io.Reader) error) (size int64, err error) {
	file, err := os.Open(filepath.Join(dir, CheckpointFile))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	b := bufio.NewReader(file)
	if _, err := fmt.Fscanf(b, checkpointLine, &size); err != nil {
		return 0, fmt.Errorf("%s: the first line is not that of a checkpoint: %w", file.Name(), err)
	}
	z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return 0, err
	}
	defer z.Close()
	if err := read(z); err != nil {
		return 0, fmt.Errorf("%s: %w", file.Name(), err)
	}
	if n, err := io.Copy(io.Discard, z); err != nil || n > 0 {
		return 0, errors.Join(fmt.Errorf("%s: the file is damaged", file.Name()), err)
	}
	return size, nil
}

// FromParam returns the setting --from of a training method. Its value is the directory of an earlier run of the same
// method; a new training begins with what that run has learned. The value is stored in *to. help is the help text.
func FromParam(to *string, help string) Param {
	return Param{Name: "from", Target: to, FlagOnly: true, Help: help}
}

// ReadEarlier reads the settings of the run in the directory dir, the value of --from, into config, which must be a
// pointer. It returns the SHA-256 hash of the run's checkpoint, in hexadecimal. A training stores the hash among its
// own settings, so that it can be resumed only with the same checkpoint. The error says that dir has no settings or no
// checkpoint.
func ReadEarlier(dir string, config any) (hash string, err error) {
	text, err := os.ReadFile(filepath.Join(dir, ConfigFile))
	if err == nil {
		err = json.Unmarshal(text, config)
	}
	if err != nil {
		return "", fmt.Errorf("--from %s cannot be read: try the directory of an earlier run: %w", dir, err)
	}
	file, err := os.Open(filepath.Join(dir, CheckpointFile))
	if err != nil {
		return "", fmt.Errorf("--from %s has no checkpoint: wait until that run has made one: %w", dir, err)
	}
	defer file.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// WriteState writes state as one line of JSON at the beginning of a checkpoint. ReadState reads it.
func WriteState(w io.Writer, state any) error { return json.NewEncoder(w).Encode(state) }

// ReadState reads the line that WriteState has written and decodes it into state, which must be a pointer. It
// returns a reader of what follows the line.
func ReadState(r io.Reader, state any) (*bufio.Reader, error) {
	b := bufio.NewReader(r)
	line, err := b.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	return b, json.Unmarshal(line, state)
}
