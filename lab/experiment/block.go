package experiment

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofrs/flock"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/house"
)

// The maximal number of games in a block, a series of games of one match. It is higher for matches of models,
// whose files may take long to load.
const (
	maxBlockGames        = 10
	maxBlockGamesLearned = 100
)

// block is a series of games of one match that the same processes play. The bots keep their seats. The
// results of a block are stored together.
type block struct {
	row         int // index of the match among those of all ways (see way), which follow each other
	instance    int // index of the seed with which the models were trained
	variant     *rules.Variant
	seats       []player
	orderRepeat int // number of earlier orders in which bots of the same specs sit in the same way
	number      int // index among the blocks of the same match, instance and order
	games       int
	results     []result
}

// player is a bot that plays in matches.
type player struct {
	match.Contestant
	label        string // spec of the bot, without the path of its model
	trainingSeed uint64 // seed with which its model was trained
}

// key returns a text with everything that determines the games of the block (a series of games of one match),
// except their seed and number.
func (b *block) key() string {
	words := []string{"experiment", b.variant.Game.Name, b.variant.Settings.String()}
	for _, p := range b.seats {
		words = append(words, p.label)
	}
	words = append(words, strconv.Itoa(b.number))
	if b.orderRepeat > 0 {
		words = append(words, strconv.Itoa(b.orderRepeat))
	}
	return strings.Join(words, "/")
}

// blocks divides the games of all matches into blocks, series of games with the same bots. The list begins with the
// first block of every match, so that an interrupted experiment has results for every match. found has the players by
// way of training and name, as findPlayers returns them.
func (e *Experiment) blocks(o *Options, found map[way]map[string][]player) (list []*block) {
	for i, w := range e.ways() {
		for j := range e.Matches {
			m := &e.Matches[j]
			maxGames := maxBlockGames
			if slices.ContainsFunc(m.Bots, func(name string) bool { return e.Models.find(name) != nil }) {
				maxGames = maxBlockGamesLearned
			}
			for instance := range m.seedCount {
				blocks := m.blocks(o.scaledGames(m.Games), maxGames, instance, found[w])
				for _, b := range blocks {
					b.row = i*len(e.Matches) + j
				}
				list = append(list, blocks...)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *block) int { return a.number - b.number })
	return list
}

// blocks divides the given number of games of the match into blocks of at most maxGames games. Each order of the
// bots in the seats gets about the same number of games. found has the players by name. A model has a player for
// each seed with which it is trained; the player with the index instance takes part.
func (m *Matchup) blocks(games, maxGames, instance int, found map[string][]player) (list []*block) {
	orders := m.orders()
	repeats := map[string]int{}
	for i, order := range orders {
		seats := make([]player, len(order))
		sitting := ""
		for seat, bot := range order {
			name := m.Bots[bot]
			players := found[name]
			seats[seat] = players[min(instance, len(players)-1)]
			seats[seat].Name = name + copyMark + strconv.Itoa(bot)
			sitting += seats[seat].label + "\n"
		}
		left := games / len(orders)
		if i < games%len(orders) {
			left++
		}
		for n := 0; left > 0; n++ {
			list = append(list, &block{
				instance: instance, variant: m.variant, seats: seats, orderRepeat: repeats[sitting], number: n, games: min(left, maxGames),
			})
			left -= maxGames
		}
		repeats[sitting]++
	}
	return list
}

// resultsVersion is part of every stored result. It must be increased when the same games give other results,
// so that the stored results are not used any more.
const resultsVersion = 2

// resultsLine is a line in a file of results. It has everything that determines a block (a series of games of one
// match), the results of the block, and as Key a hash of what determines it.
type resultsLine struct {
	Key     string        `json:"key,omitempty"`
	Version int           `json:"version"`
	House   string        `json:"house"` // version of the house bots
	Seed    string        `json:"seed"`
	Deals   string        `json:"deals"` // block.key
	Bots    []resultsSeat `json:"bots"`  // by seat
	Games   int           `json:"games"`
	Results []result      `json:"results,omitempty"`
}

type resultsSeat struct {
	Name string `json:"name"`
	Seed uint64 `json:"seed,omitempty"` // of the training
}

// resultsLine returns the line of a results file that describes the block, a series of games. The fields for results
// are empty. seed is the seed of the experiment.
func (b *block) resultsLine(seed rules.Seed) resultsLine {
	k := resultsLine{
		Version: resultsVersion, House: house.Version, Seed: fmt.Sprint(referee.Hex(seed)), Deals: b.key(), Games: b.games,
	}
	for _, p := range b.seats {
		k.Bots = append(k.Bots, resultsSeat{p.Name, p.trainingSeed})
	}
	text, err := json.Marshal(k)
	if err != nil {
		panic(err) // the struct has only strings and numbers
	}
	sum := sha256.Sum256(text)
	k.Key = hex.EncodeToString(sum[:16])
	return k
}

// resultsFile is a file with the results of finished blocks. Only one experiment can use it at a time.
type resultsFile struct {
	results  map[string][]result // results read from the file, by resultsLine.Key
	file     *os.File            // nil if results are not stored
	writeErr error               // first error of writing a line
	lock     *flock.Flock
}

// openResults opens or creates the results file at path, locks it, and reads it. It removes an incomplete
// last line and returns an error for any other damaged line. If path is "", results are not stored.
func openResults(path string) (*resultsFile, error) {
	k := &resultsFile{results: map[string][]result{}}
	if path == "" {
		return k, nil
	}
	var err error
	if k.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644); err != nil {
		return nil, err
	}
	// A separate file, because on Windows nobody could read a locked one.
	k.lock, err = lock(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock"), strconv.Quote(path), "out")
	if err != nil {
		k.file.Close()
		return nil, err
	}
	if err := k.read(path); err != nil {
		k.close()
		return nil, err
	}
	return k, nil
}

func (k *resultsFile) read(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	number := 0
	for line := range bytes.Lines(whole) {
		number++
		var b resultsLine
		if err := json.Unmarshal(line, &b); err != nil || len(b.Results) != b.Games {
			return errors.Join(fmt.Errorf("%q: line %d is damaged: remove it, and its games are played again", path, number), err)
		}
		k.results[b.Key] = b.Results
	}
	if len(whole) == len(data) {
		return nil
	}
	return os.Truncate(path, int64(len(whole)))
}

// add appends b, a line with the results of a block, to the file. A failed call may leave an incomplete line, so
// all later calls write nothing and return the same error.
func (k *resultsFile) add(b resultsLine) error {
	if k.file == nil || k.writeErr != nil {
		return k.writeErr
	}
	text, err := json.Marshal(b)
	if err == nil {
		_, err = k.file.Write(append(text, '\n'))
	}
	if err == nil {
		err = k.file.Sync()
	}
	k.writeErr = err
	return err
}

func (k *resultsFile) close() {
	if k.file != nil {
		k.file.Close()
		k.lock.Unlock()
	}
}
