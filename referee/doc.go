// Package referee plays matches between bots: it starts their processes, speaks the
// protocol with them, keeps their clocks, validates every move against the rules, reports
// every fault and its culprit, and makes a replay of each game.
//
// Begin with Game, a game without bots, which live play (seat.go) and replays (rerun.go) drive; Match
// plays many of them.
package referee
