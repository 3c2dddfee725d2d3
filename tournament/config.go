// Package tournament plays matches between any number of bots. It pairs the bots by a format, plays the
// matches side by side, stores every finished game in a directory, and adds up the results. An interrupted
// tournament resumes from its directory.
//
// Config says what is played, State what has been played, and Play plays the rest: begin with these three.
package tournament

import (
	"errors"
	"fmt"

	"github.com/timba-arena/timba/internal/size"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/stats"
)

// Config determines all games of a tournament. The file plan.json in the directory of a tournament contains it as
// JSON.
type Config struct {
	Program      string                `json:"program"`             // version of timba that started the tournament
	Directory    string                `json:"directory,omitempty"` // where the tournament was started; the paths of its bots begin there
	Game         string                `json:"game"`
	Options      map[string]string     `json:"options"`
	Format       Format                `json:"format"`
	Rounds       int                   `json:"rounds,omitempty"`     // number of rounds of a Swiss tournament; 0 means the usual number
	Deals        int                   `json:"deals"`                // number of deals of each match
	FirstDeal    int                   `json:"first_deal,omitempty"` // number of the first deal
	Rotation     *int                  `json:"rotation,omitempty"`   // the only rotation that is played; nil means all
	Openings     []referee.DealOpening `json:"openings,omitempty"`   // deal i begins with Openings[i % len(Openings)]; nil means none
	Shuffled     bool                  `json:"shuffled,omitempty"`   // whether ShuffleOpenings has put the openings into a random order
	Seed         referee.Hex           `json:"seed"`
	Clock        referee.Clock         `json:"clock"`
	SPRT         *stats.SPRT           `json:"sprt,omitempty"`        // sequential test that can end a match of two bots early; each match of a gauntlet has its own; nil means none
	Adjudication referee.Adjudication  `json:"adjudication,omitzero"` // rules by which the bots' own scores end a game early
	Sandbox      SandboxFlags          `json:"sandbox"`
	Bots         []Entrant             `json:"bots"`
}

// SandboxFlags says how the bots of a tournament are sandboxed. Its fields are the values of the command-line flags
// for that.
type SandboxFlags struct {
	Mode      string     `json:"mode"`
	Level     string     `json:"level,omitempty"` // the level that was chosen for Mode on this machine; "" if all bots are house bots
	Memory    size.Bytes `json:"memory"`
	Processes int        `json:"processes"`
	Ponder    string     `json:"ponder"`
}

// Entrant is a bot of a tournament as the user wrote it, with the hash of its program. The hash must be the same when
// the tournament resumes.
type Entrant struct {
	program.BotSpec
	SHA256 string `json:"sha256"`
}

// Specs returns the bots as the user wrote them. Once the tournament has begun, each also has the name that it has in
// the tournament.
func (c *Config) Specs() (specs []program.BotSpec) {
	for _, b := range c.Bots {
		specs = append(specs, b.BotSpec)
	}
	return specs
}

// ShuffleOpenings puts the openings into a random order. The order depends only on the seed of the tournament.
func (c *Config) ShuffleOpenings() {
	random := rules.NewStream(rules.Seed(c.Seed).Derive("openings"))
	rules.Shuffle(&random, c.Openings)
	c.Shuffled = true
}

// Extend increases the number of deals (each is played once in every seating of the bots) of a tournament that has
// begun. It returns an error if deals is smaller than before, or if this tournament cannot be extended.
func (c *Config) Extend(deals int) error {
	switch {
	case deals < c.Deals:
		return fmt.Errorf("resume: --deals was %d and is now %d: a tournament can be extended, not shortened", c.Deals, deals)
	case deals > c.Deals && c.Format.InRounds():
		return fmt.Errorf("resume: --deals was %d and is now %d: a %s cannot be extended, because its results decide who meets whom; start a new one",
			c.Deals, deals, c.Format)
	case deals > c.Deals && (c.FirstDeal > 0 || c.Rotation != nil):
		return fmt.Errorf("resume: --deals was %d and is now %d: one deal that is played alone cannot be extended; start a match with --deals %d",
			c.Deals, deals, deals)
	}
	c.Deals = deals
	return nil
}

// checkStart returns an error if the first deal, the rotation (the seating of the bots) or the openings cannot be
// played in v.
func (c *Config) checkStart(v *rules.Variant) error {
	switch r := c.Rotation; {
	case c.FirstDeal < 0:
		return fmt.Errorf("tournament: the first deal cannot be %d: try 0 or more", c.FirstDeal)
	case (c.FirstDeal > 0 || r != nil) && c.Format != Single:
		return fmt.Errorf("tournament: one deal is played in one match, not in a %s: leave the format out, or name %d bots at most", c.Format, v.Players)
	case r != nil && (*r < 0 || *r >= len(c.Bots)):
		return fmt.Errorf("tournament: rotation %d does not exist: with %d bots there are 0 to %d", *r, len(c.Bots), len(c.Bots)-1)
	case r != nil && c.SPRT != nil:
		return errors.New("sprt: it needs whole deals: leave the rotation out")
	}
	for i, o := range c.Openings {
		if err := o.Check(v); err != nil {
			return fmt.Errorf("opening %d: %w", i+1, err)
		}
	}
	return nil
}

// variant checks the configuration, and returns the game with its options that the tournament plays. It returns an
// error if anything in the configuration cannot be played.
func (c *Config) variant() (*rules.Variant, error) {
	g, err := games.Find(c.Game)
	if err != nil {
		return nil, err
	}
	v, err := g.Resolve(c.Options)
	if err != nil {
		return nil, err
	}
	if err := c.Clock.Check(); err != nil {
		return nil, err
	}
	if len(c.Bots) == 0 {
		return nil, errors.New("tournament: there are no bots: name at least one")
	}
	if c.Deals < 1 {
		return nil, fmt.Errorf("tournament: deals cannot be %d: try 1 or more", c.Deals)
	}
	if err := c.checkStart(v); err != nil {
		return nil, err
	}
	if c.SPRT != nil {
		if err := c.SPRT.Check(); err != nil {
			return nil, err
		}
		if len(c.Bots) != 2 && c.Format != Gauntlet || v.Sides != 2 {
			return nil, fmt.Errorf("sprt: it compares two bots at a game of two sides, not %d bots at one of %d: name two, or with two sides choose --format gauntlet, which has a test for each opponent of the first bot", len(c.Bots), v.Sides)
		}
		if c.Format == Swiss || c.Format == Knockout {
			return nil, fmt.Errorf("sprt: it ends one match, and the rounds of a %s tournament are one each: leave the format out", c.Format)
		}
	}
	if err := c.Adjudication.Check(); err != nil {
		return nil, err
	}
	return v, c.checkFormat(v)
}
