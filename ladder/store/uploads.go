package store

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// NewVersion describes an uploaded version.
type NewVersion struct {
	Bot    string // name of the bot
	Bundle string // SHA-256 of the upload, in hexadecimal
	Hash   string // hash of its unpacked files, from trees.HashSource; empty if unknown
	Label  string // from the manifest; empty if unknown
	// StoreUpload moves the upload to its final place. It is called after all other checks; if it fails, the
	// version is not added. If it is nil, the upload must be there already.
	StoreUpload func() error
}

// Add adds an uploaded version to a person's bot; the version then waits for its checks. n describes the version and
// names the bot. If there is no bot of that name, Add creates one. If a version with the same upload is still being
// checked, the upload was sent twice, and Add returns that version.
//
// Add returns an error if the bot belongs to another person, is withdrawn, has a version that is still being checked,
// or plays with a version that has the same files. It also returns an error if the person would exceed a limit of l:
// the number of bots, or the number of new versions in 24 hours. If all versions of a bot failed, another person can
// take its name 24 hours after the last version.
func (s Versions) Add(ctx context.Context, personID int64, n NewVersion, l ladder.Limits) (out ladder.Version, err error) {
	if err := ladder.CheckBotName(n.Bot); err != nil {
		return out, err
	}
	if raw, err := hex.DecodeString(n.Bundle); err != nil || len(raw) != 32 || n.Bundle != strings.ToLower(n.Bundle) {
		return out, invalid("give the SHA-256 of the upload", "the hash of an upload cannot be %q", n.Bundle)
	}
	err = s.update(ctx, func(tx *Tx) error {
		p, err := tx.person(ctx, personID)
		if err != nil {
			return err
		}
		v, err := tx.RepeatedVersion(ctx, n.Bot, nullID(p.ID), n.Bundle)
		if err == nil {
			out, err = version(v)
			return err
		} else if err = ifNoRows(err, nil); err != nil {
			return err
		}
		v, err = tx.addVersion(ctx, p, n, l, queries.AddVersionParams{Bundle: n.Bundle, Games: "[]"})
		if err != nil {
			return err
		}
		if out, err = version(v); err != nil || n.StoreUpload == nil {
			return err
		}
		return n.StoreUpload()
	})
	return out, err
}

func (tx *Tx) addVersion(ctx context.Context, p queries.Person, n NewVersion, l ladder.Limits, v queries.AddVersionParams) (row queries.VersionRow, err error) {
	b, err := tx.ownBot(ctx, p, n.Bot, l)
	if err != nil {
		return row, err
	}
	if err := tx.checkNewVersion(ctx, b, n, l); err != nil {
		return row, err
	}
	v.Label, v.Command = n.Label, "[]"
	return tx.insertVersion(ctx, b, v)
}

// checkNewVersion returns an error if the new version n cannot be added to bot b now. A version that has no bundle
// (upload) is one that runs on its owner's machine.
func (tx *Tx) checkNewVersion(ctx context.Context, b queries.Bot, n NewVersion, l ladder.Limits) error {
	if b.Withdrawn.Valid {
		return withdrawnError(b)
	}
	if number, err := tx.OpenVersion(ctx, b.ID); err == nil {
		return conflict("wait until that is over", "bot %q: version %d is still being checked", b.Name, number)
	} else if err := ifNoRows(err, nil); err != nil {
		return err
	}
	live, err := tx.liveVersion(ctx, b.ID)
	if err != nil {
		return err
	}
	if n.Bundle != "" && live.ID != 0 && (live.Bundle == n.Bundle || n.Hash != "" && live.Hash == n.Hash) {
		return conflict("change something first", "bot %q: nothing has changed: version %d, which is live, has the same files and stays live", b.Name, live.Number)
	}
	return tx.checkVersionsToday(ctx, b.PersonID.Int64, l)
}

// checkVersionsToday returns an error if the person has made l.Versions or more versions of bots within the last 24
// hours (versionLimitPeriod). A house bot (part of timba) with options that the person was the first to choose counts
// as one version. The error says in how many hours the person may try again.
func (tx *Tx) checkVersionsToday(ctx context.Context, personID int64, l ladder.Limits) error {
	since := stamp(tx.now.Add(-versionLimitPeriod))
	today, err := tx.CountVersionsSince(ctx, nullID(personID), since)
	if err != nil {
		return err
	}
	made, err := tx.CountMadeSince(ctx, nullID(personID), since)
	if err != nil || today.Count+made.Count < int64(l.Versions) {
		return err
	}
	oldest := today.Oldest
	if today.Count == 0 || made.Count > 0 && made.Oldest < oldest {
		oldest = made.Oldest
	}
	wait := moment(oldest).Add(versionLimitPeriod).Sub(tx.now)
	limit := ladder.Errorf(ladder.TooMany, "", "%d versions within a day are the limit", l.Versions).Try("try again in %.0f h", math.Ceil(wait.Hours()))
	limit.Retry = wait
	return limit
}

