package check

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules"
)

func (s style) plain() bool { return s.dress == nil && !s.step && !s.pieces && !s.faults }

// dress is a way to tell a game that no referee of today has, but that the
// protocol allows.
type dress struct {
	name  string
	line  func(dst, line []byte) []byte
	note  string
	mends string // what to change in a bot that cannot take it
}

var dresses = []dress{
	{Verbs, unknownVerbs, "lines with unknown verbs are ignored", "ignore every line whose first word you do not know, without an answer: a later version may send such lines"},
	{Events, unknownEvents, "unknown events are ignored", "ignore events that you do not know, whatever their words are: \"?\" and \"-\" and numbers among them"},
	{Keys, unknownKeys, "unknown keys are ignored", "look for the keys that you know and ignore the others in \"game\", \"view\" and \"end\""},
	{Order, keysTurned, "keys are found in any order", "look keys up by their names in \"game\", \"view\" and \"end\": their order means nothing"},
	{Long, longLines, fmt.Sprintf("lines of %d bytes are read", protocol.MaxLine), fmt.Sprintf("read lines of up to %d bytes and their line feed: a buffer for a line is too short", protocol.MaxLine)},
}

func unknownVerbs(dst, line []byte) []byte {
	if bytes.HasPrefix(line, []byte("turn ")) {
		dst = append(dst, "novelty 7 what=this\n?\n"...)
	}
	dst = append(append(dst, line...), '\n')
	if bytes.HasPrefix(line, []byte("game ")) || bytes.HasPrefix(line, []byte("end ")) {
		dst = append(dst, "later\nnovelty turn 0 1000 1o 2o\n"...)
	}
	return dst
}

func unknownEvents(dst, line []byte) []byte {
	if bytes.HasPrefix(line, []byte("view ")) || bytes.HasPrefix(line, []byte("end ")) {
		dst = append(dst, "event novelty\nevent novelty 99 ? - a=b word\n"...)
	}
	return append(append(dst, line...), '\n')
}

// keyed cuts a line with keys into what stands before them and the keys.
func keyed(line []byte) (head string, keys []string, ok bool) {
	words := strings.Split(string(line), " ")
	n := 1
	switch words[0] {
	case "game":
		n = 2
	case "view", "end":
	default:
		return "", nil, false
	}
	return strings.Join(words[:n], " "), words[n:], true
}

func unknownKeys(dst, line []byte) []byte {
	if head, keys, ok := keyed(line); ok {
		keys = slices.Concat([]string{"novelty=1", "x=-"}, keys, []string{"later=a,b/-/?"})
		line = []byte(head + " " + strings.Join(keys, " "))
	}
	return append(append(dst, line...), '\n')
}

func keysTurned(dst, line []byte) []byte {
	if head, keys, ok := keyed(line); ok {
		slices.Reverse(keys)
		line = []byte(head + " " + strings.Join(keys, " "))
	}
	return append(append(dst, line...), '\n')
}

func longLines(dst, line []byte) []byte {
	if head, keys, ok := keyed(line); ok {
		const key = "novelty="
		fill := protocol.MaxLine - len(line) - len(key) - 1
		keys = slices.Insert(keys, 0, key+strings.Repeat("x", max(0, fill)))
		line = []byte(head + " " + strings.Join(keys, " "))
	}
	return append(append(dst, line...), '\n')
}

// vary plays a game told in another way; mends is what to change in a bot that
// fails at it. Failures that a fresh process does not have are told apart, and
// passed over where it is known already that the bot has such.
func (k *kit) vary(g game, mends string) error {
	s, err := k.use()
	if err == nil {
		err = s.playQuietly(&g)
	}
	if errors.Is(err, errTime) {
		k.drop()
		return nil
	}
	var f, own *Failure
	if !errors.As(err, &f) {
		return err
	}
	if s != nil && s.games > 1 {
		if s, err = k.fresh(); err == nil {
			err = s.playQuietly(&g)
		}
		switch {
		case errors.As(err, &own):
			f = own
		case err != nil && !errors.Is(err, errTime):
			return err
		case k.many.failure != nil:
			return nil
		default:
			f.leftOver()
			return f
		}
	}
	if mends != "" {
		f.Change = mends
	}
	return f
}

// playQuietly plays a game and watches for lines after it.
func (s *session) playQuietly(g *game) error {
	if _, err := s.play(g); err != nil {
		return err
	}
	return s.settle()
}

// settle watches for lines after a game. A process that ends there is noticed at
// its next game.
func (s *session) settle() error {
	err := s.early(time.Now().Add(s.kit.Pause))
	var f *Failure
	if errors.As(err, &f) && f.exit {
		return nil
	}
	return err
}

// each plays one variant of every game that the bot can play, told in another way.
// When the time is over it is some moves of the first one only.
func (k *kit) each(s style, mends string) error {
	done := false
	for _, g := range k.Games {
		if k.many.failed[g.Name()] != nil || done && k.over() {
			continue
		}
		i := slices.IndexFunc(k.many.plan, func(p *game) bool { return p.variant.Game().Name() == g.Name() })
		varied := *k.many.plan[i]
		varied.style, varied.until = s, k.until()
		if err := k.vary(varied, mends); err != nil {
			return err
		}
		done = true
	}
	return nil
}

