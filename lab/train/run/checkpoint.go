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

// checkpointLine is the format of the first line of a checkpoint. The number in it is the size of
// metrics.csv, in bytes, when the checkpoint is written.
const checkpointLine = "timba-checkpoint 1 %d\n"

// SaveCheckpoint calls write to replace the checkpoint of the run. If it fails, the old one stays.
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

// SaveInterrupted writes a checkpoint after a context has ended. It calls write for the content. It returns
// ended, the error of the context, or the error of writing the checkpoint.
func (f *Folder) SaveInterrupted(ended error, write func(io.Writer) error) error {
	if err := f.SaveCheckpoint(write); err != nil {
		return fmt.Errorf("the checkpoint cannot be written: %w", err)
	}
	return ended
}

// LoadCheckpoint calls read with the content of the last checkpoint. It removes the lines that were added to
// metrics.csv after that checkpoint. If the run has no checkpoint, it does nothing.
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

// ReadState decodes the line that WriteState wrote into state, a pointer. It returns a reader of the rest.
func ReadState(r io.Reader, state any) (*bufio.Reader, error) {
	b := bufio.NewReader(r)
	line, err := b.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	return b, json.Unmarshal(line, state)
}
