package board

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// Recording is a game rebuilt from its replay, in the notation of the protocol. Its JSON is the data of the
// page that plays it back.
type Recording struct {
	Name        string        `json:"game"`
	Display     rules.Display `json:"display"`
	Options     [][2]string   `json:"options"` // name and value, in the order of the game
	Seed        referee.Hex   `json:"seed"`
	Commitment  referee.Hex   `json:"commitment"`
	Match       matchPlace    `json:"match"`
	Clock       clock         `json:"clock"`
	Seats       []SeatRow     `json:"seats"`
	Keys        []string      `json:"keys"`   // the keys of a view line, in its order
	PerSeatKeys []string      `json:"own"`    // keys of a view whose values differ between seats
	Frames      []Frame       `json:"frames"` // one more than Moves
	Moves       []MoveStep    `json:"moves"`
	Faults      []fault       `json:"faults"`
	Over        bool          `json:"over"` // the game ended by the rules; false after a forfeit or an adjudication
	// EndByScores says how the scores that bots reported ended the game early. It is nil if they did not.
	EndByScores  *referee.AdjudicationResult `json:"adjudicated"`
	Adjudication string                      `json:"adjudication"` // the rules by which reported scores may end the game early, in words; "" if there are none
	Differences  []string                    `json:"differences"`  // contradictions between the replay and the rules; see referee.Replay.Verify
}

// Columns returns the number of columns of the game's board, or 0 if the game has no board.
func (g *Recording) Columns() int {
	if g.Display.Board == nil {
		return 0
	}
	return rules.Columns(g.Frames[0].Common[g.Display.Board.Pieces])
}

// MoveName returns a move as players write it: in a board game, the numbers of squares are replaced by names
// such as "a1". Other moves are returned unchanged.
func (g *Recording) MoveName(move string) string {
	columns := g.Columns()
	var names []string
	for text := range strings.SplitSeq(move, "-") {
		square, err := strconv.Atoi(text)
		if err != nil || columns == 0 {
			return move
		}
		names = append(names, rules.SquareName(square, columns))
	}
	return strings.Join(names, "-")
}

type (
	matchPlace = referee.ReplayMatch
	clock      = referee.ClockMS
	fault      = referee.Fault
)

// SeatRow describes a seat of the game: its bot and its result.
type SeatRow struct {
	Name    string  `json:"name"`
	Version string  `json:"version"`
	Side    int     `json:"side"`
	Rank    int     `json:"rank"`
	Points  float64 `json:"points"`
}

// Frame is a position of a game, as the entries of the view (what a seat sees, as key=value) that have changed since
// the previous frame. The first frame has all entries. PerSeat has one map for each seat, with the entries whose keys
// are in Recording.PerSeatKeys; their values differ between seats. Common has all other entries.
type Frame struct {
	Turn    int                 `json:"turn"` // seat to move; -1 when the game is over
	Common  map[string]string   `json:"common,omitempty"`
	PerSeat []map[string]string `json:"own,omitempty"`
	Events  Events              `json:"events"` // the events of the deal, or of the move that led to this position
}

// Events are the events that led to a position, as lines of the protocol. All has the lines for a viewer who
// sees all cards. PerSeat has the lines for each seat; it is nil if every seat got the lines in All.
type Events struct {
	All     []string   `json:"all"`
	PerSeat [][]string `json:"seen,omitempty"`
}

// MoveStep is a move. The move with index i leads from frame i of a game to frame i+1.
type MoveStep struct {
	Seat    int      `json:"seat"`
	Move    string   `json:"move"`
	MS      float64  `json:"ms,omitempty"`
	Info    []string `json:"info,omitempty"`
	StandIn bool     `json:"standin,omitempty"`
}

// position is a position of a game. It has the view of each seat, which is what the seat sees, as key=value.
type position struct {
	turn   int
	views  []map[string]string
	events Events
}

