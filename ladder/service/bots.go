package service

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/store"
)

// FindVersion returns the version of the bot called bot with the given number. If number is 0, it returns the version
// with which the bot plays at present or, if there is none, the last version.
func (s *Service) FindVersion(ctx context.Context, bot string, number int) (v ladder.Version, err error) {
	b, err := s.Store.Bots.Find(ctx, bot)
	if err != nil {
		return v, err
	}
	if number > 0 {
		return s.Store.Versions.FindNumber(ctx, b, number)
	}
	all, err := s.Store.Versions.List(ctx, b.ID, 0, -1)
	if err != nil {
		return v, err
	}
	if len(all) == 0 {
		return v, store.NoVersionError(bot, number)
	}
	live := slices.IndexFunc(all, func(v ladder.Version) bool { return v.State == ladder.Live })
	return all[max(0, live)], nil
}

// WithdrawBot takes a bot off the ladders until RestoreBot. The actor must own the bot and have the scope
// ScopeSubmit.
func (s *Service) WithdrawBot(ctx context.Context, a Actor, bot string) (ladder.Bot, error) {
	return s.changeBot(ctx, a, bot, "withdraw a bot", s.Store.Bots.Withdraw)
}

// RestoreBot undoes WithdrawBot: the version that played before plays again. The actor must own the bot and have
// the scope ScopeSubmit.
func (s *Service) RestoreBot(ctx context.Context, a Actor, bot string) (ladder.Bot, error) {
	return s.changeBot(ctx, a, bot, "bring a bot back", s.Store.Bots.Restore)
}

// UseVersion makes a bot play with an earlier version, which has played before. The actor must own the bot and
// have the scope ScopeSubmit.
func (s *Service) UseVersion(ctx context.Context, a Actor, bot string, version int) (ladder.Bot, error) {
	return s.changeBot(ctx, a, bot, "choose its version", func(ctx context.Context, botID int64) error {
		return s.Store.Bots.UseVersion(ctx, botID, version)
	})
}

// BanBot takes the bot of a person off all ladders, and sends the owner a message with reason. The owner cannot bring
// the bot back before UnbanBot. Only admins may call BanBot.
func (s *Service) BanBot(ctx context.Context, a Actor, bot, reason string) (ladder.Bot, error) {
	if err := a.CheckAdmin("to ban a bot"); err != nil {
		return ladder.Bot{}, err
	}
	return s.changeBot(ctx, a, bot, "", func(ctx context.Context, botID int64) error {
		return s.Store.Bots.Ban(ctx, botID, reason)
	})
}

// UnbanBot undoes BanBot. The bot stays withdrawn until its owner brings it back. Only admins may call it.
func (s *Service) UnbanBot(ctx context.Context, a Actor, bot string) (ladder.Bot, error) {
	if err := a.CheckAdmin("to unban a bot"); err != nil {
		return ladder.Bot{}, err
	}
	return s.changeBot(ctx, a, bot, "", s.Store.Bots.Unban)
}

func (s *Service) changeBot(ctx context.Context, a Actor, bot, what string, change func(ctx context.Context, botID int64) error) (ladder.Bot, error) {
	b, err := s.Store.Bots.Find(ctx, bot)
	if err != nil {
		return b, err
	}
	if err := a.checkChange(b.PersonID, what); err != nil {
		return b, err
	}
	if err := change(ctx, b.ID); err != nil {
		return b, err
	}
	s.Wake() // the live version may have changed
	return s.Store.Bots.Find(ctx, bot)
}

// OpenUpload opens the file that was uploaded for a version, unchanged. It returns an error unless the actor owns
// the bot. For number see FindVersion.
func (s *Service) OpenUpload(ctx context.Context, a Actor, bot string, number int) (*os.File, ladder.Version, error) {
	v, err := s.FindVersion(ctx, bot, number)
	if err != nil {
		return nil, v, err
	}
	if err := a.CheckOwner(v.Owner, "fetch an upload"); err != nil {
		return nil, v, err
	}
	f, err := s.Store.Versions.OpenUpload(v)
	return f, v, err
}

// EditUpload unpacks the upload of a version into a temporary directory, calls edit with the directory and the list
// of its files, and deletes the directory. The stored upload does not change. bot and number name the version as in
// FindVersion. EditUpload returns an error unless the actor owns the bot.
func (s *Service) EditUpload(ctx context.Context, a Actor, bot string, number int, edit func(dir string, t bundle.Tree) error) (v ladder.Version, err error) {
	f, v, err := s.OpenUpload(ctx, a, bot, number)
	if err != nil {
		return v, err
	}
	defer f.Close()
	tmp, err := s.Store.Dir().MkdirTemp("edit-*")
	if err != nil {
		return v, unavailable(err)
	}
	defer os.RemoveAll(tmp)
	dir := filepath.Join(tmp, "source")
	t, err := s.Unpack(f.Name(), dir, bundle.LimitsOf(s.Config.Limits))
	if err != nil {
		return v, err
	}
	return v, edit(dir, t)
}

// Stages returns the steps that an uploaded version has passed or is in (unpack, build, check, trial), with their
// logs. bot and number name the version as in FindVersion. It returns an error unless the actor owns the bot.
func (s *Service) Stages(ctx context.Context, a Actor, bot string, number int) ([]ladder.Stage, error) {
	v, err := s.FindVersion(ctx, bot, number)
	if err != nil {
		return nil, err
	}
	if err := a.CheckOwner(v.Owner, "see the log of a submission"); err != nil {
		return nil, err
	}
	return s.Store.Versions.Stages(ctx, v.ID)
}
