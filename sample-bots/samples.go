// Package samples embeds the sample bots that the program itself needs.
package samples

import _ "embed"

// EchoC is the C source of a bot that answers at once with the first legal move: the time of its
// turns is that of the referee.
//
//go:embed echo/echo.c
var EchoC []byte
