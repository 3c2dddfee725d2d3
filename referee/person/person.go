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

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/draw"
	"github.com/timba-arena/timba/referee/playback"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/text"
)

// ErrQuit is the error of a game that the person left.
var ErrQuit = errors.New("the person left the game")

// errUndo ends a game in order to replay it up to a move that is taken back.
var errUndo = errors.New("a move was taken back")

// Person plays a seat of a match of one game.
type Person struct {
	Match referee.Match // the bot at Seat has only a name
	Seat  int
	In    Prompter
	Out   io.Writer
	// Hint returns what the bot HintName would play.
	Hint     func(*protocol.Turn) protocol.Answer
	HintName string
	// Repeats is whether the other bots repeat their moves in the same game, which undo
	// needs.
	Repeats bool

	draw.Style
	names  []string // by seat
	leave  context.CancelCauseFunc
	moves  []string // by the person in this game
	views  []string // of each move in moves
	script []string // moves of an earlier game, to repeat
	last   string   // the last move of any seat
	lastBy int

	mu       sync.Mutex // Trace is called while the person is asked
	news     []string   // events and faults since the person's last turn
	thoughts []string   // of the bots since then
	infos    map[int][]string
}

// Play plays the match, and replays it when a move is taken back. The error is ErrQuit if
// the person leaves before the end.
func (p *Person) Play(ctx context.Context) (*referee.Game, error) {
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

// game plays one game. The error of a game that was left is the cause.
func (p *Person) game(ctx context.Context) (*referee.Game, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.begin(cancel)
	m := p.Match
	m.Bots = slices.Clone(m.Bots)
	m.Bots[p.Seat].Serve = func(in io.Reader, out io.Writer) error { return protocol.Serve(in, out, "", "", p.answer) }
	m.Trace = p.overhear
	var game *referee.Game
	m.Done = func(g *referee.Game) error {
		game = g
		return nil
	}
	err := m.Play(ctx)
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
	p.news, p.thoughts, p.infos = nil, nil, map[int][]string{}
}

// overhear receives every line of the game. It keeps the events and faults that the
// person is sent, and what the bots write about their moves.
func (p *Person) overhear(t referee.Traffic) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for line := range strings.Lines(string(t.Lines)) {
		verb, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case t.Seat == p.Seat && !t.FromBot && (verb == "event" || verb == "fault"):
			p.news = append(p.news, strings.TrimSuffix(line, "\n"))
		case t.Seat == p.Seat || !t.FromBot:
		case verb == "info":
			p.infos[t.Seat] = append(p.infos[t.Seat], rest)
		case verb == "move":
			for _, info := range p.infos[t.Seat] {
				p.thoughts = append(p.thoughts, fmt.Sprintf("%s on %s: %s", p.name(t.Seat), p.Move(rest), draw.Clean(info)))
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

func (p *Person) name(seat int) string {
	if seat < 0 || seat >= len(p.names) {
		return fmt.Sprintf("seat %d", seat)
	}
	return p.names[seat]
}

func (p *Person) welcome() {
	fmt.Fprintf(p.Out, "%s %s\nseed %s\n", p.Match.Variant.Game().Name(), p.Match.Variant.Settings(), referee.Hex(p.Match.Seed))
	for seat, name := range p.names {
		fmt.Fprintf(p.Out, "seat %d: %s\n", seat, draw.Clean(name))
	}
	fmt.Fprint(p.Out, p.Legend(p.Match.Variant.Game().Display()))
	fmt.Fprintf(p.Out, "\n%s\n\n", p.Dim("type help for the rules and the commands"))
}

// answer asks the person for a move.
func (p *Person) answer(t *protocol.Turn) protocol.Answer {
	news, thoughts := p.take()
	p.follow(news)
	if move, ok := p.again(t); ok {
		return p.made(t, move)
	}
	p.tell(news)
	legal := t.Moves.Strings()
	p.show(t, legal)
	for {
		line, err := p.In.Ask("your move: ", func(start string) []string { return beginning(append(p.commandNames(), legal...), start) })
		if err != nil {
			p.leave(ErrQuit)
			return protocol.Answer{}
		}
		if line == "" {
			continue
		}
		if move := choose(legal, line); move != "" {
			return p.made(t, move)
		}
		leaving, known := p.command(line, t, legal, thoughts)
		if leaving {
			return protocol.Answer{}
		}
		if !known {
			p.misread(line, legal)
		}
	}
}

// made records a move and returns it as the answer.
func (p *Person) made(t *protocol.Turn, move string) protocol.Answer {
	p.moves = append(p.moves, move)
	p.views = append(p.views[:len(p.moves)-1], string(t.View))
	p.last, p.lastBy = move, p.Seat
	return protocol.Answer{Move: []byte(move)}
}

// again returns the move that the script has for this turn.
func (p *Person) again(t *protocol.Turn) (string, bool) {
	n := len(p.moves)
	if n >= len(p.script) {
		return "", false
	}
	if string(t.View) != p.views[n] || !t.Moves.Has([]byte(p.script[n])) {
		fmt.Fprintln(p.Out, p.Alert("the bots play differently this time: the game continues from here"))
		p.script = nil
		return "", false
	}
	return p.script[n], true
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

// tell shows what has happened.
func (p *Person) tell(news []string) {
	for _, line := range news {
		verb, rest, _ := strings.Cut(line, " ")
		if verb == "fault" {
			f, err := protocol.ParseReferee([]byte(line))
			if err == nil {
				fmt.Fprintf(p.Out, " %s\n", p.Alert(fmt.Sprintf("! %s: forfeit by %s: %s", p.name(f.Seat), f.Code, f.Text)))
			}
			continue
		}
		if strings.HasPrefix(rest, fmt.Sprintf("play %d ", p.Seat)) {
			continue // own moves are known
		}
		fmt.Fprintf(p.Out, " %s\n", p.Event(rest, p.name))
	}
	if len(news) > 0 {
		fmt.Fprintln(p.Out)
	}
}

func (p *Person) show(t *protocol.Turn, legal []string) {
	fmt.Fprint(p.Out, p.Position(draw.Position{
		Game: t.Game.Name, Display: p.Match.Variant.Game().Display(), Options: t.Game.Settings, View: t.View, Seat: p.Seat, Ply: t.Ply, Turn: p.Seat,
		Names: p.names, Last: p.last, LastBy: p.lastBy, Legal: numbered(legal),
	}))
	p.list(t, legal)
}

// numbered returns the moves if they can be chosen by number, nil if moves are numbers
// themselves.
func numbered(legal []string) []string {
	if slices.ContainsFunc(legal, isNumber) {
		return nil
	}
	return legal
}

func isNumber(text string) bool { return strings.Trim(text, "0123456789") == "" }

// list lists the moves, except cards: their numbers are below the hand.
func (p *Person) list(t *protocol.Turn, legal []string) {
	var hand []string
	if cards := p.Match.Variant.Game().Display().Cards; cards != nil {
		hand = strings.Split(t.View.Get(cards.Hand), ",")
	}
	var line string
	for i, move := range legal {
		if slices.Contains(hand, move) {
			continue
		}
		entry := move
		if numbered(legal) != nil {
			entry = p.Dim(strconv.Itoa(i+1)) + " " + p.Move(move)
		}
		line += entry + "\n"
	}
	if line != "" {
		fmt.Fprintf(p.Out, "\n%s", p.Columns(strings.Split(strings.TrimSuffix(line, "\n"), "\n")))
	}
}

// choose returns the move that a person means: one typed in full, by its number, or by
// a unique beginning; "" if there is none.
func choose(legal []string, line string) string {
	if slices.Contains(legal, line) {
		return line
	}
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(numbered(legal)) {
		return legal[n-1]
	}
	if found := beginning(legal, line); len(found) == 1 {
		return found[0]
	}
	return ""
}

// beginning returns the words that begin with start.
func beginning(words []string, start string) (found []string) {
	for _, word := range words {
		if strings.HasPrefix(word, start) {
			found = append(found, word)
		}
	}
	return found
}

func (p *Person) misread(line string, legal []string) {
	found := beginning(append(slices.Clone(legal), p.commandNames()...), line)
	if len(found) > 1 {
		fmt.Fprintf(p.Out, "%s may be %s\n", strconv.Quote(line), strings.Join(found, ", "))
		return
	}
	fmt.Fprintf(p.Out, "%s is not one of your moves: %s\n", strconv.Quote(line), strings.Join(legal, " "))
}

// command is what can be typed instead of a move.
type command struct {
	name, help string
	run        func(p *Person, t *protocol.Turn, legal, thoughts []string) (leaving bool)
}

func (p *Person) commands() []command {
	return []command{
		{"help", "show the rules and the commands", (*Person).help},
		{"hint", "show the move that " + p.HintName + " would play", (*Person).hint},
		{"why", "show what the bots thought about their last moves; this may reveal their cards", (*Person).why},
		{"undo", "take back your last move", (*Person).undo},
		{"view", "show your turn in the words of the protocol", (*Person).view},
		{"show", "draw the position again", func(p *Person, t *protocol.Turn, legal, _ []string) bool { p.show(t, legal); return false }},
		{"quit", "leave the game", func(p *Person, _ *protocol.Turn, _, _ []string) bool { p.leave(ErrQuit); return true }},
	}
}

func (p *Person) commandNames() (names []string) {
	for _, c := range p.commands() {
		names = append(names, c.name)
	}
	return names
}

func (p *Person) command(line string, t *protocol.Turn, legal, thoughts []string) (leaving, known bool) {
	if line == "?" {
		line = "help"
	}
	found := beginning(p.commandNames(), line)
	if len(found) != 1 {
		return false, false
	}
	for _, c := range p.commands() {
		if c.name == found[0] {
			leaving = c.run(p, t, legal, thoughts)
		}
	}
	return leaving, true
}

func (p *Person) help(_ *protocol.Turn, legal, _ []string) bool {
	fmt.Fprintln(p.Out)
	text.Game(p.Out, p.Match.Variant.Game())
	fmt.Fprintf(p.Out, "\nThis game: %s\n\nType a move as it is listed, its number, or a beginning that is unique; or a command:\n", p.Match.Variant.Settings())
	t := text.Table(p.Out)
	for _, c := range p.commands() {
		t.AppendRow([]any{c.name, c.help})
	}
	t.Render()
	fmt.Fprintf(p.Out, "\nyour moves: %s\n", strings.Join(legal, " "))
	return false
}

// hint shows the move of a bot that sees the same lines.
func (p *Person) hint(t *protocol.Turn, _, _ []string) bool {
	a := p.Hint(t)
	fmt.Fprintf(p.Out, "%s would play %s %s\n", p.HintName, p.Bold(string(a.Move)), p.Dim(string(a.Info)))
	return false
}

func (p *Person) why(_ *protocol.Turn, _, thoughts []string) bool {
	if len(thoughts) == 0 {
		fmt.Fprintln(p.Out, "the bots have written nothing about their moves since your last one")
	}
	for _, line := range thoughts {
		fmt.Fprintf(p.Out, " %s\n", line)
	}
	return false
}

func (p *Person) undo(_ *protocol.Turn, _, _ []string) bool {
	switch {
	case !p.Repeats:
		fmt.Fprintln(p.Out, "undo replays the game up to your last move, and only house bots repeat their moves: it needs a game against house bots")
		return false
	case len(p.moves) == 0:
		fmt.Fprintln(p.Out, "you have not made a move yet")
		return false
	}
	p.script = p.moves[:len(p.moves)-1]
	fmt.Fprintf(p.Out, "you take back %s\n\n", p.Move(p.moves[len(p.moves)-1]))
	p.leave(errUndo)
	return true
}

func (p *Person) view(t *protocol.Turn, legal, _ []string) bool {
	fmt.Fprintf(p.Out, "view %s\nturn %d %d %s\n", t.View, t.Ply, t.Time.Milliseconds(), strings.Join(legal, " "))
	return false
}

// Farewell shows how a finished game ended.
func (p *Person) Farewell(r *referee.Replay) error {
	news, _ := p.take()
	fmt.Fprintln(p.Out)
	p.tell(news)
	game, err := playback.New(r, p.Match.Variant.Game())
	if err != nil {
		return err
	}
	end := game.Position(len(game.Frames)-1, p.Seat, false)
	end.Names = p.names
	fmt.Fprint(p.Out, p.Position(end))
	fmt.Fprint(p.Out, "\n"+playback.Ranking(r))
	switch record := rules.RecordOf(p.Match.Variant, r.Ranks, p.Seat); {
	case record.Losses > 0:
		fmt.Fprintf(p.Out, "\n%s\n", p.Bold("you lose"))
	case record.Draws > 0:
		fmt.Fprintf(p.Out, "\n%s\n", p.Bold("a draw"))
	default:
		fmt.Fprintf(p.Out, "\n%s\n", p.Bold("you win"))
	}
	return nil
}
