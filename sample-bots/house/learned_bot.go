package house

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"os"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sample-bots/learn"
	"github.com/timba-arena/timba/sample-bots/learn/model"
)

const (
	// modelName is the option of bots that have learned.
	modelName = "model"
	// builtIn is the value for the models of the program, by mode.
	builtIn = "built-in"
)

// models reads models of one kind: those of the program, by mode, and files.
type models[M any] struct {
	kind  string   // of the training, and the bot
	files embed.FS // models/KIND/MODE.timba
	read  func(io.Reader) (M, learn.Mode, error)
}

// reading returns a models.read for a model that read makes of the header and the body of its file.
func reading[M any](read func(model.Header, *model.Body) (M, error)) func(io.Reader) (M, learn.Mode, error) {
	return func(r io.Reader) (none M, _ learn.Mode, _ error) {
		h, body, err := model.Read(r)
		if err != nil {
			return none, learn.Mode{}, err
		}
		m, err := read(h, body)
		if err != nil {
			return none, learn.Mode{}, err
		}
		mode, err := learn.ParseMode(h.Mode)
		return m, mode, err
	}
}

// open reads the model of a file.
func (k *models[M]) open(path string) (M, learn.Mode, error) {
	f, err := os.Open(path)
	if err != nil {
		var none M
		return none, learn.Mode{}, fmt.Errorf("model %q cannot be opened: try the path of a file that timba train has written", path)
	}
	defer f.Close()
	m, mode, err := k.read(f)
	if err != nil {
		return m, mode, fmt.Errorf("%s: %w", path, err)
	}
	return m, mode, nil
}

// option returns the bot's option for a model.
func (k *models[M]) option() Option {
	return Option{rules.Option{Name: modelName, Values: []string{builtIn}, Help: "the file of a model"}, &kind{
		allowed: builtIn + ", or the path of a model.timba",
		canonical: func(path string) (string, bool) {
			return path, path != ""
		},
		check: func(path string) (err error) {
			if path != builtIn {
				_, _, err = k.open(path)
			}
			return err
		},
	}}
}

// load returns the model of a file, or that of the program, for a mode.
func (k *models[M]) load(path string, mode learn.Mode) (M, error) {
	if path == builtIn {
		data, err := k.files.ReadFile("models/" + k.kind + "/" + mode.String() + ".timba")
		if err != nil {
			var none M
			return none, noModel(k.kind, mode)
		}
		m, _, err := k.read(bytes.NewReader(data))
		return m, err
	}
	m, is, err := k.open(path)
	if err == nil && is != mode {
		err = fmt.Errorf("%s: the model is for %s, not for %s: train one by timba train %s --mode %s", path, is, mode, k.kind, mode)
	}
	return m, err
}

// noModel returns the error of a mode that the program has no model for.
func noModel(bot string, mode learn.Mode) error {
	return fmt.Errorf("@%s has no built-in model for %s: train one by timba train %s --mode %s, and play as @%s:model=FILE", bot, mode, bot, mode, bot)
}

// learnedBot plays by models, one for each mode.
type learnedBot[M any] struct {
	dice
	positions
	models *models[M]
	path   string // of the model, or builtIn
	// choose returns a move of a position in which a seat is to move, and appends what an info
	// line says about it.
	choose func(m M, s rules.State, legal []rules.Move, r *rules.Rand, info []byte) (rules.Move, []byte)
	loaded map[learn.Mode]M
	legal  [rules.MaxMoves]rules.Move
	info   []byte
	text   []byte
}

func (b *learnedBot[M]) Answer(t *protocol.Turn) protocol.Answer {
	r := b.of(t)
	random := protocol.Answer{Move: t.Moves.At(r.Below(t.Moves.Len()))}
	s, err := b.at(t)
	if err != nil || s.Turn() != t.Game.Seat {
		return random // the referee says what does not fit the game
	}
	mode, ok := learn.ModeOf(b.variant)
	if !ok {
		return random
	}
	m, ok := b.loaded[mode]
	if !ok {
		if m, err = b.models.load(b.path, mode); err != nil {
			return protocol.Answer{Err: err}
		}
		if b.loaded == nil {
			b.loaded = map[learn.Mode]M{}
		}
		b.loaded[mode] = m
	}
	var move rules.Move
	move, b.info = b.choose(m, s, s.Legal(b.legal[:0]), r, b.info[:0])
	if b.text = s.MoveText(b.text[:0], move); !t.Moves.Has(b.text) {
		return random
	}
	return protocol.Answer{Move: b.text, Info: b.info}
}
