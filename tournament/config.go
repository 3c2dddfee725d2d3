// Package tournament plays matches between any number of bots: it pairs them by
// a format, plays the matches side by side, keeps every finished game in a
// directory from which an interrupted tournament resumes, and adds up the results.
//
// Config says what is played, State knows how far it is, and Play plays it: begin
// with these three.
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

// Config is all that the games of a tournament follow from: the plan.json of its directory.
type Config struct {
	Program      string                `json:"program"` // version of timba that began it
	Game         string                `json:"game"`
	Options      map[string]string     `json:"options"`
	Format       Format                `json:"format"`
	Rounds       int                   `json:"rounds,omitempty"` // of Swiss; 0 for as many as it takes
	Deals        int                   `json:"deals"`            // of each match
	FirstDeal    int                   `json:"first_deal,omitempty"`
	Rotation     *int                  `json:"rotation,omitempty"` // the only one that is played; nil for all
	Openings     []referee.DealOpening `json:"openings,omitempty"` // of the deals, one after the other and then again
	Seed         referee.Hex           `json:"seed"`
	Clock        referee.Clock         `json:"clock"`
	SPRT         *stats.SPRT           `json:"sprt,omitempty"`        // ends the only match of two bots early
	Adjudication referee.Adjudication  `json:"adjudication,omitzero"` // ends games by the bots' own scores
	Sandbox      SandboxFlags          `json:"sandbox"`
	Bots         []Entrant             `json:"bots"`
}

// SandboxFlags is how the bots of a tournament are sandboxed, in the words of the flags.
type SandboxFlags struct {
	Mode      string     `json:"mode"`
	Level     string     `json:"level,omitempty"` // that the mode gave; "" if all are house bots
	Memory    size.Bytes `json:"memory"`
	Processes int        `json:"processes"`
	Ponder    string     `json:"ponder"`
}

// Entrant is a bot as the user named it and what the user gave it of its own, and what program that was.
type Entrant struct {
	program.BotSpec
	SHA256 string `json:"sha256"`
}

// Specs returns the bots, those of a tournament that has begun with the names that they had.
func (c *Config) Specs() (specs []program.BotSpec) {
	for _, b := range c.Bots {
		specs = append(specs, b.BotSpec)
	}
	return specs
}

// Extend sets the number of deals of a tournament that has begun.
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

// checkStart returns an error unless the deals and openings can be played.
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

// variant returns the variant of the game, and an error unless the tournament can be played.
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
		if len(c.Bots) != 2 || v.Sides != 2 {
			return nil, fmt.Errorf("sprt: it compares two bots at a game of two sides, not %d bots at one of %d", len(c.Bots), v.Sides)
		}
		if c.Format == Swiss {
			return nil, errors.New("sprt: it ends one match, and the rounds of a swiss tournament are one each: leave the format out")
		}
	}
	if err := c.Adjudication.Check(); err != nil {
		return nil, err
	}
	return v, c.checkFormat(v)
}
