package referee

import (
	"fmt"
	"strings"
)

// pause stops a bot between its turns.
func (p *process) pause() {
	if p.freezes() {
		p.sandbox.Freeze() // after an error it keeps running
	}
}

// wake resumes the bot.
func (p *process) wake() error {
	if !p.freezes() {
		return nil
	}
	if err := p.sandbox.Thaw(); err != nil {
		return fmt.Errorf("referee: %s: %w", strings.Join(p.bot.Command, " "), err)
	}
	return nil
}
