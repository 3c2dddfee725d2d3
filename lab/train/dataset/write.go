package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// File is the name of the data set in the directory of a run.
const File = "games.timba"

// pieceGames is the number of games that are generated together and compressed as one frame of the file.
const pieceGames = 1000

// Method is the method that generates data sets. It is used like a method of training.
var Method = run.Method{
	Name: "data", File: File, Unit: "games", Version: 2,
	Short: "Make a data set of games of Brisca or Tute to learn from",
	Long: "Plays games of a mode, the same number for every combination of the optional rules, and writes them\n" +
		"as " + File + " into the directory of the run. By default all moves are random; an exchange is made with\n" +
		"probability 1/2. --bot names the bot that plays all seats; repeated, it names one bot for each seat. Bots\n" +
		"change seats from deal to deal.",
	Example: "  timba-lab train data --mode brisca2 --out data\n" +
		"  timba-lab train data --mode tute2 --bot @greedy:noise=20 --each 500 --out strong",
	Settings: func() run.TrainingSettings {
		return &Config{Train: "data", Mode: run.DefaultMode, GamesPerRules: 8000, Seed: 1}
	},
}

// Config determines the games of a data set. It is stored as config.json of the run.
type Config struct {
	Train         string   `json:"train"` // always "data"
	Mode          string   `json:"mode"`
	GamesPerRules int      `json:"each"` // games for each combination of the optional rules
	Seed          uint64   `json:"seed"`
	Bots          []string `json:"bots,omitempty"` // bots by seat in the first rotation; empty for random moves
}

func (c *Config) Params() []run.Param {
	return append(run.CommonParams(&c.Mode, &c.Seed),
		run.Param{Name: "each", Target: &c.GamesPerRules, Min: 1, Max: MaxGames, Scaled: true, Help: "games for each combination of the optional rules"},
		run.Param{Name: "bot", Target: &c.Bots, Repeated: true,
			Help: "the `BOT` of all seats; repeated, the bot of each seat (default: random moves)"},
	)
}

// Complete checks the settings. If only one bot is named, it assigns that bot to every seat.
func (c *Config) Complete(func(name string) bool) (err error) {
	if err := c.Check(); err != nil {
		return err
	}
	c.Bots, err = botsBySeat(c.mode(), c.Bots)
	return err
}

func (c *Config) Check() error {
	if most := MaxGames >> c.mode().RuleCount(); c.GamesPerRules > most {
		return fmt.Errorf("each cannot be \"%d\": try 1 to %d games of each combination of rules", c.GamesPerRules, most)
	}
	return nil
}

func (c *Config) mode() cards.Mode {
	m, _ := cards.ParseMode(c.Mode)
	return m
}

// Games returns the total number of games of the data set, over all combinations of the optional rules.
func (c *Config) Games() int { return c.GamesPerRules << c.mode().RuleCount() }

// GenerateFunc generates the games with the numbers in [from, to) and appends them to dst in binary form. Several
// goroutines may call it at once. Game i has the combination of optional rules whose number is i modulo the number
// of combinations.
type GenerateFunc func(ctx context.Context, from, to int, dst []byte) ([]byte, error)

// randomGames returns a function that generates games in which all moves are random.
func randomGames(c *Config) GenerateFunc {
	m := c.mode()
	list := m.Rules()
	return func(_ context.Context, from, to int, dst []byte) ([]byte, error) {
		var at cards.Position
		var g GameRecord
		var memory [MaxMoves]rules.Move
		r := rules.NewRand(run.DeriveSeed(c.Seed, "data", from))
		src := rules.FastStream(r)
		for i := from; i < to; i++ {
			at.Deal(m, list[i%len(list)], &src)
			g.SetDeal(i%len(list), at.Board())
			for at.Turn() >= 0 {
				legal := at.Legal(memory[:0])
				move := randomMove(legal, r)
				g.AddMove(move)
				at.Apply(move, nil)
			}
			dst = g.Append(dst)
		}
		return dst, nil
	}
}

// randomMove draws a legal move as the program of R. Arjonilla's thesis (UOC, 2024) does. If the exchange of the trump
// card is legal, it is drawn with the probability 1/2. All other moves have equal probabilities. legal must not be
// empty; an exchange comes last in it.
func randomMove(legal []rules.Move, r *rules.Rand) rules.Move {
	last := len(legal) - 1
	if cards.Action(legal[last]) == cards.ExchangeAction {
		if r.Below(2) == 0 {
			return legal[last]
		}
		legal = legal[:last]
	}
	return legal[r.Below(len(legal))]
}

// SetDeal makes g the record of a new game without moves. Its shuffled pack is that of t, the table before the
// first move. ruleBits is the number of the combination of optional rules.
func (g *GameRecord) SetDeal(ruleBits int, t *baraja.Table) {
	// In the shuffled pack the trump card was behind the cards that were dealt.
	n := int(t.NextDraw)
	copy(g.Pack[:n], t.Pack[:n])
	g.Pack[n] = t.Trump
	copy(g.Pack[n+1:], t.Pack[n:])
	g.Rules, g.NumMoves = uint8(ruleBits), 0
}

func (g *GameRecord) AddMove(m rules.Move) {
	g.Moves[g.NumMoves] = uint8(cards.Action(m))
	g.NumMoves++
}

