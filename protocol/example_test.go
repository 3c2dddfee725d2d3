package protocol_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/timba-arena/timba/protocol"
)

// A referee asks for a move, and parses the answer.
func ExampleParseBot() {
	turn := protocol.AppendTurn(nil, 0, 1000)
	fmt.Printf("%s 3o 12c\n", turn)
	line, err := protocol.ParseBot([]byte("move 12c"))
	fmt.Println(string(line.Move), err)
	_, err = protocol.ParseBot([]byte("mvoe 12c"))
	fmt.Println("the line", err)
	// Output:
	// turn 0 1000 3o 12c
	// 12c <nil>
	// the line is no line of the protocol: a bot prints ready, move or info
}

// A bot reads a line of the referee.
func ExampleParseReferee() {
	line, err := protocol.ParseReferee([]byte("view hand=3o,12c trump=7e points=14,0"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(line.Verb, line.Pairs.Get("trump"))
	for key, value := range line.Pairs.All() {
		fmt.Printf("%s is %s\n", key, value)
	}
	// Output:
	// view 7e
	// hand is 3o,12c
	// trump is 7e
	// points is 14,0
}

// A bot that always plays the last legal move.
func ExampleServe() {
	referee := strings.NewReader(`timba 1
game brisca players=2 seat=1 seed=7 movetime=1000
event play 0 4b
view hand=3o,12c trump=7e
turn 1 1000 3o 12c
bye
`)
	err := protocol.Serve(referee, os.Stdout, "last", "1.0", func(t *protocol.Turn) protocol.Answer {
		return protocol.Answer{Move: t.Moves.Token(t.Moves.Len() - 1)}
	})
	fmt.Println(err)
	// Output:
	// ready last 1.0
	// move 12c
	// <nil>
}
