package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// pendingVersion finds a version that is on its way; in any other state it is too late.
func (tx *Tx) pendingVersion(ctx context.Context, id int64) (queries.VersionRow, error) {
	row, err := tx.VersionByID(ctx, id)
	if err != nil {
		return row, ifNoRows(err, noVersion(id))
	}
	if !ladder.State(row.State).IsPending() {
		return row, conflict("", "version %d of %s is %s already", row.Number, row.Name, row.State)
	}
	return row, nil
}

// SetState moves a version on its way to another state of the way. Queued means that
// it begins, with no stages, and that the next turn is another owner's.
func (s Versions) SetState(ctx context.Context, versionID int64, state ladder.State) error {
	if !state.IsPending() {
		return invalid("Fail, Promote and Suspend lead there", "version %d: state cannot be set to %q", versionID, state)
	}
	return s.update(ctx, func(tx *Tx) error {
		row, err := tx.pendingVersion(ctx, versionID)
		if err != nil {
			return err
		}
		if state == ladder.Queued {
			if err := tx.DropStages(ctx, versionID); err != nil {
				return err
			}
			if err := tx.SetServed(ctx, nullStamp(tx.now), row.PersonID.Int64); err != nil {
				return err
			}
			tx.addEvent(events.Event{Kind: events.QueueChanged, Version: versionID})
		}
		tx.addEvent(events.Event{Kind: events.SubmissionChanged, Version: versionID})
		return tx.SetState(ctx, queries.SetStateParams{State: string(state), ID: versionID})
	})
}

// BuildInfo is what is known of a version when it is unpacked and built.
type BuildInfo struct {
	Label    string
	Hash     string // SHA-256 of what runs, in hexadecimal
	Language string
	Games    []string
	Command  []string
	Needs    ladder.Needs
}

// SetBuildInfo stores what is known of a version after its build.
func (s Versions) SetBuildInfo(ctx context.Context, versionID int64, b BuildInfo) error {
	return s.update(ctx, func(tx *Tx) error {
		if _, err := tx.pendingVersion(ctx, versionID); err != nil {
			return err
		}
		tx.addEvent(events.Event{Kind: events.SubmissionChanged, Version: versionID})
		return tx.SetBuilt(ctx, queries.SetBuiltParams{
			Label: b.Label, Hash: b.Hash, Language: b.Language, Games: jsonList(b.Games), Command: jsonList(b.Command), Needs: jsonText(b.Needs), ID: versionID,
		})
	})
}

// SetNeeds keeps what the versions need whose files are built again.
func (s Versions) SetNeeds(ctx context.Context, hash string, n ladder.Needs) error {
	return s.update(ctx, func(tx *Tx) error { return tx.SetNeeds(ctx, jsonText(n), hash) })
}

// jsonList returns a list as JSON.
func jsonList[T any](all []T) string { return jsonText(append([]T{}, all...)) }

// StartStage notes that a stage of a version begins, again if it was there.
func (s Versions) StartStage(ctx context.Context, versionID int64, name string) error {
	return s.update(ctx, func(tx *Tx) error {
		if _, err := tx.pendingVersion(ctx, versionID); err != nil {
			return err
		}
		tx.addEvent(events.Event{Kind: events.SubmissionChanged, Version: versionID})
		return tx.BeginStage(ctx, versionID, name, stamp(tx.now))
	})
}

// FinishStage keeps how a stage that was begun came out: OK, Summary and Log.
func (s Versions) FinishStage(ctx context.Context, versionID int64, stage ladder.Stage) error {
	return s.update(ctx, func(tx *Tx) error {
		n, err := tx.EndStage(ctx, queries.EndStageParams{
			Ok: boolColumn(stage.OK), Ended: nullStamp(tx.now), Summary: phraseColumn(stage.Summary), Log: s.codec.pack([]byte(stage.Log)), VersionID: versionID, Name: stage.Name,
		})
		if err == nil && n == 0 {
			return notFound("begin it first", "version %d: stage %q does not exist", versionID, stage.Name)
		}
		tx.addEvent(events.Event{Kind: events.SubmissionChanged, Version: versionID})
		return err
	})
}

