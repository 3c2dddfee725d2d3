package draw

import (
	"strconv"
	"strings"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/text"
)

// Event describes an event of the protocol, such as "play 1 12c", in words. names are the names by seat; one may
// be "you". It returns an unknown event unchanged, except that it replaces unprintable characters.
func (s Style) Event(event string, names []string) string {
	words := strings.Fields(event)
	if len(words) == 0 {
		return ""
	}
	verb, args := words[0], words[1:]
	rest := s.Words(strings.Join(args, " "))
	switch verb {
	case "deal":
		return "dealt: " + strings.ReplaceAll(rest, ",", " ")
	case "trump":
		return "trump: " + s.Card(itemAt(args, len(args)-1))
	case "round":
		return "round " + itemAt(args, 0) + ": " + strings.ReplaceAll(s.Words(strings.Join(args[1:], ", ")), "=", " ")
	case rules.OpeningOption.Name:
		if n, err := strconv.Atoi(itemAt(args, 0)); err == nil && n > 0 {
			return "the game begins after " + text.Count(n, "random ply")
		}
		return "the game begins without an opening"
	case "score":
		return "points so far: " + Clean(strings.Join(args, " "))
	}
	seat, err := strconv.Atoi(itemAt(args, 0))
	if err != nil || seat < 0 {
		return Clean(event)
	}
	who := Name(names, seat)
	rest = s.Words(strings.Join(args[1:], " "))
	does := func(verb string) string {
		if who == "you" {
			return "you " + verb
		}
		return who + " " + verb + "s"
	}
	switch verb {
	case "play":
		return does("play") + " " + rest
	case "bid":
		return does("bid") + " " + rest
	case "draw":
		if rest == "?" {
			rest = "a card"
		}
		return does("draw") + " " + rest
	case "swap":
		return does("take") + " the trump card and " + strings.TrimPrefix(does("lay"), who+" ") + " down " + rest
	case "trick":
		if rest == "" {
			return does("win") + " the trick"
		}
		return does("win") + " the trick: " + points(rest)
	case "instant":
		return does("win") + " at once: " + rest
	case "sing":
		return does("declare") + " " + s.SuitOf(itemAt(args, 1)) + " for " + Clean(itemAt(args, 2))
	case "song":
		return does("score") + " the song: " + rest
	case "capture":
		return does("capture") + " on " + rest
	case "extra":
		return does("move") + " once more"
	}
	return Clean(event)
}

func points(number string) string {
	if n, err := strconv.Atoi(number); err == nil {
		return text.Count(n, "point")
	}
	return number + " points"
}

// SuitOf returns the symbol of the suit that has the given letter, such as o for oros. For any other text it returns
// the text itself, with its unprintable characters replaced.
func (s Style) SuitOf(letter string) string {
	i := strings.Index(baraja.Suits, letter)
	if len(letter) != 1 || i < 0 {
		return Clean(letter)
	}
	return s.suit(baraja.Suit(i))
}

// Move draws a move, with symbols for the suits in it.
func (s Style) Move(text string) string {
	if letter, ok := strings.CutPrefix(text, "sing:"); ok {
		return "sing:" + s.SuitOf(letter)
	}
	return s.Words(text)
}
