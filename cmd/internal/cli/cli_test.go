package cli

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules/text"
)

// example returns a program that has a command for each kind of usage.
func example() *cobra.Command {
	ignore := func(*cobra.Command, []string) error { return nil }
	flags := &cobra.Command{Use: "flags [BOT] --a NAME", Args: cobra.MaximumNArgs(1), RunE: ignore}
	for _, name := range []string{"a", "b", "c", "d"} {
		flags.Flags().String(name, "", "a `NAME`")
	}
	flags.MarkFlagRequired("a")
	flags.MarkFlagsMutuallyExclusive("a", "b")
	flags.MarkFlagsRequiredTogether("c", "d")
	numbers := &cobra.Command{Use: "numbers", RunE: ignore}
	var count int
	var share float64
	var id int64
	CountFlag(numbers, &count, "count", 0, "how many")
	NumberFlag(numbers, &share, "share", 0.5, 0, 1, "which part")
	NumberFlag(numbers, &id, "id", 7, 5, 10, "which")
	numbers.Flags().Duration("time", time.Second, "how long")
	result := Result(&cobra.Command{Use: "result BOT BOT...", Args: cobra.MinimumNArgs(2)},
		func(_ *cobra.Command, args []string) ([]string, error) {
			return args, map[string]error{"fault": ErrFault, "early": ErrNoVerdict, "told": ErrReported, "wrong": fmt.Errorf("bot: %w", os.ErrNotExist), "none": fmt.Errorf("bot: %w", &fs.PathError{Op: "open", Path: "bot.py", Err: os.ErrNotExist})}[args[0]]
		},
		func(w io.Writer, bots []string) {
			text.Rows(w, "name|bytes", bots, func(name string) []any {
				if name == "x" {
					return nil
				}
				return []any{name, len(name)}
			})
		})
	return Root(&cobra.Command{Use: "prog", Short: "A program"}, Group(&cobra.Command{Use: "all"}, flags, numbers), result)
}

// Each mistake in a command line is reported in timba's words, and the result of a command is the exit status.
func TestCommands(t *testing.T) {
	for _, c := range []struct {
		line         string
		status       int
		stdout, text string
	}{
		{"", ExitGood, "A program", ""},
		{"all", ExitGood, "numbers", ""},
		{"al", ExitError, "", `prog: command "prog al" does not exist: try prog all`},
		{"all flag", ExitError, "", `prog: command "prog all flag" does not exist: try prog all flags`},
		{"all zzz", ExitError, "", `prog: command "prog all zzz" does not exist: prog all --help lists the commands`},
		{"all flags x y", ExitError, "", "prog: all flags: accepts at most 1 argument, received 2: try prog all flags [BOT] --a NAME [flags]; see prog all flags --help"},
		{"all flags", ExitError, "", "prog: all flags: --a is missing: try "},
		{"all flags --a x --b y", ExitError, "", "prog: all flags: --a and --b exclude each other: leave one out: try "},
		{"all flags --a x --d y", ExitError, "", "prog: all flags: --c is missing: the flags c d go together: try "},
		{"all flags --a=", ExitError, "", "prog: --a is empty: give a value or leave it out; see prog all flags --help"},
		{"all flags --a", ExitError, "", "prog: --a has no value: try --a NAME, a NAME; see "},
		{"all flags -a", ExitError, "", "prog: flag -a does not exist: try "},
		{"all flags --x", ExitError, "", "prog: flag --x does not exist: try "},
		{"all flags --=", ExitError, "", `prog: "--=" cannot be read as a flag: try `},
		{"all numbers now", ExitError, "", `prog: all numbers: argument "now" is one too many: try `},
		{"all numbers --count 3 --share 1 --id 10", ExitGood, "", ""},
		{"all numbers --count 0", ExitError, "", `prog: --count cannot be "0": try 1 or more`},
		{"all numbers --count 1.5", ExitError, "", `prog: --count cannot be "1.5": try 1 or more`},
		{"all numbers --share 1.01", ExitError, "", `prog: --share cannot be "1.01": try 0 to 1`},
		{"all numbers --share NaN", ExitError, "", `prog: --share cannot be "NaN": try 0 to 1`},
		{"all numbers --id 4", ExitError, "", `prog: --id cannot be "4": try 5 to 10`},
		{"all numbers --id 99999999999999999999", ExitError, "", `prog: --id cannot be "99999999999999999999": try 5 to 10`},
		{"all numbers --time fast", ExitError, "", `prog: --time cannot be "fast": try a time such as 10s or 5m`},
		{"result x", ExitError, "", "prog: result: requires at least 2 arguments, only received 1: try prog result BOT BOT..."},
		{"result x yes", ExitGood, "name  bytes\nyes       3\n", ""},
		{"result fault yes", ExitFault, "fault", ""},
		{"result early yes", ExitNoVerdict, "early", ""},
		{"result fault yes --json", ExitFault, "[\n \"fault\",\n \"yes\"\n]\n", ""},
		{"result told yes", ExitError, "", ""},
		{"result none yes", ExitError, "", `prog: bot: "bot.py" does not exist: check its name and its directory` + "\n"},
		{"all numbers --cuont 3", ExitError, "", "prog: flag --cuont does not exist: try --count\n"},
		{"result wrong yes", ExitError, "", "prog: bot: file does not exist\n"},
	} {
		var stdout, stderr bytes.Buffer
		status := Run(example(), strings.Fields(c.line), strings.NewReader(""), &stdout, &stderr)
		if status != c.status || !strings.Contains(stdout.String(), c.stdout) || !strings.HasPrefix(stderr.String(), c.text) || c.text == "" && stderr.Len() > 0 {
			t.Errorf("prog %s: status %d, want %d\n%s%s\nwant %q and %q", c.line, status, c.status, stdout.String(), stderr.String(), c.stdout, c.text)
		}
	}
}

