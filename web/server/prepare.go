package server

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/sample-bots/house"
)

// prepare updates the ladders and house bots (part of timba) in the store from the configuration, deletes uploads
// that nobody needs, ends the games of people that an earlier run of the server left, and creates the first
// token.
func (s *Server) prepare(ctx context.Context) error {
	if err := s.Store.Ladders.Sync(ctx, s.Config.Ladders); err != nil {
		return err
	}
	isHouse := true
	known, err := s.Store.Bots.List(ctx, &isHouse, 0, math.MaxInt32)
	if err != nil {
		return err
	}
	bots, err := houseBots(ctx, s.Config, known)
	if err != nil {
		return err
	}
	if err := s.Store.Bots.SyncHouse(ctx, bots); err != nil {
		return err
	}
	swept, err := s.Store.Versions.SweepUploads(ctx)
	if err != nil {
		return err
	}
	if swept > 0 {
		s.Log.Info("uploads that nobody needs are deleted", "uploads", swept)
	}
	broken, err := s.Store.Plays.BreakAll(ctx)
	if err != nil {
		return err
	}
	if broken > 0 {
		s.Log.Info("games of people that the last run left are ended", "games", broken)
	}
	s.Token, err = s.firstToken(ctx)
	return err
}

// houseBots returns the house bots (the bots that are part of timba) that people can choose on the server. They are all
// house bots without options, the levels of the champion, the house bots of the ladders in c, and those bots in known
// whose options people may choose. known has the house bots that the store has from earlier runs of the server.
// houseBots returns an error if one of the bots does not exist.
func houseBots(ctx context.Context, c *config.Config, known []ladder.Bot) (bots []store.HouseBot, err error) {
	var names []string
	for _, l := range c.Ladders {
		names = append(names, l.House...)
	}
	for _, l := range house.Levels() {
		names = append(names, "@"+l.Spec)
	}
	for _, b := range house.Bots() {
		names = append(names, "@"+b.Name)
	}
	for _, b := range known {
		// A bot of another version of timba may not exist in this one.
		spec := strings.TrimPrefix(b.Name, "@")
		if canonical, err := house.ServerSpec(spec); err == nil && canonical == spec {
			names = append(names, b.Name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		p, err := program.Resolver{}.Resolve(ctx, name)
		if err != nil {
			return nil, err
		}
		bots = append(bots, store.HouseBot{Name: name, Label: house.Version, Hash: p.Hash, Games: house.Games(strings.TrimPrefix(name, "@"))})
	}
	return bots, nil
}

const adminName = "admin"

// firstToken creates an admin and a token, unless an admin has had a token before. It returns the token and writes it
// into a file of the data directory. If an admin has had a token before, it returns "".
func (s *Server) firstToken(ctx context.Context) (token string, err error) {
	people, err := s.Store.People.List(ctx)
	if err != nil {
		return "", err
	}
	var admin ladder.Person
	for _, p := range people {
		if !p.Admin {
			continue
		}
		tokens, err := s.Store.Sessions.Tokens(ctx, p.ID)
		if err != nil || len(tokens) > 0 {
			return "", err
		}
		admin = p
	}
	if admin.ID == 0 {
		if admin, err = s.Store.People.Add(ctx, adminName, true); err != nil {
			return "", err
		}
	}
	if token, _, err = s.Store.Sessions.AddToken(ctx, admin.ID, "first start", ladder.ScopeAll, time.Time{}); err != nil {
		return "", err
	}
	if err := os.Remove(s.Dir.AdminToken()); err != nil && !errors.Is(err, fs.ErrNotExist) { // a file of an earlier database
		return "", dataError(err)
	}
	if err := writeNew(s.Dir.AdminToken(), []byte(token+"\n")); err != nil {
		return "", dataError(err)
	}
	return token, nil
}
