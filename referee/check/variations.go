package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/text"
)

// variation is a check that sends the bot lines which the protocol allows but the referee does not send today.
type variation struct {
	name   string
	style  style
	note   string
	advice phrase.Text // what to change in a bot that fails; if empty, the usual advice for its fault
}

var variations = []variation{
	{Silent, style{step: true}, "one answer to each turn, none to other lines", phrase.Text{}},
	{Verbs, style{rewriteLine: unknownVerbs}, "lines with unknown verbs are ignored", phrase.New("ignore every line whose first word you do not know, and do not answer it: a later version may send such lines")},
	{Events, style{rewriteLine: unknownEvents}, "unknown events are ignored", phrase.New("ignore events that you do not know, whatever words follow: \"?\", \"-\" and numbers are possible, too")},
	{Keys, style{rewriteLine: changeKeys(unknownKeys)}, "unknown keys are ignored", phrase.New("look for the keys that you know and ignore the others in \"game\", \"view\" and \"end\"")},
	{Order, style{rewriteLine: changeKeys(reverseKeys)}, "keys are found in any order", phrase.New("look up keys by name in \"game\", \"view\" and \"end\": they may come in any order")},
	{Long, style{rewriteLine: changeKeys(longLines)}, fmt.Sprintf("lines of %d bytes are read", protocol.MaxLine), phrase.New("read lines of up to %d bytes and their line feed: the bot's line buffer is too short", protocol.MaxLine)},
	{Pieces, style{pieces: true}, "lines that come in pieces are put together", phrase.New("one read may return part of a line, or several lines: read until the line feed (getline, readline, a buffered reader)")},
}

func unknownVerbs(line string) string {
	switch verb, _, _ := strings.Cut(line, " "); verb {
	case "turn":
		return "novelty 7 what=this\n?\n" + line
	case "game", "end":
		return line + "\nlater\nnovelty turn 0 1000 1o 2o"
	}
	return line
}

func unknownEvents(line string) string {
	if verb, _, _ := strings.Cut(line, " "); verb == "view" || verb == "end" {
		return "event novelty\nevent novelty 99 ? - a=b word\n" + line
	}
	return line
}

// changeKeys returns a function that rewrites a line for the bot. The function applies change to the keys and values
// in the lines "game", "view" and "end", and returns other lines unchanged. room is the number of bytes by which the
// line may grow.
func changeKeys(change func(keys []string, room int) []string) func(line string) string {
	return func(line string) string {
		words, before := strings.Split(line, " "), 1
		switch words[0] {
		case "game":
			before = 2
		case "view", "end":
		default:
			return line
		}
		keys := change(words[before:], protocol.MaxLine-len(line))
		return strings.Join(append(words[:before:before], keys...), " ")
	}
}

func unknownKeys(keys []string, _ int) []string {
	return slices.Concat([]string{"novelty=1", "x=-"}, keys, []string{"later=a,b/-/?"})
}

func reverseKeys(keys []string, _ int) []string {
	slices.Reverse(keys)
	return keys
}

func longLines(keys []string, room int) []string {
	const key = "novelty="
	return slices.Insert(keys, 0, key+strings.Repeat("x", max(0, room-len(key)-1)))
}

// playVaried plays g. If the bot fails, it returns a *Failure with the given advice or, if that is empty, the usual
// advice. If the bot does not fail again in a new process, the failure says so. Such a failure is returned only if
// none was reported before.
func (k *run) playVaried(g game, advice phrase.Text) error {
	g.quiet = true
	failure, leftOver, err := k.attempt(&g)
	switch {
	case errors.Is(err, errTime):
		k.endSession()
	case err != nil:
		return err
	case failure != nil:
		if !advice.IsZero() {
			failure.Change = advice
		}
		return failure
	}
	if leftOver != nil && k.marathon.leftOver == nil {
		leftOver.markLeftOver()
		return leftOver
	}
	return nil
}

func (k *run) timeIsUp() bool { return k.timer.ownTime() > k.Time }

// gameTimeLimit returns when to stop a game, as a value of timer.ownTime. That is when no time for the check is left,
// but not before the bot has had time for five moves.
func (k *run) gameTimeLimit() time.Duration { return max(k.Time, k.timer.ownTime()+5*k.Clock.Move) }

// playVariation makes the check d. If d rewrites the lines to the bot, it plays one game of every kind in which the
// bot has not failed, and otherwise only the first game of the check. When no time for the check is left, it plays
// only a few moves of one game.
func (k *run) playVariation(d variation) (note string, warnings []string, err error) {
	list := k.playableGames()
	if d.style.rewriteLine == nil || len(list) == 0 {
		list = []*game{k.first}
	}
	for i, g := range list {
		if i > 0 && k.timeIsUp() {
			break
		}
		varied := *g
		varied.style, varied.until = d.style, k.gameTimeLimit()
		if err := k.playVaried(varied, d.advice); err != nil {
			return "", nil, err
		}
	}
	return d.note, nil, nil
}

// playableGames returns one planned game of each kind, such as Brisca. It leaves out kinds in which the bot has
// failed.
func (k *run) playableGames() (list []*game) {
	for _, g := range k.Games {
		i := slices.IndexFunc(k.marathon.plan, func(p *game) bool { return p.variant.Game == g })
		if k.gameResults[g.Name].failure == nil {
			list = append(list, k.marathon.plan[i])
		}
	}
	return list
}

