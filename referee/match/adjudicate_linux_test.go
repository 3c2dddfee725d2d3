package match

import (
	"fmt"
	"slices"
	"testing"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// infoBot returns a bot in a process of its own that plays the first move. before and after are
// shell commands around it; $ply is the ply.
func infoBot(name, before, after string) Bot {
	b := named(1)[0]
	b.Name = name
	b.Command = []string{"sh", "-c", fmt.Sprintf(`
while read -r verb ply ms move rest; do
  case $verb in
  timba) echo ready ;;
  turn) %s; echo "move $move"; %s ;;
  bye) exit ;;
  esac
done`, before, after)}
	return b
}

// Real processes: the scores of a move are those since the bot's move before, so an info that
// comes behind a move counts for the next one, however late it is read.
func TestAdjudicationOfProcesses(t *testing.T) {
	steady := infoBot("steady", `echo "info score=-50 ply=$ply"`, ":")
	for _, c := range []struct {
		name string
		bot  Bot
		want int // moves
	}{
		{"score before the move", infoBot("b", `echo "info score=70"`, ":"), 3},
		{"the last score counts", infoBot("b", `printf 'info score=1\ninfo score=70\ninfo depth=3\n'`, ":"), 3},
		{"score behind the move", infoBot("b", ":", `echo "info score=70"`), 5},
		{"a score now and then", infoBot("b", `[ $ply = 3 ] || [ $ply = 5 ] && echo "info score=70"`, ":"), 5},
		{"the other way round", infoBot("b", `echo "info score=-70"`, ":"), 12},
		{"a comment is no score", infoBot("b", `echo "# info score=70"`, ":"), 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &Match{Variant: variant(t, "teeko", "limit=12"), Bots: []Bot{steady, c.bot}, Deals: 1, Seed: rules.Seed{2}, Clock: patient,
				Adjudication: ruled(t, "draw plies=2 score=10, resign plies=3 score=50")}
			for _, g := range playAll(t, m) {
				valid(t, &g.Replay)
				if g.Match.Rotation > 0 {
					continue // the plies are those of the other seat
				}
				if len(g.Moves) != c.want {
					t.Errorf("deal %d: %d moves, want %d: %s", g.Match.Deal, len(g.Moves), c.want, g.Encode())
				}
				if a := g.Adjudicated; c.want < 12 && (a == nil || a.As != referee.AsResign || !slices.Equal(a.Seats, []int{0}) || !slices.Equal(g.Ranks, []int{2, 1})) {
					t.Errorf("deal %d: %s, ranks %v", g.Match.Deal, a, g.Ranks)
				} else if c.want == 12 && a != nil {
					t.Errorf("deal %d: %s", g.Match.Deal, a)
				}
			}
		})
	}
}
