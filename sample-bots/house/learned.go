package house

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"strings"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/model"
)

const (
	// builtIn is the value of the option model that selects the model files in the program itself.
	builtIn = "built-in"
	// byMean is a value of the option choice of the bot sl. With this value the bot compares moves by the mean of
	// all labels (classes of results) instead of the most probable label.
	byMean = "mean"
)

// modelFiles has the files models/KIND/MODE.timba. lab/README.md says how they were trained.
//
//go:embed models
var modelFiles embed.FS

// modelOption returns the bot option "model", which selects the file of a trained model. of is the kind that the model
// must have, such as "rl". The default is the model that is built into the program.
func modelOption(of string) BotOption {
	return BotOption{rules.Option{Name: "model", Values: []string{builtIn}, Help: "the file of a model"}, &valueKind{
		allowedText: builtIn + ", or the path of a model.timba",
		canonical: func(path string) (string, bool) {
			return path, path != ""
		},
		check: func(path string) (err error) {
			if path != builtIn {
				_, err = openModel(path, of, false)
			}
			return err
		},
		isFile: true,
	}}
}

// openModel reads the model file at path and returns the agent that plays by it. The model must be of the given kind,
// such as "rl"; "" allows every kind. byMean only matters for the kind "sl", whose models predict a class of results (a
// label) for each move: the agent then compares moves by the mean of all labels instead of the most probable label.
func openModel(path, kind string, byMean bool) (*learned.Agent, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, openError(path)
	}
	defer f.Close()
	a, err := learned.Read(f, kind, byMean)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// ModelExt is the extension of the name of a file with a trained model.
const ModelExt = ".timba"

// isModelFile reports whether spec is meant as the path of a model file, and not as the name of a house bot with or
// without options. A path ends in ModelExt and has no colon. The file need not exist.
func isModelFile(spec string) bool {
	return strings.HasSuffix(spec, ModelExt) && !strings.Contains(spec, ":")
}

func newModelPlayer(path string) (Player, error) {
	a, err := openModel(path, "", false)
	if err != nil {
		return nil, err
	}
	l := &learner{kind: a.Header.Kind, path: path, agents: map[cards.Mode]*learned.Agent{a.Mode: a}}
	return &thinkerBot{thinkers: map[string]thinker{"brisca": l, "tute": l}}, nil
}

// ReadModelHeader returns the header of the model file at path, and the game for which the model was trained, as in
// "tute players=2 followonly=no". This is the form (claim) in which bots say what they play. ReadModelHeader returns an
// error if the file cannot be opened or the header is damaged. It does not read the model itself, the rest of the file.
func ReadModelHeader(path string) (h model.Header, claim string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return h, "", openError(path)
	}
	defer f.Close()
	if h, _, err = model.Read(f); err != nil {
		return h, "", err
	}
	mode, err := cards.ParseMode(h.Mode)
	return h, mode.Claim(), err
}

func openError(path string) error {
	return fmt.Errorf("model %q cannot be opened: try the path of a file that timba-lab train has written", path)
}

// learner plays Brisca and Tute by trained models of one kind. There is one model for each mode, which is a game
// with certain options. learner reads the model of a mode when a game first needs it.
type learner struct {
	kind   string                        // such as "rl"; also the name of the bot
	path   string                        // file of the model, or builtIn
	byMean bool                          // compares moves by the mean of all labels (classes of results)
	agents map[cards.Mode]*learned.Agent // agents that were read so far, by mode
	agent  *learned.Agent                // agent of the current game
	legal  [rules.MaxMoves]rules.Move
}

func newLearned(kind string) func(*params) Player {
	return func(p *params) Player {
		l := &learner{kind: kind, path: p.readOption(modelOption(kind)), agents: map[cards.Mode]*learned.Agent{}}
		if kind == model.SL {
			l.byMean = p.readWord("choice", "compare moves by their most probable label, as the study does, or by the mean of all", "likely", byMean) == byMean
		}
		return &thinkerBot{thinkers: map[string]thinker{"brisca": l, "tute": l}}
	}
}

// agentFor returns the agent that plays the given mode of a game. It reads the agent's model at the first
// call, and returns an error if there is no model for mode.
func (l *learner) agentFor(mode cards.Mode) (a *learned.Agent, err error) {
	if a, ok := l.agents[mode]; ok {
		return a, nil
	}
	if l.path != builtIn {
		a, err = openModel(l.path, l.kind, l.byMean)
		if err == nil && a.Mode != mode {
			err = fmt.Errorf("%s: the model is for %s, not for %s: train one by timba-lab train %s --mode %s", l.path, a.Mode, mode, l.kind, mode)
		}
	} else {
		var data []byte
		if data, err = modelFiles.ReadFile("models/" + l.kind + "/" + mode.String() + ".timba"); err != nil {
			return nil, fmt.Errorf("@%s has no built-in model for %s: train one by timba-lab train %[1]s --mode %[2]s, and play as @%[1]s:model=FILE", l.kind, mode)
		}
		a, err = learned.Read(bytes.NewReader(data), l.kind, l.byMean)
	}
	if err != nil {
		return nil, err
	}
	l.agents[mode] = a
	return a, nil
}

// CheckModel returns an error if spec (name and options) names a bot that plays v by a trained model, but there is
// no model for v. It also returns an error if spec is not valid.
func CheckModel(spec string, v *rules.Variant) error {
	p, err := NewPlayer(spec)
	if err != nil {
		return err
	}
	if b, ok := p.(*thinkerBot); ok {
		if l, ok := b.thinkers[v.Game.Name].(*learner); ok {
			mode, _ := cards.ModeOf(v)
			_, err = l.agentFor(mode)
		}
	}
	return err
}

func (l *learner) startGame(v *rules.Variant, _ rules.State, _ int) (err error) {
	mode, _ := cards.ModeOf(v)
	l.agent, err = l.agentFor(mode)
	return err
}

func (l *learner) think(_ *protocol.Turn, s rules.State, r *rules.Rand, info []byte) (rules.Move, []byte) {
	move, note := l.agent.Choose(s, s.Legal(l.legal[:0]), r)
	switch note.Name {
	case learned.ScoreNote:
		info = appendScore(info, note.Value)
	case learned.KnownNote:
		info = appendInfo(info, learned.KnownNote, int64(note.Value))
	}
	return move, info
}
