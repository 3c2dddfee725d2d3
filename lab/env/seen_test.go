package env

import (
	"strconv"
	"strings"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

// seen returns the expected planes (as lists of cards or squares) and numbers, computed from the view line.
func seen(l *Layout, o rules.Observation) (map[string]string, map[string]int) {
	view := protocol.Pairs(o.View)
	switch l.Game {
	case "tebes":
		return seenTebes(view)
	case "teeko":
		return seenTeeko(view)
	}
	planes, numbers := seenTricks(l, view, o.Seat)
	if l.Game == "podrida" {
		planes["turned"] = sorted(view.Get("trump"))
		numbers["trumps"] = strings.Index(baraja.Suits, suitOf(view.Get("trump")))
		numbers["cards"], numbers["dealer"] = view.Int("cards"), around(view.Int("dealer"), o.Seat, l.Players)
		numbers["bidding"] = 0
		if strings.HasPrefix(string(o.Moves), "bid:") {
			numbers["bidding"] = 1
		}
		bySeat(numbers, "bid", view.Get("bids"), o.Seat)
		bySeat(numbers, "won", view.Get("tricks"), o.Seat)
		return planes, numbers
	}
	planes["trump"] = sorted(view.Get("trump"))
	numbers["trumps"], numbers["stock"] = strings.Index(baraja.Suits, suitOf(view.Get("trump"))), view.Int("stock")
	for seat, known := range strings.Split(view.Get("known"), "/") {
		planes["known+"+strconv.Itoa(around(seat, o.Seat, l.Players))] = sorted(known)
	}
	if l.Game == "tute" {
		for seat, suit := range strings.Split(view.Get("declared"), ",") {
			numbers["declared+"+strconv.Itoa(around(seat, o.Seat, l.Players))] = strings.Index(baraja.Suits, suit)
		}
		for _, suit := range strings.Split(baraja.Suits, "") {
			numbers["sung:"+suit] = strings.Count(view.Get("sung"), suit)
		}
		numbers["choosing"] = 0
		if strings.HasPrefix(string(o.Moves), "sing:") {
			numbers["choosing"] = 1
		}
	}
	return planes, numbers
}

// seenTricks returns the planes and numbers that all card games have in common.
func seenTricks(l *Layout, view protocol.Pairs, seat int) (map[string]string, map[string]int) {
	played := make([]string, l.Players)
	trick := make([]string, l.Players)
	put := func(leader int, cards []string, to []string) {
		for j, c := range cards {
			at := (leader + j) % l.Players
			to[at] += "," + c
		}
	}
	if all := view.Get("played"); all != "-" {
		cards := strings.Split(all, ",")
		for n, leader := range strings.Split(view.Get("leaders"), ",") {
			first, _ := strconv.Atoi(leader)
			put(first, cards[n*l.Players:(n+1)*l.Players], played)
		}
	}
	if now := view.Get("trick"); now != "-" {
		put(view.Int("leader"), strings.Split(now, ","), played)
		put(view.Int("leader"), strings.Split(now, ","), trick)
	}
	planes := map[string]string{"hand": sorted(view.Get("hand"))}
	for s := range l.Players {
		r := strconv.Itoa(around(s, seat, l.Players))
		planes["played+"+r] = sorted(played[s])
		if s != seat {
			planes["trick+"+r] = sorted(trick[s])
		}
	}
	numbers := map[string]int{"leader": around(view.Int("leader"), seat, l.Players)}
	bySeat(numbers, "points", view.Get("points"), seat)
	return planes, numbers
}

// around returns the distance of seat from another seat, from, in the order of turns.
func around(seat, from, players int) int { return (seat + players - from) % players }

func suitOf(card string) string { return card[len(card)-1:] }

// sorted sorts cards by their codes. Both "-" and "" stand for no cards.
func sorted(cards string) string {
	var set baraja.Set
	for c := range strings.SplitSeq(cards, ",") {
		if c != "" && c != "-" {
			card, _ := baraja.Parse(c)
			set = set.With(card)
		}
	}
	if set == 0 {
		return ""
	}
	return string(set.Text(nil))
}

// bySeat adds a number for each seat to numbers. list has the numbers by seat; "-" stands for -1.
func bySeat(numbers map[string]int, name, list string, seat int) {
	words := strings.Split(list, ",")
	for s, word := range words {
		n, err := strconv.Atoi(word)
		if err != nil {
			n = -1
		}
		numbers[name+"+"+strconv.Itoa(around(s, seat, len(words)))] = n
	}
}

func seenTebes(view protocol.Pairs) (map[string]string, map[string]int) {
	me, other := view.Get("me"), map[string]string{"w": "b", "b": "w"}[view.Get("me")]
	planes := map[string]string{"own": squares(view.Get("pieces"), me), "other": squares(view.Get("pieces"), other), "black": squares(view.Get("colours"), "b")}
	return planes, map[string]int{
		"seat": strings.Index("wb", me), "extra+0": strings.Count(view.Get("extra"), me), "extra+1": strings.Count(view.Get("extra"), other),
		"bonus": strings.Count(view.Get("bonus"), "yes"),
	}
}

func seenTeeko(view protocol.Pairs) (map[string]string, map[string]int) {
	me, other := view.Get("me"), map[string]string{"w": "b", "b": "w"}[view.Get("me")]
	planes := map[string]string{"own": squares(view.Get("board"), me), "other": squares(view.Get("board"), other)}
	return planes, map[string]int{"seat": strings.Index("bw", me), "placing": strings.Count(view.Get("phase"), "drop")}
}

// squares returns the squares of a board on which the given letter stands.
func squares(board, letter string) string {
	var all []string
	for square, l := range strings.Split(board, "") {
		if l == letter {
			all = append(all, strconv.Itoa(square))
		}
	}
	return strings.Join(all, ",")
}
