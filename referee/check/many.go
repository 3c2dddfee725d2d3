package check

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/text"
)

// planMany plans at least someGames games or, if Options.Quick is set, at least fewGames.
const (
	fewGames  = 12
	someGames = 36
)

// planMany plans the games of the check ManyGames. Different kinds of games follow each other, so that each process
// plays several kinds, and long games are spread evenly.
func (k *run) planMany() {
	var variants [][]*rules.Variant
	longest := 0
	for _, g := range k.Games {
		list := coveringVariants(k.variants[g.Name], !k.Quick)
		variants = append(variants, list)
		longest = max(longest, len(list))
	}
	least := someGames
	if k.Quick {
		least = fewGames
	}
	for round := 0; round < longest || len(k.marathon.plan) < least; round++ {
		for i, list := range variants {
			if round >= len(list) && round < longest {
				continue
			}
			v := list[round%len(list)]
			k.gameResults[k.Games[i].Name].plannedGames++
			k.marathon.plan = append(k.marathon.plan, &game{
				variant: v,
				seat:    (round + round/v.Players) % v.Players,
				seed:    k.Seed.Derive(fmt.Sprintf("check/many/%d", len(k.marathon.plan))),
				clock:   k.Clock,
			})
		}
	}
}

// playMany plays the planned games of the check ManyGames. They are played in a single process as long as the bot
// does not fail. Then playMany adds to the report a check for each kind of game, and one for all games together.
func (k *run) playMany() error {
	k.planMany()
	for i, g := range k.marathon.plan {
		t := k.gameResults[g.variant.Game.Name]
		if t.failure != nil {
			continue
		}
		// Half of the time is reserved for the checks that follow.
		g.until = k.Time / 2
		if k.timer.ownTime() > g.until {
			break
		}
		failure, leftOver, err := k.attempt(g)
		if errors.Is(err, errTime) {
			k.endSession()
			break
		}
		if err != nil {
			return err
		}
		if failure != nil {
			t.failure = failure
			k.endSession()
		} else {
			t.playedGames++
		}
		k.marathon.leftOver = cmp.Or(k.marathon.leftOver, leftOver)
		if k.OnProgress != nil {
			k.OnProgress(i+1, len(k.marathon.plan))
		}
	}
	for _, g := range k.Games {
		if err := k.addGameCheck(g.Name); err != nil {
			return err
		}
	}
	return k.addManyGamesCheck()
}

// attempt plays a game in the running process. If the bot fails and the process has played games before, attempt
// plays the game again in a new process. If the bot fails there too, or if the process was new already, attempt
// returns failure. Otherwise it returns leftOver, the first failure: its cause is something that earlier games left
// in the old process.
func (k *run) attempt(g *game) (failure, leftOver *Failure, err error) {
	s, err := k.currentSession()
	if err == nil {
		err = k.playTimed(s, g)
	}
	if !errors.As(err, &failure) {
		return nil, nil, err
	}
	if s == nil || s.games <= 1 {
		return failure, nil, nil
	}
	leftOver, failure = failure, nil
	if s, err = k.newSession(); err == nil {
		err = k.playTimed(s, g)
	}
	if errors.As(err, &failure) {
		return failure, nil, nil
	}
	if errors.Is(err, errTime) { // the game has failed once; whether it fails in a new process is unknown
		return leftOver, nil, nil
	}
	return nil, leftOver, err
}

// playTimed plays a game. If the lines of the game are sent as in a match, and the clock has a time for each move,
// playTimed also records the times of the bot's moves.
func (k *run) playTimed(s *session, g *game) error {
	p, err := s.play(g)
	if err != nil {
		return err
	}
	k.marathon.mostGames = max(k.marathon.mostGames, s.games)
	if g.style.plain() && g.clock.Bank == 0 {
		k.recordTimes(g, p)
	}
	return nil
}

// adviseTime returns advice for the author of a bot if the time for the whole check was too short.
func (k *run) adviseTime() string {
	if k.OnServer {
		return "think for less"
	}
	return "allow more with --time, or less for each move with --movetime"
}

func (k *run) addGameCheck(name string) error {
	t := k.gameResults[name]
	c := Check{Name: name, Status: OK, Note: text.Count(t.playedGames, "game") + ", every option and number of players"}
	if t.restricted {
		c.Note = text.Count(t.playedGames, "game") + ", every option that the bot plays"
	}
	if t.failure != nil {
		return k.addCheck(c, t.failure)
	}
	if t.playedGames < t.plannedGames {
		c.Note = text.Count(t.playedGames, "game")
		c.Warnings = append(c.Warnings, fmt.Sprintf("only %d of %d games were played, because half of the %v for the whole check was used up: %s", t.playedGames, t.plannedGames, k.Time, k.adviseTime()))
	}
	return k.addCheck(c, nil)
}

func (k *run) addManyGamesCheck() error {
	c := Check{Name: ManyGames, Status: OK, Note: text.Count(k.marathon.mostGames, "game") + " in one process"}
	if k.marathon.leftOver != nil {
		k.marathon.leftOver.markLeftOver()
		return k.addCheck(c, k.marathon.leftOver)
	}
	switch failed := len(k.Games) - len(k.playableGames()); {
	case k.marathon.mostGames < min(fewGames, len(k.marathon.plan)) && failed == 0:
		c.Warnings = append(c.Warnings, "a match plays more games in one process: "+k.adviseTime())
	case failed == len(k.Games):
		c.Status, c.Note = Skipped, "every game fails, even in a fresh process"
	}
	return k.addCheck(c, nil)
}