// Without a terminal, a line of progress is printed every ten seconds, and none for a shorter task.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		p := NewProgress(&b, "games")
		for _, n := range []int{100, 200, 300, 1600} {
			p.Set(n, 1600)
			time.Sleep(5 * time.Second)
		}
		p.Set(2000, 0)
		p.Clear()
		if want := "300 of 1,600 games, 1m5s left\n2,000 games\n"; b.String() != want {
			t.Errorf("%q, want %q", b.String(), want)
		}
	})
}

// failing is a stdout whose writes fail.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// Lost output is an error, even if the command ignores it. A reader that closes a pipe is not an error.
func TestStdoutThatFails(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
	for _, c := range []struct {
		err    error
		line   string
		status int
		text   string
	}{
		{full, "--help", ExitError, "prog: \"/dev/stdout\" has no room: its disk is full\n"},
		{full, "result --json fault x", ExitError, "prog: \"/dev/stdout\" has no room: its disk is full\n"},
		{full, "result early x", ExitNoVerdict, ""},
		{&fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}, "--help", ExitGood, ""},
	} {
		var stderr bytes.Buffer
		status := RunUntil(t.Context(), example(), strings.Fields(c.line), nil, failing{c.err}, &stderr)
		if status != c.status || stderr.String() != c.text {
			t.Errorf("%s: status %d, %q, want %d, %q", c.line, status, stderr.String(), c.status, c.text)
		}
	}
}

// A file is written completely or not at all, and no other file remains in its directory.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	var stdout, stderr bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	hello := func(w io.Writer) error { _, err := io.WriteString(w, "hello"); return err }
	fails := func(w io.Writer) error { return fmt.Errorf("%w after %v", ErrFault, hello(w)) }
	kit.Must(t, WriteFile(cmd, path, hello))
	if err := WriteFile(cmd, path, fails); err == nil {
		t.Error("an error of the function is lost")
	}
	if data := kit.Get[[]byte](t)(os.ReadFile(path)); string(data) != "hello" || stderr.String() != "wrote "+path+"\n" {
		t.Errorf("the file has %q, stderr %q", data, stderr.String())
	}
	if files := kit.Get[[]os.DirEntry](t)(os.ReadDir(dir)); len(files) != 1 {
		t.Errorf("%d files", len(files))
	}
	for _, bad := range []string{dir, filepath.Join(dir, "none", "out"), filepath.Join(path, "out")} {
		if err := WriteFile(cmd, bad, hello); err == nil || !strings.Contains(err.Error(), "out: ") || strings.Contains(err.Error(), ".timba-") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	kit.Must(t, WriteFile(cmd, "-", hello))
	if stdout.String() != "hello" {
		t.Errorf("stdout %q", stdout.String())
	}
}

// A text is the same in UTF-8, with a byte order mark, and in UTF-16.
func TestTextOf(t *testing.T) {
	for _, data := range []string{"añ\n", "\ufeffañ\n", "\xff\xfea\x00\xf1\x00\n\x00", "\xfe\xff\x00a\x00\xf1\x00\n"} {
		if got := string(textOf([]byte(data))); got != "añ\n" {
			t.Errorf("%q is read as %q", data, got)
		}
	}
	for _, data := range []string{"", "\xff\xfe", "\xff\xfe\x00"} {
		if got := string(textOf([]byte(data))); got != "" {
			t.Errorf("%q is read as %q", data, got)
		}
	}
}
