// Package person lets a person play a seat in a terminal: it receives the lines of the protocol as a bot
// does, draws the position, and reads moves. Begin with Person.
package person

import (
	"cmp"
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
	"github.com/timba-arena/timba/web/messages"
)

// ErrQuit is the error of a game that the person left, if the other seats did not finish it soon.
var ErrQuit = errors.New("the person left the game")

var (
	errUndo = errors.New("a move was taken back")         // ends a game because the person takes back a move; a new game follows
	errOut  = errors.New("the person is out of the game") // ends Prompter.Ask because the person forfeited or the game is over
)

// leaveGrace is the time limit for each further move of the other seats after the person has left.
const leaveGrace = 2 * time.Second

// Person lets a person play one game in a terminal.
type Person struct {
	Match    match.Match // the match to play; Match.Bots[Seat] needs only a name
	Seat     int
	Prompter Prompter
	Out      io.Writer
	// Repeats says that the other bots make the same moves again if the same game is played again. Without that, a
	// move cannot be taken back.
	Repeats bool

	draw.Style
	names  []string  // by seat
	script []ownMove // after an undo, the person's moves that are repeated
	*game
}

// game is one game of the match. When the person takes a move back, a new game replays the moves before it.
type game struct {
	leave   context.CancelCauseFunc // ends the game
	playing context.Context         // canceled when the person is out of the game; the cause is ErrQuit if they left
	out     context.CancelCauseFunc // cancels playing with a cause
	moves   []ownMove               // the person's moves so far
	last    string                  // the last move, by any seat
	lastBy  int                     // the seat that made the move last
	bulletin
	grace *time.Timer // ends the game some time after the person has left; guarded by mu
}

// bulletin collects what has happened in the game and was not shown to the person yet. Several goroutines may use
// it.
type bulletin struct {
	mu       sync.Mutex
	news     []string    // event and fault lines for the person's seat
	position rules.State // a copy of the last position
	thoughts []moveInfo
	infos    map[int][]string // by seat, the info lines that a bot has written before its next move
}

// ownMove is a move that the person made, with the person's view of the position before the move.
type ownMove struct{ move, view string }

// moveInfo is an info line that a bot wrote about its move.
type moveInfo struct {
	seat       int
	move, info string
}

// Play plays the game and returns its result. If the person takes a move back, it plays the game again up to that
// move. The error is ErrQuit if the person leaves and the other seats do not finish soon.
func (p *Person) Play(ctx context.Context) (*referee.GameResult, error) {
	p.Style = draw.StyleFor(p.Out)
	p.names = nil
	for _, b := range p.Match.Bots {
		p.names = append(p.names, b.Name)
	}
	p.names[p.Seat] = "you"
	p.welcome()
	for {
		game, err := p.playGame(ctx)
		if errors.Is(err, errUndo) {
			continue
		}
		return game, err
	}
}

// playGame plays one game and returns its result. If the game ended early, it returns the cause, such as errUndo
// or ErrQuit.
func (p *Person) playGame(ctx context.Context) (*referee.GameResult, error) {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	playing, out := context.WithCancelCause(ctx)
	defer out(nil)
	p.game = &game{leave: leave, playing: playing, out: out, bulletin: bulletin{infos: map[int][]string{}}}
	m := p.Match
	m.Bots = slices.Clone(m.Bots)
	var serving sync.Mutex
	m.Bots[p.Seat].Serve = func(in io.Reader, out io.Writer) error {
		serving.Lock()
		defer serving.Unlock()
		err := protocol.Serve(in, out, "", "", p.answer)
		if p.hasLeft() {
			err = ErrQuit
		}
		return err
	}
	m.Observer.Trace, m.Observer.Watch = p.collectNews, p.recordPosition
	result, err := m.PlayGame(ctx)
	out(errOut)
	serving.Lock() // after this the person's goroutine has ended and the terminal is restored
	defer serving.Unlock()
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return nil, cause
	}
	return result, err
}

func (g *game) hasLeft() bool { return context.Cause(g.playing) == ErrQuit }

// collectNews is the function Observer.Trace of the match. It collects the events and faults that the person's
// seat gets, and the info lines of the other bots.
func (p *Person) collectNews(t referee.Traffic) {
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
				p.thoughts = append(p.thoughts, moveInfo{t.Seat, rest, info})
			}
			p.infos[t.Seat] = nil
		}
	}
}

