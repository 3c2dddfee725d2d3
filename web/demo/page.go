package demo

import (
	"context"
	"fmt"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/draw"
	"github.com/timba-arena/timba/referee/playback"
	"github.com/timba-arena/timba/referee/rules/games"
)

// page is what the terminal shows: a game that is played back, or a part of the standings.
type page struct {
	game   *playback.Game // nil for standings
	ladder string         // of the game
	frame  int            // of the game
	table  int            // the part of the standings that is shown
	left   int            // drawings until the next page
}

// stay is for how many drawings a page stays.
const stay = 16

// page returns the lines of the page to show now.
func (d *screen) page(ctx context.Context, width int) ([]string, error) {
	if d.last == 0 {
		return []string{"the first match is being played: its game comes next, then the standings"}, nil
	}
	t, err := d.table(ctx)
	if err != nil {
		return nil, err
	}
	parts := t.pages(width)
	if d.showing.left <= 0 {
		if err := d.turnPage(ctx, len(parts)); err != nil {
			return nil, err
		}
	}
	p := &d.showing
	p.left--
	if p.game == nil {
		at := min(p.table, len(parts)-1)
		head := fmt.Sprintf("STANDINGS, %d of %d: watch who climbs above %s, which is fixed", at+1, len(parts), ladder.Anchor)
		return append([]string{head, legend, ""}, t.lines(parts[at], width)...), nil
	}
	lines := gameLines(p.ladder, p.game, p.frame, width)
	p.frame = min(p.frame+max(1, len(p.game.Frames)/stay), len(p.game.Frames)-1)
	return lines, nil
}

// turnPage goes to the next page: after a game to the standings, after their last part to a game
// of the last match.
func (d *screen) turnPage(ctx context.Context, parts int) (err error) {
	next := page{left: stay}
	switch was := d.showing; {
	case was.game != nil:
	case was.table+1 < parts:
		next.table = was.table + 1
	default:
		if next.game, next.ladder, err = d.lastGame(ctx); err != nil {
			return err
		}
	}
	if next.game != nil {
		next.left += 4 // the end stays for a while
	}
	d.showing = next
	return nil
}

// lastGame returns the first game of the last match, and its ladder; nil for a match without games.
func (d *screen) lastGame(ctx context.Context) (*playback.Game, string, error) {
	m, err := d.store.Match(ctx, d.last)
	if err != nil {
		return nil, "", err
	}
	list, err := d.store.Games(ctx, m.ID)
	if err != nil || len(list) == 0 {
		return nil, "", err
	}
	data, err := d.store.Replay(ctx, list[0].ID)
	if err != nil {
		return nil, "", err
	}
	r, err := referee.DecodeReplay(data)
	if err != nil {
		return nil, "", err
	}
	g, err := games.Find(r.Game)
	if err != nil {
		return nil, "", err
	}
	game, err := playback.New(r, g)
	return game, m.Ladder, err
}

// example writes a game of the last match: its end, and who won.
func (d *screen) example(ctx context.Context) error {
	game, ladder, err := d.lastGame(ctx)
	if err != nil || game == nil {
		return err
	}
	width, _ := d.size()
	d.say("%s\n", strings.Join(gameLines(ladder, game, len(game.Frames)-1, width), "\n"))
	return nil
}

// gameLines returns a position of a game, with what it is and what to look at.
func gameLines(ladder string, game *playback.Game, frame, width int) []string {
	var names []string
	for _, s := range game.Replay.Seats {
		names = append(names, draw.Clean(s.Name))
	}
	lines := []string{
		fmt.Sprintf("A GAME of %s: %s", ladder, strings.Join(names, " against ")),
		fmt.Sprintf("after move %d of %d: watch the position change, the result comes at the end", game.Frames[frame].Ply, len(game.Replay.Moves)),
	}
	if frame == len(game.Frames)-1 {
		lines[1] = "the end:" + strings.TrimRight(strings.ReplaceAll(playback.Ranking(game.Replay), "\n", ";"), ";")
	}
	position := draw.Style{Width: width, Unicode: draw.For(nil).Unicode}.Position(game.Position(frame, -1, true))
	return append(lines, strings.Split(strings.TrimRight(position, "\n"), "\n")...)
}
