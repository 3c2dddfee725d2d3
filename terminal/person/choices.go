package person

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/rules"
)

// manner says how a person types the moves of a game.
type manner int

const (
	byNumber manner = iota // by the number shown below a card or beside a move
	byValue                // by the number after the colon, if the moves differ only in that, such as bid:2
	bySquare               // by the number of a square
	bySteps                // by the squares that a piece leaves and reaches
	inFull                 // only as the protocol writes them
)

// choices are the legal moves of a turn, with what a person types to choose one. A number that the person types
// alone always means a number on the screen.
type choices struct {
	manner
	word  string // what a move is called in the prompt, such as "card"
	legal []string
	keys  map[string]string // by move, the number to type
	extra bool              // some moves are not cards in the person's hand
	side  int               // number of squares along a side of the board; 0 without a board
}

// choicesOf returns what the person can type for each legal move. hand has the cards in the person's hand. If the
// game has no cards, hand is nil.
func choicesOf(d rules.Display, hand, legal []string) choices {
	c := choices{manner: byNumber, word: "move", legal: legal, keys: map[string]string{}}
	inHand := func(move string) bool { return slices.Contains(hand, move) }
	c.extra = slices.ContainsFunc(legal, func(m string) bool { return !inHand(m) })
	word, bids := valuesOf(legal)
	switch {
	case !slices.ContainsFunc(legal, func(m string) bool { return !isNumber(m) }):
		c.manner = bySquare
		for _, move := range legal {
			c.keys[move] = move
		}
	case slices.ContainsFunc(legal, isNumber):
		c.manner = inFull
	case bids:
		c.manner, c.word = byValue, word
		for _, move := range legal {
			c.keys[move] = move[len(word)+1:]
		}
	case d.Board != nil && !slices.ContainsFunc(legal, func(m string) bool { return !isStep(m) }):
		c.manner = bySteps
	default:
		for i, move := range legal {
			c.keys[move] = strconv.Itoa(i + 1)
		}
	}
	if c.manner == byNumber && !c.extra {
		c.word = "card"
	}
	return c
}

// valuesOf returns the common word before the colon of moves such as bid:0 and bid:1. ok is false if the moves do
// not all have this form.
func valuesOf(legal []string) (word string, ok bool) {
	for i, move := range legal {
		before, value, found := strings.Cut(move, ":")
		if !found || !isNumber(value) || i > 0 && before != word {
			return "", false
		}
		word = before
	}
	return word, len(legal) > 0
}

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

func isStep(move string) bool {
	from, to, two := strings.Cut(move, "-")
	return two && isNumber(from) && isNumber(to)
}

// squareNames matches one or two squares of a board by their names, such as a1-b2.
var squareNames = regexp.MustCompile(`^([a-zA-Z][0-9]+)[-\s]*([a-zA-Z][0-9]+)?$`)

// squareNumbers replaces the names of squares in a line, such as a1-b2, by their numbers. It returns other lines
// unchanged.
func (c choices) squareNumbers(line string) string {
	var numbers []string
	if found := squareNames.FindStringSubmatch(line); found != nil {
		for _, name := range found[1:] {
			if n, ok := rules.ParseSquare(name, c.side); ok {
				numbers = append(numbers, strconv.Itoa(n))
			} else if name != "" {
				return line
			}
		}
		return strings.Join(numbers, "-")
	}
	return line
}

func (c choices) movesFrom(square string) (moves []string) {
	if c.manner == bySteps {
		moves = beginning(c.legal, square+"-")
	}
	return moves
}

// choose returns the move that a typed line means, or "" if there is none. The line may be:
//   - the move in full, or the number shown for it
//   - the square of a piece that has only one move
//   - the beginning of exactly one move, unless it is also the beginning of one of words, the commands
func (c choices) choose(line string, words []string) string {
	if slices.Contains(c.legal, line) {
		return line
	}
	line = c.squareNumbers(line)
	for _, move := range c.legal {
		if c.keys[move] == line {
			return move
		}
	}
	if isNumber(line) {
		if moves := c.movesFrom(line); len(moves) == 1 {
			return moves[0]
		}
		return "" // a number never means the card that begins with it
	}
	if squares := strings.Join(strings.Fields(line), "-"); c.manner == bySteps && slices.Contains(c.legal, squares) {
		return squares
	}
	if found := beginning(c.legal, line); len(found) == 1 && len(beginning(words, line)) == 0 {
		return found[0]
	}
	return ""
}

