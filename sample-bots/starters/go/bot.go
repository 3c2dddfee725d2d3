//go:build ignore

// A complete timba bot: it plays all five games legally, with a hint of thought.
//
// The referee's lines come in on stdin, our answers go out on stdout, and a turn
// lists every legal move. So a bot only has to say how much it likes each of
// them: put your ideas into trickScore, podridaScore, tebesScore and teekoScore.
//
// The line at the top means: build this file by its name alone, as timba.toml
// does. Delete it when the directory has a go.mod and further files.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

const name, version = "my-go-bot", "1.0"

var (
	game map[string]string // the `game` line: name, seat, players, seed and the game's options
	view map[string]string // the latest `view` line: all that we may know of the position
)

// items returns a list of the view; an empty one is written "-".
func items(key string) []string {
	if text := view[key]; text != "" && text != "-" {
		return strings.Split(text, ",")
	}
	return nil
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

func abs(n int) int { return max(n, -n) }

// --- cards: "12c" is rank 12 of suit c ---------------------------------------

func rank(card string) int  { return number(card[:len(card)-1]) }
func suit(card string) byte { return card[len(card)-1] }

// isTrump looks at the suit of the card that shows the trumps.
func isTrump(card string) bool { return suit(card) == suit(view["trump"]) }

// --- Brisca and Tute -----------------------------------------------------------

// The strength and the points of a card in Brisca and Tute, by its rank.
var (
	powers = [13]int{1: 9, 3: 8, 4: 1, 5: 2, 6: 3, 7: 4, 10: 5, 11: 6, 12: 7}
	values = [13]int{1: 11, 3: 10, 10: 2, 11: 3, 12: 4}
)

// beats reports whether a card, played later, takes the trick from the card that wins it now.
func beats(card, winner string) bool {
	if suit(card) == suit(winner) {
		return powers[rank(card)] > powers[rank(winner)]
	}
	return isTrump(card)
}

// price returns how sorry we are to play a card: for its points, its strength, and for any trump.
func price(card string) int {
	p := 10*values[rank(card)] + powers[rank(card)]
	if isTrump(card) {
		p += 100
	}
	return p
}

// trickScore prefers to take a trick that has points as cheaply as we can, and otherwise to throw the cheapest card.
func trickScore(card string) int {
	winner, pot := "", 0
	for _, later := range items("trick") {
		pot += values[rank(later)]
		if winner == "" || beats(later, winner) {
			winner = later
		}
	}
	if pot > 0 && beats(card, winner) {
		return 500 - price(card)
	}
	return -price(card)
}

// --- La Podrida ----------------------------------------------------------------

func strength(card string) int {
	s := rank(card)
	if s == 1 {
		s = 13
	}
	if isTrump(card) {
		s += 20
	}
	return s
}

func podridaScore(move string) int {
	if bid, ok := strings.CutPrefix(move, "bid:"); ok { // our aces, kings and high trumps
		good := 0
		for _, c := range items("hand") {
			if rank(c) == 1 || rank(c) == 12 || isTrump(c) && rank(c) >= 10 {
				good++
			}
		}
		return -abs(number(bid) - good)
	}
	seat := number(game["seat"])
	if number(items("tricks")[seat]) < number(items("bids")[seat]) {
		return strength(move)
	}
	return -strength(move)
}

// --- Tebes -----------------------------------------------------------------------

// tebesScore: capture if we can, and go forward: up the board for white, down for black.
func tebesScore(move string) int {
	from, to, _ := strings.Cut(move, "-")
	size := number(view["size"])
	score := number(from)/size - number(to)/size
	if view["me"] == "b" {
		score = -score
	}
	if view["pieces"][number(to)] != '.' {
		score += 10
	}
	return score
}

// --- Teeko -----------------------------------------------------------------------

func near(a, b int) bool { return abs(a/5-b/5) <= 1 && abs(a%5-b%5) <= 1 }

// teekoScore counts the pairs of our pieces that touch: all six pairs do in a
// 2x2 square, which wins. Four in a line win as well.
func teekoScore(move string) int {
	squares := strings.Split(move, "-") // "12" places, "12-13" moves
	from, to := number(squares[0]), number(squares[len(squares)-1])
	var mine []int
	for s := 0; s < 25; s++ {
		if s == to || view["board"][s] == view["me"][0] && s != from {
			mine = append(mine, s)
		}
	}
	pairs, line := 0, len(mine) == 4 // a line: every step is the same, to a neighbour
	for i := 1; i < len(mine); i++ {
		line = line && near(mine[i], mine[i-1]) && mine[i]-mine[i-1] == mine[1]-mine[0]
		for _, other := range mine[:i] {
			if near(mine[i], other) {
				pairs++
			}
		}
	}
	if line {
		return 6
	}
	return pairs
}

// --- the position ------------------------------------------------------------------

// lead returns by how much our side leads at cards: above 0 if we have more points on average.
func lead() int {
	me := number(game["seat"])
	var ours, theirs, us, them int
	for seat, points := range items("points") {
		if seat == me || game["teams"] == "yes" && (seat-me)%2 == 0 {
			ours, us = ours+number(points), us+1
		} else {
			theirs, them = theirs+number(points), them+1
		}
	}
	return ours*them - theirs*us
}

func morePieces() int {
	all := len(view["pieces"]) - strings.Count(view["pieces"], ".")
	return 2*strings.Count(view["pieces"], view["me"]) - all
}

// closer returns how many more pairs of our pieces touch than of theirs.
func closer() int {
	more, board := 0, view["board"]
	for a := range board {
		for b := range board[:a] {
			if board[a] != board[b] || board[a] == '.' || !near(a, b) {
				continue
			}
			if more++; board[a] != view["me"][0] {
				more -= 2
			}
		}
	}
	return more
}

// --- choosing ----------------------------------------------------------------------

var scores = map[string]func(move string) int{
	"brisca": trickScore, "tute": trickScore, "podrida": podridaScore, "tebes": tebesScore, "teeko": teekoScore,
}

var positions = map[string]func() int{
	"brisca": lead, "tute": lead, "podrida": lead, "tebes": morePieces, "teeko": closer,
}

func choose(ply int, moves []string) string {
	score := scores[game["name"]]
	if score == nil { // a game that we do not know: any move
		score = func(string) int { return 0 }
	}
	var best []string
	top := 0
	for _, move := range moves {
		if strings.HasPrefix(move, "swap:") || strings.HasPrefix(move, "sing:") {
			return move // a better trump and a song are always worth having
		}
		s := score(move)
		if len(best) == 0 || s > top {
			best, top = nil, s
		}
		if s == top {
			best = append(best, move)
		}
	}
	if position := positions[game["name"]]; position != nil {
		fmt.Printf("info score=%d\n", position()) // how well the game stands for us: above 0 if we are winning
	}
	return best[(number(game["seed"])+ply)%len(best)] // a tie: any will do
}

// pairs returns the words of the form key=value as a map.
func pairs(words []string) map[string]string {
	m := map[string]string{}
	for _, word := range words {
		if key, value, ok := strings.Cut(word, "="); ok {
			m[key] = value
		}
	}
	return m
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		words := strings.Fields(in.Text())
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "timba":
			fmt.Println("ready", name, version)
		case "game":
			game = pairs(words)
			game["name"] = words[1]
		case "view":
			view = pairs(words)
		case "turn": // turn PLY MILLISECONDS MOVE...
			fmt.Println("move", choose(number(words[1]), words[3:]))
		case "bye":
			return
		}
		// Anything else (event, fault, end, verbs to come) a bot may ignore: the view says it all.
	}
}
