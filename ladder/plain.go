package ladder

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain returns output of a bot or a compiler as text that is safe on a terminal:
// printable UTF-8, line feeds and tabs; everything else is escaped as in Go.
func Plain(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\n' || r == '\t' || unicode.IsPrint(r) && (r != utf8.RuneError || n > 1):
			b.WriteString(text[i : i+n])
		default:
			quoted := strconv.QuoteToASCII(text[i : i+n])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += n
	}
	return b.String()
}