// NewRecording returns the recording of the replay r. g has the rules of its game. If r contradicts the rules so much
// that the game cannot be shown, NewRecording returns an error. It lists smaller contradictions in the field
// Differences.
func NewRecording(r *referee.Replay, g *rules.Game) (*Recording, error) {
	v, err := checkReplay(r, g)
	if err != nil {
		return nil, err
	}
	game := &Recording{
		Name: r.Game, Display: v.Display(), Seed: r.Seed, Commitment: r.Commitment, Match: r.Match, Clock: r.Clock,
		EndByScores: r.AdjudicationResult, Faults: append([]fault{}, r.Faults...), PerSeatKeys: []string{}, Differences: []string{}, Moves: []MoveStep{},
	}
	if r.Adjudication != nil {
		game.Adjudication = r.Adjudication.String()
	}
	for _, o := range v.Settings {
		game.Options = append(game.Options, [2]string{o.Name, o.Value})
	}
	for i, s := range r.Seats {
		game.Seats = append(game.Seats, SeatRow{s.Name, s.Version, v.Side(i), r.Ranks[i], r.Points[i]})
	}
	positions, err := game.rebuild(r, v)
	if err != nil {
		return nil, err
	}
	game.setFrames(positions)
	for _, m := range r.Moves {
		game.Moves = append(game.Moves, MoveStep{m.Seat, m.Move, m.MS, m.Info, m.StandIn})
	}
	for _, err := range r.Verify(g) {
		game.Differences = append(game.Differences, strings.TrimPrefix(err.Error(), "replay: "))
	}
	return game, nil
}

// checkReplay returns the variant (the game g with its options) of the replay r. It returns an error if the replay
// has the wrong number of seats or results.
func checkReplay(r *referee.Replay, g *rules.Game) (*rules.Variant, error) {
	v, err := r.Resolve(g)
	if err != nil {
		return nil, err
	}
	return v, r.CheckSeats()
}

// rebuild plays the replay r again and returns all positions, beginning with the one after the deal. It also sets
// g.Keys and g.Over.
func (g *Recording) rebuild(r *referee.Replay, v *rules.Variant) (positions []position, err error) {
	var log rules.Log
	for step, err := range r.Walk(v, &log) {
		if err != nil {
			return nil, err
		}
		p := position{turn: step.State.Turn(), events: events(&log, len(r.Seats))}
		for seat := range r.Seats {
			p.views = append(p.views, parse(step.State.View(nil, seat)))
		}
		if len(positions) == 0 {
			g.Keys = keys(step.State.View(nil, 0))
		}
		positions = append(positions, p)
	}
	g.Over = positions[len(positions)-1].turn == rules.Over
	return positions, nil
}

func keys(view []byte) (names []string) {
	for token := range strings.FieldsSeq(string(view)) {
		key, _, _ := strings.Cut(token, "=")
		names = append(names, key)
	}
	return names
}

func parse(view []byte) map[string]string {
	m := make(map[string]string)
	for token := range strings.FieldsSeq(string(view)) {
		key, value, _ := strings.Cut(token, "=")
		m[key] = value
	}
	return m
}

// events returns the events in log as lines of the protocol: once for a viewer who sees all cards, and once for each
// of the given number of seats.
func events(log *rules.Log, seats int) Events {
	e := Events{All: append([]string{}, log.OpenEvents()...)}
	same := true
	for seat := range seats {
		seen := log.EventsFor(seat)
		same = same && slices.Equal(seen, e.All)
		e.PerSeat = append(e.PerSeat, append([]string{}, seen...))
	}
	if same {
		e.PerSeat = nil
	}
	return e
}

func (g *Recording) setFrames(positions []position) {
	g.PerSeatKeys = perSeatKeys(positions)
	before := position{views: make([]map[string]string, len(g.Seats))}
	for _, p := range positions {
		f := Frame{Turn: p.turn, Events: p.events, Common: changes(before.views[0], p.views[0], g.PerSeatKeys, false)}
		own, changed := make([]map[string]string, len(p.views)), false
		for seat, view := range p.views {
			own[seat] = changes(before.views[seat], view, g.PerSeatKeys, true)
			changed = changed || len(own[seat]) > 0
		}
		if changed {
			f.PerSeat = own
		}
		g.Frames = append(g.Frames, f)
		before = p
	}
}

// perSeatKeys returns the sorted keys whose values differ between seats in at least one of the positions.
func perSeatKeys(positions []position) []string {
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

// changes compares two maps, before and after. It returns the entries of the second map that are new or have another
// value than in the first. If among is true, it returns only entries whose keys are in own; if false, only the
// others.
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
