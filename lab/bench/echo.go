package bench

import _ "embed"

// echoC is the C source of a bot that answers at once with the first legal move: the time of its
// turns is that of the referee.
//
//go:embed echo/echo.c
var echoC []byte
