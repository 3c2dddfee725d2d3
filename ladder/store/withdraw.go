package store

import (
	"context"
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// Withdraw takes a bot of a person off the ladders until Restore is called. Its present version is retired and
// its waiting matches are dropped. A running match goes on; if it is interrupted, it is dropped. Results remain.
func (s Bots) Withdraw(ctx context.Context, botID int64) error {
	return s.updateBot(ctx, botID, func(tx *Tx, b queries.Bot) error {
		if b.Withdrawn.Valid {
			return nil
		}
		if number, err := tx.OpenVersion(ctx, botID); err == nil {
			return conflict("", "bot %q: version %d is still on its way", b.Name, number).Try(ladder.HintCancel, b.Name)
		} else if err := ifNoRows(err, nil); err != nil {
			return err
		}
		now := nullStamp(tx.now)
		if err := tx.retire(ctx, botID, now); err != nil {
			return err
		}
		return tx.SetWithdrawn(ctx, now, botID)
	})
}

// Ban withdraws a person's bot on behalf of an admin. Until Unban, the owner cannot bring the bot back or submit a
// version of it. If a version of the bot is being checked, its submission is cancelled. The owner gets a message with
// reason, a text of one line. If the bot is banned already, Ban replaces the reason.
func (s Bots) Ban(ctx context.Context, botID int64, reason string) error {
	if strings.TrimSpace(reason) == "" || !ladder.IsLine(reason, maxBanReason) {
		return invalid("", "the reason of a ban cannot be %q", ladder.Clip(reason)).Try("write the owner one line of at most %d bytes", maxBanReason)
	}
	var upload string
	err := s.updateBot(ctx, botID, func(tx *Tx, b queries.Bot) error {
		now := nullStamp(tx.now)
		if number, err := tx.OpenVersion(ctx, botID); err == nil {
			v, err := tx.VersionByNumber(ctx, botID, number)
			if err != nil {
				return err
			}
			upload = v.Bundle
			if err := tx.endSubmission(ctx, v, ladder.Cancelled, phrase.New("cancelled: bot %q is banned", b.Name)); err != nil {
				return err
			}
		} else if err := ifNoRows(err, nil); err != nil {
			return err
		}
		if !b.Withdrawn.Valid {
			if err := tx.retire(ctx, botID, now); err != nil {
				return err
			}
			if err := tx.SetWithdrawn(ctx, now, botID); err != nil {
				return err
			}
		}
		if err := tx.SetBanned(ctx, now, reason, botID); err != nil {
			return err
		}
		return tx.messageAboutBot(ctx, b, ladder.MessageBanned, reason)
	})
	if err == nil && upload != "" {
		s.dropUploads(ctx, upload)
	}
	return err
}

// maxBanReason is the largest size of the reason for a ban, in bytes.
const maxBanReason = 300

// Unban undoes Ban, and sends the owner a message. The bot stays withdrawn until its owner brings it back. For a bot
// that is not banned, Unban does nothing.
func (s Bots) Unban(ctx context.Context, botID int64) error {
	return s.updateBot(ctx, botID, func(tx *Tx, b queries.Bot) error {
		if !b.Banned.Valid {
			return nil
		}
		if err := tx.SetBanned(ctx, nullID(0), "", botID); err != nil {
			return err
		}
		return tx.messageAboutBot(ctx, b, ladder.MessageUnbanned, "")
	})
}

func (tx *Tx) messageAboutBot(ctx context.Context, b queries.Bot, kind ladder.MessageKind, reason string) error {
	return tx.AddMessage(ctx, queries.AddMessageParams{
		PersonID: b.PersonID.Int64, Kind: string(kind), Bot: b.Name, Reason: phraseColumn(phrase.Plain(reason)), Created: stamp(tx.now),
	})
}

// ListBanned returns at most n banned bots, the most recently banned first.
func (s Bots) ListBanned(ctx context.Context, n int) ([]ladder.Bot, error) {
	rows, err := s.read.BannedBots(ctx, int64(n))
	return convertRows(rows, bot), machineError(err)
}

// Restore undoes Withdraw: the version that played before plays again, if there was one. For a bot that is not
// withdrawn, Restore does nothing. For a banned bot it returns an error.
func (s Bots) Restore(ctx context.Context, botID int64) error {
	return s.updateBot(ctx, botID, func(tx *Tx, b queries.Bot) error {
		if !b.Withdrawn.Valid {
			return nil
		}
		if b.Banned.Valid {
			return withdrawnError(b)
		}
		if err := tx.SetWithdrawn(ctx, nullID(0), botID); err != nil {
			return err
		}
		id, err := tx.RetiredSince(ctx, botID, b.Withdrawn)
		if err != nil {
			return ifNoRows(err, nil)
		}
		return tx.setLive(ctx, id)
	})
}

// UseVersion makes a bot play with a retired version, which keeps its old rating, and retires the present version. It
// also restores a withdrawn bot. It returns an error for a version that was suspended or never played, and for a
// banned bot.
func (s Bots) UseVersion(ctx context.Context, botID int64, number int) error {
	return s.updateBot(ctx, botID, func(tx *Tx, b queries.Bot) error {
		if b.Banned.Valid {
			return withdrawnError(b)
		}
		v, err := tx.VersionByNumber(ctx, botID, int64(number))
		if err != nil {
			return ifNoRows(err, NoVersionError(b.Name, number))
		}
		switch ladder.VersionState(v.State) {
		case ladder.Live:
			return nil
		case ladder.Retired:
		case ladder.Suspended:
			return conflict("submit a version without the faults", "version %d of %s was suspended", v.Number, b.Name)
		default:
			return conflict("", "version %d of %s has never been live: it is %s", v.Number, b.Name, v.State).Try(ladder.HintLiveBefore, b.Name)
		}
		if err := tx.SetWithdrawn(ctx, nullID(0), botID); err != nil {
			return err
		}
		if err := tx.retire(ctx, botID, nullStamp(tx.now)); err != nil {
			return err
		}
		return tx.setLive(ctx, v.ID)
	})
}

// NoVersionError returns the error for a version number that a bot does not have.
func NoVersionError(bot string, number int) error {
	return notFound("", "bot %q has no version %d", bot, number).Try(ladder.HintVersions, bot)
}

// updateBot calls change with a bot of a person, and then updates which versions play on the ladders. For a bot that
// is part of timba it returns an error.
func (s Bots) updateBot(ctx context.Context, botID int64, change func(*Tx, queries.Bot) error) error {
	return s.update(ctx, func(tx *Tx) error {
		b, err := tx.Bot(ctx, botID)
		if err != nil {
			return ifNoRows(err, notFound("", "bot %d does not exist", botID))
		}
		if !b.PersonID.Valid {
			return ladder.Errorf(ladder.Forbidden, "the configuration of the ladders names them", "bot %q is of the house", b.Name)
		}
		if err := change(tx, b); err != nil {
			return err
		}
		tx.addEvent(events.Event{Kind: events.VersionChanged})
		return tx.refreshBot(ctx, botID)
	})
}

func (tx *Tx) setLive(ctx context.Context, versionID int64) error {
	return tx.SetState(ctx, queries.SetStateParams{State: string(ladder.Live), Began: nullStamp(tx.now), ID: versionID})
}
