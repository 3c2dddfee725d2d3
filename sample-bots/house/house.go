// Package house contains the house bots, the bots that are part of the timba binary: `timba bot NAME` runs
// one on stdin and stdout. A bot whose search is not limited by the clock is deterministic: with the same
// game, options and seed it makes the same moves. Begin with Bots and NewPlayer.
package house

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/model"
)

// Player chooses the moves of a house bot (part of timba). It keeps state from turn to turn. Use one Player for one
// sequence of games, in one goroutine.
type Player interface {
	Answer(*protocol.Turn) protocol.Answer
}

// Bot describes a house bot, which is part of timba.
type Bot struct {
	Name string
	Help string // one line for people: how the bot plays
	// Games are the names of the games that the bot is made for; nil means all. It plays other games at
	// random, and says so in the info that it sends with its moves.
	Games []string
	// IsSimple is set if the bot plays every game and needs almost no time. Lists for users show these bots first.
	IsSimple  bool
	newPlayer func(*params) Player
}

// Options returns the options of the bot. A user sets them in a spec of the form NAME:key=value,key=value.
func (b Bot) Options() []BotOption {
	p := new(params)
	b.newPlayer(p)
	return p.options
}

// ServerOptions returns the options of the bot, reduced to the values that people may choose on a server. With these
// values a bot cannot open files of the server, and uses no more memory than by default.
func (b Bot) ServerOptions() []BotOption {
	options := b.Options()
	for i := range options {
		options[i] = options[i].forServer()
	}
	return options
}

// Bots returns every house bot (those that are part of timba). The simple ones come first.
func Bots() []Bot {
	return []Bot{
		{"random", "plays any legal move", nil, true, newRandom},
		{"first", "plays the first move of the list", nil, true, newFirst},
		{"greedy", "looks one move ahead and plays the most valuable move; where it plays at random, its info is play=random", nil, true, newGreedy},
		{"champion", "searches as deep as its clock allows", championGameNames, false, newChampion},
		{"brisca-basic", "leads low and answers with the card that gains most", briscaOnly, false, newBriscaBasic},
		{"brisca-weighted", "weighs what a card gains against what it costs", briscaOnly, false, newBriscaWeighted},
		{"brisca-minimax", "plays like brisca-weighted, and the last tricks of two players by exact minimax", briscaOnly, false, newBriscaMinimax},
		{"brisca-plus", "plays like brisca-minimax, with more features and with weights fitted by play", briscaOnly, false, newBriscaPlus},
		{"podrida-rules", "bids and plays by the 25 rules of a study", podridaOnly, false, newPodridaRules},
		{"podrida-mcts", "searches deals of the hidden cards by Monte Carlo tree search", podridaOnly, false, newPodridaMCTS},
		{"tebes-minimax", "searches to a fixed depth by alpha-beta, with the heuristics of a study", tebesOnly, false, newTebesMinimax},
		{"tebes-mcts", "searches by Monte Carlo tree search", tebesOnly, false, newTebesMCTS},
		{"tebes-mcts-h", "searches by Monte Carlo tree search guided by a heuristic", tebesOnly, false, newTebesGuided},
		{"sl", "plays what a net has learned from played games", cardsOnly, false, newLearned(model.SL)},
		{"ga", "plays the move that a net of a genetic search ranks highest", cardsOnly, false, newLearned(model.GA)},
		{"rl", "plays what Monte Carlo learning has found best", cardsOnly, false, newLearned(model.RL)},
		{"net", "plays the move that a net trained by play against itself values most", cardsOnly, false, newLearned(model.Net)},
		{"teeko-lms", "plays the move of the highest learned value", []string{"teeko"}, false, newTeekoLMS},
	}
}

var (
	briscaOnly  = []string{"brisca"}
	podridaOnly = []string{"podrida"}
	tebesOnly   = []string{"tebes"}
	cardsOnly   = []string{"brisca", "tute"}
)