// prompt returns the text that asks the person for a move, with the numbers that can be typed.
func (c choices) prompt() string {
	about := ""
	switch c.manner {
	case byNumber, byValue:
		about = " (" + c.numbers() + ")"
	case bySquare:
		about = " (a free square)"
	case bySteps:
		about = " (from-to)"
	}
	return "your " + c.word + about + ": "
}

// numbers describes the numbers that can be typed, such as "0 to 3, not 2".
func (c choices) numbers() string {
	var all []int
	for _, key := range c.keys {
		n, _ := strconv.Atoi(key) // keys are numbers
		all = append(all, n)
	}
	slices.Sort(all)
	first, last := all[0], all[len(all)-1]
	text := fmt.Sprintf("%d to %d", first, last)
	switch {
	case first == last:
		return strconv.Itoa(first)
	case len(all) == 2:
		return fmt.Sprintf("%d or %d", first, last)
	}
	for n, left := first, ", not "; n < last; n++ {
		if !slices.Contains(all, n) {
			text, left = text+left+strconv.Itoa(n), " "
		}
	}
	return text
}

func (c choices) typingHelp() string {
	example := c.legal[0]
	switch c.manner {
	case byNumber:
		return fmt.Sprintf("type %s, or the move in full, such as %s", c.numbers(), example)
	case byValue:
		return fmt.Sprintf("type %s", c.numbers())
	case bySquare:
		return fmt.Sprintf("type a free square, such as %s", example)
	case bySteps:
		return fmt.Sprintf("type the squares it leaves and reaches, such as %s", example)
	}
	return fmt.Sprintf("type one in full, such as %s", example)
}

// rejection says why a typed line is not a move, and what to type. words are the commands.
func (c choices) rejection(line string, words []string) string {
	if moves := c.movesFrom(c.squareNumbers(line)); len(moves) > 0 {
		return fmt.Sprintf("the piece on %s has several moves: type %s", line, strings.Join(moves, " or "))
	}
	found := beginning(append(slices.Clone(c.legal), words...), line)
	if len(found) > 1 && !isNumber(line) {
		return fmt.Sprintf("%s may be %s", strconv.Quote(line), strings.Join(found, ", "))
	}
	return fmt.Sprintf("%s is not one of your moves: %s; ? is help", strconv.Quote(line), c.typingHelp())
}

func beginning(words []string, start string) (found []string) {
	for _, word := range words {
		if strings.HasPrefix(word, start) {
			found = append(found, word)
		}
	}
	return found
}

// showMoves shows the legal moves and what to type for each. Unless all is set, it leaves out the moves that play a
// card, because the keys for these are shown below the hand.
func (p *Person) showMoves(c choices, hand []string, all bool) {
	var entries []string
	switch c.manner {
	case byValue, bySquare:
		head := map[manner]string{byValue: c.word + ": ", bySquare: "free: "}[c.manner]
		for _, move := range c.legal {
			entries = append(entries, c.keys[move])
		}
		fmt.Fprintf(p.Out, "\n%s\n", p.Wrap("  "+head, strings.Join(entries, " ")))
		return
	case bySteps:
		entries = steps(c.legal)
	default:
		for _, move := range c.legal {
			if all || !slices.Contains(hand, move) {
				entries = append(entries, strings.TrimSpace(p.Dim(c.keys[move])+" "+p.Move(move)))
			}
		}
	}
	if len(entries) > 0 {
		fmt.Fprintf(p.Out, "\n%s", p.List(entries))
	}
}

// steps returns for each piece a text with all its moves, such as "19 to 12 13 14".
func steps(legal []string) (entries []string) {
	last := ""
	for _, move := range legal {
		from, to, _ := strings.Cut(move, "-")
		if from != last {
			entries = append(entries, from+" to")
			last = from
		}
		entries[len(entries)-1] += " " + to
	}
	return entries
}
