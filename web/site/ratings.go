package site

import (
	"context"
	"net/http"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store"
)

type ratingsPage struct {
	Document  *document
	Ladders   []store.LadderInfo // that play
	Constants []constant
}

// constant is a constant of the ladder; its message is ratings.constant.KEY.
type constant struct {
	Key   string
	Value any
}

// ratings explains how the ladder rates and pairs bots: the constants of the program and of this
// server, and the document.
func (s *Site) ratings(v *visit) error {
	d, err := v.documentOf("/ratings")
	if err != nil {
		return err
	}
	active, err := s.activeLadders(v.ctx())
	if err != nil {
		return err
	}
	return v.page(http.StatusOK, "ratings", ratingsPage{d, active, constants()})
}

// activeLadders returns the ladders that play.
func (s *Site) activeLadders(ctx context.Context) ([]store.LadderInfo, error) {
	all, err := s.Store.Ladders(ctx)
	return slices.DeleteFunc(all, func(l store.LadderInfo) bool { return !l.Active }), err
}

func constants() []constant {
	m := matchmaking.Constants()
	return []constant{
		{"anchor", ladder.Anchor},
		{"anchor-elo", rating.AnchorElo},
		{"start", rating.Start},
		{"newcomer", rating.Newcomer},
		{"enough", ladder.EnoughMatches},
		{"half-urgent", m.HalfUrgent},
		{"vague", m.Vague},
		{"often", m.Often},
		{"related", m.Related},
		{"chance", m.Chance},
		{"share", ladder.UnratedShare},
	}
}
