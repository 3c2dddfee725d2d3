// Package referee plays matches between bots: it starts their processes, speaks
// the protocol with them, keeps their clocks, validates every move against the
// rules, names every fault and its culprit, and keeps a replay of each game.
package referee
