package site

import (
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/tournament/report"
)

// Patterns returns the patterns of all routes. The value is true for those that need a person who is signed in.
func Patterns() map[string]bool {
	all := map[string]bool{}
	for _, rt := range (&Site{Store: new(store.Store)}).routes() {
		all[rt.pattern] = rt.member
	}
	return all
}

// ReportedGames returns the games that the report of s plays back if they may have so many bytes, and their bytes.
func ReportedGames(t testing.TB, s *report.Archive, limit int) (ids []string, size int) {
	p := &reportPage{Archive: s, recordings: map[string]string{}}
	kit.Must(t, p.addGames(limit))
	for _, g := range p.Replays {
		ids = append(ids, g.GameID.String())
		size += len(p.recordings[g.GameID.String()])
	}
	return ids, size
}
