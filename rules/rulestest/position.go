package rulestest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/rules"
)

// checkPosition checks everything that must hold in every position s. legal has its legal moves.
func checkPosition(v *rules.Variant, s rules.State, legal []rules.Move) error {
	if turn := s.Turn(); turn != rules.Over && (turn < 0 || turn >= v.Players) {
		return fmt.Errorf("turn: %d is not a seat", turn)
	}
	if s.Ply() > rules.MaxPlies {
		return fmt.Errorf("ply: %d is past the end of every game", s.Ply())
	}
	if err := checkLegal(s, legal); err != nil {
		return err
	}
	if err := checkTexts(v, s, legal); err != nil {
		return err
	}
	for seat := range v.Players {
		if err := checkView(string(s.View(nil, seat))); err != nil {
			return fmt.Errorf("view: seat %d: %w", seat, err)
		}
	}
	return checkPoints(v, s)
}

// checkLegal returns an error unless legal, the legal moves of s, is in order and empty only at the end of
// the game, and Check accepts each move.
func checkLegal(s rules.State, legal []rules.Move) error {
	if over := s.Turn() == rules.Over; over != (len(legal) == 0) {
		return fmt.Errorf("legal: %d moves, and over is %v", len(legal), over)
	}
	if len(legal) > rules.MaxMoves {
		return fmt.Errorf("legal: %d moves", len(legal))
	}
	for i, m := range legal {
		if i > 0 && legal[i-1] >= m {
			return fmt.Errorf("legal: move %d stands before %d", legal[i-1], m)
		}
		if err := s.Check(m); err != nil {
			return fmt.Errorf("check: refuses the legal move %d: %w", m, err)
		}
	}
	const mark rules.Move = 54321
	if got := s.Legal([]rules.Move{mark}); got[0] != mark || !slices.Equal(got[1:], legal) {
		return errors.New("legal: does not append")
	}
	return nil
}

// checkRefused returns an error unless s refuses the illegal move m with an error of the required form. before is the
// value of s before the call; s must still equal it.
func checkRefused(v *rules.Variant, s rules.State, before any, m rules.Move) error {
	var log rules.Log
	err := rules.Play(s, m, &log)
	if err == nil {
		return fmt.Errorf("check: accepts the move %d, which is not listed", m)
	}
	if valueOf(s) != before {
		return fmt.Errorf("check: refusing the move %d changes the state", m)
	}
	for seat := range v.Players {
		if said := log.AppendEvents(nil, seat, ""); len(said) > 0 {
			return fmt.Errorf("check: the refused move %d says %q", m, said)
		}
	}
	if s.Turn() == rules.Over && !errors.Is(err, rules.ErrOver) {
		return fmt.Errorf("check: says %q after the end, not ErrOver", err)
	}
	return checkError(err, string(s.MoveText(nil, m)))
}

// checkError returns an error unless the message of err begins with the given text in quotes and a space.
func checkError(err error, text string) error {
	if said := err.Error(); !strings.HasPrefix(said, strconv.Quote(text)+" ") {
		return fmt.Errorf("error: %q: begin with %q in quotes", said, text)
	}
	return nil
}

// checkTexts returns an error unless every legal move has a unique text that ParseMove parses as that move. It also
// changes these texts a little: ParseMove must refuse the result, or parse it as another move.
func checkTexts(v *rules.Variant, s rules.State, legal []rules.Move) error {
	seen := map[string]bool{}
	junk := []string{"", " ", "-", ":", "nonesuch", "\x00", "ñ", "99999999999999999999", "-1", "+1", strings.Repeat("1", 300)}
	for i, m := range legal {
		text := string(s.MoveText([]byte("move "), m))
		text, ok := strings.CutPrefix(text, "move ")
		if !ok || seen[text] || checkWords(text) != nil || strings.Contains(text, " ") {
			return fmt.Errorf("text: %q for the move %d is no word or not its own", text, m)
		}
		seen[text] = true
		if got, err := s.ParseMove(text); err != nil || got != m {
			return fmt.Errorf("text: %q reads back as %d, %v, not %d", text, got, err, m)
		}
		if i < 4 {
			junk = append(junk, text+" ", " "+text, "0"+text, "+"+text, text+text, text[1:], text[:len(text)-1], strings.ToUpper(text), text+"-", text+"\n")
		}
	}
	for _, text := range junk {
		if err := checkParse(v, s, text); err != nil {
			return err
		}
	}
	return nil
}

// checkParse parses an arbitrary text. It returns an error unless the text is exactly that of a move, or is
// refused with an error of the required form.
func checkParse(v *rules.Variant, s rules.State, text string) error {
	m, err := s.ParseMove(text)
	if err != nil {
		return checkError(err, text)
	}
	if again := string(s.MoveText(nil, m)); again != text {
		return fmt.Errorf("text: %q reads as the move %q", text, again)
	}
	return nil
}

func checkPoints(v *rules.Variant, s rules.State) error {
	if points := s.Points(); len(points) != v.Players {
		return fmt.Errorf("points: %v for %d players", points, v.Players)
	}
	return nil
}

// checkWords returns an error unless text consists of printable ASCII words separated by single spaces.
func checkWords(text string) error {
	if i := strings.IndexFunc(text, func(c rune) bool { return c < ' ' || c > '~' }); i >= 0 {
		return fmt.Errorf("%q is not printable ASCII", text)
	}
	if slices.Contains(strings.Split(text, " "), "") {
		return fmt.Errorf("%q has an empty word", text)
	}
	return nil
}

// checkView returns an error unless text is "key=value key=value" without repeated keys.
func checkView(text string) error {
	if err := checkWords(text); err != nil {
		return err
	}
	seen := map[string]bool{}
	for pair := range strings.SplitSeq(text, " ") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || value == "" || strings.Contains(value, "=") || !word.MatchString(key) || seen[key] {
			return fmt.Errorf("%q in %q is no key=value of its own", pair, text)
		}
		seen[key] = true
	}
	return nil
}

// checkEvents returns an error unless every line of text is a verb and its arguments.
func checkEvents(text string) error {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if err := checkWords(line); err != nil {
			return err
		}
		if verb, _, _ := strings.Cut(line, " "); !word.MatchString(verb) {
			return fmt.Errorf("%q does not begin with a verb", line)
		}
	}
	return nil
}
