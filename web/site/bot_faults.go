package site

import (
	"slices"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
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
		f, err := s.forfeit(v, b, lost, own)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// forfeit explains the first fault of the seat that lost a game.
func (s *Site) forfeit(v *visit, b ladder.Bot, lost store.Forfeit, own bool) (forfeit, error) {
	f := forfeit{Forfeit: lost}
	data, err := s.Store.Replay(v.ctx(), lost.Game)
	if err != nil {
		return f, err
	}
	replay, err := referee.DecodeReplay(data)
	if err != nil {
		return f, err
	}
	at := slices.IndexFunc(replay.Faults, func(x referee.Fault) bool { return x.Seat == lost.Seat })
	if at < 0 || lost.Seat >= len(replay.Seats) {
		return f, nil
	}
	var log []byte
	if own {
		if log, err = s.Store.Log(v.ctx(), lost.Game, lost.Seat); err != nil {
			return f, err
		}
	}
	version, err := s.Store.VersionOf(v.ctx(), b, lost.Version)
	if err != nil {
		return f, err
	}
	note := s.explain(replay, replay.Faults[at], log, version.Language)
	f.Text, f.Advice = note.Text, note.Advice
	f.Log = strings.Join(fault.LogEnd(fault.Lines(log), forfeitLog), "\n")
	return f, nil
}
