package run

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

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
	file, err := os.Open(f.path(CheckpointFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	b := bufio.NewReader(file)
	var size int64
	if _, err := fmt.Fscanf(b, checkpointLine, &size); err != nil {
		return fmt.Errorf("%s: the first line is not that of a checkpoint: %w", file.Name(), err)
	}
	z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return err
	}
	defer z.Close()
	if err := read(z); err != nil {
		return fmt.Errorf("%s: %w", file.Name(), err)
	}
	if n, err := io.Copy(io.Discard, z); err != nil || n > 0 {
		return errors.Join(fmt.Errorf("%s: the file is damaged", file.Name()), err)
	}
	return f.metrics.truncate(size)
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