// over tells whether the time of the check is over.
func (k *kit) over() bool { return time.Since(k.began) > k.Time }

// until is when a game is to be broken off: at the end of the check's time, but
// not before a bot has had the time for some moves.
func (k *kit) until() time.Time {
	end, least := k.began.Add(k.Time), time.Now().Add(5*k.Clock.Move)
	if end.After(least) {
		return end
	}
	return least
}

func (k *kit) dressed(d dress) (note string, warnings []string, err error) {
	return d.note, nil, k.each(style{dress: d.line}, d.mends)
}

func (k *kit) silence() (note string, warnings []string, err error) {
	g := *k.first
	g.style.step, g.until = true, k.until()
	err = k.vary(g, "")
	return "one answer for each turn, nothing for other lines", nil, err
}

func (k *kit) pieces() (note string, warnings []string, err error) {
	g := *k.first
	g.style.pieces, g.until = true, k.until()
	err = k.vary(g, "a read may give less than a line, or several: read until the line feed (getline, readline, a buffered reader)")
	return "lines that come in pieces are put together", nil, err
}

// othersFaults has another seat forfeit: with two sides that ends the game, with
// more it goes on.
func (k *kit) othersFaults() (note string, warnings []string, err error) {
	const mends = "a \"fault\" line may come at any time, of any seat: ignore it if you have no use for it; if its seat is not yours, the game goes on or \"end\" follows"
	played := false
	for _, g := range k.Games {
		if k.many.failed[g.Name()] != nil || k.over() {
			continue
		}
		var two, more bool
		for _, v := range cover(g, false) {
			sides := rules.Sides(v)
			if sides == 2 && two || sides > 2 && more {
				continue
			}
			played, two, more = true, two || sides == 2, more || sides > 2
			seed := k.Seed.Derive("check/faults/" + g.Name())
			if err := k.vary(game{variant: v, seat: v.Players() - 1, seed: seed, clock: k.Clock, style: style{faults: true}, until: k.until()}, mends); err != nil {
				return "", nil, err
			}
		}
	}
	if !played {
		return "not tried", []string{fmt.Sprintf("the %v for the whole check were over: allow more with --time", k.Time)}, nil
	}
	return "plays on when another seat forfeits", nil, nil
}

func (k *kit) bank() (note string, warnings []string, err error) {
	g := *k.first
	g.until = k.until()
	clock := k.Clock
	clock.Bank, clock.Inc, clock.Move = 60*clock.Move, clock.Move/10, 0
	g.clock = clock
	err = k.vary(g, "")
	var f *Failure
	if errors.As(err, &f) {
		f.Change += "; with a time for the whole game the line \"game\" has the keys bank and inc instead of movetime: take the time from the turn line, which has it always"
	}
	return "plays with a time for the whole game", nil, err
}

// byeGrace is what a bot has to exit by itself after "bye".
const byeGrace = time.Second

// bye says goodbye after games, and right after the greeting.
func (k *kit) bye() (note string, warnings []string, err error) {
	var slowest time.Duration
	for _, when := range []string{"after games", "right after \"ready\""} {
		s, err := k.use()
		if err != nil {
			return "", nil, err
		}
		s.last = "the line \"bye\""
		if err := s.send(protocol.AppendBye(nil), time.Now().Add(byeGrace)); err != nil {
			return "", nil, err
		}
		began := time.Now()
		end, ok := s.proc.Wait(began.Add(byeGrace))
		if !ok {
			return "", nil, s.stays(when)
		}
		slowest = max(slowest, time.Since(began), 1)
		if !end.Clean {
			warnings = append(warnings, fmt.Sprintf("%s: %s after \"bye\", not with status 0", when, strings.TrimPrefix(end.Text, "the process ")))
		}
		if end.Behind > 0 {
			warnings = append(warnings, fmt.Sprintf("%s: it left %s behind that it had started, which a match ends", when, count(end.Behind, "process", "processes")))
		}
		k.drop()
	}
	return fmt.Sprintf("exits %d ms after \"bye\"", slowest.Milliseconds()), warnings, nil
}

// stays is the failure of a bot that is there a second after "bye".
func (s *session) stays(when string) *Failure {
	text := fmt.Sprintf("it runs on a second after \"bye\", %s", when)
	s.proc.CloseInput()
	if _, ok := s.proc.Wait(time.Now().Add(s.kit.Patience)); ok {
		return s.fail(text+", and exits only when its input is closed", "leave the loop at the line \"bye\", not only at the end of the input")
	}
	return s.fail(text+", and when its input is closed as well", "leave the loop at the line \"bye\" and exit; threads and children that go on must not keep it")
}

// repeat plays the first game once more in a fresh process, as it was then.
func (k *kit) repeat() (note string, warnings []string, err error) {
	s, err := k.fresh()
	if err != nil {
		return "", nil, err
	}
	g := *k.first
	g.until = k.until()
	p, err := s.play(&g)
	if err != nil && !errors.Is(err, errTime) {
		return "", nil, err
	}
	for i, move := range p.moves {
		if i >= len(k.opening.moves) || k.opening.moves[i] != move {
			return fmt.Sprintf("for information: the same game with the same seed is played otherwise from move %d on", i+1), nil, nil
		}
	}
	return "the same game with the same seed is played the same", nil, nil
}

// count is a number of things: "1 process", "2 processes".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
