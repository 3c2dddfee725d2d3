// Package model writes and reads model files, which hold trained models. lab/README.md describes the format.
package model

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// magic is the beginning of the first line of a model file. In this line, the checksum of the second line, which is
// the header, follows it.
const magic = "timba-model 1"

// Limits for a file.
const (
	MaxHeader = 1 << 20 // in bytes, of the line with the header
	MaxBody   = 4 << 30 // in bytes, of the decompressed part after the header
)

// Kinds of models.
const (
	SL  = "sl"  // net that values one action
	RL  = "rl"  // table of Monte Carlo learning
	GA  = "ga"  // net that ranks all actions, from a genetic algorithm
	Net = "net" // net that estimates the result of each action
)

var kinds = []string{SL, RL, GA, Net}

// Header describes a trained model. It is a line of JSON at the beginning of the model's file.
type Header struct {
	Kind     string   `json:"kind"`               // SL, RL, GA or Net
	Mode     string   `json:"mode"`               // name of a cards.Mode
	Variant  string   `json:"variant,omitempty"`  // variant of the learning method, such as ms; its meaning depends on the kind
	Encoding string   `json:"encoding,omitempty"` // name of the form in which positions are given to the model
	Layers   []int    `json:"layers,omitempty"`   // number of inputs of a net, then of the units of each layer
	Output   string   `json:"output,omitempty"`   // net.Output, the function of a net's last layer
	Labels   []int    `json:"labels,omitempty"`   // label of each class of results that a net predicts, the best last
	Seed     uint64   `json:"seed"`               // seed of the training
	Defects  []string `json:"defects,omitempty"`  // names of defects of R. Arjonilla's program that the training has reproduced
	// Training is the configuration of the training, from config.json of the run.
	Training json.RawMessage `json:"training,omitempty"`
}

// Check returns an error if h.Kind or h.Mode does not exist.
func (h *Header) Check() error {
	if !slices.Contains(kinds, h.Kind) {
		return fmt.Errorf("model: kind %q does not exist: try %s", h.Kind, strings.Join(kinds, ", "))
	}
	if _, err := cards.ParseMode(h.Mode); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	return nil
}

// Write writes a model file to w: the header h, then what body writes, compressed. By convention body writes
// numbers in little-endian order.
func Write(w io.Writer, h Header, body func(io.Writer) error) error {
	if err := h.Check(); err != nil {
		return err
	}
	line, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s %08x\n%s\n", magic, crc32.ChecksumIEEE(line), line); err != nil {
		return err
	}
	z := gzip.NewWriter(w) // with zstd a house bot would start later, because its imports are initialized last
	buffered := bufio.NewWriter(z)
	if err := body(buffered); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	return z.Close()
}

// Body reads the part of a model file after the header. After the last read, the caller must call CheckEnd.
type Body struct {
	r         *bufio.Reader
	remaining int64 // number of bytes that may still be read
}

// Read reads the header of a model file from r, and returns it with a reader of the rest. It returns an error if
// the header is damaged or not valid.
func Read(r io.Reader) (Header, *Body, error) {
	h, err := readHeader(&r)
	if err != nil {
		return h, nil, fmt.Errorf("model: %w", err)
	}
	if err := h.Check(); err != nil {
		return h, nil, err
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		return h, nil, DamageError(err)
	}
	return h, &Body{r: bufio.NewReaderSize(z, 64<<10), remaining: MaxBody}, nil
}

func readHeader(r *io.Reader) (h Header, err error) {
	b := bufio.NewReaderSize(*r, 4096)
	*r = b
	first, err := readLine(b, len(magic)+10)
	var sum uint32
	if n, scanErr := fmt.Sscanf(string(first), magic+" %08x", &sum); err != nil || n != 1 || scanErr != nil {
		return h, fmt.Errorf("the first line is %q, not %q and a checksum: is this a file of timba-lab train?", clip(first), magic)
	}
	line, err := readLine(b, MaxHeader)
	if err != nil {
		return h, fmt.Errorf("the header, line 2, does not end within %d bytes: the file is damaged", MaxHeader)
	}
	if crc32.ChecksumIEEE(line) != sum {
		return h, errors.New("the header, line 2, does not have its checksum: the file is damaged")
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return h, fmt.Errorf("the header, line 2: %w", err)
	}
	return h, nil
}

// readLine reads a line and returns it without its LF. It returns an error if the line is longer than maxBytes.
func readLine(b *bufio.Reader, maxBytes int) ([]byte, error) {
	var line []byte
	for len(line) <= maxBytes {
		part, err := b.ReadSlice('\n')
		line = append(line, part...)
		if err == nil {
			return bytes.TrimSuffix(line, []byte{'\n'}), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
	return line, bufio.ErrTooLong
}

func clip(line []byte) string { return string(line[:min(len(line), 40)]) }

// Read implements io.Reader for the decompressed body. It returns an error after MaxBody bytes.
func (b *Body) Read(p []byte) (int, error) {
	if int64(len(p)) > b.remaining {
		p = p[:b.remaining]
		if len(p) == 0 {
			return 0, fmt.Errorf("model: the body is longer than %d bytes", int64(MaxBody))
		}
	}
	n, err := b.r.Read(p)
	b.remaining -= int64(n)
	return n, err
}

// CheckEnd returns an error if the body has more bytes than were read, or if its checksum is wrong.
func (b *Body) CheckEnd() error {
	switch _, err := b.r.ReadByte(); {
	case err == nil:
		return errors.New("model: the body is longer than its header says: the file is damaged")
	case !errors.Is(err, io.EOF):
		return DamageError(err)
	}
	return nil
}

// DamageError returns an error that wraps err and says that the body of the model is damaged. err must have
// occurred while the body was read.
func DamageError(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("model: the body is damaged: %w", err)
}

// WriteFloats writes x as little-endian IEEE 754 numbers of 32 bits.
func WriteFloats(w io.Writer, x []float32) error { return binary.Write(w, binary.LittleEndian, x) }

// ReadFloats fills x with numbers in the format of WriteFloats. It returns an error if there are too few, or
// if one is not finite.
func ReadFloats(r io.Reader, x []float32) error {
	var memory [4096]byte // binary.Read is slower, and bots do this when they start
	for part := range slices.Chunk(x, len(memory)/4) {
		if _, err := io.ReadFull(r, memory[:4*len(part)]); err != nil {
			return DamageError(err)
		}
		for i := range part {
			part[i] = math.Float32frombits(binary.LittleEndian.Uint32(memory[4*i:]))
			if v := float64(part[i]); math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("model: the body is damaged: %v is not a weight", v)
			}
		}
	}
	return nil
}

// ReadBytes reads n bytes. It allocates memory only as it reads, so that a wrong n in a damaged file cannot
// exhaust the memory.
func ReadBytes(r io.Reader, n int64) ([]byte, error) {
	const part = 1 << 20
	var b []byte
	for n > 0 {
		size := min(n, part)
		b = slices.Grow(b, int(size))
		if _, err := io.ReadFull(r, b[len(b):len(b)+int(size)]); err != nil {
			return nil, err
		}
		b = b[:len(b)+int(size)]
		n -= size
	}
	return b, nil
}
