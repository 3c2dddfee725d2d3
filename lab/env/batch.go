package env

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/house"
	"golang.org/x/sync/errgroup"
)

// noAction is the value that fills the unused end of a game's row in the array of legal actions.
const noAction = math.MaxUint16

// slot has the state of one of the games that are played in parallel, except its position.
type slot struct {
	dealNumber uint32
	seat       int8                    // the client's seat to move, or rules.Over
	moveCount  uint16                  // number of legal moves
	points     [rules.MaxSeats]float32 // by seat, at the last frame in which rewards were written
}

const slotBytes = int(unsafe.Sizeof(slot{}))

// Batch is a number of games that are played in parallel. A client plays some seats, and bots that are part of
// timba play the others. The methods must not be called concurrently.
type Batch struct {
	config  Config
	layout  *Layout
	shape   shape
	games   positions
	bots    [][]*house.LocalSeat // by seat, then by game; nil for seats of the client
	slots   []slot
	moves   []rules.Move // legal moves, shape.widest for each game
	seed    rules.Seed
	isReset bool // every slot has a position
	// workers is the number of goroutines that play the games. It does not change the results.
	workers        int
	gamesPerWorker int // number of games that justifies another goroutine
	workerMemory   []*worker
	message        []byte // buffer of the state frame
	frame          []byte // payload of message
	arrays         arraySet
}

// worker has the buffers that one goroutine needs to play games.
type worker struct {
	src    rules.Stream
	points [rules.MaxSeats]float32
	row    rowWriter
}

