// Package replaypage makes of a replay what people look at and what programs
// learn from: a page that plays the game back, and rows, one a move.
package replaypage

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
)

// Game is a replay rebuilt by the rules, in the words of the protocol. Its JSON
// is the data of the page.
type Game struct {
	Name        string      `json:"game"`
	Options     [][2]string `json:"options"` // name and value, in the game's order
	Seed        referee.Hex `json:"seed"`
	Commitment  referee.Hex `json:"commitment"`
	Match       matchPlace  `json:"match"`
	Clock       clock       `json:"clock"`
	Seats       []Seat      `json:"seats"`
	Keys        []string    `json:"keys"`   // of a view, in their order
	Own         []string    `json:"own"`    // the keys of a view that seats see differently
	Frames      []Frame     `json:"frames"` // one more than there are moves
	Moves       []Move      `json:"moves"`
	Faults      []fault     `json:"faults"`
	Over        bool        `json:"over"`        // by the rules; false where a forfeit ended the game
	Differences []string    `json:"differences"` // what the rules say otherwise; see Replay.Verify
}

type (
	matchPlace = referee.ReplayMatch
	clock      = referee.ReplayClock
	fault      = referee.Fault
)

// Seat is who sat there and how it ended.
type Seat struct {
	Name    string  `json:"name"`
	Version string  `json:"version"`
	Side    int     `json:"side"`
	Rank    int     `json:"rank"`
	Points  float64 `json:"points"`
}

// Frame is a position, told as what has changed since the frame before: the
// first has every key. The keys of Own are told by seat, all others once.
type Frame struct {
	Turn   int                 `json:"turn"` // the seat to move, -1 when the game is over
	Common map[string]string   `json:"common,omitempty"`
	Own    []map[string]string `json:"own,omitempty"`
	Events Events              `json:"events"` // that led here: the deal's, or the move's
}

// Events is what was told. Seen is by seat, and only there when some seat was
// told something else than All, which is for those who see all cards.
type Events struct {
	All  []string   `json:"all"`
	Seen [][]string `json:"seen,omitempty"`
}

// Move is one move, from the frame with its number to the next.
type Move struct {
	Seat    int      `json:"seat"`
	Move    string   `json:"move"`
	MS      float64  `json:"ms,omitempty"`
	Info    []string `json:"info,omitempty"`
	StandIn bool     `json:"standin,omitempty"`
}

// position is a view by seat, each a map from key to value.
type position struct {
	turn   int
	views  []map[string]string
	events Events
}

// NewGame rebuilds a replay. The error says where the replay and the rules part
// so far that there is no game to show; smaller differences are in the result.
func NewGame(r *referee.Replay, g rules.Game) (*Game, error) {
	v, err := check(r, g)
	if err != nil {
		return nil, err
	}
	game := &Game{
		Name: r.Game, Seed: r.Seed, Commitment: r.Commitment, Match: r.Match, Clock: r.Clock,
		Faults: append([]fault{}, r.Faults...), Own: []string{}, Differences: []string{}, Moves: []Move{},
	}
	for _, o := range v.Settings() {
		game.Options = append(game.Options, [2]string{o.Name, o.Value})
	}
	for i, s := range r.Seats {
		game.Seats = append(game.Seats, Seat{s.Name, s.Version, v.Side(i), r.Ranks[i], r.Points[i]})
	}
	positions, err := game.rebuild(r, g)
	if err != nil {
		return nil, err
	}
	game.frames(positions)
	for _, m := range r.Moves {
		game.Moves = append(game.Moves, Move(m))
	}
	for _, err := range r.Verify(g) {
		game.Differences = append(game.Differences, strings.TrimPrefix(err.Error(), "replay: "))
	}
	return game, nil
}

// check refuses what would not fit the seats.
func check(r *referee.Replay, g rules.Game) (rules.Variant, error) {
	v, err := r.Settle(g)
	if err != nil {
		return nil, err
	}
	n := v.Players()
	if len(r.Ranks) != n || len(r.Points) != n {
		return nil, fmt.Errorf("replay: %d ranks and %d points in a game for %d players", len(r.Ranks), len(r.Points), n)
	}
	for i, f := range r.Faults {
		if f.Seat < 0 || f.Seat >= n {
			return nil, fmt.Errorf("replay: fault %d: there is no seat %d", i, f.Seat)
		}
	}
	return v, nil
}

// rebuild gives every position, the first and the last included.
func (g *Game) rebuild(r *referee.Replay, rulesOf rules.Game) (positions []position, err error) {
	var log rules.Log
	add := func(s rules.State) {
		p := position{turn: s.Turn(), events: events(&log, len(r.Seats))}
		for seat := range r.Seats {
			p.views = append(p.views, parse(s.View(nil, seat)))
		}
		positions = append(positions, p)
	}
	start := func(s rules.State) {
		g.Keys = keys(s.View(nil, 0))
		s.Start(&log)
		add(s)
	}
	last, err := r.Rebuild(rulesOf, start, func(step referee.Step) error {
		next := step.State.Clone()
		log.Reset()
		next.Apply(step.Move, &log)
		add(next)
		return nil
	})
	if err != nil {
		return nil, err
	}
	g.Over = last.Turn() == rules.Over
	return positions, nil
}

// keys is the keys of a view line in their order.
func keys(view []byte) (names []string) {
	for token := range strings.FieldsSeq(string(view)) {
		key, _, _ := strings.Cut(token, "=")
		names = append(names, key)
	}
	return names
}

// parse reads a view line into its keys.
func parse(view []byte) map[string]string {
	m := make(map[string]string)
	for token := range strings.FieldsSeq(string(view)) {
		key, value, _ := strings.Cut(token, "=")
		m[key] = value
	}
	return m
}

// events keeps what each seat was told, once where all were told the same.
func events(log *rules.Log, seats int) Events {
	e := Events{All: append([]string{}, log.Open()...)}
	same := true
	for seat := range seats {
		var seen []string
		for line := range bytes.Lines(log.Events(nil, seat, "")) {
			seen = append(seen, string(bytes.TrimSuffix(line, []byte("\n"))))
		}
		same = same && slices.Equal(seen, e.All)
		e.Seen = append(e.Seen, append([]string{}, seen...))
	}
	if same {
		e.Seen = nil
	}
	return e
}

// frames tells the positions by their changes.
func (g *Game) frames(positions []position) {
	g.Own = ownKeys(positions)
	before := position{views: make([]map[string]string, len(g.Seats))}
	for _, p := range positions {
		f := Frame{Turn: p.turn, Events: p.events, Common: changes(before.views[0], p.views[0], g.Own, false)}
		own, changed := make([]map[string]string, len(p.views)), false
		for seat, view := range p.views {
			own[seat] = changes(before.views[seat], view, g.Own, true)
			changed = changed || len(own[seat]) > 0
		}
		if changed {
			f.Own = own
		}
		g.Frames = append(g.Frames, f)
		before = p
	}
}

// ownKeys is the keys that seats ever see differently, sorted.
func ownKeys(positions []position) []string {
	own := map[string]bool{}
	for _, p := range positions {
		for _, view := range p.views {
			for key, value := range view {
				if p.views[0][key] != value {
					own[key] = true
				}
			}
		}
	}
	return append([]string{}, slices.Sorted(maps.Keys(own))...)
}

// changes is the keys of after, among those of own or among the others, whose
// value is not that of before.
func changes(before, after map[string]string, own []string, among bool) map[string]string {
	m := make(map[string]string)
	for key, value := range after {
		old, ok := before[key]
		if slices.Contains(own, key) == among && (!ok || old != value) {
			m[key] = value
		}
	}
	return m
}