// recordPosition stores a copy of the position of g. The match calls it as Observer.Watch.
func (b *bulletin) recordPosition(g *referee.Game) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.position = g.State.Clone()
}

// takeNews returns what was collected since the last call: news has the events and faults, and thoughts has the
// info lines of bots.
func (b *bulletin) takeNews() (news []string, thoughts []moveInfo) {
	b.mu.Lock()
	defer b.mu.Unlock()
	news, thoughts = b.news, b.thoughts
	b.news, b.thoughts = nil, nil
	return news, thoughts
}

// answer shows the position, asks the person for a move, and returns the move. If the person leaves or is out of
// the game, the answer is empty and the person's seat gets no more turns.
func (p *Person) answer(t *protocol.Turn) protocol.Answer {
	until := time.Now().Add(t.Time)
	p.Style = draw.StyleFor(p.Out) // the size of the terminal may have changed
	news, thoughts := p.takeNews()
	p.recordLastMove(news)
	if move, ok := p.scriptedMove(t); ok {
		return p.recordMove(t, move)
	}
	p.showNews(news)
	now := turn{Turn: t, hand: p.hand(t), thoughts: thoughts}
	now.choices = choicesOf(p.Match.Variant.Game.Display, now.hand, t.Moves.Strings())
	now.choices.side = p.side(t)
	p.show(now)
	q := Question{Text: now.choices.prompt(), Complete: func(start string) []string { return beginning(p.words(now), start) }}
	if p.hasClock() {
		q.Until = until
	}
	for {
		line, err := p.Prompter.Ask(p.playing, q)
		switch {
		case errors.Is(err, errOut):
			news, _ := p.takeNews()
			p.showNews(news)
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
			return p.recordMove(t, move)
		}
		leaving, known := p.command(line, now)
		if leaving {
			return protocol.Answer{}
		}
		if !known {
			p.say("", cmp.Or(p.refusal(now.choices, line), now.choices.rejection(line, p.commandNames())))
		}
	}
}

// refusal returns the text of the rule that forbids the move that a person typed as line. It returns "" if no rule
// does, or if line is no move.
func (p *Person) refusal(c choices, line string) string {
	p.mu.Lock()
	position := p.position
	p.mu.Unlock()
	languages, err := messages.All()
	if err != nil {
		return "" // the usual text follows
	}
	for _, text := range []string{line, strings.Join(strings.Fields(c.squareNumbers(line)), "-"), c.word + ":" + line} {
		m, err := position.ParseMove(text)
		if err != nil {
			continue
		}
		if why, ok := errors.AsType[*rules.Refusal](position.Check(m)); ok {
			v := why.Values
			return languages[0].Text("table.js.why."+string(why.Code), "card", p.Card(v["card"]), "suit", p.SuitOf(v["suit"]), "square", v["square"], "count", v["count"])
		}
	}
	return ""
}

func (p *Person) side(t *protocol.Turn) int {
	if board := p.Match.Variant.Game.Display.Board; board != nil {
		return rules.Columns(t.View.Get(board.Pieces))
	}
	return 0
}

func (p *Person) hand(t *protocol.Turn) []string {
	if cards := p.Match.Variant.Game.Display.Cards; cards != nil {
		return strings.Split(t.View.Get(cards.Hand), ",")
	}
	return nil
}

// quit forfeits the game for the person. The other seats play on, but a move that takes longer than leaveGrace ends
// the game.
func (g *game) quit() {
	g.out(ErrQuit)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.grace = time.AfterFunc(leaveGrace, func() { g.leave(ErrQuit) })
}

// recordMove returns a move of the person as the answer to the turn. It records the move, so that the person can
// take it back.
func (p *Person) recordMove(t *protocol.Turn, move string) protocol.Answer {
	p.moves = append(p.moves, ownMove{move, string(t.View)})
	p.last, p.lastBy = move, p.Seat
	return protocol.Answer{Move: []byte(move)}
}

// scriptedMove returns the move to repeat in this turn after the person has taken a move back. ok is false if all
// moves are repeated, or if the person now sees something else than in the earlier game, because other bots
// played differently.
func (p *Person) scriptedMove(t *protocol.Turn) (move string, ok bool) {
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

// recordLastMove looks for the last move in the event lines news and records it for the next drawing of the board.
func (p *Person) recordLastMove(news []string) {
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
	p.showMoves(t.choices, t.hand, false)
}
