package check

import (
	"errors"
	"fmt"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/sandbox"
)

// checkSandbox returns a note on the sandbox of the bot, and a warning if the sandbox of rated matches is stricter.
// err is always nil.
func (k *run) checkSandbox() (note string, warnings []string, err error) {
	h := k.program.Sandbox
	switch {
	case h == nil && k.OnServer:
		return "NONE: this server does not sandbox bots", nil, nil
	case h == nil:
		return "not sandboxed, unlike in a rated match: files, network and memory are not checked", nil, nil
	}
	note = fmt.Sprintf("%s: %d MiB of memory, %d processes", h.Level, h.Limit.Memory>>20, h.Limit.Processes)
	if h.Freeze {
		note += ", stopped while it is not its turn"
	}
	if h.Level < sandbox.LevelReduced && !k.OnServer {
		warnings = append(warnings, "a rated match uses a better sandbox, REDUCED or FULL, in which more may fail: timba doctor shows what would help")
	}
	return note, warnings, nil
}

// compareUnsandboxed plays the first game again without the sandbox. It does so only if failure is a *Failure, the
// bot has a sandbox, and Options.RetryUnsandboxed is set. Then it adds to failure whether the bot also fails without
// the sandbox. It returns failure, or an error if that game could not be played.
func (k *run) compareUnsandboxed(failure error) error {
	var f, other *Failure
	if !k.RetryUnsandboxed || k.program.Sandbox == nil || !errors.As(failure, &f) {
		return failure
	}
	h := k.program.Sandbox
	k.program.Sandbox = nil
	defer func() { k.program.Sandbox = h }()
	s, err := k.newSession()
	if err == nil {
		_, err = s.play(k.first)
	}
	k.endSession()
	switch {
	case err == nil:
		f.Text = phrase.New("works outside the sandbox but not inside: %s", f.Text)
	case errors.As(err, &other):
		f.Text = phrase.New("%s; outside the sandbox it fails, too", f.Text)
	default:
		return err
	}
	return f
}
