package main

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/protocol"
)

// hermit runs a bot that is hard to end or to clean up after. If mode is "regroup", the bot leaves its process group;
// otherwise it leaves a file in TMPDIR. It always ignores "bye". It returns an error if it finds a file in TMPDIR.
func hermit(mode string) error {
	tmp := os.Getenv("TMPDIR")
	if entries, err := os.ReadDir(tmp); err != nil || len(entries) > 0 {
		return fmt.Errorf("TMPDIR is %q: %d entries, %w", tmp, len(entries), err)
	}
	if mode == "regroup" {
		group, err := unix.Getpgid(os.Getppid())
		if err != nil {
			return err
		}
		if err := unix.Setpgid(0, group); err != nil {
			return err
		}
	} else if err := os.WriteFile(tmp+"/litter", []byte("x"), 0o644); err != nil {
		return err
	}
	if err := protocol.Serve(os.Stdin, os.Stdout, "hermit", "1", func(t *protocol.Turn) protocol.Answer {
		return protocol.Answer{Move: t.Moves.Token(0)}
	}); err != nil {
		return err
	}
	time.Sleep(time.Minute) // not forever, in case nothing kills it
	return nil
}

func init() { modes["hermit"] = hermit }
