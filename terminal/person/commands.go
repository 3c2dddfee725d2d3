package person

import (
	"fmt"
	"slices"
	"strings"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/terminal/draw"
)

// turn is a request to the person to choose a move. It also has the data that commands such as "hint" need.
type turn struct {
	*protocol.Turn
	choices  choices
	hand     []string
	thoughts []moveInfo // info lines of the bots about their moves since the person's last turn
}

// command is a word that a person can type instead of a move.
type command struct {
	name, help string
	run        func(*Person, turn) (leaving bool) // executes the command; reports whether the person leaves the game
}

func (p *Person) commands() []command {
	return []command{
		{"help", "the rules and the commands", (*Person).showHelp},
		{"moves", "your moves, and what to type for each", (*Person).moveList},
		{"hint", "the move that @" + hintBot + " would play", (*Person).showHint},
		{"why", "what the bots thought about their last moves; this may reveal their cards", (*Person).showThoughts},
		{"undo", "take back your last move", (*Person).undo},
		{"view", "your turn in the words of the protocol", (*Person).showView},
		{"show", "draw the position again", func(p *Person, t turn) bool { p.show(t); return false }},
		{"quit", "leave the game, which forfeits it", func(p *Person, _ turn) bool { p.quit(); return true }},
	}
}

func (p *Person) commandNames() (names []string) {
	for _, c := range p.commands() {
		names = append(names, c.name)
	}
	return names
}

// command executes the command that a typed line means. The line is the name of a command or the beginning of
// exactly one name. known is false if the line is no command. leaving is true if the person leaves the game.
func (p *Person) command(line string, t turn) (leaving, known bool) {
	if line == "?" {
		line = "help"
	}
	found := beginning(append(p.commandNames(), t.choices.legal...), line)
	if len(found) != 1 {
		return false, false
	}
	for _, c := range p.commands() {
		if c.name == found[0] {
			return c.run(p, t), true
		}
	}
	return false, false
}

func (p *Person) showHelp(t turn) bool {
	fmt.Fprintln(p.Out)
	text.Game(p.Out, p.Match.Variant.Game, p.Columns())
	p.say("\nthis game: ", p.Match.Variant.Settings.String())
	p.say("\n", numbersHelp[t.choices.manner])
	p.say("\n", "These words do more; their first letters are enough:")
	for _, c := range p.commands() {
		p.say(fmt.Sprintf("  %-5s  ", c.name), c.help)
	}
	return p.moveList(t)
}

// numbersHelp explains, for each way of typing moves, what can be typed.
var numbersHelp = map[manner]string{
	byNumber: "A number is always the one that stands below a card or beside a move. A move in full works too: 12c is the 12 of copas.",
	byValue:  "A number is always the number that you bid.",
	bySquare: "A number is always the square with this number on the board. Its name at the edges works too: c1 is in the lowest row.",
	bySteps: "A number is always the square with this number on the board: type the square that a piece leaves and the one that it reaches, " +
		"19-12 or 19 12. Their names at the edges work too: b3-a4. If the piece has one move, the square that it leaves is enough.",
	inFull: "Type a move in full, or its beginning.",
}

func (p *Person) moveList(t turn) bool {
	p.showMoves(t.choices, t.hand, true)
	return false
}

// hintBot is the name of the bot that gives hints, without the @.
const hintBot = "greedy"

// showHint shows the move that the bot hintBot would make in this turn. It returns false: the person stays in the
// game.
func (p *Person) showHint(t turn) bool {
	bot, err := house.NewPlayer(hintBot)
	if err != nil {
		panic(err) // a constant
	}
	a := bot.Answer(t.Turn)
	p.say("", fmt.Sprintf("@%s would play %s %s", hintBot, p.Bold(p.Move(string(a.Move))), p.Dim(draw.Clean(string(a.Info)))))
	return false
}

func (p *Person) showThoughts(t turn) bool {
	if len(t.thoughts) == 0 {
		p.say("", "the bots have written nothing about their moves since your last one")
	}
	for _, x := range t.thoughts {
		p.say(" ", fmt.Sprintf("%s on %s: %s", draw.Name(p.names, x.seat), p.Move(x.move), draw.Clean(x.info)))
	}
	return false
}

func (p *Person) undo(turn) bool {
	switch {
	case p.hasClock():
		p.say("", "a move cannot be taken back while the clock runs: leave out --timed for that")
		return false
	case !p.Repeats:
		p.say("", "undo replays the game up to your last move, and only house bots repeat their moves: it needs a game against house bots")
		return false
	case len(p.moves) == 0:
		p.say("", "you have not made a move yet")
		return false
	}
	p.script = p.moves[:len(p.moves)-1]
	fmt.Fprintf(p.Out, "you take back %s\n\n", p.Move(p.moves[len(p.moves)-1].move))
	p.leave(errUndo)
	return true
}

func (p *Person) showView(t turn) bool {
	fmt.Fprintf(p.Out, "view %s\nturn %d %d %s\n", t.View, t.Ply, t.Time.Milliseconds(), strings.Join(t.choices.legal, " "))
	return false
}

func (p *Person) words(t turn) []string {
	return append(p.commandNames(), slices.Clone(t.choices.legal)...)
}
