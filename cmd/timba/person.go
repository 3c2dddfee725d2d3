package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/draw"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sample-bots/house"
)

// person plays a seat: it sees the lines that a bot would be sent.
type person struct {
	io.Writer
	draw.Style
	in      prompter
	variant rules.Variant
	names   []string // by seat
	seat    int
	steady  bool // the others play the same again

	leave  context.CancelCauseFunc
	moves  []string // made in this game
	views  []string // in which they were made
	script []string // of an earlier game, to be made again
	last   string   // the last move on the table
	lastBy int

	mu       sync.Mutex // the referee tells while the person is asked
	news     []string   // events and faults since the person's last turn
	thoughts []string   // of the bots since then
	infos    map[int][]string
}

// begin is called before each game; the moves of the one before, less those that
// were taken back, are in p.script.
func (p *person) begin(leave context.CancelCauseFunc) {
	p.leave = leave
	p.moves = nil
	p.last = ""
	p.mu.Lock()
	defer p.mu.Unlock()
	p.news, p.thoughts, p.infos = nil, nil, map[int][]string{}
}

func (p *person) serve(in io.Reader, out io.Writer) error {
	return protocol.Serve(in, out, "", "", p.answer)
}

// overhear sees every line of the game: what the person is told, and what the
// bots say of their moves.
func (p *person) overhear(t referee.Traffic) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for line := range strings.Lines(string(t.Lines)) {
		verb, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case t.Seat == p.seat && !t.FromBot && (verb == "event" || verb == "fault"):
			p.news = append(p.news, strings.TrimSuffix(line, "\n"))
		case t.Seat == p.seat || !t.FromBot:
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

// take is what is new since the last call.
func (p *person) take() (news, thoughts []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	news, thoughts = p.news, p.thoughts
	p.news, p.thoughts = nil, nil
	return news, thoughts
}

func (p *person) name(seat int) string {
	if seat < 0 || seat >= len(p.names) {
		return fmt.Sprintf("seat %d", seat)
	}
	return p.names[seat]
}

func (p *person) welcome(seed rules.Seed) {
	fmt.Fprintf(p, "%s %s\nseed %s\n", p.variant.Game().Name(), p.variant.Settings(), referee.Hex(seed))
	for seat, name := range p.names {
		fmt.Fprintf(p, "seat %d: %s\n", seat, draw.Clean(name))
	}
	if hasCards(p.variant.Game().Name()) {
		fmt.Fprintln(p, p.Legend())
	}
	fmt.Fprintf(p, "\n%s\n\n", p.Dim("help tells the rules and what you can type"))
}

// answer is the person's turn.
func (p *person) answer(t *protocol.Turn) protocol.Answer {
	news, thoughts := p.take()
	p.follow(news)
	if move, ok := p.again(t); ok {
		return p.made(t, move)
	}
	p.tell(news)
	legal := t.Moves.Strings()
	p.show(t, legal)
	for {
		line, err := p.in.ask("your move: ", func(start string) []string { return beginning(append(commandNames(), legal...), start) })
		if err != nil {
			p.leave(errQuit)
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

// made keeps a move.
func (p *person) made(t *protocol.Turn, move string) protocol.Answer {
	p.moves = append(p.moves, move)
	p.views = append(p.views[:len(p.moves)-1], string(t.View))
	p.last, p.lastBy = move, p.seat
	return protocol.Answer{Move: []byte(move)}
}

// again is the move that was made here in a game before a move was taken back.
func (p *person) again(t *protocol.Turn) (string, bool) {
	n := len(p.moves)
	if n >= len(p.script) {
		return "", false
	}
	if string(t.View) != p.views[n] || !t.Moves.Has([]byte(p.script[n])) {
		fmt.Fprintln(p, p.Alert("the bots play otherwise this time: the game goes on from here"))
		p.script = nil
		return "", false
	}
	return p.script[n], true
}

// follow keeps the last move on the table, which boards mark.
func (p *person) follow(news []string) {
	for _, line := range news {
		words := strings.Fields(line)
		if len(words) == 4 && words[1] == "play" {
			p.last = words[3]
			p.lastBy, _ = strconv.Atoi(words[2])
		}
	}
}

// tell says what has happened.
func (p *person) tell(news []string) {
	for _, line := range news {
		verb, rest, _ := strings.Cut(line, " ")
		if verb == "fault" {
			f, err := protocol.ParseReferee([]byte(line))
			if err == nil {
				fmt.Fprintf(p, " %s\n", p.Alert(fmt.Sprintf("! %s: forfeit by %s: %s", p.name(f.Seat), f.Code, f.Text)))
			}
			continue
		}
		if strings.HasPrefix(rest, fmt.Sprintf("play %d ", p.seat)) {
			continue // own moves are known
		}
		fmt.Fprintf(p, " %s\n", p.Event(rest, p.name))
	}
	if len(news) > 0 {
		fmt.Fprintln(p)
	}
}

func (p *person) show(t *protocol.Turn, legal []string) {
	fmt.Fprint(p, p.Position(draw.Position{
		Game: t.Game.Name, Options: t.Game.Settings, View: t.View, Seat: p.seat, Ply: t.Ply, Turn: p.seat,
		Names: p.names, Last: p.last, LastBy: p.lastBy, Legal: numbered(legal),
	}))
	p.list(t, legal)
}

// numbered are the moves as far as they can be chosen by number: not where the
// moves are numbers themselves.
func numbered(legal []string) []string {
	if slices.ContainsFunc(legal, isNumber) {
		return nil
	}
	return legal
}

func isNumber(text string) bool { return strings.Trim(text, "0123456789") == "" }

// list lists the moves, less the cards whose numbers stand below the hand.
func (p *person) list(t *protocol.Turn, legal []string) {
	hand := strings.Split(t.View.Get("hand"), ",")
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
		fmt.Fprintf(p, "\n%s", p.Columns(strings.Split(strings.TrimSuffix(line, "\n"), "\n")))
	}
}

// choose is the move that a person means: one of the list letter for letter, by
// its number, or by a beginning that no other has. "" is none.
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

// beginning are the words that begin so.
func beginning(words []string, start string) (found []string) {
	for _, word := range words {
		if strings.HasPrefix(word, start) {
			found = append(found, word)
		}
	}
	return found
}

func (p *person) misread(line string, legal []string) {
	found := beginning(append(slices.Clone(legal), commandNames()...), line)
	if len(found) > 1 {
		fmt.Fprintf(p, "%s may be %s\n", strconv.Quote(line), strings.Join(found, ", "))
		return
	}
	fmt.Fprintf(p, "%s is none of your moves: %s\n", strconv.Quote(line), strings.Join(legal, " "))
}

// command is what can be typed in place of a move.
type command struct {
	name, help string
	run        func(p *person, t *protocol.Turn, legal, thoughts []string) (leaving bool)
}

func commands() []command {
	return []command{
		{"help", "the rules, and what you can type", (*person).help},
		{"hint", "what @greedy would play", (*person).hint},
		{"why", "what the bots thought of their last moves; it may tell of their cards", (*person).why},
		{"undo", "take your last move back", (*person).undo},
		{"view", "your turn in the words of the protocol", (*person).view},
		{"show", "draw the table again", func(p *person, t *protocol.Turn, legal, _ []string) bool { p.show(t, legal); return false }},
		{"quit", "leave the game", func(p *person, _ *protocol.Turn, _, _ []string) bool { p.leave(errQuit); return true }},
	}
}

func commandNames() (names []string) {
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

func (p *person) command(line string, t *protocol.Turn, legal, thoughts []string) (leaving, known bool) {
	if line == "?" {
		line = "help"
	}
	found := beginning(commandNames(), line)
	if len(found) != 1 {
		return false, false
	}
	for _, c := range commands() {
		if c.name == found[0] {
			leaving = c.run(p, t, legal, thoughts)
		}
	}
	return leaving, true
}

func (p *person) help(_ *protocol.Turn, legal, _ []string) bool {
	fmt.Fprintln(p)
	describeGame(p, p.variant.Game())
	fmt.Fprintf(p, "\nThis game: %s\n\nType a move as it is listed, its number, or a beginning that no other has; or:\n", p.variant.Settings())
	t := newTable(p)
	for _, c := range commands() {
		t.AppendRow([]any{c.name, c.help})
	}
	t.Render()
	fmt.Fprintf(p, "\nyour moves: %s\n", strings.Join(legal, " "))
	return false
}

// hint asks a house bot that sees the same lines.
func (p *person) hint(t *protocol.Turn, _, _ []string) bool {
	greedy, err := house.Find("greedy")
	if err != nil {
		fmt.Fprintln(p, err)
		return false
	}
	a := greedy.Answer(t)
	fmt.Fprintf(p, "@greedy would play %s %s\n", p.Bold(string(a.Move)), p.Dim(string(a.Info)))
	return false
}

func (p *person) why(_ *protocol.Turn, _, thoughts []string) bool {
	if len(thoughts) == 0 {
		fmt.Fprintln(p, "the bots have said nothing of their moves since your last one")
	}
	for _, line := range thoughts {
		fmt.Fprintf(p, " %s\n", line)
	}
	return false
}

func (p *person) undo(_ *protocol.Turn, _, _ []string) bool {
	switch {
	case !p.steady:
		fmt.Fprintln(p, "undo plays the game again up to your last move, and only house bots play the same again")
		return false
	case len(p.moves) == 0:
		fmt.Fprintln(p, "there is no move of yours to take back")
		return false
	}
	p.script = p.moves[:len(p.moves)-1]
	fmt.Fprintf(p, "you take back %s\n\n", p.Move(p.moves[len(p.moves)-1]))
	p.leave(errUndo)
	return true
}

func (p *person) view(t *protocol.Turn, legal, _ []string) bool {
	fmt.Fprintf(p, "view %s\nturn %d %d %s\n", t.View, t.Ply, t.Time.Milliseconds(), strings.Join(legal, " "))
	return false
}

// farewell shows how it ended.
func (p *person) farewell(r *referee.Replay) error {
	news, _ := p.take()
	fmt.Fprintln(p)
	p.tell(news)
	film, err := newFilm(r, p.variant.Game())
	if err != nil {
		return err
	}
	end := film.position(len(film.frames)-1, p.seat, false)
	end.Names = p.names
	fmt.Fprint(p, p.Position(end))
	fmt.Fprint(p, "\n"+ranking(r))
	switch rank := r.Ranks[p.seat]; {
	case rank > 1:
		fmt.Fprintf(p, "\n%s\n", p.Bold("you lose"))
	case shared(p.variant, r.Ranks):
		fmt.Fprintf(p, "\n%s\n", p.Bold("a draw"))
	default:
		fmt.Fprintf(p, "\n%s\n", p.Bold("you win"))
	}
	return nil
}

// shared tells whether several sides are first.
func shared(v rules.Variant, ranks []int) bool {
	first := -1
	for seat, rank := range ranks {
		if rank == 1 && first >= 0 && v.Side(seat) != first {
			return true
		}
		if rank == 1 {
			first = v.Side(seat)
		}
	}
	return false
}
