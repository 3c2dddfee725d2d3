package tournament

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/rules"
)

// Early is the error of a tournament that ended before all of its games were played. Those that
// were finished are kept, and count.
type Early struct{ Why error }

func (e *Early) Error() string { return e.Why.Error() }

// Unwrap returns why it ended.
func (e *Early) Unwrap() error { return e.Why }

// Total returns how many deals and games the tournament has in all of its matches and rounds. A
// sequential test may need fewer.
func (t *Tournament) Total() (deals, games int) {
	n, k := len(t.Bots), rules.Sides(t.Variant)
	tables, seats := 1, n
	switch t.Format {
	case RoundRobin:
		tables = choose(n, k)
		seats = tables * k
	case Gauntlet:
		tables = choose(n-1, k-1)
		seats = tables * k
	case Swiss:
		tables = n / k * t.LastRound()
		seats = tables * k
	case Knockout:
		tables, seats = 0, 0
		for n > 1 {
			all := knockoutTables(n, k)
			byes := 0
			if n < 2*all { // n/all bots or one more at each table
				byes = 2*all - n
			}
			tables, seats = tables+all-byes, seats+n-byes
			n = all
		}
	}
	return t.Deals * tables, t.Deals * seats
}

// Games returns how many games the tournament has.
func (t *Tournament) Games() int {
	_, games := t.Total()
	return games
}

// LastRound returns how many rounds the tournament has.
func (t *Tournament) LastRound() int {
	n, k, rounds := len(t.Bots), rules.Sides(t.Variant), 0
	switch t.Format {
	case Swiss:
		return t.swissRounds()
	case Knockout:
		for n > 1 {
			n = knockoutTables(n, k)
			rounds++
		}
		return rounds
	}
	return 1
}

// Lacks returns how many of a match's games have not been played; none where it needs no more.
func (t *Tournament) Lacks(m *Match) int {
	if t.Finished(m) {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	left := t.Deals * len(m.Bots)
	for _, games := range m.prints {
		left -= len(games)
	}
	return left
}

func (t *Tournament) allFinished(matches []*Match) bool {
	return !slices.ContainsFunc(matches, func(m *Match) bool { return !t.Finished(m) })
}

// programFiles returns, by bot, the files that its command names.
func programFiles(bots []referee.Bot) (files [][]string) {
	for _, b := range bots {
		var named []string
		for _, word := range b.Command {
			if !filepath.IsAbs(word) {
				word = filepath.Join(b.Dir, word)
			}
			if info, err := os.Stat(word); err == nil && info.Mode().IsRegular() {
				named = append(named, word)
			}
		}
		files = append(files, named)
	}
	return files
}

// vanished returns an error if a game was lost because a file of a bot's program is no longer
// there. That is not the bot's doing, and all games after it would be lost as well.
func (t *Tournament) vanished(m *Match, g *referee.Result) error {
	for _, f := range g.Faults {
		if r := f.Reason; f.Disqualified() || r.Kind != fault.NotStarted && !r.BeforeReady {
			continue
		}
		bot := m.Bots[g.Bots[f.Seat]]
		for _, file := range t.files[bot] {
			if _, err := os.Stat(file); err != nil {
				return fmt.Errorf("bot %q cannot be started any more: %w: put it back as it was", t.Bots[bot].Name, err)
			}
		}
	}
	return nil
}
