package report

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/tournament"
)

// Archive is a finished tournament as its directory has it.
type Archive struct {
	*tournament.Dir
	Plan   tournament.Config
	Result Document
	Games  []tournament.GameID // those whose replays are stored, in order
}

// ReadArchive reads the directory of a tournament. It returns an error if the tournament is not over.
func ReadArchive(path string) (*Archive, error) {
	dir, plan, result, err := tournament.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	a := &Archive{Dir: dir, Plan: plan}
	if err := json.Unmarshal(result, &a.Result); err != nil {
		return nil, fmt.Errorf("report: the result in %s: %w: write it again with timba match --resume", path, err)
	}
	if a.Games, err = dir.StoredGames(); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return a, nil
}

// Replay reads the replay of a game.
func (a *Archive) Replay(g tournament.GameID) (*referee.Replay, error) {
	path := a.ReplayPath(g.Match, g.Deal, g.Rotation)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	r, err := referee.DecodeReplay(data)
	if err == nil {
		err = r.CheckSeats()
	}
	if err != nil {
		return nil, fmt.Errorf("report: %s: %w", path, err)
	}
	return r, nil
}

// Sample returns up to limit games in the order of their interest: games with a fault that were played, which are at
// most half of limit, then whole deals. Every beginning of the list has deals that are spread evenly over the tournament.
func (a *Archive) Sample(limit int) []tournament.GameID {
	var sample []tournament.GameID
	for _, f := range a.Result.Faults {
		g := tournament.GameID{Match: f.Match, Deal: f.Deal, Rotation: f.Rotation}
		_, isStored := slices.BinarySearchFunc(a.Games, g, tournament.GameID.Compare)
		if isStored && f.Reason.Kind != fault.Disqualified && len(sample) < limit/2 && !slices.Contains(sample, g) {
			sample = append(sample, g)
		}
	}
	places := map[tournament.GameID]uint32{} // by the deal's game in rotation 0, the reversed bits of the number of the deal
	place := func(g tournament.GameID) uint32 {
		g.Rotation = 0
		if _, ok := places[g]; !ok {
			places[g] = bits.Reverse32(uint32(len(places)))
		}
		return places[g]
	}
	others := slices.DeleteFunc(slices.Clone(a.Games), func(g tournament.GameID) bool {
		place(g)
		return slices.Contains(sample, g)
	})
	slices.SortStableFunc(others, func(g, o tournament.GameID) int { return cmp.Compare(place(g), place(o)) })
	return append(sample, others[:min(len(others), limit-len(sample))]...)
}

// RepeatedFault is a fault with the number of further faults of its kind.
type RepeatedFault struct {
	documentFault
	Repeats int
}

// FaultKinds returns the first fault of each kind of each bot, in order.
func (d *Document) FaultKinds() (list []RepeatedFault) {
	index := map[faultKind]int{}
	for _, f := range d.Faults {
		k := kindOf(f.Bot, f.Reason)
		if i, ok := index[k]; ok {
			list[i].Repeats++
			continue
		}
		index[k] = len(list)
		list = append(list, RepeatedFault{documentFault: f})
	}
	return list
}

// csvHead are the columns of WriteCSV.
var csvHead = []string{
	"match", "deal", "rotation", "opening", "seed", "seat", "bot", "rank", "points", "fault", "adjudicated", "plies", "ms", "replay",
}

// WriteCSV writes a table of all games, with a row for each seat of each game.
func (a *Archive) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	if err := c.Write(csvHead); err != nil {
		return err
	}
	for _, g := range a.Games {
		r, err := a.Replay(g)
		if err != nil {
			return err
		}
		for seat := range r.Seats {
			if err := c.Write(csvRow(g, r, seat)); err != nil {
				return err
			}
		}
	}
	c.Flush()
	return c.Error()
}

func csvRow(g tournament.GameID, r *referee.Replay, seat int) []string {
	code, adjudicated, ms := "", "", 0.0
	for _, f := range r.Faults {
		if f.Seat == seat {
			code = string(f.Code)
		}
	}
	if r.AdjudicationResult != nil {
		adjudicated = string(r.AdjudicationResult.Kind)
	}
	for _, m := range r.Moves {
		if m.Seat == seat {
			ms += m.MS
		}
	}
	return []string{
		strconv.Itoa(g.Match), strconv.Itoa(g.Deal), strconv.Itoa(g.Rotation), strconv.Itoa(r.Match.Opening), r.Seed.String(),
		strconv.Itoa(seat), cell(r.Seats[seat].Name), strconv.Itoa(r.Ranks[seat]), strconv.FormatFloat(r.Points[seat], 'f', -1, 64),
		code, adjudicated, strconv.Itoa(len(r.Moves)), strconv.FormatFloat(ms, 'f', 3, 64), g.String() + ".json",
	}
}

// cell returns text as a cell of a table. A text that a spreadsheet would compute as a formula, such as @random, has
// an apostrophe before it.
func cell(text string) string {
	if strings.ContainsAny(text[:min(1, len(text))], "=+-@\t\r") {
		return "'" + text
	}
	return text
}
