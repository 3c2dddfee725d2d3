package service

import (
	"context"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/sample-bots/house"
)

// AddHouseBot returns the name by which the store knows the bot called name. If name is a house bot (part of timba)
// with options that nobody has chosen before, such as "@greedy:noise=20", it adds the bot, within the limits of the
// actor a. It returns an error if the options are not valid or name a file of the server, if a may not add bots, or if
// a limit is reached. It does not check whether the bot of a name without options exists.
func (s *Service) AddHouseBot(ctx context.Context, a Actor, name string) (string, error) {
	if !strings.HasPrefix(name, "@") || !strings.Contains(name, ":") || s.isKnownBot(ctx, name) { // the configuration may name one with a file
		return name, nil
	}
	spec, err := house.ServerSpec(name[1:])
	if err != nil {
		return "", ladder.Errorf(ladder.Invalid, "", "%w", err)
	}
	if name = "@" + spec; s.isKnownBot(ctx, name) {
		return name, nil
	}
	if a.Person.ID == 0 {
		return "", ladder.Errorf(ladder.Unauthorized, "sign in, or choose another", "bot %q has never played here, and only people with an account may add it", ladder.Clip(name))
	}
	if err := a.CheckScope(ladder.ScopeSubmit, "to choose new options of a house bot"); err != nil {
		return "", err
	}
	return name, s.Store.Bots.AddHouse(ctx, a.Person.ID, name, s.Config.Limits)
}

// isKnownBot reports whether the store has a bot called name. If the store cannot be read, it returns false.
func (s *Service) isKnownBot(ctx context.Context, name string) bool {
	_, err := s.Store.Bots.Find(ctx, name)
	return err == nil
}
