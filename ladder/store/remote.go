package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// RemoteVersion is what a remote bot, which runs on its owner's machine, says about itself when it connects.
type RemoteVersion struct {
	Bot      string
	Label    string
	Games    []string // that it plays; nil means all games or, for a bot that has a live version, the games of that
	ForceNew bool     // add a new version even if one is live
}

// ConnectRemote returns the version with which a remote bot plays, a bot that runs on its owner's machine. This is
// the bot's present version if it is remote and n.ForceNew is not set. If the bot has no present version, or if
// n.ForceNew is set, ConnectRemote adds a new version. It plays at once and counts against the limits of uploads.
// Without n.ForceNew, ConnectRemote returns an error if the present version was uploaded, or if there is none and the
// last version is suspended.
func (s Versions) ConnectRemote(ctx context.Context, personID int64, n RemoteVersion, l ladder.Limits) (out ladder.Version, err error) {
	if err := ladder.CheckBotName(n.Bot); err != nil {
		return out, err
	}
	if err := ladder.CheckLabel(n.Label); err != nil {
		return out, err
	}
	slices.Sort(n.Games)
	n.Games = slices.Compact(n.Games)
	err = s.update(ctx, func(tx *Tx) error {
		p, err := tx.person(ctx, personID)
		if err != nil {
			return err
		}
		if out, err = tx.continuedVersion(ctx, p, n); err != nil || out.ID != 0 {
			return err
		}
		out, err = tx.addRemote(ctx, p, n, l)
		return err
	})
	return out, err
}

// continuedVersion returns the bot's present version if the bot goes on playing with it. If a new version must be
// added instead, the ID of the result is 0.
func (tx *Tx) continuedVersion(ctx context.Context, p queries.Person, n RemoteVersion) (out ladder.Version, err error) {
	b, err := tx.BotByName(ctx, n.Bot)
	if err != nil || b.PersonID.Int64 != p.ID || n.ForceNew {
		return out, ifNoRows(err, nil) // addRemote refuses the bot of another person
	}
	if b.Withdrawn.Valid {
		return out, withdrawnError(b)
	}
	live, err := tx.liveVersion(ctx, b.ID)
	if err != nil {
		return out, err
	}
	if live.ID == 0 {
		rows, err := tx.VersionsOfBefore(ctx, b.ID, upperBound(0), 1)
		if len(rows) > 0 && rows[0].State == string(ladder.Suspended) {
			err = conflict(ladder.HintNewVersion, "version %d of %s was suspended for its faults", rows[0].Number, b.Name)
		}
		return out, err
	}
	v, err := version(live)
	switch {
	case err != nil:
		return out, err
	case !v.Remote:
		return out, conflict(ladder.HintReplace, "bot %q: version %d, which is live, was uploaded", b.Name, v.Number)
	case n.Games != nil && !slices.Equal(n.Games, v.Games):
		return out, conflict(ladder.HintChange, "version %d of %s plays %s, not %s", v.Number, b.Name, gamesText(v.Games), gamesText(n.Games))
	}
	return v, nil
}

func gamesText(games []string) string {
	if len(games) == 0 {
		return "all games"
	}
	return strings.Join(games, ", ")
}

func (tx *Tx) addRemote(ctx context.Context, p queries.Person, n RemoteVersion, l ladder.Limits) (out ladder.Version, err error) {
	v, err := tx.addVersion(ctx, p, NewVersion{Bot: n.Bot, Label: n.Label}, l, queries.AddVersionParams{Games: jsonList(n.Games), Remote: 1})
	if err != nil {
		return out, err
	}
	if err := tx.promote(ctx, v); err != nil {
		return out, err
	}
	row, err := tx.VersionByID(ctx, v.ID)
	if err != nil {
		return out, err
	}
	return version(row)
}

// remoteHash returns the hash of a remote version, which runs on its owner's machine. It takes the place of the hash
// of the program, which the server does not have. SPEC.md defines it.
func remoteHash(bot string, number int64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "remote %s@%d", bot, number))
	return hex.EncodeToString(sum[:])
}

// withdrawnError returns the error for a change that is not allowed while the bot b is withdrawn or banned.
func withdrawnError(b queries.Bot) error {
	if b.Banned.Valid {
		return ladder.Errorf(ladder.Forbidden, "ask an admin", "bot %q is banned: %s", b.Name, b.BanReason)
	}
	return conflict("", "bot %q is withdrawn", b.Name).Try(ladder.HintRestore, b.Name)
}
