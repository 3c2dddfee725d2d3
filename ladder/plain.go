package ladder

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain makes the output of a bot or a compiler safe to print on a terminal. It leaves printable UTF-8, line
// feeds and tabs unchanged, and escapes everything else as Go does.
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
