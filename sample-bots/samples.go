// Package samples embeds the sample bots that the program itself needs.
package samples

import _ "embed"

// EchoC is the source, in C, of a bot that answers at once with the first move
// of the list: what a turn costs with it is the referee's cost.
//
//go:embed echo/echo.c
var EchoC []byte