// Stages returns what a version has been through, in that order.
func (s Versions) Stages(ctx context.Context, versionID int64) ([]ladder.Stage, error) {
	rows, err := s.read.Stages(ctx, versionID)
	if err != nil {
		return nil, machineError(err)
	}
	var out []ladder.Stage
	for _, r := range rows {
		log := []byte{}
		if len(r.Log) > 0 {
			if log, err = s.codec.unpack(r.Log); err != nil {
				return nil, fmt.Errorf("data: stage %s of version %d: %w", r.Name, versionID, err)
			}
		}
		out = append(out, ladder.Stage{Name: r.Name, OK: r.Ok != 0, StartedAt: moment(r.Began), EndedAt: nullMoment(r.Ended), Log: string(log), Summary: phraseOf(r.Summary)})
	}
	return out, nil
}

// messageOwner leaves a message for the owner of a version; a house bot has none. match is 0 for none.
func (tx *Tx) messageOwner(ctx context.Context, row queries.VersionRow, kind ladder.MessageKind, match int64, reason phrase.Text) error {
	if !row.PersonID.Valid {
		return nil
	}
	return tx.AddMessage(ctx, queries.AddMessageParams{
		PersonID: row.PersonID.Int64, VersionID: nullID(row.ID), Kind: string(kind), Bot: row.Name, Number: row.Number,
		MatchID: nullID(match), Reason: phraseColumn(reason), Created: stamp(tx.now),
	})
}

// Promote makes a version live: the one before it is retired, and it comes on every
// ladder whose game it plays, with its predecessor's Elo there.
func (s Versions) Promote(ctx context.Context, versionID int64) error {
	return s.update(ctx, func(tx *Tx) error {
		row, err := tx.pendingVersion(ctx, versionID)
		if err != nil {
			return err
		}
		if row.Hash == "" {
			return conflict("build it first", "version %d of %s cannot be live: it is not built", row.Number, row.Name)
		}
		return tx.promote(ctx, row)
	})
}

// promote makes a version live, and brings the ladders in line.
func (tx *Tx) promote(ctx context.Context, v queries.VersionRow) error {
	if err := tx.retire(ctx, v.BotID, nullStamp(tx.now)); err != nil {
		return err
	}
	if err := tx.setLive(ctx, v.ID); err != nil {
		return err
	}
	tx.addEvent(events.Event{Kind: events.VersionChanged, Version: v.ID})
	return tx.refreshBot(ctx, v.BotID)
}

// Suspend takes a live version off the ladders for its faults and tells its owner;
// suspended is false, and nothing is done, when it is not live any more. match is that of its last fault.
func (s Versions) Suspend(ctx context.Context, versionID, match int64, reason phrase.Text) (suspended bool, err error) {
	err = s.update(ctx, func(tx *Tx) error {
		v, err := tx.VersionByID(ctx, versionID)
		if err != nil {
			return ifNoRows(err, noVersion(versionID))
		}
		if suspended = v.State == string(ladder.Live); !suspended {
			return nil
		}
		if err := tx.SetState(ctx, queries.SetStateParams{State: string(ladder.Suspended), Reason: phraseColumn(reason), Began: v.Began, Ended: nullStamp(tx.now), ID: versionID}); err != nil {
			return err
		}
		if err := tx.refreshBot(ctx, v.BotID); err != nil {
			return err
		}
		tx.addEvent(events.Event{Kind: events.VersionChanged, Version: versionID})
		return tx.messageOwner(ctx, v, ladder.MessageSuspended, match, reason)
	})
	return suspended && err == nil, err
}

// refreshEntries brings the ladders in line with the versions' states, when the
// ladders or the house bots have changed.
func (tx *Tx) refreshEntries(ctx context.Context) error {
	tx.changesLadders = true
	rows, err := tx.VersionsIn(ctx, string(ladder.Live))
	if err != nil {
		return err
	}
	live, err := versions(rows)
	if err != nil {
		return err
	}
	for _, v := range live {
		if err := tx.enterAll(ctx, v); err != nil {
			return err
		}
	}
	if err := tx.UpdateActive(ctx); err != nil {
		return err
	}
	return tx.dropIdle(ctx)
}

