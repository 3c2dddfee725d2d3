package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"unicode/utf16"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/ladder"
)

// Result makes cmd call get and print the result, and returns cmd. It prints the result as text with show or, with
// the flag --json, as JSON. Result adds that flag. If get returns ErrFault or ErrNoVerdict, the result is printed,
// too.
func Result[T any](cmd *cobra.Command, get func(cmd *cobra.Command, args []string) (T, error), show func(w io.Writer, result T)) *cobra.Command {
	var asJSON bool
	JSONFlag(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		result, err := get(cmd, args)
		if err != nil && !errors.Is(err, ErrFault) && !errors.Is(err, ErrNoVerdict) {
			return err
		}
		if asJSON {
			return errors.Join(WriteJSON(cmd.OutOrStdout(), result), err)
		}
		w := bufio.NewWriter(cmd.OutOrStdout())
		show(w, result)
		return errors.Join(w.Flush(), err)
	}
	return cmd
}

// output wraps a stdout that is not a terminal. It remembers the first error of a write, because most commands ignore
// such errors. It does not remember the error of a closed pipe.
type output struct {
	io.Writer

	mu  sync.Mutex // guards err only, as a write may block forever
	err error
}

func (o *output) Write(p []byte) (n int, err error) {
	if n, err = o.Writer.Write(p); err != nil && !errors.Is(err, syscall.EPIPE) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.err = cmp.Or(o.err, err)
	}
	return n, err
}

func (o *output) writeError() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// SecretFlag adds the flag --out to cmd, which prints a secret, and returns cmd. The flag names a new file
// for the secret, which only its owner can read.
func SecretFlag(cmd *cobra.Command) *cobra.Command {
	var out string
	cmd.Flags().StringVar(&out, "out", "", "write it to this new `FILE`, which only you can read, instead of stdout")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if IsStdout(out) {
			return run(cmd, args)
		}
		err := WriteNew(out, 0o600, func(w io.Writer) error {
			cmd.SetOut(w)
			return run(cmd, args)
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s\n", ladder.Plain(out))
		return nil
	}
	return cmd
}

// JSONFlag adds the flag --json to cmd. Its value is stored in target.
func JSONFlag(cmd *cobra.Command, target *bool) {
	cmd.Flags().BoolVar(target, "json", false, "write the result as JSON")
}

// WriteJSON writes v to w as indented JSON, as commands with the flag --json print it.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// OrDash returns text, or a dash if it is empty.
func OrDash(text string) string { return cmp.Or(text, "-") }

// IsStdout reports whether the path of an output file means standard output, which "" and "-" do.
func IsStdout(path string) bool { return path == "" || path == "-" }

// WriteFile calls write and stores its output in the file at path, or sends it to the stdout of cmd if path is
// "" or "-". A regular file is replaced only if write succeeds; WriteFile then prints a line on stderr.
func WriteFile(cmd *cobra.Command, path string, write func(io.Writer) error) error {
	if IsStdout(path) {
		return buffered(cmd.OutOrStdout(), write)
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return writeInto(path, write)
	}
	target := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		target = real // keeps a symbolic link
	}
	f, err := TempBeside(target)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // no effect after the rename
	if err := buffered(f, write); err != nil {
		f.Close()
		return err
	}
	var kept error
	if info, err := os.Stat(target); err == nil {
		kept = f.Chmod(info.Mode().Perm()) // the mode of the file that it replaces
	}
	if err := errors.Join(kept, f.Close()); err != nil {
		return cannotWrite(path, err)
	}
	if err := os.Rename(f.Name(), target); err != nil {
		return cannotWrite(path, err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s\n", ladder.Plain(path))
	return nil
}

// WriteNew creates the file at path, with the permissions in mode. The function write writes its content. WriteNew
// returns an error if the file exists. If write fails, it removes the file.
func WriteNew(path string, mode fs.FileMode, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("out: %q exists: delete it, or name another file with --out", path)
	}
	if err != nil {
		return cannotWrite(path, err)
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		os.Remove(path)
		return err
	}
	return nil
}

func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return cannotWrite(path, err)
	}
	return errors.Join(buffered(f, write), f.Close())
}

