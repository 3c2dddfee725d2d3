package site

import (
	"slices"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/rules/games"
)

const (
	botForfeits = 3  // on the page of a bot
	forfeitLog  = 12 // of what a bot wrote in a game
)

// forfeit is a game that a bot lost by a fault, and why.
type forfeit struct {
	store.Forfeit
	Text   string
	Advice []string // what to change, the most likely first
	Log    string   // the end of what the bot wrote to stderr, for its owner
}

// forfeits explains the last games that a bot lost by a fault. Only its owner sees what the bot
// wrote to stderr, and what follows from that.
func (s *Site) forfeits(v *visit, b ladder.Bot, own bool) (out []forfeit, err error) {
	list, err := s.Store.Forfeits(v.ctx(), b.ID, botForfeits)
	if err != nil {
		return nil, err
	}
	for _, lost := range list {
		f := forfeit{Forfeit: lost}
		if err := s.explain(v, b, &f, own); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// explain adds the text and the advice of the first fault of a seat.
func (s *Site) explain(v *visit, b ladder.Bot, f *forfeit, own bool) error {
	data, err := s.Store.Replay(v.ctx(), f.Game)
	if err != nil {
		return err
	}
	replay, err := referee.DecodeReplay(data)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(replay.Faults, func(x referee.Fault) bool { return x.Seat == f.Seat })
	if at < 0 {
		return nil
	}
	first := replay.Faults[at]
	var log []byte
	if own {
		if log, err = s.Store.Log(v.ctx(), f.Game, f.Seat); err != nil {
			return err
		}
	}
	var c fault.Circumstances
	if g, err := games.Find(replay.Game); err == nil {
		c, _ = replay.Circumstances(g, first, log) // the advice is less certain without them
	}
	if version, err := s.Store.VersionOf(v.ctx(), b, f.Version); err == nil {
		c.Language = version.Language
	}
	c.Fixed = true
	f.Text, f.Advice = first.TextIn(c), first.Reason.Advice(c)
	f.Log = strings.Join(fault.LogEnd(fault.Lines(log), forfeitLog), "\n")
	return nil
}
