package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/ladder/tournament"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/sandbox"
)

// sandboxFlags are the flags on sandboxes, as users write them.
type sandboxFlags struct {
	mode      string
	memory    string
	processes int
	ponder    string
}

func (f *sandboxFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.mode, "sandbox", sandbox.Auto, "sandbox the bots: `auto|on|off`, or the required level: weak|reduced|full")
	flags.StringVar(&f.memory, "memory", "512m", "memory of a bot in a sandbox, as `SIZE`: 300m, 2g")
	countFlag(cmd, &f.processes, "processes", sandbox.DefaultLimit.Processes, "processes and threads of a bot in a sandbox")
	flags.StringVar(&f.ponder, "ponder", "on", "whether a bot may think while it is not its turn: `on|off`; off needs a sandbox of level full")
}

// choose returns how the bots of a command are sandboxed, nil for not at all, and prints a
// notice where needed. House bots are part of this program and need no sandbox.
func (f *sandboxFlags) choose(cmd *cobra.Command, bots []string) (*referee.Sandbox, error) {
	s := &referee.Sandbox{Limit: sandbox.DefaultLimit, Freeze: f.ponder == "off"}
	var err error
	if s.Limit.Memory, err = parseSize(f.memory); err != nil {
		return nil, err
	}
	s.Limit.Processes = f.processes
	if err := s.Limit.Check(); err != nil {
		return nil, err
	}
	if f.ponder != "on" && f.ponder != "off" {
		return nil, fmt.Errorf("ponder cannot be %q: try on or off", f.ponder)
	}
	if s.Freeze && strings.EqualFold(f.mode, sandbox.Auto) {
		f.mode = sandbox.Full.String()
	}
	if err := sandbox.CheckMode(f.mode); err != nil {
		return nil, err
	}
	if !strangers(bots) {
		return nil, nil
	}
	var notice string
	if s.Level, notice, err = sandbox.Choose(f.mode); err != nil {
		if s.Freeze {
			err = fmt.Errorf("ponder cannot be off: only a cgroup can stop a bot while it is not its turn: %w", err)
		}
		return nil, err
	}
	if notice != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), notice)
	}
	if s.Freeze && s.Level < sandbox.Full {
		return nil, fmt.Errorf("ponder cannot be off: only a cgroup can stop a bot while it is not its turn, which needs level FULL, and this machine has %s", s.Level)
	}
	if s.Level == sandbox.None {
		return nil, nil
	}
	return s, nil
}

// strangers reports whether bots are not all part of this program.
func strangers(bots []string) bool {
	return slices.ContainsFunc(bots, func(b string) bool { return !strings.HasPrefix(b, "@") })
}

// plan returns the flags for the plan of a match between bots whose sandbox is s.
func (f *sandboxFlags) plan(bots []string, s *referee.Sandbox) *tournament.PlanSandbox {
	p := &tournament.PlanSandbox{Mode: strings.ToLower(f.mode), Memory: sizeText(f.memory), Processes: f.processes, Ponder: f.ponder}
	switch {
	case s != nil:
		p.Level = s.Level.String()
	case strangers(bots):
		p.Level = sandbox.None.String()
	}
	return p
}

// buildLevel returns the level at which builds run. Below REDUCED builds cannot run in the
// sandbox: with --sandbox auto they then run without one.
func (f *sandboxFlags) buildLevel(s *referee.Sandbox) sandbox.Level {
	if s == nil || s.Level < sandbox.Reduced && f.mode == sandbox.Auto {
		return sandbox.None
	}
	return s.Level
}

// sandboxBots sets the sandbox of the bots of a tournament that are not house bots.
func sandboxBots(t *tournament.Tournament, programs []program.Program, s *referee.Sandbox) {
	for i, p := range programs {
		if !p.House {
			t.Bots[i].Sandbox = s
		}
	}
}

// units are the units of sizes, each 1024 of the one before.
var units = []string{"k", "m", "g"}

// sizeText returns a size that parseSize reads in its shortest form: 1g for 1024m.
func sizeText(s string) string {
	n, err := parseSize(s)
	if err != nil {
		return s
	}
	unit := ""
	for _, u := range units {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, unit = n>>10, u
	}
	return fmt.Sprint(n) + unit
}

// noticeMemory says so where the bots of a match can use more memory than there is, by
// the limits of their sandboxes: every rotation has processes of its own.
func noticeMemory(w io.Writer, t *tournament.Tournament, machine int64) {
	var bot int64
	sandboxed := 0
	for _, b := range t.Bots {
		if b.Sandbox != nil {
			sandboxed++
			bot = b.Sandbox.Limit.Most(b.Sandbox.Level)
		}
	}
	seats := t.Variant.Players()
	processes := seats * min(seats, sandboxed)
	if need := int64(processes) * bot; machine > 0 && need > machine {
		fmt.Fprintf(w, "notice: %d processes of bots can use %d MiB at once, %d MiB each, and this machine has %d MiB: try a smaller --memory\n",
			processes, need>>20, bot>>20, machine>>20)
	}
}

// parseSize returns the bytes of a size such as 512m; the units are k, m and g.
func parseSize(s string) (int64, error) {
	digits, shift := strings.ToLower(s), 0
	for i, unit := range units {
		if rest, ok := strings.CutSuffix(digits, unit); ok {
			digits, shift = rest, 10*(i+1)
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("memory cannot be %q: try a number and k, m or g, as in 512m", s)
	}
	return n << shift, nil
}
