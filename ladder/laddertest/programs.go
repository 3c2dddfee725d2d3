package laddertest

import (
	"context"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee/match"
)

// Programs are the bots of a test for a runner.
type Programs struct {
	Start    func(context.Context, ladder.Version) (match.Bot, error) // returns a version as a program
	HasBuild func(ladder.Version) bool                                // if it is nil, all versions stand
	Box      *match.Sandbox                                           // of all bots but the house bots
}

// Resolve returns what Start returns, in Box.
func (p *Programs) Resolve(ctx context.Context, v ladder.Version) (match.Bot, error) {
	b, err := p.Start(ctx, v)
	if !v.IsHouse() {
		b.Sandbox = p.Box
	}
	return b, err
}

// IsBuilt returns what HasBuild returns, and true if HasBuild is nil.
func (p *Programs) IsBuilt(v ladder.Version) bool { return p.HasBuild == nil || p.HasBuild(v) }

// Sandbox returns Box.
func (p *Programs) Sandbox() *match.Sandbox { return p.Box }
