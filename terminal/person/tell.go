package person

import (
	"fmt"
	"strings"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/terminal/draw"
	"github.com/timba-arena/timba/terminal/playback"
)

// say writes a text, broken into lines that fit the terminal. The first line begins with mark, which may begin with
// LF.
func (p *Person) say(mark, words string) {
	bare := strings.TrimLeft(mark, "\n")
	fmt.Fprintf(p.Out, "%s%s\n", mark[:len(mark)-len(bare)], p.Wrap(bare, words))
}

func (p *Person) welcome() {
	p.say("", p.Match.Variant.Game.Name+" "+p.Match.Variant.Settings.String())
	fmt.Fprintln(p.Out, p.Digits("seed ", referee.Hex(p.Match.Seed).String()))
	for seat, name := range p.names {
		p.say(fmt.Sprintf("seat %d: ", seat), draw.Clean(name))
	}
	fmt.Fprint(p.Out, p.Legend(p.Match.Variant.Game.Display))
	if p.hasClock() {
		p.say("\n", "you have "+p.timeLimit()+" for each move")
	}
	fmt.Fprintf(p.Out, "\n%s\n\n", p.Dim("? shows the rules and what you can type"))
}

func (p *Person) hasClock() bool { return !p.Match.Bots[p.Seat].Untimed }

func (p *Person) timeLimit() string { return fmt.Sprintf("%g s", p.Match.Clock.Move.Seconds()) }

func (p *Person) showNews(news []string) {
	for _, line := range news {
		verb, rest, _ := strings.Cut(line, " ")
		if verb == "fault" {
			p.showFault(line)
			continue
		}
		if strings.HasPrefix(rest, fmt.Sprintf("play %d ", p.Seat)) {
			continue // the person knows their own moves
		}
		p.say(" ", p.Event(rest, p.names))
	}
	if len(news) > 0 {
		fmt.Fprintln(p.Out)
	}
}

func (p *Person) showFault(line string) {
	f, err := protocol.ParseReferee([]byte(line))
	switch {
	case err != nil:
	case f.Seat != p.Seat:
		p.say(" ", p.Alert(fmt.Sprintf("! %s: forfeit by %s: %s", draw.Name(p.names, f.Seat), f.Code, f.Text)))
	case f.Code == protocol.Timeout:
		p.say(" ", p.Alert("! you ran out of time: you had "+p.timeLimit()+" for this move"))
	case p.hasLeft():
		p.say(" ", p.Alert("! you left the game"))
	default:
		p.say(" ", p.Alert(fmt.Sprintf("! you are out of the game: %s", f.Text)))
	}
}

// Farewell shows the end of a finished game: the last events, the last position, the ranking, and whether the
// person won.
func (p *Person) Farewell(r *referee.Replay) error {
	p.Style = draw.StyleFor(p.Out)
	news, _ := p.takeNews()
	if len(news) > 0 {
		fmt.Fprintln(p.Out)
	}
	p.showNews(news)
	game, err := playback.New(r, p.Match.Variant.Game)
	if err != nil {
		return err
	}
	end := game.Position(len(game.Frames)-1, p.Seat, false)
	end.Names, end.Turn = p.names, rules.Over
	fmt.Fprint(p.Out, p.Position(end))
	fmt.Fprint(p.Out, "\n"+playback.Ranking(p.Style, r))
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
