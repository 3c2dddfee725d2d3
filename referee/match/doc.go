// Package match plays matches between bots: it starts their processes, sends them lines and reads their
// answers, keeps their time, and has each game recorded by package referee.
//
// Begin with Match, which plays the games of a schedule (schedule.go) by seats (seat.go). A Conn is one
// bot's pipes or connection.
package match
