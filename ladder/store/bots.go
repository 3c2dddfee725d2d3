package store

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// HouseBot is a bot that comes with this program.
type HouseBot struct {
	Name  string   // such as "@greedy"
	Label string   // of its version; it changes when the bot plays differently
	Hash  string   // SHA-256 of the running program
	Games []string // games that it can play; nil means all

	maker int64 // ID of the person who was the first to choose its options; 0 if the configuration names it
}

// SyncHouse stores the house bots, which are part of this program, each with a version that plays. A bot whose label
// has changed gets a new version. If the label is the same, the hash and the games of the version are updated. House
// bots in the store that are not in bots are retired.
func (s Bots) SyncHouse(ctx context.Context, bots []HouseBot) error {
	return s.update(ctx, func(tx *Tx) error {
		known, err := tx.HouseBots(ctx)
		if err != nil {
			return err
		}
		for _, b := range known {
			if !slices.ContainsFunc(bots, func(h HouseBot) bool { return h.Name == b.Name }) {
				if err := tx.retire(ctx, b.ID, nullStamp(tx.now)); err != nil {
					return err
				}
			}
		}
		for _, h := range bots {
			if err := tx.syncHouseBot(ctx, h); err != nil {
				return err
			}
		}
		return tx.refreshEntries(ctx)
	})
}

func (tx *Tx) syncHouseBot(ctx context.Context, h HouseBot) error {
	if !strings.HasPrefix(h.Name, "@") {
		return invalid("house bots begin with @", "the name of a house bot cannot be %q", h.Name)
	}
	b, err := tx.BotByName(ctx, h.Name)
	if err = ifNoRows(err, nil); err != nil {
		return err
	}
	if b.ID == 0 {
		if b, err = tx.AddBot(ctx, nullID(0), h.Name, stamp(tx.now)); err != nil {
			return err
		}
		if err := tx.SetMaker(ctx, nullID(h.maker), b.ID); err != nil {
			return err
		}
	}
	live, err := tx.liveVersion(ctx, b.ID)
	if err != nil {
		return err
	}
	if live.ID != 0 && live.Label == h.Label {
		return tx.SetBuilt(ctx, queries.SetBuiltParams{Label: live.Label, Hash: h.Hash, Language: live.Language, Games: jsonList(h.Games), Command: live.Command, Needs: live.Needs, ID: live.ID})
	}
	if err := tx.retire(ctx, b.ID, nullStamp(tx.now)); err != nil {
		return err
	}
	v, err := tx.insertVersion(ctx, b, queries.AddVersionParams{
		Label: h.Label, Hash: h.Hash, Language: "Go", Games: jsonList(h.Games), Command: jsonText([]string{h.Name}),
	})
	if err != nil {
		return err
	}
	return tx.setLive(ctx, v.ID)
}

// AddHouse adds the house bot (part of timba) called name, with options as in "@greedy:noise=20", which the person with
// the given ID is the first to choose. The bot plays at once, like the live version of the bot without options. If the
// bot exists, AddHouse does nothing. It returns an error if the bot without options does not play, if the person has
// made l.Versions versions of bots within 24 hours, or if people have already added l.House bots in this way.
func (s Bots) AddHouse(ctx context.Context, personID int64, name string, l ladder.Limits) error {
	return s.update(ctx, func(tx *Tx) error {
		if b, err := tx.BotByName(ctx, name); b.ID != 0 || ifNoRows(err, nil) != nil {
			return err
		}
		plain, _, _ := strings.Cut(name, ":")
		row, err := tx.LiveVersionOf(ctx, plain)
		if err != nil {
			return ifNoRows(err, noBotError(plain))
		}
		like, err := version(row)
		if err != nil {
			return err
		}
		if err := tx.checkNewHouse(ctx, personID, l); err != nil {
			return err
		}
		return tx.syncHouseBot(ctx, HouseBot{Name: name, Label: like.Label, Hash: like.Hash, Games: like.Games, maker: personID})
	})
}

func (tx *Tx) checkNewHouse(ctx context.Context, personID int64, l ladder.Limits) error {
	if err := tx.checkVersionsToday(ctx, personID, l); err != nil {
		return err
	}
	n, err := tx.CountMade(ctx)
	if err == nil && n >= int64(l.House) {
		err = conflict("choose one that has been played before", "%d house bots with options are the limit of this server", l.House)
	}
	return err
}

// liveVersion returns the version with which a bot plays at present. Its ID is 0 if the bot has none.
func (tx *Tx) liveVersion(ctx context.Context, botID int64) (queries.VersionRow, error) {
	row, err := tx.LiveVersion(ctx, botID)
	return row, ifNoRows(err, nil)
}

// retire makes the bot stop playing: its present version becomes retired. at is the time of this change. If the bot
// has no present version, it does nothing.
func (tx *Tx) retire(ctx context.Context, botID int64, at sql.NullInt64) error {
	v, err := tx.liveVersion(ctx, botID)
	if err != nil || v.ID == 0 {
		return err
	}
	return tx.SetState(ctx, queries.SetStateParams{State: string(ladder.Retired), Began: v.Began, Ended: at, ID: v.ID})
}

// List returns at most n bots in the order of their IDs. It returns only bots whose IDs are greater than the argument
// after. If house is true, it returns only the bots that are part of timba; if it is false, only the others; if it is
// nil, both.
func (s Bots) List(ctx context.Context, house *bool, after int64, n int) ([]ladder.Bot, error) {
	rows, err := s.read.BotsAfter(ctx, after, houseParam(house), int64(n))
	return convertRows(rows, bot), machineError(err)
}

// ListOwn returns at most n bots of a person in the order of their IDs. It returns only bots whose IDs are greater
// than the argument after.
func (s Bots) ListOwn(ctx context.Context, personID, after int64, n int) ([]ladder.Bot, error) {
	rows, err := s.read.BotsOfAfter(ctx, nullID(personID), after, int64(n))
	return convertRows(rows, bot), machineError(err)
}

// houseParam converts house to a query parameter that selects bots: 1 selects the bots that are part of timba (house
// is true), 0 the others (false), and -1 all of them (nil).
func houseParam(house *bool) int64 {
	if house == nil {
		return -1
	}
	return boolColumn(*house)
}

// Find returns the bot called name.
func (s Bots) Find(ctx context.Context, name string) (ladder.Bot, error) {
	b, err := s.read.BotByName(ctx, name)
	return bot(b), machineError(ifNoRows(err, noBotError(name)))
}

func noBotError(name string) error {
	return notFound(ladder.HintBots, "bot %q does not exist", name)
}

// upperBound returns bound, which selects only the IDs of a list that are smaller. If bound is 0, it returns the
// largest integer, which selects all of them.
func upperBound(bound int64) int64 {
	if bound <= 0 {
		return math.MaxInt64
	}
	return bound
}
