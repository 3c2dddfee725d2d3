package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/tournament"
)

// A tournament that ended early says what is missing, of many matches only of the first.
func TestEndEarly(t *testing.T) {
	t.Parallel()
	r := begun(t, teeko(t), tournament.RoundRobin, 1, "", "first", "last", "random", "random2", "greedy")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := r.Play(ctx, func(*tournament.Match, *referee.GameResult) { cancel() }, func(text string) { t.Error(text) })
	var early *tournament.EarlyEndError
	if !errors.As(err, &early) {
		t.Fatalf("it ended with %v", err)
	}
	r.EndEarly(Interrupted, "why", "")
	var out bytes.Buffer
	r.WriteTables(&out)
	const want = "\nmissing: 19 of 20 games: 1 of match 0 (first, last), 2 of match 1 (first, random), 2 of match 2 (first, random2), " +
		"2 of match 3 (first, greedy), 2 of match 4 (last, random), those of 5 more matches\n"
	if !strings.Contains(out.String(), want) {
		t.Errorf("the tables are\n%swithout%s", out.String(), want)
	}
	doc := r.Document()
	valid(t, kit.Get[[]byte](t)(json.Marshal(doc)))
	data := string(kit.Get[[]byte](t)(json.Marshal(doc.EarlyEnd)))
	if want := `{"why":"interrupted","text":"why","missing_games":19,"all_games":20,"resume":""}`; data != want {
		t.Errorf("the document has %s, want %s", data, want)
	}
}

// The running score counts the games of the rounds to come.
func TestScoreOfAllRounds(t *testing.T) {
	t.Parallel()
	for format, want := range map[tournament.Format]string{
		tournament.Swiss:    "round 1, 0/16 deals, 0/32 games",
		tournament.Knockout: "round 1, 0/8 deals, 0/16 games",
	} {
		r := begun(t, teeko(t), format, 2, "", "first", "last", "random", "random2", "greedy")
		if got := r.ScoreLine(); got != want {
			t.Errorf("the score of a %s tournament is %q, want %q", format, got, want)
		}
	}
}