// versionLimitPeriod is the length of time in which the number of a person's new versions is limited.
const versionLimitPeriod = 24 * time.Hour

// ownBot returns the person's bot called name. If no bot has that name, it creates one. It also takes over the name
// of another person's bot if all versions of that bot failed, the last of them more than versionLimitPeriod ago: it
// deletes that bot. Earlier, its versions still count against the limit of their owner. In all other cases, a name
// that another person's bot has is an error.
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
		case of.Kept > 0 || !b.PersonID.Valid || !own && of.Newest > stamp(tx.now.Add(-versionLimitPeriod)):
			return b, conflict("choose another name", "bot %q is somebody else's", name)
		case !own:
			if err := deleteBot(ctx, tx, b.ID); err != nil {
				return b, err
			}
			b = queries.Bot{}
		}
	}
	if b.ID == 0 && isReserved(name) {
		return b, conflict("choose another name", "the name %q is reserved", name)
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

// deleteBot deletes a bot whose versions have all failed, with its versions and their logs. Messages to the owner
// remain.
func deleteBot(ctx context.Context, tx *Tx, botID int64) error {
	for _, step := range []func(context.Context, int64) error{tx.ForgetMessages, tx.ForgetStages, tx.ForgetVersions, tx.ForgetBot} {
		if err := step(ctx, botID); err != nil {
			return err
		}
	}
	return nil
}

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

// Bundles returns the sorted hashes of the uploads that are needed, and so must not be deleted: the uploads of all
// versions, except those that failed before they were built.
func (s Versions) Bundles(ctx context.Context) ([]string, error) {
	hashes, err := s.read.Bundles(ctx)
	return hashes, machineError(err)
}

// NeededBuilds returns the sorted hashes of the built files that are needed. Needed are the files of each version
// that plays at present, is being checked, or takes part in a waiting or running match or in an open game of people.
func (s Versions) NeededBuilds(ctx context.Context) ([]string, error) {
	hashes, err := s.read.NeededBuilds(ctx)
	return hashes, machineError(err)
}

// dropUploads deletes the uploads with the given hashes, except those that a version needs. It works in a
// transaction, so that nobody can add a version with the same upload at the same time. It ignores errors;
// SweepUploads deletes the remaining uploads later.
func (s *db) dropUploads(ctx context.Context, sums ...string) {
	s.update(context.WithoutCancel(ctx), func(tx *Tx) error {
		for _, sum := range sums {
			path, err := s.dir.Bundle(sum)
			if err != nil {
				continue // a version without an upload
			}
			if n, err := tx.CountBundle(ctx, sum); err == nil && n == 0 {
				os.Remove(path)
			}
		}
		return nil
	})
}

// SweepUploads deletes uploads that no version needs, such as uploads from before the server was killed, and returns
// how many it deleted. A server must call it before it accepts uploads.
func (s Versions) SweepUploads(ctx context.Context) (swept int, err error) {
	needed, err := s.Bundles(ctx)
	if err != nil {
		return 0, err
	}
	entries, err := os.ReadDir(s.dir.Bundles())
	if err != nil {
		return 0, unavailable("look at the directory and its rights", "data: the uploads cannot be listed: %w", err)
	}
	for _, e := range entries {
		if _, found := slices.BinarySearch(needed, e.Name()); found || !datadir.IsHash(e.Name()) {
			continue
		}
		path, err := s.dir.Bundle(e.Name())
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil {
			return swept, unavailable("look at the directory and its rights", "data: an upload that nobody needs cannot be deleted: %w", err)
		}
		swept++
	}
	return swept, nil
}

// OpenUpload opens the file that was uploaded for a version, unchanged. For a version that was never built, and
// for versions of remote bots (on their owners' machines) and house bots (part of timba), it returns an error.
func (s Versions) OpenUpload(v ladder.Version) (*os.File, error) {
	gone := notFound("a version that was never built has none, nor has a house bot", "the upload of %s@%d is not kept", v.Bot, v.Number)
	path, err := s.dir.Bundle(v.Bundle)
	if err != nil || v.NeverBuilt() { // Bundles omits it, so its file may be deleted
		return nil, gone
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, gone
	}
	if err != nil {
		return nil, unavailable("try again later", "data: the upload cannot be read: %w", err)
	}
	return f, nil
}