// NewPlayer returns a new player for spec. spec is the name of a house bot, the name with options
// (NAME:key=value,key=value), or the path of a model file. NewPlayer returns an error if the bot or an option does not
// exist, if an option is set twice or to a value that is not allowed, or if a model file cannot be read or is damaged.
func NewPlayer(spec string) (Player, error) {
	if isModelFile(spec) {
		return newModelPlayer(spec)
	}
	b, settings, err := parse(spec, Bot.Options)
	if err != nil {
		return nil, err
	}
	return b.newPlayer(&params{settings: settings}), nil
}

// CanonicalSpec returns the canonical form of spec (NAME or NAME:key=value,key=value). This form leaves out options
// with default values and lists the others in the order of Bot.Options, so that it is the same for all specs of the
// same behavior. The error is that of NewPlayer.
func CanonicalSpec(spec string) (string, error) {
	b, settings, err := parse(spec, Bot.Options)
	if err != nil {
		return "", err
	}
	return b.specOf(settings), nil
}

// ServerSpec returns the canonical form of spec (NAME or NAME:key=value,key=value) for a house bot that somebody
// chooses on a server. It does what CanonicalSpec does, but also returns an error if Bot.ServerOptions does not allow
// the value of an option. It opens no file.
func ServerSpec(spec string) (string, error) {
	b, settings, err := ParseServerSpec(spec)
	if err != nil {
		return "", err
	}
	return b.specOf(settings), nil
}

// specOf returns the canonical text NAME:key=value,key=value for the bot with the given settings. The text has only the
// options whose values are not the defaults. settings must have a value for every option of the bot.
func (b Bot) specOf(settings rules.Settings) string {
	spec, separator := b.Name, ":"
	for _, o := range b.Options() {
		if value := settings.Get(o.Name); value != o.DefaultText() {
			spec += separator + o.Name + "=" + value
			separator = ","
		}
	}
	return spec
}

// ParseServerSpec returns the house bot that spec (NAME or NAME:key=value,key=value) names, and the values of all
// options of this bot. Options that spec leaves out have their defaults. ParseServerSpec returns an error if the bot or
// an option does not exist, or if a value is not allowed on a server.
func ParseServerSpec(spec string) (Bot, rules.Settings, error) { return parse(spec, Bot.ServerOptions) }

// parse returns the house bot that spec (NAME or NAME:key=value,key=value) names, and the values of all options of this
// bot. Options that spec leaves out have their defaults. optionsOf returns the options of a bot with the values that
// spec may give them. parse returns an error if the bot or an option does not exist, or if an option is set twice or to
// a value that is not allowed.
func parse(spec string, optionsOf func(Bot) []BotOption) (Bot, rules.Settings, error) {
	name, given, _ := strings.Cut(spec, ":")
	var all []string
	for _, b := range Bots() {
		if b.Name == name {
			settings, err := b.resolve(spec, given, optionsOf(b))
			return b, settings, err
		}
		all = append(all, b.Name)
	}
	return Bot{}, nil, phrase.Errorf("house bot %q does not exist: try %s", name, strings.Join(all, ", "))
}

// SimpleNames returns the names of the bots that play every game and need almost no time.
func SimpleNames() (n []string) {
	for _, b := range Bots() {
		if b.IsSimple {
			n = append(n, b.Name)
		}
	}
	return n
}

// Executable returns the path of the program that plays a house bot when it is started with the arguments "bot SPEC".
// It is this program. Tests with the race detector replace it by a program without the detector, which starts faster.
var Executable = os.Executable

// Plays reports whether the bot that spec names, such as "greedy:key=value", is made for the game with the given
// name. It returns true if there is no such bot.
func Plays(spec, game string) bool {
	made := Games(spec)
	return made == nil || slices.Contains(made, game)
}

