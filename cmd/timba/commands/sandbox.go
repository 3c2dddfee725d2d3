package commands

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/internal/size"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/tournament"
)

// sandboxFlags are the flags on sandboxes as the user writes them.
type sandboxFlags struct{ tournament.SandboxFlags }

func (f *sandboxFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Mode, "sandbox", sandbox.Auto, "sandbox the bots: `auto|off`, or the required level: weak|reduced|full")
	cli.SizeFlag(cmd, &f.Memory, "memory", size.Bytes(sandbox.DefaultLimit.Memory), "memory of a bot in a sandbox, as `SIZE`: 300m, 2g")
	cli.CountFlag(cmd, &f.Processes, "processes", sandbox.DefaultLimit.Processes, "processes and threads of a bot in a sandbox")
	flags.StringVar(&f.Ponder, "ponder", "on", "whether a bot may think while it is not its turn: `on|off`; off needs a sandbox of level full")
}

// choose returns the sandbox in which the bots of a command run, or nil if they run without one, as house bots (part
// of timba) do. It sets f.Level to the level (strictness) of the sandbox. It prints a notice if other machines
// support a stricter level. If the flags require a level that this machine does not support, it returns an error.
func (f *sandboxFlags) choose(cmd *cobra.Command, bots ...program.BotSpec) (*match.Sandbox, error) {
	s := &match.Sandbox{Limit: sandbox.DefaultLimit, Freeze: f.Ponder == "off"}
	s.Limit.Memory, s.Limit.Processes = int64(f.Memory), f.Processes
	if _, err := s.Limit.Check(); err != nil {
		return nil, err
	}
	if f.Ponder != "on" && f.Ponder != "off" {
		return nil, fmt.Errorf("ponder cannot be %q: try on or off", f.Ponder)
	}
	if s.Freeze && strings.EqualFold(f.Mode, sandbox.Auto) {
		f.Mode = sandbox.LevelFull.String()
	}
	if err := sandbox.CheckMode(f.Mode); err != nil {
		return nil, err
	}
	f.Mode = strings.ToLower(f.Mode)
	if !slices.ContainsFunc(bots, func(b program.BotSpec) bool { return !strings.HasPrefix(b.Bot, "@") }) {
		return nil, nil
	}
	level, notice, err := sandbox.ChooseLevel(f.Mode)
	if s.Level = level; err != nil {
		if s.Freeze {
			err = fmt.Errorf("ponder cannot be off: only a cgroup can stop a bot while it is not its turn: %w", err)
		}
		return nil, err
	}
	if notice != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), notice)
	}
	if s.Freeze && s.Level < sandbox.LevelFull {
		return nil, fmt.Errorf("ponder cannot be off: only a cgroup can stop a bot while it is not its turn, which needs level FULL, and this machine has %s", s.Level)
	}
	f.Level = s.Level.String()
	if s.Level == sandbox.LevelNone {
		return nil, nil
	}
	return s, nil
}

// buildLevel returns the level (strictness) of the sandbox in which bots are built. s is the sandbox in which they
// play. Builds need at least the level REDUCED. If s has a lower level and the flag is --sandbox auto, bots are built
// without a sandbox.
func (f *sandboxFlags) buildLevel(s *match.Sandbox) sandbox.Level {
	if s == nil || s.Level < sandbox.LevelReduced && f.Mode == sandbox.Auto {
		return sandbox.LevelNone
	}
	return s.Level
}

// sandboxBots sets the sandbox of each bot that is not a house bot (part of timba) to s, with the limits of the bot's
// program. The bots and the programs are in the same order. If s is nil, it does nothing.
func sandboxBots(bots []match.Contestant, programs []program.Program, s *match.Sandbox) error {
	for i, p := range programs {
		if p.House || s == nil {
			continue
		}
		own := *s
		own.Limit = p.Overrides.Limit(s.Limit)
		if _, err := own.Limit.Check(); err != nil {
			return fmt.Errorf("bot %q: %w", p.Name, err)
		}
		bots[i].Sandbox = &own
	}
	return nil
}

// noticeCredit prints a notice if this machine cannot measure how much processor time other programs take from bots.
// Then a bot that is late for that reason is not given extra time.
func noticeCredit(w io.Writer) {
	if err := fairclock.Check(); err != nil {
		fmt.Fprintf(w, "notice: %v: a bot that is late because the machine is busy gets no credit\n", err)
	}
}

// noticeMemory prints a notice if the sandboxes of the bots may use more memory together than the machine has.
// machine is that size in bytes, or 0 if unknown. The sum is for the first round: each worker may play one match at a
// time, with separate processes for each seating of the bots.
func noticeMemory(w io.Writer, t *tournament.State, bots []match.Contestant, workers int, machine int64) {
	var matches [][]int64 // for each match and sandboxed process, the memory that it may use
	for _, m := range t.Next() {
		var mosts []int64
		for rotation := range m.Bots {
			for seat := range t.Variant.Players {
				b := bots[m.Bots[rules.BotAt(seat, rotation, len(m.Bots))]]
				if b.Sandbox != nil && (t.Rotation == nil || *t.Rotation == rotation) {
					mosts = append(mosts, b.Sandbox.Limit.MaxMemory(b.Sandbox.Level))
				}
			}
		}
		matches = append(matches, mosts)
	}
	sum := func(mosts []int64) (all int64) {
		for _, most := range mosts {
			all += most
		}
		return all
	}
	slices.SortFunc(matches, func(a, b []int64) int { return cmp.Compare(sum(b), sum(a)) })
	most, less := slices.Concat(matches[:min(workers, len(matches))]...), "--memory"
	if len(matches) > 1 && workers > 1 {
		less += " or --concurrency"
	}
	if need := sum(most); machine > 0 && need > machine {
		each := fmt.Sprintf("%d MiB each", slices.Max(most)>>20)
		if slices.Min(most) != slices.Max(most) {
			each = "at most " + each
		}
		fmt.Fprintf(w, "notice: %d processes of bots can use %d MiB at once, %s, and this machine has %d MiB: "+
			"try a smaller %s, or memory= of a bot that has its own\n", len(most), need>>20, each, machine>>20, less)
	}
}
