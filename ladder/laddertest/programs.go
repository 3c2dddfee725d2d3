package laddertest

import (
	"context"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee/match"
)

// Programs implements runner.Programs for the bots of a test.
type Programs struct {
	Start    func(context.Context, ladder.Version) (match.Contestant, error) // returns the program of a version
	HasBuild func(ladder.Version) bool                                       // reports whether a version can be started; if nil, all can
	Box      *match.Sandbox                                                  // sandbox of all bots except house bots
}

// Resolve returns the bot that p.Start returns. The bot runs in the sandbox p.Box, unless it is a house bot (part of
// timba).
func (p *Programs) Resolve(ctx context.Context, v ladder.Version) (match.Contestant, error) {
	b, err := p.Start(ctx, v)
	if !v.IsHouse() {
		b.Sandbox = p.Box
	}
	return b, err
}

// IsBuilt returns the result of HasBuild, or true if HasBuild is nil.
func (p *Programs) IsBuilt(v ladder.Version) bool { return p.HasBuild == nil || p.HasBuild(v) }

// Sandbox returns Box.
func (p *Programs) Sandbox() *match.Sandbox { return p.Box }
