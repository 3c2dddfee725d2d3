package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"time"

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
	live, err := tx.live(ctx, b.ID)
	if err != nil {
		return err
	}
	if live.ID != 0 && live.Label == h.Label {
		return tx.SetBuilt(ctx, queries.SetBuiltParams{Label: live.Label, Hash: h.Hash, Language: live.Language, Games: list(h.Games), Command: live.Command, Needs: live.Needs, ID: live.ID})
	}
	if err := tx.retire(ctx, b.ID, nullStamp(tx.now)); err != nil {
		return err
	}
	v, err := tx.insertVersion(ctx, b, queries.AddVersionParams{
		Label: h.Label, Hash: h.Hash, Language: "Go", Games: list(h.Games), Command: text([]string{h.Name}),
	})
	if err != nil {
		return err
	}
	return tx.setLive(ctx, v.ID)
}

// live returns a bot's live version, with ID 0 where it has none.
func (tx *Tx) live(ctx context.Context, botID int64) (queries.VersionRow, error) {
	row, err := tx.LiveVersion(ctx, botID)
	return row, ifNoRows(err, nil)
}

// retire takes a bot's live version, if any, off the ladders at a moment.
func (tx *Tx) retire(ctx context.Context, botID int64, at sql.NullInt64) error {
	v, err := tx.live(ctx, botID)
	if err != nil || v.ID == 0 {
		return err
	}
	return tx.SetState(ctx, queries.SetStateParams{State: string(ladder.Retired), Began: v.Began, Ended: at, ID: v.ID})
}

// insertVersion inserts the next version of a bot.
func (tx *Tx) insertVersion(ctx context.Context, b queries.Bot, v queries.AddVersionParams) (row queries.VersionRow, err error) {
	last, err := tx.LastNumber(ctx, b.ID)
	if err != nil {
		return row, err
	}
	v.BotID, v.Number, v.State, v.Created = b.ID, last+1, string(ladder.Queued), stamp(tx.now)
	if v.Remote != 0 {
		v.Hash = remoteHash(b.Name, v.Number)
	}
	id, err := tx.AddVersion(ctx, v)
	if err != nil {
		return row, err
	}
	return tx.VersionByID(ctx, id)
}

// NewVersion is what is known of a version when it is uploaded.
type NewVersion struct {
	Bot    string
	Bundle string // SHA-256 of the upload in hexadecimal
	Hash   string // of its files, as trees.HashSource has it; "" where it is not known
	Label  string // the manifest's, "" where it is not known yet
	// Keep puts the upload where it stays. It is called when all else is checked,
	// and its error refuses the version. nil: the upload is there.
	Keep func() error
}

// Add takes a person's upload in, in the state Queued. The bot is made on
// first use; another's is refused, unless all its versions failed, and so are a second
// open version of the same bot, the files of its live version, a bot that is
// withdrawn, and what is over the person's limits.
func (s Versions) Add(ctx context.Context, personID int64, n NewVersion, l ladder.Limits) (out ladder.Version, err error) {
	if err := ladder.CheckName("bot", n.Bot); err != nil {
		return out, err
	}
	if raw, err := hex.DecodeString(n.Bundle); err != nil || len(raw) != 32 || n.Bundle != strings.ToLower(n.Bundle) {
		return out, invalid("give the SHA-256 of the upload", "version: bundle cannot be %q", n.Bundle)
	}
	err = s.update(ctx, func(tx *Tx) error {
		p, err := tx.person(ctx, personID)
		if err != nil {
			return err
		}
		v, err := tx.addVersion(ctx, p, n, l, queries.AddVersionParams{Bundle: n.Bundle, Games: "[]"})
		if err != nil {
			return err
		}
		if out, err = version(v); err != nil || n.Keep == nil {
			return err
		}
		return n.Keep()
	})
	return out, err
}

// addVersion inserts a version of a person's bot, or refuses it.
func (tx *Tx) addVersion(ctx context.Context, p queries.Person, n NewVersion, l ladder.Limits, v queries.AddVersionParams) (row queries.VersionRow, err error) {
	b, err := tx.ownBot(ctx, p, n.Bot, l)
	if err != nil {
		return row, err
	}
	if err := tx.mayAdd(ctx, b, n, l); err != nil {
		return row, err
	}
	v.Label, v.Command = n.Label, "[]"
	return tx.insertVersion(ctx, b, v)
}