// Games returns the names of the games for which the bot that spec names, such as "greedy:key=value", is made. nil
// means all games, or that there is no such bot.
func Games(spec string) []string {
	name, _, _ := strings.Cut(spec, ":")
	for _, b := range Bots() {
		if b.Name == name {
			return b.Games
		}
	}
	return nil
}

// LadderBots returns the specs (name and options) of the house bots on the default ladder of a game, the weakest
// first. For a game that is not part of timba these are the simplest bots.
func LadderBots(game string) []string {
	if bots, ok := ladderSpecs[game]; ok {
		return slices.Clone(bots)
	}
	return []string{"random", "first"}
}

// ladderSpecs has the specs (name and options) of the bots on the default ladder of each game, the weakest first.
// docs/house-bots.md has their ratings. With the clock of these ladders each needs at most about 15 ms for a move.
var ladderSpecs = map[string][]string{
	"brisca":  {"random", "champion:level=2", "champion:level=4", "brisca-basic", "brisca-weighted", "greedy", "brisca-plus", "rl", "champion"},
	"tute":    {"random", "champion:level=2", "champion:level=4", "greedy", "rl", "champion:level=6", "champion"},
	"podrida": {"random", "champion:level=3", "champion:level=5", "podrida-rules", "greedy", "champion:level=6", "podrida-mcts", "champion"},
	"tebes":   {"random", "champion:level=1", "champion:level=2", "tebes-mcts", "champion:level=3", "greedy", "champion:level=6", "tebes-minimax", "champion"},
	"teeko":   {"random", "champion:level=1", "champion:level=2", "champion:level=3", "teeko-lms", "greedy", "champion:level=6", "champion"},
}

// Version is the common version of all house bots. It must be changed whenever one of them makes other moves.
const Version = "3"

// Run plays as the bot of spec (name and options): it reads the protocol from in and writes the answers to out, until
// the input ends. The bot reports the canonical form of spec as its name, and a model the name "model".
func Run(spec string, in io.Reader, out io.Writer) error {
	p, err := NewPlayer(spec)
	if err != nil {
		return err
	}
	name := "model"
	if !isModelFile(spec) {
		if name, err = CanonicalSpec(spec); err != nil {
			return err
		}
	}
	return protocol.Serve(in, out, name, Version, p.Answer)
}

// resolve returns a value for each of the given options of the bot b. given is a text such as "key=value,key=value".
// Options that given leaves out have their defaults. resolve returns an error if given sets another option, sets one
// twice, or sets a value that is not allowed. Errors name spec, the complete text from the user.
func (b Bot) resolve(spec, given string, options []BotOption) (rules.Settings, error) {
	settings := make(rules.Settings, len(options))
	for i, o := range options {
		settings[i] = rules.Setting{Name: o.Name, Value: o.DefaultText()}
	}
	if given == "" {
		return settings, nil
	}
	var set []string
	for pair := range strings.SplitSeq(given, ",") {
		key, value, ok := strings.Cut(pair, "=")
		i := slices.IndexFunc(options, func(o BotOption) bool { return o.Name == key })
		if i < 0 || !ok {
			return nil, phrase.Errorf("house bot %q: option %q does not exist: %s", spec, pair, b.tryOptions(options))
		}
		if slices.Contains(set, key) {
			return nil, phrase.Errorf("house bot %q: option %s cannot be set twice: leave one out", spec, key)
		}
		value, err := options[i].Resolve(value)
		if err != nil {
			return nil, phrase.Errorf("house bot %q: %w", spec, err)
		}
		settings[i].Value, set = value, append(set, key)
	}
	return settings, nil
}

// tryOptions returns the end of an error message: the bot's options with their allowed values.
func (b Bot) tryOptions(options []BotOption) string {
	if len(options) == 0 {
		return b.Name + " has no options"
	}
	var all []string
	for _, o := range options {
		all = append(all, fmt.Sprintf("%s=%s (%s)", o.Name, o.DefaultText(), o.AllowedText()))
	}
	return "try " + strings.Join(all, ", ")
}