// NewBatch returns a batch of the games that c describes. It uses at most the given number of goroutines, or
// one for each core if workers is 0. Reset must be called before any other method. NewBatch returns an error
// if the games need too much memory.
func NewBatch(c Config, workers int) (*Batch, error) {
	entry, ok := shapes[c.Variant.Game]
	if !ok {
		return nil, fmt.Errorf("env: game %q has no arrays", c.Variant.Game.Name)
	}
	s := entry(c.Variant.Rules)
	l, at, err := newLayout(&c, &s)
	if err != nil {
		return nil, err
	}
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	message := newFrame(frameState, l.Size)
	b := &Batch{
		config: c, layout: l, shape: s, games: s.positions(c.Games), slots: make([]slot, c.Games),
		bots: make([][]*house.LocalSeat, l.Players), moves: make([]rules.Move, c.Games*s.widest),
		workers: workers, gamesPerWorker: 512, message: message, frame: message[headerBytes:], arrays: at,
	}
	for i := range at.legal.rowBytes * c.Games {
		b.frame[at.legal.Offset+i] = math.MaxUint8 // padding
	}
	for seat, spec := range c.Bots {
		if spec == "" {
			continue
		}
		b.gamesPerWorker = 1 // a bot's move takes longer than the start of a goroutine
		b.bots[seat] = make([]*house.LocalSeat, c.Games)
		for i := range b.bots[seat] {
			if b.bots[seat][i], err = house.NewSeat(spec); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// rowOf returns the part of the message to the client that belongs to game i in array a. It is empty if the client
// did not request this array.
func (b *Batch) rowOf(a Array, i int) []byte {
	start := a.Offset + i*a.rowBytes
	return b.frame[start : start+a.rowBytes]
}

// errNotReset is the error for a frame (message of the client) that needs games before a reset frame has started
// any.
var errNotReset = errors.New("env: the games have not begun: send a reset frame first")

// Reset starts all games and writes the state frame, the message to the client. Game i plays deal first+i (a
// shuffle or a start position) of the match that seed determines. Reset fails if the last deal number is too high.
func (b *Batch) Reset(ctx context.Context, seed rules.Seed, first uint32) error {
	if int64(first)+int64(len(b.slots)) > math.MaxUint32 {
		return fmt.Errorf("env: first deal %d is too high for %d games: try 0", first, len(b.slots))
	}
	b.seed, b.isReset = seed, true
	return b.forEach(ctx, func(i int, w *worker) error {
		b.slots[i].dealNumber = first + uint32(i)
		b.deal(i, w)
		return b.moveToTurn(ctx, w, i, false)
	})
}

// Next starts a new deal (a shuffle or a start position) in each game i with which[i] != 0, and writes the state
// frame, the message to the client. The argument which must have a byte for each game.
func (b *Batch) Next(ctx context.Context, which []byte) error {
	if !b.isReset {
		return errNotReset
	}
	if len(which) != len(b.slots) {
		return fmt.Errorf("env: a next frame has %d bytes where there are %d games: send a byte for each", len(which), len(b.slots))
	}
	return b.forEach(ctx, func(i int, w *worker) error {
		if which[i] == 0 {
			if b.slots[i].seat != rules.Over { // the last frame may have reported the end of the previous deal
				b.writeScores(i, w, b.games.state(i), false)
			}
			return nil
		}
		if err := b.dealNext(i, w); err != nil {
			return err
		}
		return b.moveToTurn(ctx, w, i, false)
	})
}

// Step makes a move of the client in every game that is not over, and then the moves of the house bots (part of
// timba). It writes the state frame, the message to the client. actions has one little-endian uint16 for each game:
// the number of a move. If one of the moves is illegal, Step returns an error and no game changes.
func (b *Batch) Step(ctx context.Context, actions []byte) error {
	if !b.isReset {
		return errNotReset
	}
	if len(actions) != 2*len(b.slots) {
		return fmt.Errorf("env: an actions frame has %d bytes where there are %d games: send two bytes for each", len(actions), len(b.slots))
	}
	for i := range b.slots {
		if err := b.check(i, rules.Move(binary.LittleEndian.Uint16(actions[2*i:]))); err != nil {
			return err
		}
	}
	return b.forEach(ctx, func(i int, w *worker) error {
		if b.slots[i].seat == rules.Over {
			return nil
		}
		b.games.state(i).Apply(rules.Move(binary.LittleEndian.Uint16(actions[2*i:])), nil)
		return b.moveToTurn(ctx, w, i, true)
	})
}

// check returns an error if m is not a legal move in game i. If the game is over, any move is accepted.
func (b *Batch) check(i int, m rules.Move) error {
	s := &b.slots[i]
	if s.seat == rules.Over {
		return nil
	}
	for _, legal := range b.legal(i) {
		if m == legal {
			return nil
		}
	}
	if int(m) >= len(b.layout.Actions) || b.layout.Actions[m] == "" {
		return fmt.Errorf("env: game %d, deal %d: action %d is no move of %s: try %d", i, s.dealNumber, m, b.layout.Game, b.legal(i)[0])
	}
	return fmt.Errorf("env: game %d, deal %d: action %d: %w", i, s.dealNumber, m, b.games.state(i).Check(m))
}

func (b *Batch) legal(i int) []rules.Move {
	start := i * b.shape.widest
	return b.moves[start : start+int(b.slots[i].moveCount)]
}

// forEach calls do for every game i, in several goroutines if there are many games; w is the memory of the
// goroutine. Before that it clears the rewards in the message to the client. After an error the batch must be
// reset.
func (b *Batch) forEach(ctx context.Context, do func(i int, w *worker) error) error {
	rewards := b.arrays.rewards
	clear(b.frame[rewards.Offset : rewards.Offset+rewards.rowBytes*len(b.slots)])
	pieces := min(b.workers, max(1, len(b.slots)/b.gamesPerWorker))
	for len(b.workerMemory) < pieces {
		b.workerMemory = append(b.workerMemory, new(worker))
	}
	piece := func(p int) error {
		w := b.workerMemory[p]
		for i := p * len(b.slots) / pieces; i < (p+1)*len(b.slots)/pieces; i++ {
			if err := do(i, w); err != nil {
				return err
			}
		}
		return ctx.Err()
	}
	err := error(nil)
	if pieces == 1 {
		err = piece(0)
	} else {
		var group errgroup.Group
		for p := range pieces {
			group.Go(func() error { return piece(p) })
		}
		err = group.Wait()
	}
	if err != nil {
		b.isReset = false
	}
	return err
}

// deal starts the game at index i again, with the deal (a shuffle or a start position) of its present deal number,
// and resets its house bots (part of timba).
func (b *Batch) deal(i int, w *worker) {
	s := &b.slots[i]
	w.src = rules.NewStream(referee.DealSeed(b.seed, int(s.dealNumber)))
	b.games.deal(i, &w.src)
	s.points = [rules.MaxSeats]float32{}
	for seat, bots := range b.bots {
		if bots != nil { // with the seeds of rotation 0 of a match
			bots[i].StartGame(b.config.Variant, seat, referee.BotSeed(b.seed, int(s.dealNumber), 0, seat), b.config.MoveTime)
		}
	}
}

func (b *Batch) dealNext(i int, w *worker) error {
	s := &b.slots[i]
	if int64(s.dealNumber)+int64(len(b.slots)) > math.MaxUint32 {
		return fmt.Errorf("env: game %d: deal %d is the last: reset with another seed", i, s.dealNumber)
	}
	s.dealNumber += uint32(len(b.slots))
	b.deal(i, w)
	return nil
}

// moveToTurn lets the house bots (part of timba) of game i move until the client has the turn or the game is over.
// It then writes the scores and the observation of the game into the message to the client. acted reports whether
// the client has moved in this deal. If it has not, the client gets no reward before its first turn. With automatic
// reset, a deal that ends without a turn of the client is replaced by the next one.
func (b *Batch) moveToTurn(ctx context.Context, w *worker, i int, acted bool) error {
	state := b.games.state(i)
	seat, err := b.moveBots(ctx, i, state)
	if err == nil && seat == rules.Over && b.config.AutoReset && !acted {
		seat, err = b.skipToTurn(ctx, w, i, state)
	}
	if err != nil {
		return err
	}
	b.writeScores(i, w, state, acted)
	if seat == rules.Over && b.config.AutoReset {
		if seat, err = b.skipToTurn(ctx, w, i, state); err != nil {
			return err
		}
	}
	b.slots[i].seat = int8(seat)
	return b.writeObservation(i, w, state)
}

// skipToTurn starts new deals in game i until the client gets a turn, and returns the client's seat. state is the
// position of the game. skipToTurn fails after maxSkippedDeals deals.
func (b *Batch) skipToTurn(ctx context.Context, w *worker, i int, state rules.State) (int, error) {
	for range maxSkippedDeals {
		if err := b.dealNext(i, w); err != nil {
			return rules.Over, err
		}
		if seat, err := b.moveBots(ctx, i, state); seat != rules.Over || err != nil {
			return seat, err
		}
	}
	return rules.Over, fmt.Errorf("env: game %d: %d deals in a row end before the client's turn: leave it more seats", i, maxSkippedDeals)
}

// maxSkippedDeals is the maximal number of deals in a row that are skipped because they end before the client has a
// turn, for example because a hand wins at once.
const maxSkippedDeals = 10_000

// moveBots lets the house bots (part of timba) of game i move until the client has the turn, and returns the
// client's seat. If the game ends first, it returns rules.Over. state is the position of the game.
func (b *Batch) moveBots(ctx context.Context, i int, state rules.State) (int, error) {
	for {
		seat := state.Turn()
		if seat == rules.Over || b.bots[seat] == nil {
			return seat, nil
		}
		if err := ctx.Err(); err != nil {
			return seat, err
		}
		m, err := b.bots[seat][i].Move(state)
		if err != nil {
			return seat, fmt.Errorf("env: game %d: %w", i, err)
		}
		state.Apply(m, nil)
	}
}
