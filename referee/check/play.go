package check

import (
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/rules"
)

// game is a game for the bot to play in one seat; the other seats make random
// moves that depend on its seed alone.
type game struct {
	variant *rules.Variant
	seat    int
	seed    rules.Seed // of the deal, the others' moves and the bot's own seed
	clock   referee.Clock
	style   style
	quiet   bool          // the bot must write no lines after it
	until   time.Duration // after how much of the check's own time to stop it early; 0: never
}

// style is how the lines of a game differ from what the referee sends today.
type style struct {
	rewriteLine func(line string) string // returns the lines to send for a line, without the last LF
	step        bool                     // send a line at a time, with pauses in which the bot must be silent
	pieces      bool                     // send the lines of the first moves in pieces, as a pipe may deliver them
	faults      bool                     // another seat forfeits in the middle
}

func (s style) plain() bool { return s.rewriteLine == nil && !s.step && !s.pieces && !s.faults }

// rewrite returns what is sent for some lines.
func (s style) rewrite(lines []byte) (out []byte) {
	if s.rewriteLine == nil {
		return lines
	}
	for line := range strings.Lines(string(lines)) {
		out = append(append(out, s.rewriteLine(strings.TrimSuffix(line, "\n"))...), '\n')
	}
	return out
}

func (g *game) String() string { return g.variant.Game.Name + " " + g.variant.Settings.String() }

// botSeed returns the seed that the bot is sent.
func (g *game) botSeed() uint64 {
	s := g.seed.Derive("check/bot")
	return binary.BigEndian.Uint64(s[:]) >> 11
}

// othersRand returns the randomness of the other seats.
func (g *game) othersRand() *rules.Rand {
	s := g.seed.Derive("check/others")
	return rules.NewRand(binary.BigEndian.Uint64(s[:]))
}

// botAnswers is what the bot did in a game.
type botAnswers struct {
	moves []string
	times []time.Duration // its own time for each
}

// piecesTurns is how many turns are sent in pieces.
const piecesTurns = 5

// maxPlies is after how many plies a game between two sides is stopped: a game
// without a limit of its own could be very long.
const maxPlies = 300

// errTime is why a game with more than two sides was stopped: no line of the
// referee could end it.
var errTime = errors.New("the time of the check is used up")

// play plays a game to its end. The error is a *Failure if it is the bot's fault.
func (s *session) play(g *game) (p botAnswers, err error) {
	s.Stderr()
	s.games++
	s.run.extras.gameLog = 0
	head := referee.Replay{
		Game:    g.variant.Game.Name,
		Options: g.variant.Settings.Map(),
		Seed:    referee.Hex(g.seed),
		Clock:   g.clock.InReplay(),
		Seats:   make([]referee.ReplaySeat, g.variant.Players),
	}
	head.Seats[g.seat].Seed = g.botSeed()
	s.game = &progress{game: g, state: referee.NewGame(g.variant, head, rules.OneSeat(g.seat)), silences: map[string]int{}}
	s.out.style = g.style
	err = s.turns()
	s.out.style = style{}
	if err == nil && g.quiet {
		err = s.checkQuiet()
	}
	s.Stderr()
	return s.game.answers, s.failure(err)
}

// turns plays the turns of a game, and tells the bot its end.
func (s *session) turns() error {
	g, state, others := s.game, s.game.state, s.game.othersRand()
	state.Begin()
	two := g.variant.Sides == 2
	var legal []rules.Move
	for !state.IsOver() {
		turn := state.Turn()
		overtime := g.until != 0 && s.run.timer.ownTime() > g.until
		if overtime && !two {
			return errTime
		}
		legal = state.State.Legal(legal[:0])
		move := legal[others.Below(len(legal))]
		done := len(g.answers.moves)
		stop := overtime || g.style.faults && done >= 2 || state.State.Ply() >= maxPlies
		var err error
		switch {
		case state.HasForfeited(turn):
			state.PlayStandIn()
		case turn == g.seat:
			err = s.ask()
		case two && stop && g.variant.Side(turn) != g.variant.Side(g.seat):
			err = state.Forfeit(turn, referee.LateReason(g.clock), 0)
		case !two && g.style.faults && done >= 1 && len(state.Record.Faults) == 0:
			err = state.Forfeit(turn, fault.Reason{Kind: fault.Exited}, 0)
		default:
			err = state.Move(state.State.MoveText(nil, move), referee.MoveTime{}, nil)
		}
		if err != nil {
			return err
		}
	}
	state.End()
	err := s.proc.SendLines(state, g.seat)
	s.last = event{phrase.New("the end of the game"), fault.HeardEnd}
	return err
}

// ask asks the bot for its move.
func (s *session) ask() error {
	g := s.game
	if err := s.proc.PlayTurn(g.state); err != nil {
		return err
	}
	ply := len(g.state.Record.Moves) - 1
	s.last = event{phrase.New("its move of ply %d", ply), fault.Moved}
	g.answers.moves = append(g.answers.moves, g.state.Record.Moves[ply].Move)
	g.answers.times = append(g.answers.times, s.watch.ownTime)
	if s.out.style.step {
		return s.silentAfter("move")
	}
	return nil
}

// checkQuiet checks that the bot writes no lines after a game. The end of its process is no failure here; the next
// game reports it.
func (s *session) checkQuiet() error {
	err := s.proc.Await(time.Now().Add(s.run.Waits.Pause))
	if s.endError != nil {
		return nil
	}
	return err
}
