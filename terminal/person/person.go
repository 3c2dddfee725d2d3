// Package person plays a seat for a person: it receives the lines of the protocol as a
// bot does, draws the position in a terminal, and reads moves.
package person

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/terminal/draw"
)

// ErrQuit is the error of a game that the person left and that the others did not finish
// soon.
var ErrQuit = errors.New("the person left the game")

var (
	errUndo = errors.New("a move was taken back")         // ends a game in order to replay it up to there
	errOut  = errors.New("the person is out of the game") // ends a question
)

// leaveGrace is how long the others may take for a move after the person has left.
const leaveGrace = 2 * time.Second

// Person plays a seat of a match of one game.
type Person struct {
	Match match.Match // the bot at Seat has only a name
	Seat  int
	In    Prompter
	Out   io.Writer
	// Repeats is whether the other bots repeat their moves in the same game, which undo
	// needs.
	Repeats bool

	draw.Style
	names   []string                // by seat
	leave   context.CancelCauseFunc // ends the game
	playing context.Context         // until the person is out of the game
	out     context.CancelCauseFunc // ends playing
	left    bool                    // the person has left this game
	moves   []ownMove               // by the person in this game
	script  []ownMove               // those of an earlier game, to repeat
	last    string                  // the last move of any seat
	lastBy  int

	mu       sync.Mutex // Trace is called while the person is asked
	news     []string   // events and faults since the person's last turn
	thoughts []string   // of the bots since then
	infos    map[int][]string
	grace    *time.Timer // since the person has left, until the game ends
}

// ownMove is a move of the person, and what they saw before it.
type ownMove struct{ move, view string }

// Play plays the match, and replays it when a move is taken back. The error is ErrQuit if
// the person leaves and the others do not finish soon.
func (p *Person) Play(ctx context.Context) (*referee.Result, error) {
	p.Style = draw.For(p.Out)
	p.names = nil
	for _, b := range p.Match.Bots {
		p.names = append(p.names, b.Name)
	}
	p.names[p.Seat] = "you"
	p.welcome()
	for {
		game, err := p.game(ctx)
		if errors.Is(err, errUndo) {
			continue
		}
		return game, err
	}
}

// game plays one game. The error of a game that was ended is the cause.
func (p *Person) game(ctx context.Context) (*referee.Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	playing, out := context.WithCancelCause(ctx)
	defer out(nil)
	p.begin(cancel)
	p.playing, p.out, p.left = playing, out, false
	m := p.Match
	m.Bots = slices.Clone(m.Bots)
	var serving sync.Mutex
	m.Bots[p.Seat].Serve = func(in io.Reader, out io.Writer) error {
		serving.Lock()
		defer serving.Unlock()
		err := protocol.Serve(in, out, "", "", p.answer)
		if p.left {
			err = ErrQuit
		}
		return err
	}
	m.Trace = p.overhear
	var game *referee.Result
	m.Done = func(g *referee.Result) error {
		game = g
		return nil
	}
	err := m.Play(ctx)
	out(errOut)
	serving.Lock() // the person's part has ended, and the terminal is as before
	defer serving.Unlock()
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return nil, cause
	}
	return game, err
}

// begin resets the state before each game. p.script has the moves of the previous game,
// without those that were taken back.
func (p *Person) begin(leave context.CancelCauseFunc) {
	p.leave = leave
	p.moves = nil
	p.last = ""
	p.mu.Lock()
	defer p.mu.Unlock()
	p.news, p.thoughts, p.infos, p.grace = nil, nil, map[int][]string{}, nil
}

// overhear receives every line of the game. It keeps the events and faults that the
// person is sent, and what the bots write about their moves.
func (p *Person) overhear(t referee.Traffic) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.grace != nil {
		p.grace.Reset(leaveGrace)
	}
	for line := range strings.Lines(string(t.Lines)) {
		verb, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case t.Seat == p.Seat && !t.FromBot && (verb == "event" || verb == "fault"):
			p.news = append(p.news, strings.TrimSuffix(line, "\n"))
			if verb == "fault" && strings.HasPrefix(rest, fmt.Sprintf("%d ", p.Seat)) {
				p.out(errOut)
			}
		case t.Seat == p.Seat || !t.FromBot:
		case verb == "info":
			p.infos[t.Seat] = append(p.infos[t.Seat], rest)
		case verb == "move":
			for _, info := range p.infos[t.Seat] {
				p.thoughts = append(p.thoughts, fmt.Sprintf("%s on %s: %s", draw.Name(p.names, t.Seat), p.Move(rest), draw.Clean(info)))
			}
			p.infos[t.Seat] = nil
		}
	}
}