// refreshBot does what refreshEntries does, after a change to one bot.
func (tx *Tx) refreshBot(ctx context.Context, botID int64) error {
	live, err := tx.liveVersion(ctx, botID)
	if err != nil {
		return err
	}
	if live.ID != 0 {
		v, err := version(live)
		if err != nil {
			return err
		}
		if err := tx.enterAll(ctx, v); err != nil {
			return err
		}
	}
	if err := tx.UpdateActiveOfBot(ctx, botID); err != nil {
		return err
	}
	active, err := tx.MembersOfBot(ctx, botID)
	if err != nil {
		return err
	}
	tx.addLadderChange(0, func(l *ladderState) { l.setVersionsOfBot(botID, active) })
	return tx.dropIdle(ctx)
}

// enterAll puts a live version on every ladder that is played and whose game it
// plays; a house bot only where the ladder wants it.
func (tx *Tx) enterAll(ctx context.Context, v ladder.Version) error {
	ladders, err := tx.Ladders(ctx)
	if err != nil {
		return err
	}
	for _, l := range ladders {
		c, err := ladderConfig(l)
		if err != nil {
			return err
		}
		if l.Active == 0 || !v.Plays(l.Game) || v.IsHouse() && !slices.Contains(c.House, v.Bot) {
			continue
		}
		if err := tx.enter(ctx, l, v); err != nil {
			return err
		}
	}
	return nil
}

// enter puts a live version on a ladder, unless it is there or has been there: then
// it goes on with what it had.
func (tx *Tx) enter(ctx context.Context, l queries.Ladder, v ladder.Version) error {
	was, err := tx.Entry(ctx, l.ID, v.ID)
	if err = ifNoRows(err, nil); err != nil || was.VersionID != 0 {
		return err
	}
	before, err := tx.LastEntryOfBot(ctx, v.BotID, l.ID)
	if err = ifNoRows(err, nil); err != nil {
		return err
	}
	var predecessor *rating.Entry
	if before.VersionID != 0 {
		predecessor = &rating.Entry{VersionID: before.VersionID, Player: rating.Player{Elo: before.Elo}}
	}
	e := tx.formula.NewEntry(v.ID, predecessor, v.Bot == ladder.Anchor)
	return tx.AddEntry(ctx, queries.AddEntryParams{
		LadderID: l.ID, VersionID: v.ID, Predecessor: nullID(before.VersionID), Since: l.Finished,
		Start: e.Elo, Uncertainty: e.Uncertainty, Held: boolColumn(e.Fixed),
	})
}

// dropIdle drops the rated matches that wait for a version which no longer plays, and those that somebody asked for
// with a bot that is withdrawn, or with a remote version that rests: it cannot connect.
func (tx *Tx) dropIdle(ctx context.Context) error {
	rows, err := tx.IdleWaiting(ctx)
	if err != nil {
		return err
	}
	for len(rows) > 0 {
		id, by := rows[0].ID, int64(0)
		var reasons []phrase.Text
		for ; len(rows) > 0 && rows[0].ID == id; rows = rows[1:] {
			r, reason := rows[0], phrase.New("version %d of %s plays no more", rows[0].Number, rows[0].Name)
			if !r.LadderID.Valid && r.Withdrawn.Valid {
				by, reason = r.PersonID.Int64, phrase.New("bot %q is withdrawn by its owner", r.Name)
			}
			reasons = append(reasons, reason)
		}
		m, err := tx.Match(ctx, id)
		if err == nil {
			err = tx.dropMatch(ctx, m, by, phrase.Join("; ", slices.CompactFunc(reasons, phrase.Text.Equal)...))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// SetUnplayable keeps what no machine has that a version needs, and tells its owner; if it is empty, the version can be
// played again.
func (s Versions) SetUnplayable(ctx context.Context, versionID int64, missing phrase.Text) error {
	return s.update(ctx, func(tx *Tx) error {
		row, err := tx.VersionByID(ctx, versionID)
		if err != nil {
			return ifNoRows(err, noVersion(versionID))
		}
		if row.Unplayable == phraseColumn(missing) {
			return nil
		}
		if err := tx.SetUnplayable(ctx, phraseColumn(missing), versionID); err != nil {
			return err
		}
		kind := ladder.MessagePlayable
		if !missing.IsZero() {
			kind = ladder.MessageUnplayable
		}
		return tx.messageOwner(ctx, row, kind, 0, missing)
	})
}

// LastOfBots returns the last versions of some bots, by bot.
func (s Versions) LastOfBots(ctx context.Context, bots []int64) (map[int64]ladder.Version, error) {
	rows, err := s.read.LastVersions(ctx, jsonText(bots))
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