// checkOthersFaults checks how the bot reacts when another seat forfeits. That ends a game of two sides, but not a
// game of more sides. note and warnings are for the report; err is a *Failure if the bot fails.
func (k *run) checkOthersFaults() (note string, warnings []string, err error) {
	advice := phrase.New("a \"fault\" line may come at any time, for any seat: ignore it if you do not need it; if it is not for your seat, the game continues or \"end\" follows")
	var games [][]*rules.Variant
	for _, g := range k.playableGames() {
		games = append(games, coveringVariants(k.variants[g.variant.Game.Name], false))
	}
	if games == nil {
		games = [][]*rules.Variant{{k.first.variant}}
	}
	played := false
	for _, variants := range games {
		if k.timeIsUp() {
			break
		}
		did := map[bool]bool{} // whether a game with more than two sides, or one with two, was played
		for _, v := range variants {
			if did[v.Sides > 2] {
				continue
			}
			played, did[v.Sides > 2] = true, true
			seed := k.Seed.Derive("check/faults/" + v.Game.Name)
			varied := game{variant: v, seat: v.Players - 1, seed: seed, clock: k.Clock, style: style{faults: true}, until: k.gameTimeLimit()}
			if err := k.playVaried(varied, advice); err != nil {
				return "", nil, err
			}
		}
	}
	if !played {
		return "not checked", []string{fmt.Sprintf("the %v for the whole check was used up: %s", k.Time, k.adviseTime())}, nil
	}
	return "plays on when another seat forfeits", nil, nil
}

func (k *run) checkBank() (note string, warnings []string, err error) {
	g := *k.first
	g.until = k.gameTimeLimit()
	g.clock = withBank(k.Clock)
	err = k.playVaried(g, phrase.Text{})
	if f, ok := errors.AsType[*Failure](err); ok {
		f.Change = phrase.New("%s; with a bank, the line \"game\" has the keys bank and inc instead of movetime: take the time from the turn line, which always has it", f.Change)
	}
	return "plays with a bank: time for the whole game", nil, err
}

// withBank returns the clock c with one time for the whole game (a bank) instead of a time for each move. The bank is
// 60 times the time for a move, at most a day. A tenth of the time for a move is added after each move.
func withBank(c referee.Clock) referee.Clock {
	c.Bank = min(60*c.Move, 24*time.Hour)
	c.Inc, c.Move = max(c.Move/10, time.Millisecond).Truncate(time.Millisecond), 0
	return c
}

// checkBye checks that the bot ends after "bye". It sends "bye" to a process that has played games, and to a new
// one right after its "ready".
func (k *run) checkBye() (note string, warnings []string, err error) {
	var slowest time.Duration
	for i, when := range []phrase.Text{phrase.New("after games"), phrase.New("right after \"ready\"")} {
		s, err := k.currentSession()
		if err == nil && i == 0 && s.games == 0 { // this process has played no game, because the last one failed
			g := *k.first
			g.until = k.gameTimeLimit()
			_, err = s.play(&g)
		}
		if err != nil && !errors.Is(err, errTime) {
			return "", nil, err
		}
		s.last = event{text: phrase.New("the line %q", "bye")}
		began := time.Now()
		end, ok, err := s.proc.Bye(k.Waits.Grace)
		if err == nil && !ok {
			err = s.stillRuns(when)
		}
		if err != nil {
			return "", nil, s.failure(err)
		}
		slowest = max(slowest, time.Since(began), 1)
		if !end.IsClean() {
			warnings = append(warnings, fmt.Sprintf("%s: it %s after \"bye\", not with status 0", when, end.Reason.End()))
		}
		if end.Leftovers > 0 {
			warnings = append(warnings, fmt.Sprintf("%s: it left %s running that it had started: a match ends what a bot leaves running", when, text.Count(end.Leftovers, "process")))
		}
		k.endSession()
	}
	return fmt.Sprintf("exits %d ms after \"bye\"", slowest.Milliseconds()), warnings, nil
}

func (s *session) stillRuns(when phrase.Text) *Failure {
	grace := s.run.Waits.Grace.Milliseconds()
	if _, ok := s.proc.Wait(s.closeInput()); ok {
		return s.newFailure(phrase.New("it is still running %d ms after \"bye\", %s, and exits only when its input is closed", grace, when),
			phrase.New("leave the loop at the line \"bye\", not only at the end of the input"))
	}
	return s.newFailure(phrase.New("it is still running %d ms after \"bye\", %s, even when its input is closed", grace, when),
		phrase.New("leave the loop at the line \"bye\" and exit, even while threads or child processes are running"))
}

// checkRepeat plays the first game again in a new process, and notes whether the bot makes the same moves. It is no
// failure if the moves differ.
func (k *run) checkRepeat() (note string, warnings []string, err error) {
	s, err := k.newSession()
	if err != nil {
		return "", nil, err
	}
	g := *k.first
	g.until = k.gameTimeLimit()
	p, err := s.play(&g)
	if err != nil && !errors.Is(err, errTime) {
		return "", nil, err
	}
	for i, move := range p.moves {
		if i >= len(k.opening) || k.opening[i] != move {
			return fmt.Sprintf("for information: with the same seed it plays the same game differently from move %d on", i+1), nil, nil
		}
	}
	return "with the same seed it plays the same game again", nil, nil
}
