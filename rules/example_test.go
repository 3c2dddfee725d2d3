package rules_test

import (
	"fmt"
	"strings"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/teeko"
)

// The legal moves of a first position, which a seed decides.
func Example() {
	v, err := teeko.Game.Resolve(map[string]string{"limit": "40"})
	if err != nil {
		fmt.Println(err)
		return
	}
	stream := rules.NewStream(rules.Seed{1})
	s := v.Deal(&stream)
	fmt.Printf("%s\n", s.View(nil, 0))
	var moves []string
	for _, m := range s.Legal(nil) {
		moves = append(moves, string(s.MoveText(nil, m)))
	}
	fmt.Println("seat", s.Turn(), "may play", strings.Join(moves, " "))
	// Output:
	// board=w...w..bwb...bwb......... me=b phase=move
	// seat 0 may play 7-1 7-2 7-3 7-6 7-11 7-12 9-3 13-12 13-17 13-18 13-19 15-10 15-11 15-16 15-20 15-21
}

// A whole game of random moves.
func ExamplePlay() {
	v, err := teeko.Game.Resolve(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	stream := rules.NewStream(rules.Seed{1})
	s := v.Deal(&stream)
	random := rules.NewRand(12)
	for s.Turn() != rules.Over {
		legal := s.Legal(nil)
		if err := rules.Play(s, legal[random.Below(len(legal))], nil); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println("plies:", s.Ply())
	fmt.Println("points:", s.Points(), "ranks:", v.Ranks(s.Points()))
	_, err = s.ParseMove("12-99")
	fmt.Println(err)
	// Output:
	// plies: 27
	// points: [1 0] ranks: [1 2]
	// "12-99" is not a move: write a square from 0 to 24 to place a piece (12) or two to move it (12-13)
}

// The options of a game, with their defaults.
func ExampleGame_Resolve() {
	v, err := teeko.Game.Resolve(map[string]string{"start": "drop"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.Settings)
	_, err = teeko.Game.Resolve(map[string]string{"start": "empty"})
	fmt.Println(err)
	// Output:
	// start=drop squares=standard limit=200 opening=0
	// option start cannot be "empty": try random or drop
}
