package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/timba-arena/timba/ladder"
)

// ReratedLadder is a ladder whose ratings were computed again.
type ReratedLadder struct {
	Ladder   string           `json:"ladder"`
	Matches  int64            `json:"matches"`
	Versions []ReratedVersion `json:"versions"` // present and former versions, the highest new Elo first
}

// ReratedVersion is a version with its Elo before and after its rating was computed again.
type ReratedVersion struct {
	Bot       string  `json:"bot"`
	Number    int     `json:"version"`
	Matches   int     `json:"matches"`
	EloBefore float64 `json:"before"`
	EloAfter  float64 `json:"after"`
}

// ratedColumns lists the columns that the rating formula computes, by table.
var ratedColumns = map[string][]string{
	"entries":        {"start", "elo", "uncertainty"},
	"changes":        {"elo_before", "elo_after", "k", "score", "expected", "uncertainty"},
	"play_seats":     {"rating_before", "rating_after"},
	"person_ratings": {"rating", "deviation", "volatility"},
}

// Rerate computes all ratings again by the current formula: the ratings of versions from the matches, and the ratings
// of people from their games. It stores the ratings and the fingerprint of the formula in one transaction. Afterwards
// Verify finds no difference. If dry is true, Rerate stores nothing. progress, unless nil, is called with the number
// of matches that are done and the number of all matches. The caller must hold the lock of the directory.
//
// Rerate returns an error and stores nothing if the matches do not lead to the other stored results, such as the
// counts of wins. Verify lists all differences of this kind.
func (s *Store) Rerate(ctx context.Context, dry bool, progress func(done, total int64)) (out []ReratedLadder, err error) {
	total, err := s.read.CountFinished(ctx)
	if err != nil {
		return nil, machineError(err)
	}
	r, err := newRebuild(ctx, s, false)
	if err != nil {
		return nil, machineError(err)
	}
	defer r.close()
	done := int64(0)
	if progress != nil {
		r.progress = func(n int) {
			done += int64(n)
			progress(done, total)
		}
	}
	if err = r.run(); err == nil {
		err = r.compareTables(ratedColumns)
	}
	if err == nil && len(r.list) > 0 {
		err = unavailable(ladder.HintDifferences, "data: the ratings cannot be computed again: %s", r.list[0])
	}
	if err == nil {
		out, err = r.ratingChanges()
	}
	if err == nil && !dry {
		err = r.copyRatings()
	}
	return out, machineError(err)
}

// ratingChanges returns how the rebuilt ratings of the ladders differ from the stored ones.
func (r *rebuild) ratingChanges() (out []ReratedLadder, err error) {
	err = r.update(func(tx *Tx) error {
		ladders, err := tx.Ladders(r.ctx)
		if err != nil {
			return err
		}
		for _, l := range ladders {
			ladder := ReratedLadder{Ladder: l.Name, Matches: l.Finished, Versions: []ReratedVersion{}}
			err := tx.eachRow(r.ctx, func(scan func(...any) error) error {
				var v ReratedVersion
				err := scan(&v.Bot, &v.Number, &v.Matches, &v.EloBefore, &v.EloAfter)
				ladder.Versions = append(ladder.Versions, v)
				return err
			}, `SELECT bots.name, versions.number, now.matches, before.elo, now.elo
				FROM main.entries AS now JOIN stored.entries AS before ON before.ladder_id = now.ladder_id AND before.version_id = now.version_id
				JOIN main.versions ON versions.id = now.version_id JOIN main.bots ON bots.id = versions.bot_id
				WHERE now.ladder_id = ? ORDER BY now.elo DESC, now.since, now.version_id`, l.ID)
			if err != nil {
				return err
			}
			out = append(out, ladder)
		}
		return nil
	})
	return out, err
}

// copyRatings copies the rebuilt ratings to the store from which the rebuild was made.
func (r *rebuild) copyRatings() (err error) {
	uri, err := databaseURI(r.target.dir.Database(), nil)
	if err != nil {
		return err
	}
	if _, err := r.source.writer.ExecContext(r.ctx, "ATTACH DATABASE ? AS again", uri); err != nil {
		return err
	}
	defer func() {
		_, detached := r.source.writer.ExecContext(context.WithoutCancel(r.ctx), "DETACH DATABASE again")
		err = errors.Join(err, detached)
	}()
	return r.source.update(r.ctx, func(tx *Tx) error {
		tx.changesLadders = true
		for table, columns := range ratedColumns {
			_, key, err := tx.columns(r.ctx, table)
			if err != nil {
				return err
			}
			var same []string
			for _, k := range key {
				same = append(same, fmt.Sprintf("new.%s = %s.%s", k, table, k))
			}
			list := strings.Join(columns, ", ")
			err = tx.exec(r.ctx, fmt.Sprintf("UPDATE %[1]s SET (%[2]s) = (SELECT %[2]s FROM again.%[1]s AS new WHERE %[3]s)", table, list, strings.Join(same, " AND ")))
			if err != nil {
				return err
			}
		}
		return tx.SetFormula(r.ctx, r.source.formula.Fingerprint())
	})
}
