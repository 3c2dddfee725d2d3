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

// pendingVersion returns the version with the given ID if its checks have not ended, and an error otherwise.
func (tx *Tx) pendingVersion(ctx context.Context, id int64) (queries.VersionRow, error) {
	row, err := tx.VersionByID(ctx, id)
	if err != nil {
		return row, ifNoRows(err, noVersionError(id))
	}
	if !ladder.VersionState(row.State).IsPending() {
		return row, conflict("", "version %d of %s is %s already", row.Number, row.Name, row.State)
	}
	return row, nil
}

// SetState changes the state of a version whose checks have not ended to another state of this kind. The state Queued
// starts the checks again from the beginning: the stages so far are deleted, and the owner's next turn in the queue
// comes after those of the other owners.
func (s Versions) SetState(ctx context.Context, versionID int64, state ladder.VersionState) error {
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

// BuildInfo is the information about a version that is known after its build.
type BuildInfo struct {
	Label    string // the bot's own name for the version
	Hash     string // SHA-256 of the built files, in hexadecimal
	Language string
	Games    []string     // that it plays; nil means all
	Command  []string     // starts it in the directory of the built files
	Needs    ladder.Needs // of a machine that plays it
	Training string       // JSON: the record of the training of a model; "" for other bots
}

// SetBuildInfo stores the result of the build of a version that is being checked.
func (s Versions) SetBuildInfo(ctx context.Context, versionID int64, b BuildInfo) error {
	return s.update(ctx, func(tx *Tx) error {
		if _, err := tx.pendingVersion(ctx, versionID); err != nil {
			return err
		}
		tx.addEvent(events.Event{Kind: events.SubmissionChanged, Version: versionID})
		return tx.SetBuilt(ctx, queries.SetBuiltParams{
			Label: b.Label, Hash: b.Hash, Language: b.Language, Games: jsonList(b.Games), Command: jsonList(b.Command), Needs: jsonText(b.Needs), Training: b.Training, ID: versionID,
		})
	})
}

// SetNeeds stores what a version needs from a machine, for all versions whose built files have the given hash. Call
// it after these files were built again.
func (s Versions) SetNeeds(ctx context.Context, hash string, n ladder.Needs) error {
	return s.update(ctx, func(tx *Tx) error { return tx.SetNeeds(ctx, jsonText(n), hash) })
}

func jsonList[T any](all []T) string { return jsonText(append([]T{}, all...)) }

// StartStage records that a stage (unpack, build, check or trial) of an uploaded version starts. It replaces an
// earlier stage with the same name.
func (s Versions) StartStage(ctx context.Context, versionID int64, name string) error {
	return s.update(ctx, func(tx *Tx) error {
		if _, err := tx.pendingVersion(ctx, versionID); err != nil {
			return err
		}
		tx.addEvent(events.Event{Kind: events.SubmissionChanged, Version: versionID})
		return tx.BeginStage(ctx, versionID, name, stamp(tx.now))
	})
}

// FinishStage stores the OK, Summary and Log of a stage (unpack, build, check or trial) that was started. It
// returns an error if the version has no stage of that name.
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

// Stages returns the stages of an uploaded version (such as its build), in the order in which they were started.
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

// messageOwner adds a message about a version for its owner. row is the version, kind the subject of the message and
// reason its text. match is the ID of the match to which the message refers, or 0. For a house bot, which has no
// owner, it does nothing.
func (tx *Tx) messageOwner(ctx context.Context, row queries.VersionRow, kind ladder.MessageKind, match int64, reason phrase.Text) error {
	if !row.PersonID.Valid {
		return nil
	}
	return tx.AddMessage(ctx, queries.AddMessageParams{
		PersonID: row.PersonID.Int64, VersionID: nullID(row.ID), Kind: string(kind), Bot: row.Name, Number: row.Number,
		MatchID: nullID(match), Reason: phraseColumn(reason), Created: stamp(tx.now),
	})
}

// Promote makes a pending version live: its bot plays with it from now on. The version that was live before is
// retired. The new version enters every ladder whose game it plays. Its first Elo on a ladder is that of the bot's
// last version there.
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

// Suspend makes a bot stop playing with a version because of the version's faults, and sends the owner a message with
// the reason. match is the ID of the match with its last fault. If the bot does not play with the version any more,
// Suspend does nothing and returns false.
func (s Versions) Suspend(ctx context.Context, versionID, match int64, reason phrase.Text) (suspended bool, err error) {
	err = s.update(ctx, func(tx *Tx) error {
		v, err := tx.VersionByID(ctx, versionID)
		if err != nil {
			return ifNoRows(err, noVersionError(versionID))
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

// refreshEntries updates which versions each ladder rates, after the ladders or the house bots have changed. It also
// drops matches that can no longer be played.
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
		if err := tx.enterLadders(ctx, v); err != nil {
			return err
		}
	}
	if err := tx.UpdateActive(ctx); err != nil {
		return err
	}
	return tx.dropUnplayable(ctx)
}

// refreshBot updates which versions of one bot each ladder rates, after the states of its versions have changed. It
// also drops matches that can no longer be played.
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
		if err := tx.enterLadders(ctx, v); err != nil {
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
	return tx.dropUnplayable(ctx)
}

// enterLadders adds a version to every active ladder whose game and options the version supports. A house bot (part
// of timba) is added only to ladders that list it.
func (tx *Tx) enterLadders(ctx context.Context, v ladder.Version) error {
	ladders, err := tx.Ladders(ctx)
	if err != nil {
		return err
	}
	for _, l := range ladders {
		c, err := ladderConfig(l)
		if err != nil {
			return err
		}
		if l.Active == 0 || !v.Plays(l.Game, c.Options) || v.IsHouse() && !slices.Contains(c.House, v.Bot) {
			continue
		}
		if err := tx.enter(ctx, l, v); err != nil {
			return err
		}
	}
	return nil
}

// enter adds a version to a ladder, with the Elo of the bot's last version on that ladder. A version that has
// been on the ladder before continues with its old rating.
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

// dropUnplayable drops waiting matches that cannot be played: rated matches with a version that no longer plays,
// requested matches with a withdrawn bot, and requested matches with a remote version (on its owner's machine) that
// was replaced and so cannot connect.
func (tx *Tx) dropUnplayable(ctx context.Context) error {
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
				by, reason = r.PersonID.Int64, phrase.New("bot %q is withdrawn", r.Name)
				if r.Banned.Valid {
					by, reason = 0, phrase.New("bot %q is banned", r.Name)
				}
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

// ListEnded returns at most n versions in the given state, which is Failed or Suspended. The version whose state
// changed most recently comes first.
func (s Versions) ListEnded(ctx context.Context, state ladder.VersionState, n int) ([]ladder.Version, error) {
	rows, err := s.read.LastInState(ctx, string(state), int64(n))
	if err != nil {
		return nil, machineError(err)
	}
	return versions(rows)
}

// SetUnplayable stores whether the version can be played, and sends its owner a message if that changes. missing is
// what the version needs and no machine has. If missing is empty, the version can be played again.
func (s Versions) SetUnplayable(ctx context.Context, versionID int64, missing phrase.Text) error {
	return s.update(ctx, func(tx *Tx) error {
		row, err := tx.VersionByID(ctx, versionID)
		if err != nil {
			return ifNoRows(err, noVersionError(versionID))
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

// LastOfBots returns the last version of each of the given bots. The arguments and the keys of the map are bot IDs.
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

// Find returns the version with the given ID.
func (s Versions) Find(ctx context.Context, id int64) (out ladder.Version, err error) {
	row, err := s.read.VersionByID(ctx, id)
	if err != nil {
		return out, machineError(ifNoRows(err, noVersionError(id)))
	}
	return version(row)
}

func noVersionError(id int64) error { return notFound("", "version %d does not exist", id) }
