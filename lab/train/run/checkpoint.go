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

// checkpointLine begins a checkpoint; the bytes of metrics.csv at that time follow it.
const checkpointLine = "timba-checkpoint 1 %d\n"

// SaveCheckpoint writes the state of the training, as a whole or not at all. Load reads it.
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

// SaveInterrupted writes a checkpoint after the context has ended, and returns the context's error. A
// checkpoint that cannot be written is the error instead: the training does not go on from here.
func (f *Folder) SaveInterrupted(ended error, write func(io.Writer) error) error {
	if err := f.SaveCheckpoint(write); err != nil {
		return fmt.Errorf("the checkpoint cannot be written: %w", err)
	}
	return ended
}

// LoadCheckpoint reads the last checkpoint, if there is one, and takes the metrics back to its time.
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

// WriteState writes what fits on a line of JSON, the first of a checkpoint.
func WriteState(w io.Writer, state any) error { return json.NewEncoder(w).Encode(state) }

// ReadState reads what WriteState wrote, and returns what follows it.
func ReadState(r io.Reader, state any) (*bufio.Reader, error) {
	b := bufio.NewReader(r)
	line, err := b.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	return b, json.Unmarshal(line, state)
}
