//go:build !race

package tournament

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A tournament that was called off after any number of games and goes on from its
// directory ends like one that was never interrupted, byte for byte but for times.
func TestResumeAfterEveryGame(t *testing.T) {
	for name, tour := range resumable(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := tour(0).in(t, t.TempDir())
			play(t, whole)
			want, wantResults := files(t, whole.dir.Path), whole.Results()
			total := 0
			for _, m := range whole.Matches() {
				total += m.Tally.Games
			}
			for games := range total + 1 {
				first := tour(0).in(t, t.TempDir())
				playUntil(t, first, games)
				again := tour(0).again(first.dir)
				play(t, again)
				if diff := cmp.Diff(want, files(t, first.dir.Path)); diff != "" {
					t.Errorf("broken off after %d games, the directory differs (-whole +resumed):\n%s", games, diff)
				}
				if diff := cmp.Diff(wantResults, again.Results(), cmpopts.EquateNaNs()); diff != "" {
					t.Errorf("broken off after %d games, the results differ (-whole +resumed):\n%s", games, diff)
				}
			}
		})
	}
}
