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

// HouseBot is a bot that is part of this program.
type HouseBot struct {
	Name  string   // "@greedy"
	Label string   // its own version: another one means that it plays other moves
	Hash  string   // SHA-256 of what runs now
	Games []string // that it is made for; nil: all
}

// SyncHouse makes the house bots known, each with a live version. A bot with a new
// label gets a new version; where only the program around it is another, the
// version goes on under the new hash (replays have the hash that ran). House bots
// that are gone are retired.
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
		return invalid("house bots begin with @", "house bot: name cannot be %q", h.Name)
	}
	b, err := tx.BotByName(ctx, h.Name)
	if err = ifNoRows(err, nil); err != nil {
		return err
	}
	if b.ID == 0 {
		if b, err = tx.AddBot(ctx, nullID(0), h.Name, stamp(tx.now)); err != nil {
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

// liveVersion returns a bot's live version, with ID 0 where it has none.
func (tx *Tx) liveVersion(ctx context.Context, botID int64) (queries.VersionRow, error) {
	row, err := tx.LiveVersion(ctx, botID)
	return row, ifNoRows(err, nil)
}

// retire takes a bot's live version, if any, off the ladders at a moment.
func (tx *Tx) retire(ctx context.Context, botID int64, at sql.NullInt64) error {
	v, err := tx.liveVersion(ctx, botID)
	if err != nil || v.ID == 0 {
		return err
	}
	return tx.SetState(ctx, queries.SetStateParams{State: string(ladder.Retired), Began: v.Began, Ended: at, ID: v.ID})
}

// List lists bots with an ID above after, at most n: all, or with house only house bots or only others.
func (s Bots) List(ctx context.Context, house *bool, after int64, n int) ([]ladder.Bot, error) {
	rows, err := s.read.BotsAfter(ctx, after, houseParam(house), int64(n))
	return convertRows(rows, bot), machineError(err)
}

// ListOwn lists the bots of a person with an ID above after, at most n.
func (s Bots) ListOwn(ctx context.Context, personID, after int64, n int) ([]ladder.Bot, error) {
	rows, err := s.read.BotsOfAfter(ctx, nullID(personID), after, int64(n))
	return convertRows(rows, bot), machineError(err)
}

// houseParam returns what queries take for a filter of house bots.
func houseParam(house *bool) int64 {
	if house == nil {
		return -1
	}
	return boolColumn(*house)
}

// Find returns a bot by its name.
func (s Bots) Find(ctx context.Context, name string) (ladder.Bot, error) {
	b, err := s.read.BotByName(ctx, name)
	return bot(b), machineError(ifNoRows(err, noBot(name)))
}

func noBot(name string) error {
	return notFound(ladder.HintBots, "bot %q does not exist", name)
}

// upperBound returns the bound of a list that goes downwards, which has none with 0.
func upperBound(bound int64) int64 {
	if bound <= 0 {
		return math.MaxInt64
	}
	return bound
}
