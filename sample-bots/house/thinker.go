package house

import (
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/search/alphabeta"
)

// thinker chooses the moves of a bot in games of one kind, one game after another.
type thinker interface {
	// startGame starts a game in which the bot has the given seat. s is the first position that the bot sees. It
	// returns an error if the thinker cannot play the game.
	startGame(v *rules.Variant, s rules.State, seat int) error
	// think returns the bot's move in s, the position of turn t, in which the bot is to move. Random choices come
	// from r. It appends to info what the bot reports about its move, such as a score, and returns the result.
	think(t *protocol.Turn, s rules.State, r *rules.Rand, info []byte) (rules.Move, []byte)
}

// thinkerBot is a bot that has thinkers for some games and makes random moves in others.
type thinkerBot struct {
	dice
	positions
	thinkers    map[string]thinker // by name of the game
	currentGame *protocol.GameLine // the game for which the thinker was started
	info        []byte
	text        []byte
}

func (b *thinkerBot) Answer(t *protocol.Turn) protocol.Answer {
	r := b.randFor(t)
	random := b.randomAnswer(t)
	thinker, ok := b.thinkers[t.Game.Name]
	if !ok {
		return random
	}
	s, err := b.positionAt(t)
	if err != nil || s.Turn() != t.Game.Seat {
		return random // what the referee sent does not fit the game
	}
	if b.currentGame != t.Game {
		if err := thinker.startGame(b.variant, s, t.Game.Seat); err != nil {
			return protocol.Answer{Err: err}
		}
		b.currentGame = t.Game
	}
	move, info := thinker.think(t, s, r, b.info[:0])
	b.info, b.text = info, s.MoveText(b.text[:0], move)
	if !t.Moves.Has(b.text) {
		return random
	}
	return protocol.Answer{Move: b.text, Info: info}
}

// alphaBetaThinker chooses moves by alpha-beta search. P is the type of the positions that it searches.
type alphaBetaThinker[P any, G alphabeta.Position[P]] struct {
	limits
	depth        int
	options      alphabeta.Options
	searcher     *alphabeta.Searcher[P, G]
	position     P
	initPosition func(p G, s rules.State, seat int) // prepares the position for a new game
	setPosition  func(p G, s rules.State)           // sets the position of a turn
}

func (d *alphaBetaThinker[P, G]) startGame(_ *rules.Variant, s rules.State, seat int) error {
	if d.searcher == nil {
		d.searcher = alphabeta.New[P, G](d.options)
	}
	d.searcher.Forget()
	d.initPosition(&d.position, s, seat)
	return nil
}

func (d *alphaBetaThinker[P, G]) think(t *protocol.Turn, s rules.State, r *rules.Rand, info []byte) (rules.Move, []byte) {
	budget := d.budget(t)
	d.setPosition(&d.position, s)
	depth := d.depth
	if t.Moves.Len() == 1 {
		depth = 1 // there is no choice
	}
	found := d.searcher.Search(&d.position, depth, budget, r)
	d.recordLateness(budget)
	info = appendScore(info, float64(found.Score)/hundredths)
	info = appendInfo(info, "depth", int64(found.Depth))
	info = appendInfo(info, "nodes", int64(found.Nodes))
	return found.Move, appendLine(info, s, found.Line)
}
