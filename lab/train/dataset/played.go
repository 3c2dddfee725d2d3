package dataset

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// botsBySeat returns the bot of each seat. If one bot is given, it plays every seat. If none is given, the result
// is empty. It is an error if the number of bots is neither 0 nor 1 nor the number of seats.
func botsBySeat(m cards.Mode, given []string) ([]string, error) {
	switch len(given) {
	case 0, m.Players:
		return given, nil
	case 1:
		return slices.Repeat(given, m.Players), nil
	}
	return nil, fmt.Errorf("mode %v has %d seats: name 1 bot or %d, not %d", m, m.Players, m.Players, len(given))
}

// BotGames returns a function that generates games between the bots in c.Bots. r finds the programs of these bots.
// The function plays all combinations of the optional rules in turn. It plays each deal once, and from deal to deal
// the bots move on by one seat. If a bot has a fault, the function returns an error.
func (c *Config) BotGames(ctx context.Context, r program.Resolver) (GenerateFunc, error) {
	bots := make([]match.Contestant, len(c.Bots))
	for i, spec := range c.Bots {
		var err error
		if bots[i], err = findBot(ctx, spec, r); err != nil {
			return nil, err
		}
		bots[i].Name = fmt.Sprintf("%s#%d", spec, i)
	}
	m := c.mode()
	list := m.Rules()
	return func(ctx context.Context, from, to int, dst []byte) ([]byte, error) {
		games := make([]GameRecord, to-from)
		for first := from; first < min(to, from+len(list)); first++ {
			bits := first % len(list)
			var at []int
			for i := first; i < to; i += len(list) {
				at = append(at, i-from)
			}
			var seed rules.Seed
			binary.LittleEndian.PutUint64(seed[:], run.DeriveSeed(c.Seed, "games", first))
			if err := playGames(ctx, m, bits, list[bits], bots, seed, games, at); err != nil {
				return dst, err
			}
		}
		for i := range games {
			dst = games[i].Append(dst)
		}
		return dst, nil
	}, nil
}

// findBot returns the bot that spec names. A house bot plays within this process, which is much faster. For any
// other bot, r finds the program.
func findBot(ctx context.Context, spec string, r program.Resolver) (match.Contestant, error) {
	if name, ok := strings.CutPrefix(spec, "@"); ok {
		_, err := house.CanonicalSpec(name)
		return match.Contestant{Serve: func(lines io.Reader, answers io.Writer) error { return house.Run(name, lines, answers) }}, err
	}
	found, err := r.Resolve(ctx, spec)
	if err != nil {
		return match.Contestant{}, err
	}
	return found.Contestant, nil
}

// playGames plays games with the combination of rules r, whose number is bits. It stores them in games at the
// indices in the list at. With n bots it plays n matches, each with one seating of the bots: match k plays the
// games at[k], at[k+n] and so on.
func playGames(ctx context.Context, m cards.Mode, bits int, r baraja.TableRules, bots []match.Contestant, seed rules.Seed, games []GameRecord, at []int) error {
	n := len(bots)
	for rotation := range n {
		deals := (len(at) - rotation + n - 1) / n
		if deals <= 0 {
			continue
		}
		turned := make([]match.Contestant, n)
		for seat := range turned {
			turned[seat] = bots[rules.BotAt(seat, rotation, n)]
		}
		v := m.Variant(r)
		match := &match.Match{Variant: v, Bots: turned, Deals: deals, OnlyRotations: []int{0}, Clock: run.Clock, Seed: seed.Derive(fmt.Sprint(rotation))}
		err := match.Play(ctx, func(g *referee.GameResult) error {
			if err := run.FirstFault(g); err != nil {
				return err
			}
			return recordGame(v, bits, g, &games[at[rotation+g.Match.Deal*n]])
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// recordGame stores the deal and the moves of the game g in *to. bits is the number of the combination of optional
// rules.
func recordGame(v *rules.Variant, bits int, g *referee.GameResult, to *GameRecord) error {
	src := rules.NewStream(rules.Seed(g.Seed))
	to.SetDeal(bits, cards.Table(v.Deal(&src)))
	for step, err := range g.Walk(v, nil) {
		if err != nil {
			return err
		}
		if step.Next != nil {
			to.AddMove(step.Move)
		}
	}
	return nil
}