// take returns the news and thoughts since the last call.
func (p *Person) take() (news, thoughts []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	news, thoughts = p.news, p.thoughts
	p.news, p.thoughts = nil, nil
	return news, thoughts
}

// answer asks the person for a move. Without one the answer is empty, which ends the
// person's part in the game.
func (p *Person) answer(t *protocol.Turn) protocol.Answer {
	until := time.Now().Add(t.Time)
	p.Style = draw.For(p.Out) // the terminal may have another size now
	news, thoughts := p.take()
	p.follow(news)
	if move, ok := p.again(t); ok {
		return p.made(t, move)
	}
	p.tell(news)
	now := turn{Turn: t, hand: p.hand(t), thoughts: thoughts}
	now.choices = choicesOf(p.Match.Variant.Game.Display, now.hand, t.Moves.Strings())
	now.choices.side = p.side(t)
	p.show(now)
	q := Question{Text: now.choices.prompt(), Complete: func(start string) []string { return beginning(p.words(now), start) }}
	if p.timed() {
		q.Until = until
	}
	for {
		line, err := p.In.Ask(p.playing, q)
		switch {
		case errors.Is(err, errOut):
			news, _ := p.take()
			p.tell(news)
			return protocol.Answer{}
		case p.playing.Err() != nil:
			return protocol.Answer{}
		case err != nil:
			p.quit()
			return protocol.Answer{}
		case line == "":
			continue
		}
		if move := now.choices.choose(line, p.commandNames()); move != "" {
			return p.made(t, move)
		}
		leaving, known := p.command(line, now)
		if leaving {
			return protocol.Answer{}
		}
		if !known {
			p.say("", now.choices.why(line, p.commandNames()))
		}
	}
}

// side returns how many squares a side of the board has, 0 without a board.
func (p *Person) side(t *protocol.Turn) int {
	if board := p.Match.Variant.Game.Display.Board; board != nil {
		return rules.Columns(t.View.Get(board.Pieces))
	}
	return 0
}

// hand returns the cards in the person's hand, nil in other games.
func (p *Person) hand(t *protocol.Turn) []string {
	if cards := p.Match.Variant.Game.Display.Cards; cards != nil {
		return strings.Split(t.View.Get(cards.Hand), ",")
	}
	return nil
}

// quit forfeits the game. The others play on while each of their moves comes within leaveGrace.
func (p *Person) quit() {
	p.left = true
	leave := p.leave
	p.mu.Lock()
	defer p.mu.Unlock()
	p.grace = time.AfterFunc(leaveGrace, func() { leave(ErrQuit) })
}

// made records a move and returns it as the answer.
func (p *Person) made(t *protocol.Turn, move string) protocol.Answer {
	p.moves = append(p.moves, ownMove{move, string(t.View)})
	p.last, p.lastBy = move, p.Seat
	return protocol.Answer{Move: []byte(move)}
}

// again returns the move that the script has for this turn.
func (p *Person) again(t *protocol.Turn) (string, bool) {
	n := len(p.moves)
	if n >= len(p.script) {
		return "", false
	}
	if string(t.View) != p.script[n].view || !t.Moves.Has([]byte(p.script[n].move)) {
		p.say("", p.Alert("the bots play differently this time: the game continues from here"))
		p.script = nil
		return "", false
	}
	return p.script[n].move, true
}

// follow records the last move, which boards mark.
func (p *Person) follow(news []string) {
	for _, line := range news {
		words := strings.Fields(line)
		if len(words) == 4 && words[1] == "play" {
			p.last = words[3]
			p.lastBy, _ = strconv.Atoi(words[2])
		}
	}
}

func (p *Person) show(t turn) {
	fmt.Fprint(p.Out, p.Position(draw.Position{
		Game: t.Game.Name, Display: p.Match.Variant.Game.Display, Options: t.Game.Settings, View: t.View, Seat: p.Seat, Ply: t.Ply, Turn: p.Seat,
		Names: p.names, Last: p.last, LastBy: p.lastBy, Keys: t.choices.keys,
	}))
	p.list(t.choices, t.hand, false)
}
