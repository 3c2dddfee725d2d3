package house

import (
	"bytes"
	"embed"
	"fmt"
	"os"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sample-bots/learned"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/model"
)

const (
	// modelName is the option of bots that have learned.
	modelName = "model"
	// builtIn is the value for the models of the program, by mode.
	builtIn = "built-in"
	// byMean is the value of the option choice of @sl that compares means.
	byMean = "mean"
)

// modelFiles has models/KIND/MODE.timba, trained as docs/training.md says.
//
//go:embed models
var modelFiles embed.FS

// The options of the bots that have learned.
var (
	slOptions = []Option{
		modelOption(model.SL),
		{Option: rules.Option{Name: "choice", Values: []string{"likely", byMean}, Help: "compare moves by their most probable label, as the study does, or by the mean of all"}},
	}
	gaOptions  = []Option{modelOption(model.GA)}
	rlOptions  = []Option{modelOption(model.RL)}
	netOptions = []Option{modelOption(model.Net)}
)

// modelOption returns the option for a model of a kind.
func modelOption(of string) Option {
	return Option{rules.Option{Name: modelName, Values: []string{builtIn}, Help: "the file of a model"}, &kind{
		allowed: builtIn + ", or the path of a model.timba",
		canonical: func(path string) (string, bool) {
			return path, path != ""
		},
		check: func(path string) (err error) {
			if path != builtIn {
				_, err = openModel(path, of, false)
			}
			return err
		},
	}}
}

// openModel reads the model of a file, of a kind.
func openModel(path, kind string, byMean bool) (*learned.Agent, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("model %q cannot be opened: try the path of a file that timba-lab train has written", path)
	}
	defer f.Close()
	a, err := learned.Read(f, kind, byMean)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// learnedBot plays by models of one kind, one for each mode. It has read none before it needs one.
type learnedBot struct {
	dice
	positions
	kind   string // of its models; it is the bot's name
	path   string // of the model, or builtIn
	byMean bool
	agents map[cards.Mode]*learned.Agent
	legal  [rules.MaxMoves]rules.Move
	info   []byte
	text   []byte
}

// newLearned makes the bots of a kind of models.
func newLearned(kind string) func(rules.Settings) Player {
	return func(s rules.Settings) Player {
		b := &learnedBot{kind: kind, path: s.Get(modelName), agents: map[cards.Mode]*learned.Agent{}}
		b.byMean = kind == model.SL && s.Get("choice") == byMean
		return b
	}
}

// agent returns the agent for a mode.
func (b *learnedBot) agent(mode cards.Mode) (a *learned.Agent, err error) {
	if a, ok := b.agents[mode]; ok {
		return a, nil
	}
	if b.path != builtIn {
		a, err = openModel(b.path, b.kind, b.byMean)
		if err == nil && a.Mode != mode {
			err = fmt.Errorf("%s: the model is for %s, not for %s: train one by timba-lab train %s --mode %s", b.path, a.Mode, mode, b.kind, mode)
		}
	} else {
		var data []byte
		if data, err = modelFiles.ReadFile("models/" + b.kind + "/" + mode.String() + ".timba"); err != nil {
			return nil, fmt.Errorf("@%s has no built-in model for %s: train one by timba-lab train %[1]s --mode %[2]s, and play as @%[1]s:model=FILE", b.kind, mode)
		}
		a, err = learned.Read(bytes.NewReader(data), b.kind, b.byMean)
	}
	if err != nil {
		return nil, err
	}
	b.agents[mode] = a
	return a, nil
}

func (b *learnedBot) Answer(t *protocol.Turn) protocol.Answer {
	r := b.of(t)
	random := protocol.Answer{Move: t.Moves.At(r.Below(t.Moves.Len()))}
	s, err := b.at(t)
	if err != nil || s.Turn() != t.Game.Seat {
		return random // the referee says what does not fit the game
	}
	mode, ok := cards.ModeOf(b.variant)
	if !ok {
		return random
	}
	a, err := b.agent(mode)
	if err != nil {
		return protocol.Answer{Err: err}
	}
	move, note := a.Choose(s, s.Legal(b.legal[:0]), r)
	switch note.Name {
	case learned.Score:
		b.info = appendScore(b.info[:0], note.Value)
	case learned.Known:
		b.info = appendInfo(b.info[:0], learned.Known, int64(note.Value))
	default:
		b.info = b.info[:0]
	}
	if b.text = s.MoveText(b.text[:0], move); !t.Moves.Has(b.text) {
		return random
	}
	return protocol.Answer{Move: b.text, Info: b.info}
}
