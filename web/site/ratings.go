package site

import (
	"net/http"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store"
)

type ratingsPage struct {
	Document  *document
	Ladders   []store.LadderInfo // the active ladders
	Constants []constant
}

// constant is a named value in the rating or the pairing of bots. The key of its text is "ratings.constant."
// + Key.
type constant struct {
	Key   string
	Value any
}

// getRatings shows the document that explains how bots are rated and paired, with the constants of this server.
func (s *Site) getRatings(v *visit) error {
	d, err := v.documentOf("/ratings")
	if err != nil {
		return err
	}
	active, err := s.activeLadders(v.ctx())
	if err != nil {
		return err
	}
	return v.showPage(http.StatusOK, "ratings", ratingsPage{d, active, constants()})
}

func constants() []constant {
	m := matchmaking.Constants()
	return []constant{
		{"anchor", ladder.Anchor},
		{"anchor-elo", rating.Current.Anchor},
		{"start", rating.Current.Start},
		{"newcomer", rating.Current.Newcomer},
		{"enough", ladder.EnoughMatches},
		{"half-urgent", m.HalfUrgencyMatches},
		{"uncertain", m.UncertaintyElo},
		{"often", m.MeetingsElo},
		{"related", m.SameOwnerElo},
		{"chance", m.ChanceElo},
		{"share", ladder.UnratedShare},
	}
}