// writer generates games and writes them to the file of a data set. It implements run.Trainer.
type writer struct {
	*Config
	workers  int
	generate GenerateFunc
	zip      *zstd.Encoder
	raws     [][]byte // buffers for encoded games, by worker
	progress SetSize
	frames   [][]byte // compressed but not yet written
	path     string   // of the file, after the first write
	sample   SetSize  // what Sample has generated, before compression
}

// SetSize is the size of a data set in games and in bytes, or of the part of it that has been written.
type SetSize struct {
	Games int   `json:"games"`
	Bytes int64 `json:"bytes"`
}

func (r SetSize) String() string {
	return fmt.Sprintf("%s, %d bytes\n", text.Count(r.Games, "game"), r.Bytes)
}

// Prepare finds the bots and returns the trainer that generates games. The configuration must be valid.
func (c *Config) Prepare(ctx context.Context, in run.Input) (_ run.Trainer, err error) {
	w := &writer{Config: c, workers: in.Workers, raws: make([][]byte, in.Workers)}
	if w.generate = randomGames(c); len(c.Bots) > 0 {
		if w.generate, err = c.BotGames(ctx, in.Resolver); err != nil {
			return nil, err
		}
	}
	w.zip, err = zstd.NewWriter(nil, zstd.WithEncoderCRC(true), zstd.WithEncoderConcurrency(in.Workers),
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(window),
		zstd.WithAllLitEntropyCompression(true)) // sequences of bytes hardly repeat, but their frequencies differ
	return w, err
}

func (w *writer) Progress() (done, all int) { return w.progress.Games, w.Games() }

// Step generates and compresses a piece of games for each worker. If it fails, for example because ctx ends, it
// changes nothing.
func (w *writer) Step(ctx context.Context) error {
	all, from := w.Games(), w.progress.Games/pieceGames
	var frames [][]byte
	err := run.BuildInOrder(ctx, w.workers, from, min(from+w.workers, (all+pieceGames-1)/pieceGames), func(worker, k int) ([]byte, error) {
		raw, err := w.generate(ctx, k*pieceGames, min(all, (k+1)*pieceGames), w.raws[worker][:0])
		w.raws[worker] = raw
		return w.zip.EncodeAll(raw, nil), err
	}, func(_ int, frame []byte) error {
		frames = append(frames, frame)
		return nil
	})
	if err == nil {
		w.progress.Games, w.frames = min(all, (from+len(frames))*pieceGames), frames
	}
	return err
}

// Report writes the games that the last step has generated to the file in f.
func (w *writer) Report(f *run.Folder) error {
	if w.progress.Bytes == 0 {
		line, err := json.Marshal(SetHeader{Mode: w.Mode, Games: w.Games(), Seed: w.Seed, Bots: w.Bots})
		if err != nil {
			return err
		}
		w.frames = slices.Insert(w.frames, 0, fmt.Appendf(nil, "%s%s\n", magic, line))
	}
	w.path = filepath.Join(f.Dir, File)
	file, err := os.OpenFile(w.path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil && info.Size() < w.progress.Bytes {
		err = fmt.Errorf("%s has %d bytes, fewer than the %d of the checkpoint: the run is damaged", w.path, info.Size(), w.progress.Bytes)
	}
	if err == nil {
		err = file.Truncate(w.progress.Bytes)
	}
	if err != nil {
		return err
	}
	for _, frame := range w.frames {
		if _, err := file.WriteAt(frame, w.progress.Bytes); err != nil {
			return err
		}
		w.progress.Bytes += int64(len(frame))
	}
	return file.Close()
}

// Save flushes the file of games to disk and then writes a checkpoint.
func (w *writer) Save(to io.Writer) error {
	if w.path != "" {
		file, err := os.OpenFile(w.path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		if err := errors.Join(file.Sync(), file.Close()); err != nil {
			return err
		}
	}
	return json.NewEncoder(to).Encode(w.progress)
}

func (w *writer) Load(r io.Reader) error { return json.NewDecoder(r).Decode(&w.progress) }

func (w *writer) Finish(context.Context, *run.Folder) (run.TrainingResult, error) {
	return w.progress, nil
}

// Sample generates games for about the duration most, with one worker. It is used instead of Step, which would take
// too long with slow bots. It returns how many games all workers together would have generated.
func (w *writer) Sample(ctx context.Context, most time.Duration) (done int, err error) {
	began := time.Now()
	for n := 1 << w.mode().RuleCount(); n <= pieceGames && time.Since(began) < most; n *= 2 {
		raw, err := w.generate(ctx, 0, n, nil)
		if err != nil {
			return 0, err
		}
		w.sample.Games, w.sample.Bytes = w.sample.Games+n, w.sample.Bytes+int64(len(raw))
	}
	return w.sample.Games * max(1, min(w.workers, runtime.GOMAXPROCS(0))), nil
}

// Size returns estimates, in bytes, of the memory for a step and of the file size. Sample must have been called.
func (w *writer) Size() (memory, disk int64) {
	games := int64(w.sample.Games)
	return int64(3*w.workers*pieceGames) * w.sample.Bytes / games, int64(w.Games()) * w.sample.Bytes / games * compressedPercent / 100
}

// compressedPercent is the estimated size of a compressed file, in percent of the size of the games before.
const compressedPercent = 70