func buffered(target io.Writer, write func(io.Writer) error) error {
	w := bufio.NewWriter(target)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// TempBeside creates a temporary file in the directory of path, for content that will replace the file at path.
// The temporary file has the permissions of a new file. The caller must close it, and rename or remove it.
func TempBeside(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("out: %q is a directory: name a file", path)
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("out: the file %q cannot be written: %w: name a file in a directory that exists", path, err)
	}
	temp := filepath.Join(filepath.Dir(path), ".timba-"+rand.Text())
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666) // os.CreateTemp would ignore the umask
	if err != nil {
		return nil, cannotWrite(path, err)
	}
	return f, nil
}

// CheckFile returns an error if WriteFile could not write the file at path now.
func CheckFile(path string) error {
	f, err := TempBeside(path)
	if err != nil {
		return err
	}
	f.Close()
	return os.Remove(f.Name())
}

// cannotWrite returns an error that says that the file at path cannot be written. The reason is that of err, which
// may be about another file.
func cannotWrite(path string, err error) error {
	var file *fs.PathError
	var two *os.LinkError
	switch {
	case errors.As(err, &file):
		err = file.Err
	case errors.As(err, &two):
		err = two.Err
	}
	return fmt.Errorf("out: %w", &fs.PathError{Op: "write", Path: path, Err: err})
}

// UntilInterrupt calls do and returns its result. If the command's context ends first, it returns the error of the
// context, and do continues in the background. If stdin is a terminal, UntilInterrupt restores its state at the end.
func UntilInterrupt[T any](cmd *cobra.Command, do func() (T, error)) (got T, err error) {
	ctx := cmd.Context()
	if err := ctx.Err(); err != nil {
		return got, err
	}
	if tty, ok := cmd.InOrStdin().(*os.File); ok {
		if before, err := term.GetState(int(tty.Fd())); err == nil {
			defer term.Restore(int(tty.Fd()), before)
		}
	}
	ended := make(chan func() (T, error), 1)
	go func() {
		got, err := do()
		ended <- func() (T, error) { return got, err }
	}()
	select {
	case result := <-ended:
		return result()
	case <-ctx.Done():
		return got, ctx.Err()
	}
}

// MaxInput is a limit for ReadInput that only a wrong file or a device exceeds.
const MaxInput = 256 << 20

// ReadInput returns the text in the file at path, or on the stdin of cmd if path is "-". It decompresses gzip, removes a
// byte order mark, and converts UTF-16 with a byte order mark to UTF-8, as some programs of Windows write it. More than
// limit bytes and other archives are errors. If the command is interrupted, it returns the error of the context.
func ReadInput(cmd *cobra.Command, path string, limit int64) ([]byte, error) {
	in := cmd.InOrStdin()
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	return UntilInterrupt(cmd, func() ([]byte, error) {
		text := bufio.NewReader(in)
		head, _ := text.Peek(trees.HeadSize)
		if trees.FormatOf(head) == "tar.gz" {
			unpacked, err := gzip.NewReader(text)
			if err != nil {
				return nil, brokenError(path, err)
			}
			text = bufio.NewReader(unpacked)
			head, _ = text.Peek(trees.HeadSize)
		}
		if err := archiveError(path, trees.FormatOf(head)); err != nil {
			return nil, err
		}
		data, err := io.ReadAll(io.LimitReader(text, limit+1))
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
			return nil, brokenError(path, err)
		case err == nil && int64(len(data)) > limit:
			return nil, fmt.Errorf("%s has more than %d bytes: name another file", path, limit)
		}
		return textOf(data), err
	})
}

func brokenError(path string, err error) error {
	return fmt.Errorf("%s is cut off or damaged: %w: copy or download it again", path, err)
}

// archiveError returns an error that says what to do with the file at path if its format, a result of trees.FormatOf, is
// an archive or compressed; otherwise nil.
func archiveError(path, format string) error {
	switch format {
	case "":
		return nil
	case "tar.zst":
		return fmt.Errorf("%s is compressed by zstd: run unzstd %[1]s, and give the file that this makes", path)
	case "xz", "bzip2", "lz4":
		return fmt.Errorf("%s is compressed by %s: run %[2]s -d %[1]s, and give the file that this makes", path, format)
	case trees.WindowsProgram, trees.LinuxProgram:
		return fmt.Errorf("%s is a program, not a text: name another file", path)
	}
	return fmt.Errorf("%s is a %s archive: unpack it, and give the files in it", path, format)
}

// textOf returns data as UTF-8 without a byte order mark. Data that begin with a byte order mark of UTF-16 are
// converted.
func textOf(data []byte) []byte {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return data[3:]
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return data
	}
	units := make([]uint16, len(data)/2-1)
	for i := range units {
		units[i] = order.Uint16(data[2+2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}
