package live

import (
	"fmt"
	"maps"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/web/board"
)

// feed is a list of frames of one game, which are sent to the people who watch it. A frame is a position in the form
// in which pages draw it. If the game is long, the list has only the latest frames.
type feed struct {
	match  *match
	number int // counts the games of the match from 1; 0 before the first game
	base   int // ply of the first frame
	frames []board.Frame
	moves  []board.MoveStep // moves[i] leads from frames[i] to frames[i+1]
	over   bool
	failed bool     // the game cannot be shown and gets no frames
	source snapshot // the snapshot from which the frames were made

	state        rules.State
	publicFrames *board.PublicFrames
	log          rules.Log
}

type mark struct{ number, lastPly int }

func (f *feed) mark() mark { return mark{f.number, f.lastPly()} }

func (f *feed) lastPly() int { return f.base + len(f.frames) - 1 }

// advance adds frames for the positions that are new since the last frame, up to the position of s. If s is a
// snapshot of another game, it first drops the frames of the old game. It returns an error if a move in s is invalid.
func (f *feed) advance(s snapshot) error {
	if s.number != f.number {
		f.startGame(s)
	}
	if f.failed {
		f.skipTo(s)
		return nil
	}
	kept := f.match.hub.Limits.Backlog
	moves := s.replay.Moves
	for i := f.lastPly(); i < len(moves); i++ {
		m := &moves[i]
		move, err := f.state.ParseMove(m.Move)
		if err == nil {
			err = f.state.Check(move)
		}
		if err != nil {
			return fmt.Errorf("move %d: %w", i, err)
		}
		f.log.Reset()
		f.state.Apply(move, &f.log)
		if len(moves)-i > kept {
			f.base, f.frames, f.moves = i+2, nil, nil // so that lastPly() is i+1
			f.publicFrames.ForceFullFrame()
			continue
		}
		if f.frames != nil {
			f.moves = append(f.moves, board.MoveStep{Seat: m.Seat, Move: m.Move, MS: m.MS, StandIn: m.StandIn})
		}
		f.frames = append(f.frames, f.publicFrames.Frame(f.state, &f.log))
	}
	f.over, f.source = s.over, s
	f.trim(kept)
	return nil
}

// skipTo makes the feed continue after snapshot s, without making frames of its positions.
func (f *feed) skipTo(s snapshot) { f.base, f.over = len(s.replay.Moves)+1, s.over }

// startGame empties the feed and adds the first frame of the game in snapshot s: the position after the deal.
func (f *feed) startGame(s snapshot) {
	*f = feed{match: f.match, number: s.number, publicFrames: board.NewPublicFrames(f.match.variant)}
	stream := rules.NewStream(rules.Seed(s.replay.Seed))
	f.state = f.match.variant.Deal(&stream)
	f.state.LogStart(&f.log)
	f.frames = append(f.frames, f.publicFrames.Frame(f.state, &f.log))
}

// trim drops the oldest frames if there are more than limit. It then leaves limit/2 frames, but at least one.
func (f *feed) trim(limit int) {
	if len(f.frames) <= limit {
		return
	}
	n := len(f.frames) - max(1, limit/2)
	all := map[string]string{}
	for _, frame := range f.frames[:n+1] {
		maps.Copy(all, frame.Common)
	}
	f.frames, f.moves, f.base = append([]board.Frame{}, f.frames[n:]...), append([]board.MoveStep{}, f.moves[n:]...), f.base+n
	f.frames[0].Common = all
}

// gameDoc is a message that sends frames of a game to a page. Ply is the ply of the first frame. If Head is
// set, the page needs no earlier message, and the first move leads from the first frame to the second.
// Otherwise the first move leads to the first frame.
type gameDoc struct {
	Topic    string           `json:"topic"`
	GameID   string           `json:"at"` // identifies the game; the page sends it back in clientMessage.Game
	Head     *head            `json:"head,omitempty"`
	Ply      int              `json:"ply"`
	Frames   []board.Frame    `json:"frames"`
	Moves    []board.MoveStep `json:"moves"`
	Faults   []faultDoc       `json:"faults"`
	TimeLeft []int64          `json:"left"`  // by seat, in milliseconds, at the start of the current turn
	Since    int64            `json:"since"` // start of the current turn, in milliseconds since 1970
	Result   *result          `json:"result,omitempty"`
}

// head is the part of the messages about a game that does not change during the game. It has the same JSON keys as
// board.Recording, and also ladder and deals.
type head struct {
	Ladder      string          `json:"ladder"`
	Match       place           `json:"match"`
	Name        string          `json:"game"`
	Display     rules.Display   `json:"display"`
	Options     [][2]string     `json:"options"`
	Clock       referee.ClockMS `json:"clock"`
	Seats       []board.SeatRow `json:"seats"`
	Keys        []string        `json:"keys"`
	PerSeatKeys []string        `json:"own"` // always empty
	Deals       int             `json:"deals"`
}

// place identifies a game within a match.
type place struct {
	ID       int64 `json:"id"` // of the match; 0 for a game of people
	Deal     int   `json:"deal"`
	Rotation int   `json:"rotation"`
}

// faultDoc is a fault of a seat. It omits the text of the fault, which might contain cards that not everybody may
// see.
type faultDoc struct {
	Seat int           `json:"seat"`
	Ply  int           `json:"ply"`
	Code protocol.Code `json:"code"`
}

// result says how a game has ended.
type result struct {
	Ranks  []int     `json:"ranks"`
	Points []float64 `json:"points"`
	Over   bool      `json:"over"` // the game ended by the rules
}

// doc returns a message with the latest frames of the feed. The argument first is the ply (number of moves) of the
// first of them. If that is the oldest frame of the feed, the message also describes the game.
func (f *feed) doc(first int) gameDoc {
	r := &f.source.replay
	d := gameDoc{Ply: first, Frames: f.frames[first-f.base:], Moves: []board.MoveStep{}, Faults: []faultDoc{}, Since: f.source.turnStart.UnixMilli()}
	if first == f.base {
		d.Head = f.head()
		d.Moves = append(d.Moves, f.moves...)
	} else {
		d.Moves = append(d.Moves, f.moves[first-f.base-1:]...)
	}
	for i := range r.Faults {
		d.Faults = append(d.Faults, faultDoc{r.Faults[i].Seat, r.Faults[i].Ply, r.Faults[i].Code})
	}
	for seat := range r.Seats {
		d.TimeLeft = append(d.TimeLeft, f.source.timeLeft[seat].Milliseconds())
	}
	if f.over {
		d.Result = &result{r.Ranks, r.Points, f.state.Turn() == rules.Over}
	}
	return d
}

func (f *feed) head() *head {
	r, v, m := &f.source.replay, f.match.variant, f.match
	h := &head{
		Ladder: m.info.Ladder, Match: place{m.info.ID, r.Match.Deal, r.Match.Rotation}, Name: r.Game, Display: v.Display(),
		Clock: r.Clock, Keys: f.publicFrames.Keys(), PerSeatKeys: []string{}, Deals: m.deals,
	}
	for _, o := range v.Settings {
		h.Options = append(h.Options, [2]string{o.Name, o.Value})
	}
	for seat, s := range r.Seats {
		h.Seats = append(h.Seats, board.SeatRow{Name: s.Name, Side: v.Side(seat)})
	}
	return h
}
