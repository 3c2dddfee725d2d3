package site

import (
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/web/messages"
)

// Durations have a space before the unit, and the decimal mark of the language.
func TestSpan(t *testing.T) {
	all := kit.Get[[]*messages.Language](t)(messages.All())
	for d, want := range map[time.Duration][3]string{
		26400 * time.Microsecond:    {"26 ms", "26 ms", "26 ms"},
		7840 * time.Millisecond:     {"7.8 s", "7,8 s", "7,8 s"},
		125*time.Second + 1_600_000: {"2 min 5 s", "2 min 5 s", "2 min 5 s"},
	} {
		for i, l := range all {
			if got := durationText(l, d); got != want[i] {
				t.Errorf("%s: %v is %q, want %q", l.Tag, d, got, want[i])
			}
		}
	}
}

// The interval that a page shows agrees with whether the rating is provisional.
func TestInterval(t *testing.T) {
	for x, want := range map[float64]string{0: "±0", 34.5: "±35", 98.6: "±99", 99.6: "±99", 100: "±100", 100.4: "±100"} {
		if got := plusMinus(&x); got != want {
			t.Errorf("%v is %q, want %q", x, got, want)
		}
	}
	for x, want := range map[float64]string{72.2: "±73", 110: "±110", 110.2: "±111"} {
		if got := deviation(x); got != want {
			t.Errorf("deviation %v is %q, want %q", x, got, want)
		}
	}
	for x, want := range map[float64]string{-0.3: "0", -0.6: "-1", 0: "0"} {
		if got := wholeNumber(x); got != want {
			t.Errorf("%v is %q, want %q", x, got, want)
		}
	}
}

// All games from which a bot was disqualified are one entry among the lost games. Games that it failed to
// start are separate entries.
func TestLostOnce(t *testing.T) {
	m := ladder.Match{Bots: []string{"a", "b"}, Numbers: []int{1, 1}}
	var games []ladder.FinishedGame
	for i, fault := range []string{"", "exit", "startup", "startup", "startup", "startup"} {
		b := ladder.GameSeat{Seat: 1, Slot: 1, Rank: 2, Fault: fault}
		if fault != "" {
			b.Faults = 1
		}
		games = append(games, ladder.FinishedGame{ID: int64(i), Deal: i, Seats: []ladder.GameSeat{{Slot: 0, Rank: 1}, b}})
	}
	list := lostGamesOfMatch(m, games, "b")
	if len(list) != 5 || list[3].IsDisqualified() || !list[4].IsDisqualified() || list[4].ID != 4 || list[4].MoreGames != 1 {
		t.Errorf("%+v", list)
	}
}

// The page of a failed submission says the reason only once.
func TestReasonOnce(t *testing.T) {
	v := newStrangerVisit(t)
	for _, reason := range []string{"check: it fails", ""} { // without one the server failed, and tries again
		var b strings.Builder
		page := submissionPage{SubmissionProgress: service.SubmissionProgress{Version: ladder.Version{State: ladder.Failed, Reason: phrase.Plain(reason)}}, Steps: []submissionStep{{ladder.Stage{Name: "check", Summary: phrase.Plain("it fails")}, "failed"}}}
		kit.Must(t, v.site.pages.templates["en/submission"]().ExecuteTemplate(&b, "progress", frame{v, "submission", page}))
		if n := strings.Count(b.String(), "it fails"); n != 1 {
			t.Errorf("with the reason %q the page says it %d times", reason, n)
		}
	}
}
