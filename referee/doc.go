// Package referee is a game between bots, without the bots: Game takes moves and faults, and gives the
// lines for the bots and the record, the Replay. It starts no process and reads no clock: package match
// plays, and gives each move its time.
//
// Begin with Game. Replays are played again by it, to be verified, walked through, or told as lines
// (rerun.go).
package referee
