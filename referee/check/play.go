package check

import (
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/rules"
)

// game is one game of the check. The bot plays it in one seat, and the other seats make random moves that depend only
// on the seed.
type game struct {
	variant *rules.Variant
	seat    int
	seed    rules.Seed // decides the deal, the moves of the other seats, and the bot's own seed
	clock   referee.Clock
	style   style
	quiet   bool          // the bot must write no lines after the game
	until   time.Duration // value of timer.ownTime at which to stop the game early; 0 means never
}

// style says in what way the lines to the bot differ from those that the referee sends in a match. The protocol
// allows all these differences. The zero value means no difference.
type style struct {
	rewriteLine func(line string) string // returns the lines to send instead of a line, without the last LF; may be nil
	step        bool                     // send one line at a time; after a line that needs no answer the bot must stay silent
	pieces      bool                     // send the lines of the first turns in pieces, as a pipe may deliver them
	faults      bool                     // another seat forfeits in the middle of the game
}

func (s style) plain() bool { return s.rewriteLine == nil && !s.step && !s.pieces && !s.faults }

// rewrite returns the lines to send in this style instead of the given lines.
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

func (g *game) botSeed() uint64 {
	s := g.seed.Derive("check/bot")
	return binary.BigEndian.Uint64(s[:]) >> 11
}

func (g *game) othersRand() *rules.Rand {
	s := g.seed.Derive("check/others")
	return rules.NewRand(binary.BigEndian.Uint64(s[:]))
}

// botAnswers has the moves of the bot in one game, and the times that they took.
type botAnswers struct {
	moves []string
	times []time.Duration // by move, the time without that of other programs
}

// piecesTurns is the number of turns at the start of a game that style.pieces sends in pieces.
const piecesTurns = 5

// maxPlies is the number of moves after which the check ends a game between two sides. Some games have no limit of
// their own.
const maxPlies = 300

// errTime is the error of a game that was stopped because no time for the check is left. It occurs only in games with
// more than two sides: the protocol has no line that ends such a game early. In a game with two sides, the bot's
// opponent forfeits instead.
var errTime = errors.New("the time of the check is used up")

// play plays the game g in this process of the bot, and returns the bot's answers. The error is a *Failure if the bot
// is to blame.
func (s *session) play(g *game) (p botAnswers, err error) {
	s.Stderr()
	s.games++
	s.run.extras.games++
	s.run.extras.gameLog = 0
	head := referee.Replay{
		Timba:   protocol.Version,
		Program: referee.Version(),
		Game:    g.variant.Game.Name,
		Options: g.variant.Settings.Map(),
		Seed:    referee.Hex(g.seed),
		Match:   referee.ReplayMatch{Deal: s.run.extras.games},
		Clock:   g.clock.InReplay(),
		Seats:   make([]referee.ReplaySeat, g.variant.Players),
	}
	head.Commitment = referee.Commitment(s.run.Seed)
	for seat := range head.Seats {
		head.Seats[seat] = referee.ReplaySeat{Name: "random-moves", SHA256: referee.Hex{}.String()}
	}
	bot := s.run.report.Bot
	head.Seats[g.seat] = referee.ReplaySeat{Name: bot.Name, Version: bot.Version, SHA256: bot.SHA256, Seed: g.botSeed()}
	s.game = &progress{game: g, state: referee.NewGame(g.variant, head, rules.OneSeat(g.seat)), silences: map[string]int{}}
	s.out.style = g.style
	err = s.playTurns()
	s.out.style = style{}
	if err == nil && g.quiet {
		err = s.checkQuiet()
	}
	s.Stderr()
	failure := s.failure(err)
	if s.run.OnGame != nil {
		s.recordGame(err)
	}
	return s.game.answers, failure
}

// recordGame passes the record of the current game to OnGame. err is the error with which play ended. If err is a
// fault of the bot, the other seats first play the game to its end. If it is any other error, recordGame does
// nothing.
func (s *session) recordGame(err error) {
	r, faulty := errors.AsType[fault.Reason](err)
	if err != nil && !faulty {
		return
	}
	late, _ := errors.AsType[match.LateError](err)
	g, state := s.game, s.game.state
	for others := g.othersRand(); !state.IsOver(); {
		legal := state.State.Legal(nil)
		switch turn := state.Turn(); {
		case state.HasForfeited(turn):
			state.PlayStandIn()
		case turn == g.seat:
			err = state.Forfeit(turn, r, late.Credit)
		default:
			err = state.Move(state.State.MoveText(nil, legal[others.Below(len(legal))]), referee.MoveTime{}, nil)
		}
		if err != nil {
			return // cannot happen: the move is legal, and the bot forfeits once
		}
	}
	if !state.HasEnded() {
		state.End()
	}
	s.run.OnGame(&referee.GameResult{Replay: state.Record})
}

// playTurns plays the current game to its end and sends the bot the result. The error may be a fault.Reason of the
// bot.
func (s *session) playTurns() error {
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
			err = s.askMove()
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

// askMove sends the bot its turn in the current game and waits for the answer. It makes the move of the answer, and
// records the move with its time.
func (s *session) askMove() error {
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

// checkQuiet returns a fault if the bot writes a line within Waits.Pause after a game. If the bot's process ends in
// this time, checkQuiet returns nil, because the next game reports that.
func (s *session) checkQuiet() error {
	err := s.proc.ReadBetweenTurns(time.Now().Add(s.run.Waits.Pause))
	if s.endError != nil {
		return nil
	}
	return err
}
