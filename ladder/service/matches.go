package service

import (
	"context"
	"maps"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules/games"
)

// MatchRequest is a request for an unrated match. It names either a ladder, from which the match takes its game,
// options and clock, or a game with options.
type MatchRequest struct {
	Ladder  string // gives the game, the options and the clock; empty if Game is set
	Game    string
	Options map[string]string // of the game; the default of "players" is the number of bots
	Deals   int               // 0 means as many as on the ladder, or defaultDeals
	Bots    []string          // by slot, as SplitRef reads them: a name, or NAME@N with the number of a version
}

// defaultDeals is the number of deals of a requested match if the request names no ladder.
const defaultDeals = 10

// RequestMatch adds an unrated match, to be played later. asked describes the match. The actor needs the scope
// ScopeSubmit.
func (s *Service) RequestMatch(ctx context.Context, a Actor, asked MatchRequest) (m ladder.Match, err error) {
	if err := a.CheckScope(ladder.ScopeSubmit, "to ask for a match"); err != nil {
		return m, err
	}
	n, err := s.newMatch(ctx, a, asked)
	if err != nil {
		return m, err
	}
	n.RequestedBy, n.MaxOpen = a.Person.ID, s.Config.Limits.UnratedMatches
	n.MaxTime, n.Memory, n.Allowance = s.Config.Limits.Time, s.Memory, s.Config.Remote.Allowance
	if m, err = s.Store.Matches.Add(ctx, n); err == nil {
		s.Wake()
	}
	return m, err
}

// newMatch turns a request, asked, into a match. If the request names a ladder, the match has the settings of that
// ladder. If it names a game, the match gets the clock of the first ladder of that game. Store.Matches.Add checks the
// limits of time, memory and open matches. New house bots with options are those of the actor.
func (s *Service) newMatch(ctx context.Context, a Actor, asked MatchRequest) (n store.NewMatch, err error) {
	switch {
	case (asked.Ladder == "") == (asked.Game == ""):
		return n, ladder.Errorf(ladder.Invalid, "give one of them", "a match needs either a ladder or a game")
	case asked.Ladder != "" && len(asked.Options) > 0:
		return n, ladder.Errorf(ladder.Invalid, "give the game instead of the ladder", "ladder %q sets its own options", ladder.Clip(asked.Ladder))
	case asked.Deals < 0:
		return n, ladder.Errorf(ladder.Invalid, "leave it out, or give a number", "deals cannot be %d", asked.Deals)
	}
	usual := 0 // bots of a match on the ladder
	if asked.Ladder != "" {
		l, err := s.Store.Ladders.Find(ctx, asked.Ladder)
		if err != nil {
			return n, err
		}
		usual = l.Bots
		n.Game, n.Options, n.Clock, n.Deals = l.Game, l.Options, l.Clock, l.Deals
	} else {
		n.Game, n.Options, n.Clock, n.Deals = asked.Game, withPlayers(asked), s.clockFor(asked.Game), defaultDeals
	}
	if asked.Deals > 0 {
		n.Deals = asked.Deals
	}
	v, err := ladder.Ladder{Game: n.Game, Options: n.Options}.Variant()
	if err == nil {
		_, err = ladder.SlotSides(v, len(asked.Bots))
	}
	switch {
	case err != nil && usual > 0:
		return n, ladder.Errorf(ladder.Invalid, "", "the number of bots cannot be %d on ladder %q", len(asked.Bots), asked.Ladder).Try("try %d", usual)
	case err != nil:
		return n, ladder.Errorf(ladder.Invalid, "", "%w", err)
	}
	for _, ref := range asked.Bots {
		name, number, err := SplitRef(ref)
		if err != nil {
			return n, err
		}
		if name, err = s.AddHouseBot(ctx, a, name); err != nil {
			return n, err
		}
		v, err := s.FindVersion(ctx, name, number)
		if err != nil {
			return n, err
		}
		if v.Remote && v.State == ladder.Live && s.IsAway(v.ID) {
			return n, ladder.Errorf(ladder.Conflict, "ask again when it is", "version %d of %s is not connected", v.Number, v.Bot)
		}
		n.Versions = append(n.Versions, v.ID)
	}
	return n, nil
}

