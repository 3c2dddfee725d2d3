package explain

import (
	"fmt"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
)

// Explanation is the JSON document of timba explain. Its schema, explain.schema.json, is generated from it. Fields
// may be added but are never removed.
type Explanation struct {
	Program          string         `json:"program" doc:"The version of timba."`
	Games            int            `json:"games" doc:"The number of replays."`
	AdjudicatedGames int            `json:"adjudicated" doc:"How many of them the bots' own scores ended."`
	Endings          map[string]int `json:"endings" doc:"How many games ended for each reason that their rules name, such as line and square in Teeko; empty for games of cards."`
	Faults           []faultReport  `json:"faults" doc:"In the order of the games; with --fault only one."`
	LongThinks       []documentMove `json:"long_thinks" doc:"The moves that took longest."`
	DecisiveMoves    []documentMove `json:"decisive_moves" doc:"The moves between which a bot's own score changed most, measured by its average change."`
	CloseDeals       []documentDeal `json:"close_deals" doc:"The deals with the smallest difference in points between the two best bots."`
	OneSidedDeals    []documentDeal `json:"lopsided_deals" doc:"The deals with the largest difference."`
}

// place says where in the games something happened.
type place struct {
	Replay   string `json:"replay" doc:"The path of the replay."`
	Match    string `json:"match" doc:"The number of the match in its tournament, otherwise the beginning of the match's seed."`
	Deal     int    `json:"deal"`
	Rotation int    `json:"rotation"`
	Bot      string `json:"bot"`
	Seat     int    `json:"seat"`
	Ply      int    `json:"ply" doc:"The number of moves made before."`
}

// faultReport is a fault with what the replay, the log and the tournament say about it.
type faultReport struct {
	place
	Number       int           `json:"number" doc:"From 1, for --fault."`
	Code         protocol.Code `json:"code"`
	Reason       fault.Reason  `json:"reason" doc:"As in a replay, whose schema has its members."`
	Text         string        `json:"text" doc:"The fault, with the cause that the replay and the log reveal."`
	Advice       []string      `json:"advice" doc:"What to change in the bot, the most likely first."`
	Lines        []string      `json:"lines" doc:"The last lines to the bot, which begin with <, and from it, with >; none if it was not started."`
	EarlierLines int           `json:"earlier_lines" doc:"How many lines came before them."`
	Log          string        `json:"log,omitempty" doc:"The path of the bot's log; absent if it is not on this machine."`
	LogEnd       []string      `json:"log_end,omitempty" doc:"The last lines of the log."`
	Legal        []string      `json:"legal,omitempty" doc:"The legal moves; absent if it was not the bot's turn."`
	Check        string        `json:"check,omitempty" doc:"The command that checks the bot; absent for a bot of timba."`
}

type documentMove struct {
	place
	Move   string   `json:"move"`
	MS     float64  `json:"ms" doc:"The time of the move in milliseconds."`
	Before *float64 `json:"score_before,omitempty" doc:"Only of decisive moves: the bot's score with this move."`
	After  *float64 `json:"score_after,omitempty" doc:"Only of decisive moves: the bot's score with its next move."`
}

type documentDeal struct {
	Match  string             `json:"match"`
	Deal   int                `json:"deal"`
	First  string             `json:"first" doc:"The bot with the most points."`
	Second string             `json:"second"`
	Points map[string]float64 `json:"points" doc:"By bot, in all rotations."`
}

// Document returns the explanation of the games as a document. If number is 0, it contains all faults, otherwise
// only the fault with this number, counted from 1. It returns an error if that fault does not exist or if the bot's
// lines cannot be derived from a replay.
func (e *Explainer) Document(number int) (d Explanation, err error) {
	e.collect()
	if number > 0 {
		if err := e.checkFault(number); err != nil {
			return d, err
		}
	}
	d = Explanation{Program: referee.Version(), Games: len(e.Games), AdjudicatedGames: e.countAdjudicated(), Endings: e.countEndings(), Faults: []faultReport{}}
	for i := range e.faults {
		if number > 0 && i != number-1 {
			continue
		}
		r, err := e.report(i)
		if err != nil {
			return d, err
		}
		d.Faults = append(d.Faults, r)
	}
	d.LongThinks = documentMoves(e.longThinks())
	d.DecisiveMoves = documentMoves(e.mostDecisive())
	near, far := e.extremeDeals()
	d.CloseDeals, d.OneSidedDeals = documentDeals(near), documentDeals(far)
	return d, nil
}

// report returns everything that is known about the fault with index i.
func (e *Explainer) report(i int) (r faultReport, err error) {
	x := e.faults[i]
	f := x.fault
	traffic, err := x.Replay.Traffic(x.Rules, f.Seat)
	if err != nil {
		return r, fmt.Errorf("%s: %w", x.Path, err)
	}
	log, path := x.readLog()
	c, err := x.Replay.Circumstances(x.Rules, f, log)
	if err != nil {
		return r, fmt.Errorf("%s: %w", x.Path, err)
	}
	c, check := e.DescribeBot(x.Path, x.name(f.Seat), c)
	r = faultReport{
		place: x.placeOf(f.Seat, f.Ply), Number: i + 1, Code: f.Code, Reason: f.Reason, Text: f.TextIn(c).String(),
		Advice: []string{}, Log: path, LogEnd: fault.LogEnd(fault.Lines(log), lastLines), Legal: c.Turn.Legal,
	}
	r.Lines, r.EarlierLines = lastTraffic(traffic)
	for _, advice := range f.Reason.Advice(c) {
		r.Advice = append(r.Advice, advice.String())
	}
	if check != nil && !f.IsDisqualified() {
		r.Check = e.Command(check...)
	}
	return r, nil
}

// placeOf returns the place of a seat and ply in the game.
func (g *ReplayFile) placeOf(seat, ply int) place {
	m := g.Replay.Match
	return place{g.Path, g.Match, m.Deal, m.Rotation, g.name(seat), seat, ply}
}

func documentMoves(list []moment) []documentMove {
	moves := []documentMove{}
	for _, m := range list {
		move := documentMove{place: m.game.placeOf(m.move.Seat, m.ply), Move: m.move.Move, MS: m.move.MS}
		if m.weight > 0 {
			move.Before, move.After = &m.before, &m.after
		}
		moves = append(moves, move)
	}
	return moves
}

func documentDeals(list []duel) []documentDeal {
	deals := []documentDeal{}
	for _, d := range list {
		deals = append(deals, documentDeal{d.match, d.deal, d.first, d.second, d.points})
	}
	return deals
}
