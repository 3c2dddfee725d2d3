package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/ladder/tournament"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/sandbox"
)

// holdFlags say how bots are held, as users write it.
type holdFlags struct {
	mode      string
	memory    string
	processes int
	ponder    string
}

func (f *holdFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.mode, "sandbox", sandbox.Auto, "hold the bots: `auto|on|off`, or the level that is needed: weak|reduced|full")
	flags.StringVar(&f.memory, "memory", "512m", "memory of a bot in a sandbox, as `SIZE`: 300m, 2g")
	flags.IntVar(&f.processes, "processes", sandbox.DefaultLimit.Processes, "processes and threads of a bot in a sandbox")
	flags.StringVar(&f.ponder, "ponder", "on", "may a bot think while it is not its turn: `on|off`; off takes a sandbox of level full")
}

// choose settles how the bots of a command are held, nil for not at all, and
// says so. House bots are part of this program and need no sandbox.
func (f *holdFlags) choose(cmd *cobra.Command, bots []string) (*referee.Hold, error) {
	h := &referee.Hold{Limit: sandbox.DefaultLimit, Still: f.ponder == "off"}
	var err error
	if h.Limit.Memory, err = parseSize(f.memory); err != nil {
		return nil, err
	}
	h.Limit.Processes = f.processes
	if err := h.Limit.Check(); err != nil {
		return nil, err
	}
	if f.ponder != "on" && f.ponder != "off" {
		return nil, fmt.Errorf("ponder cannot be %q: try on or off", f.ponder)
	}
	if h.Still && strings.EqualFold(f.mode, sandbox.Auto) {
		f.mode = sandbox.Full.String()
	}
	if err := sandbox.CheckMode(f.mode); err != nil {
		return nil, err
	}
	strangers := false
	for _, b := range bots {
		strangers = strangers || !strings.HasPrefix(b, "@")
	}
	if !strangers {
		return nil, nil
	}
	var notice string
	if h.Level, notice, err = sandbox.Choose(f.mode); err != nil {
		if h.Still {
			err = fmt.Errorf("ponder cannot be off: only a cgroup can stop a bot while it is not its turn: %w", err)
		}
		return nil, err
	}
	if notice != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), notice)
	}
	if h.Still && h.Level < sandbox.Full {
		return nil, fmt.Errorf("ponder cannot be off: only a cgroup can stop a bot while it is not its turn, which takes level FULL, and this is %s", h.Level)
	}
	if h.Level == sandbox.None {
		return nil, nil
	}
	return h, nil
}

// buildLevel is where builds run: a level that holds none, taken because there is
// no better one, leaves them as free as without a sandbox.
func (f *holdFlags) buildLevel(h *referee.Hold) sandbox.Level {
	if h == nil || h.Level < sandbox.Reduced && f.mode == sandbox.Auto {
		return sandbox.None
	}
	return h.Level
}

// hold puts the bots of a tournament that are not of the house into sandboxes.
func hold(t *tournament.Tournament, programs []program.Program, h *referee.Hold) {
	for i, p := range programs {
		if !p.House {
			t.Bots[i].Hold = h
		}
	}
}

// parseSize reads a number of bytes with a k, m or g behind it.
func parseSize(s string) (int64, error) {
	digits, shift := strings.ToLower(s), 0
	for i, unit := range []string{"k", "m", "g"} {
		if rest, ok := strings.CutSuffix(digits, unit); ok {
			digits, shift = rest, 10*(i+1)
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("memory cannot be %q: try a number and k, m or g, as in 512m", s)
	}
	return n << shift, nil
}