// withPlayers returns the options of a request. If the game has the option "players" and the request does not set
// this option, withPlayers sets it to the number of bots.
func withPlayers(asked MatchRequest) map[string]string {
	options := map[string]string{}
	if g, err := games.Find(asked.Game); err == nil { // the store reports an unknown game
		for _, o := range g.Options {
			if o.Name == "players" {
				options["players"] = strconv.Itoa(len(asked.Bots))
			}
		}
	}
	maps.Copy(options, asked.Options)
	return options
}

// clockFor returns the clock of the first ladder of the named game. If the game has no ladder, it returns the clock
// of the first ladder of any game.
func (s *Service) clockFor(game string) referee.Clock {
	for _, l := range s.Config.Ladders {
		if l.Game == game {
			return l.Clock
		}
	}
	return s.Config.Ladders[0].Clock
}

// CancelMatch drops an unfinished match. It returns an error unless the actor requested the match or is an admin.
func (s *Service) CancelMatch(ctx context.Context, a Actor, id int64) (m ladder.Match, err error) {
	if err := a.CheckScope(ladder.ScopeSubmit, "to cancel a match"); err != nil {
		return m, err
	}
	if m, err = s.Store.Matches.Find(ctx, id); err != nil {
		return m, err
	}
	if !a.Owns(m.RequestedBy) {
		return m, ladder.Errorf(ladder.Forbidden, "", "only who asked for match %d, or an admin, may cancel it", m.ID)
	}
	if err := s.Store.Matches.Cancel(ctx, m.ID, a.Person.ID, phrase.New("cancelled by %s", a.Person.Name)); err != nil {
		return m, err
	}
	s.Wake()
	return s.Store.Matches.Find(ctx, m.ID)
}

// GameLog returns what the bot at a seat wrote to stderr in the game with the ID game. It returns an error
// unless the actor owns the bot.
func (s *Service) GameLog(ctx context.Context, a Actor, game, seat int64) ([]byte, error) {
	g, err := s.Store.Matches.Game(ctx, game)
	if err != nil {
		return nil, err
	}
	if seat >= int64(len(g.Seats)) {
		return nil, ladder.Errorf(ladder.NotFound, "", "game %d has no seat %d", g.ID, seat).Try("the seats are 0 to %d", len(g.Seats)-1)
	}
	m, err := s.Store.Matches.Find(ctx, g.MatchID)
	if err != nil {
		return nil, err
	}
	v, err := s.Store.Versions.Find(ctx, m.Versions[g.Seats[seat].Slot])
	if err != nil {
		return nil, err
	}
	if err := a.CheckOwner(v.Owner, "see what a bot wrote"); err != nil {
		return nil, err
	}
	return s.Store.Matches.Log(ctx, g.ID, int(seat))
}

// MaxVersion is the largest version number that SplitRef accepts.
const MaxVersion = 1_000_000

// SplitRef splits NAME@N into the name of a bot and the number n of a version. If @N is missing, n is 0. An @
// at the beginning belongs to the name, because the names of house bots begin with it.
func SplitRef(ref string) (bot string, n int, err error) {
	at := strings.LastIndexByte(ref, '@')
	if at <= 0 {
		return ref, 0, nil
	}
	n, err = strconv.Atoi(ref[at+1:])
	if err != nil || n < 1 || n > MaxVersion {
		return "", 0, ladder.Errorf(ladder.Invalid, "write NAME, or NAME@N with the number of a version", "bot cannot be %q", ladder.Clip(ref))
	}
	return ref[:at], n, nil
}

// SetPaused pauses the ladder called name, or resumes it if paused is false. While it is paused, none of its matches
// starts, except for those that were interrupted. Only admins may call it.
func (s *Service) SetPaused(ctx context.Context, a Actor, name string, paused bool) (l store.LadderInfo, err error) {
	if err := a.CheckAdmin("to pause ladders"); err != nil {
		return l, err
	}
	if err := s.Store.Ladders.SetPaused(ctx, name, paused); err != nil {
		return l, err
	}
	s.Wake()
	return s.Store.Ladders.Find(ctx, name)
}