// mayAdd refuses a version of a bot that cannot be taken in now. One that is
// not uploaded has no bundle.
func (tx *Tx) mayAdd(ctx context.Context, b queries.Bot, n NewVersion, l ladder.Limits) error {
	if b.Withdrawn.Valid {
		return withdrawn(b)
	}
	if number, err := tx.OpenVersion(ctx, b.ID); err == nil {
		return conflict("wait until that is over", "bot %q: version %d is still being checked", b.Name, number)
	} else if err := ifNoRows(err, nil); err != nil {
		return err
	}
	live, err := tx.live(ctx, b.ID)
	if err != nil {
		return err
	}
	if n.Bundle != "" && live.ID != 0 && (live.Bundle == n.Bundle || n.Hash != "" && live.Hash == n.Hash) {
		return conflict("change something first", "bot %q: nothing has changed: version %d, which is live, has the same files and stays live", b.Name, live.Number)
	}
	now := tx.now
	today, err := tx.CountVersionsSince(ctx, b.PersonID, stamp(now.Add(-versionsTime)))
	if err != nil {
		return err
	}
	if today.Count >= int64(l.Versions) {
		wait := moment(today.Oldest).Add(versionsTime).Sub(now)
		limit := ladder.Errorf(ladder.TooMany, "", "%d versions within a day are the limit", l.Versions).Try("try again in %.0f h", math.Ceil(wait.Hours()))
		limit.Retry = wait
		return limit
	}
	return nil
}

// versionsTime is the time in which the versions of a person are counted.
const versionsTime = 24 * time.Hour

// ownBot returns a person's bot of a name, made if there is none. A bot that has only failed fills no quota, and is
// anybody's when its versions do not count any more in the limit of a day: they would be forgotten there, too.
func (tx *Tx) ownBot(ctx context.Context, p queries.Person, name string, l ladder.Limits) (queries.Bot, error) {
	b, err := tx.BotByName(ctx, name)
	if err = ifNoRows(err, nil); err != nil {
		return b, err
	}
	if b.ID != 0 {
		of, err := tx.CountKept(ctx, b.ID)
		own := b.PersonID.Int64 == p.ID
		switch {
		case err != nil || of.Kept > 0 && own:
			return b, err
		case of.Kept > 0 || !b.PersonID.Valid || !own && of.Newest > stamp(tx.now.Add(-versionsTime)):
			return b, conflict("choose another name", "bot %q is somebody else's", name)
		case !own:
			if err := forget(ctx, tx, b.ID); err != nil {
				return b, err
			}
			b = queries.Bot{}
		}
	}
	n, err := tx.CountBots(ctx, nullID(p.ID))
	if err != nil {
		return b, err
	}
	if n >= int64(l.Bots) {
		return b, conflict("submit a new version of one of them", "%d bots are the limit, and %q would be one more", l.Bots, name)
	}
	if b.ID != 0 {
		return b, nil
	}
	return tx.AddBot(ctx, nullID(p.ID), name, stamp(tx.now))
}

// forget deletes a bot that has only failed, with its versions and their logs. What
// its owner was told of it stays.
func forget(ctx context.Context, tx *Tx, botID int64) error {
	for _, step := range []func(context.Context, int64) error{tx.ForgetMessages, tx.ForgetStages, tx.ForgetVersions, tx.ForgetBot} {
		if err := step(ctx, botID); err != nil {
			return err
		}
	}
	return nil
}

// List lists bots with an ID above after, at most n: all, or with house only house bots or only others.
func (s Bots) List(ctx context.Context, house *bool, after int64, n int) ([]ladder.Bot, error) {
	rows, err := s.read.BotsAfter(ctx, after, houseParam(house), int64(n))
	return each(rows, bot), machineError(err)
}

// ListOwn lists the bots of a person with an ID above after, at most n.
func (s Bots) ListOwn(ctx context.Context, personID, after int64, n int) ([]ladder.Bot, error) {
	rows, err := s.read.BotsOfAfter(ctx, nullID(personID), after, int64(n))
	return each(rows, bot), machineError(err)
}

// houseParam returns what queries take for a filter of house bots.
func houseParam(house *bool) int64 {
	if house == nil {
		return -1
	}
	return oneIf(*house)
}

// Find returns a bot by its name.
func (s Bots) Find(ctx context.Context, name string) (ladder.Bot, error) {
	b, err := s.read.BotByName(ctx, name)
	return bot(b), machineError(ifNoRows(err, noBot(name)))
}

func noBot(name string) error {
	return notFound(ladder.HintBots, "bot %q does not exist", name)
}

// Last returns the last versions of some bots, by bot.
func (s Versions) Last(ctx context.Context, bots []int64) (map[int64]ladder.Version, error) {
	rows, err := s.read.LastVersions(ctx, text(bots))
	if err != nil {
		return nil, machineError(err)
	}
	list, err := versions(rows)
	out := make(map[int64]ladder.Version, len(list))
	for _, v := range list {
		out[v.BotID] = v
	}
	return out, err
}

// Find returns a version.
func (s Versions) Find(ctx context.Context, id int64) (out ladder.Version, err error) {
	row, err := s.read.VersionByID(ctx, id)
	if err != nil {
		return out, machineError(ifNoRows(err, noVersion(id)))
	}
	return version(row)
}

func noVersion(id int64) error { return notFound("", "version %d does not exist", id) }

// below returns the bound of a list that goes downwards, which has none with 0.
func below(bound int64) int64 {
	if bound <= 0 {
		return math.MaxInt64
	}
	return bound
}
