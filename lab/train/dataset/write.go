package dataset

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// File is the name of a data set in the directory of a run.
const File = "games.timba"

// piece is how many games are made, compressed and written together: a frame of the file.
const piece = 1000

// saveEvery is the pieces between two checkpoints.
const saveEvery = 200

// Plan is a data set to be made.
type Plan struct {
	Mode    cards.Mode
	Each    int // games of each combination of the optional rules
	Seed    uint64
	Bots    []string // that play, by seat of the first rotation; none for random play
	Workers int
	Done    func(games, all int) // after some games, one call at a time; nil for none
}

// Version rises when the same configuration comes to other random games.
const Version = 1

// Config is what decides the games, as config.json of a run has it.
type Config struct {
	Train string   `json:"train"` // always "data"
	Mode  string   `json:"mode"`
	Each  int      `json:"each"`
	Seed  uint64   `json:"seed"`
	Bots  []string `json:"bots,omitempty"`
}

// Config returns what decides the games.
func (p *Plan) Config() Config {
	return Config{"data", p.Mode.String(), p.Each, p.Seed, p.Bots}
}

// Games returns the number of games.
func (p *Plan) Games() int { return p.Each << p.Mode.RuleCount() }

// Check returns why there is no such data set.
func (p *Plan) Check() error {
	if most := MaxGames >> p.Mode.RuleCount(); p.Each < 1 || p.Each > most {
		return fmt.Errorf("dataset: each cannot be %d: try 1 to %d games of each combination of rules", p.Each, most)
	}
	return nil
}

// Piece makes games number from to to-1 of a plan and appends them in the form of the file. It is
// called by several workers at once, each of which has a number. Game i has the rules i modulo
// the number of combinations.
type Piece func(ctx context.Context, worker, from, to int, dst []byte) ([]byte, error)

// Random makes games of random moves.
func (p *Plan) Random() Piece {
	m, list := p.Mode, p.Mode.Rules()
	return func(_ context.Context, _, from, to int, dst []byte) ([]byte, error) {
		var at cards.Position
		var g Game
		var memory [MaxMoves]rules.Move
		r := rules.NewRand(run.Derive(p.Seed, "data", from))
		src := rules.FastStream(r)
		for i := from; i < to; i++ {
			at.Deal(m, list[i%len(list)], &src)
			g.Begin(i%len(list), at.Board())
			for at.Turn() >= 0 {
				legal := at.Legal(memory[:0])
				move := legal[r.Below(len(legal))]
				g.Add(move)
				at.Apply(move, nil)
			}
			dst = g.Append(dst)
		}
		return dst, nil
	}
}

// Begin sets the rules and the pack to those of a first position.
func (g *Game) Begin(ruleBits int, t *baraja.Table) {
	// The trump card lay behind the cards that were dealt.
	n := int(t.Next)
	copy(g.Pack[:n], t.Pack[:n])
	g.Pack[n] = t.Trump
	copy(g.Pack[n+1:], t.Pack[n:])
	g.Rules, g.N = uint8(ruleBits), 0
}

// Add adds a move.
func (g *Game) Add(m rules.Move) {
	g.Moves[g.N] = uint8(cards.Action(m))
	g.N++
}

// state is a checkpoint.
type state struct {
	Games int   `json:"games"`
	Bytes int64 `json:"bytes"`
}

// Make makes the data set in the directory of a run, from its checkpoint on. When the context
// ends it keeps what there is for a resume.
func (p *Plan) Make(ctx context.Context, f *run.Folder, games Piece) error {
	if err := p.Check(); err != nil {
		return err
	}
	var at state
	if _, err := f.Load(func(r io.Reader) error { return json.NewDecoder(r).Decode(&at) }); err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(f.Dir, File), os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := p.begin(file, &at); err != nil {
		return err
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(true), zstd.WithEncoderConcurrency(p.Workers), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(window))
	if err != nil {
		return err
	}
	all := p.Games()
	raws := make([][]byte, p.Workers)
	err = run.InOrder(ctx, p.Workers, (at.Games+piece-1)/piece, (all+piece-1)/piece, func(worker, k int) ([]byte, error) {
		raw, err := games(ctx, worker, k*piece, min(all, (k+1)*piece), raws[worker][:0])
		raws[worker] = raw
		return z.EncodeAll(raw, nil), err
	}, func(k int, frame []byte) error {
		if _, err := file.Write(frame); err != nil {
			return err
		}
		at.Games, at.Bytes = min(all, (k+1)*piece), at.Bytes+int64(len(frame))
		if p.Done != nil {
			p.Done(at.Games, all)
		}
		if k%saveEvery == saveEvery-1 {
			return p.save(f, file, at)
		}
		return nil
	})
	if saveErr := p.save(f, file, at); saveErr != nil {
		return saveErr
	}
	return err
}

// begin writes the header, or goes back to a checkpoint.
func (p *Plan) begin(file *os.File, at *state) error {
	if at.Bytes == 0 {
		line, err := json.Marshal(Header{Mode: p.Mode.String(), Games: p.Games(), Seed: p.Seed, Bots: p.Bots})
		if err != nil {
			return err
		}
		n, err := fmt.Fprintf(file, "%s%s\n", magic, line)
		if err != nil {
			return err
		}
		at.Bytes = int64(n)
	}
	if err := file.Truncate(at.Bytes); err != nil {
		return err
	}
	_, err := file.Seek(at.Bytes, io.SeekStart)
	return err
}

// save writes a checkpoint.
func (p *Plan) save(f *run.Folder, file *os.File, at state) error {
	if err := file.Sync(); err != nil {
		return err
	}
	return f.Checkpoint(func(w io.Writer) error { return json.NewEncoder(w).Encode(at) })
}

// sampleTime is how long Cost plays to measure the speed.
const sampleTime = 300 * time.Millisecond

// Cost returns what the data set costs, by a sample of its first games.
func (p *Plan) Cost(ctx context.Context, games Piece) (run.Cost, error) {
	n := 1 << p.Mode.RuleCount()
	began := time.Now()
	for {
		start := time.Now()
		raw, err := games(ctx, 0, 0, n, nil)
		if err != nil {
			return run.Cost{}, err
		}
		took := time.Since(start)
		if time.Since(began) < sampleTime && n < p.Games() && n < piece {
			n *= 2
			continue
		}
		all, workers := p.Games(), max(1, min(p.Workers, runtime.GOMAXPROCS(0)))
		return run.Cost{
			Work: int64(all), Unit: "games", Time: took * time.Duration(all) / time.Duration(n*workers),
			Memory: int64(3 * p.Workers * piece * len(raw) / n), Disk: int64(all) * int64(len(raw)) / int64(n) * packed / 100,
		}, nil
	}
}

// packed is what remains of a hundred bytes after compression.
const packed = 70
