package referee_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/teeko"
)

// newGame returns the first game of a match of Teeko between two bots.
func newGame(listening rules.Seats) (*referee.Game, error) {
	v, err := teeko.Game.Resolve(map[string]string{"start": "drop"})
	if err != nil {
		return nil, err
	}
	match := rules.Seed{1}
	head := referee.Replay{
		Timba: 1, Game: v.Game.Name, Options: v.Settings.Map(),
		Seed:       referee.Hex(referee.DealSeed(match, 1)),
		Commitment: referee.Commitment(match),
		Match:      referee.ReplayMatch{Deal: 1},
		Clock:      referee.Clock{Move: time.Second}.InReplay(),
	}
	for seat, name := range []string{"anna", "bert"} {
		head.Seats = append(head.Seats, referee.ReplaySeat{
			Name: name, SHA256: strings.Repeat("0", 64), Seed: referee.BotSeed(match, 1, 0, seat),
		})
	}
	head.Reveal(match)
	return referee.NewGame(v, head, listening), nil
}

// The lines for the bots during the first move of a game.
func ExampleGame() {
	g, err := newGame(rules.AllSeats)
	if err != nil {
		fmt.Println(err)
		return
	}
	g.Begin()
	fmt.Printf("to seat %d:\n%s", g.Turn(), g.TurnLines())
	if err := g.Move([]byte("12"), referee.MoveTime{Took: 3 * time.Millisecond}, nil); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("to seat %d:\n%s", g.Turn(), g.TurnLines())
	// Output:
	// to seat 0:
	// game teeko start=drop squares=standard limit=200 opening=0 players=2 seat=0 seed=4444266678052065 movetime=1000
	// view board=......................... me=b phase=drop
	// turn 0 1000 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24
	// to seat 1:
	// game teeko start=drop squares=standard limit=200 opening=0 players=2 seat=1 seed=1432510190014944 movetime=1000
	// event play 0 12
	// view board=............b............ me=w phase=drop
	// turn 1 1000 0 1 2 3 4 5 6 7 8 9 10 11 13 14 15 16 17 18 19 20 21 22 23 24
}

// The replay of a game is checked by the rules alone.
func ExampleReplay_Verify() {
	g, err := newGame(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	g.Begin()
	for _, move := range strings.Fields("12 0 13 1 7 20 8") {
		if err := g.Move([]byte(move), referee.MoveTime{Took: time.Millisecond}, nil); err != nil {
			fmt.Println(err)
			return
		}
	}
	g.End()
	fmt.Println("ranks:", g.Record.Ranks)

	replay, err := referee.DecodeReplay(g.Record.Encode())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("differences:", replay.Verify(teeko.Game))
	replay.Ranks = []int{2, 1}
	for _, difference := range replay.Verify(teeko.Game) {
		fmt.Println(difference)
	}
	// Output:
	// ranks: [1 2]
	// differences: []
	// replay: ranks are [2 1] where the rules give [1 2]
}
