package playback

import (
	"fmt"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/terminal/draw"
)

// TestColumns checks that whole replays of all games fit 40 and 80 columns, with 2 to 12 seats, long names and
// faults.
func TestColumns(t *testing.T) {
	for _, c := range []struct {
		game    string
		options map[string]string
		frame   int // that the golden file has
	}{
		{"brisca", map[string]string{"players": "2", "exchange": "yes"}, 12},
		{"brisca", map[string]string{"players": "4", "teams": "yes", "exchange": "yes", "last10": "yes", "blackhand": "yes"}, 18},
		{"tute", map[string]string{"players": "2", "exchange": "yes"}, 12},
		{"tute", map[string]string{"players": "4", "teams": "yes"}, 18},
		{"podrida", map[string]string{"players": "3", "rounds": "updown"}, 200},
		{"podrida", map[string]string{"players": "6"}, 100},
		{"podrida", map[string]string{"players": "12"}, 70},
		{"tebes", nil, 6},
		{"tebes", map[string]string{"size": "4", "opening": "4"}, 3},
		{"teeko", map[string]string{"start": "drop"}, 5},
		{"teeko", nil, 5},
	} {
		g, err := games.Find(c.game)
		kit.Must(t, err)
		illegal := &referee.Fault{Ply: 4, Reason: fault.Reason{Kind: fault.IllegalMove, Move: "7o", Detail: "is not in the list of the turn"}}
		game := gameOf(t, refereetest.Replay(t, g, c.options, 3, illegal))
		for i := range game.Replay.Seats {
			game.Replay.Seats[i].Name = fmt.Sprintf("a-bot-with-a-name-of-%d", i)
			if i > 0 {
				game.Replay.Seats[i].Name += fmt.Sprintf("#%d", i+1)
			}
		}
		name := fmt.Sprintf("columns-%s-%d", c.game, len(game.Replay.Seats))
		if c.options["size"] == "4" || c.options["start"] == "drop" {
			name += "-small"
		}
		t.Run(name, func(t *testing.T) {
			var shown strings.Builder
			for _, style := range []draw.Style{{Width: 40, Unicode: true}, {Width: 40}, {Width: 80, Unicode: true}} {
				for _, s := range []Screen{{Seat: -1}, {Seat: 1}, {Seat: -1, All: true}} {
					var got strings.Builder
					s.Writer, s.Style, s.Game = &got, style, game
					s.ShowGame()
					for line := range strings.Lines(got.String()) {
						if n := text.Width(strings.TrimSuffix(line, "\n")); n > style.Width {
							t.Fatalf("%d columns where there are %d: %q", n, style.Width, line)
						}
					}
				}
				if style.Unicode {
					s := Screen{Writer: &shown, Style: style, Game: game, Seat: -1, All: true}
					s.ShowFrame(min(c.frame, len(game.Frames)-1))
				}
			}
			kit.Golden(t, name+".txt", shown.String())
		})
	}
}
