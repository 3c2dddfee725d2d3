package submission

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/referee/program"
)

func TestTranscript(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"one\ntwo\n", "one\ntwo\n"},
		{"tab\tand\r\nline", "tab\tand\nline"},
		{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"50 %\r100 %", `50 %\r100 %`},
		{"ñ日\xff", `ñ日\xff`},
		{"a\u202eb", `a\u202eb`},
		{"in /data/tmp/x/bot.c", "in bot.c"},
	} {
		log := newTranscript("/data/tmp/x/", "/data/")
		fmt.Fprint(log, c.in)
		if got := log.String(); got != c.want {
			t.Errorf("%q is kept as %q, want %q", c.in, got, c.want)
		}
	}
}

// Whatever is written, in pieces of any size, the log is short plain text. It has the beginning and the end,
// and says how much is missing.
func TestTranscriptProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		log := newTranscript()
		var all strings.Builder
		for range rapid.IntRange(0, 6).Draw(t, "writes") {
			piece := rapid.String().Draw(t, "piece") + strings.Repeat(rapid.StringMatching(`[a-z\n]{1,20}`).Draw(t, "much"), rapid.IntRange(0, 3000).Draw(t, "times"))
			all.WriteString(piece)
			if n, err := log.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Fatalf("%d, %v", n, err)
			}
		}
		got, whole := log.String(), log.clean(all.String())
		if all.Len() <= MaxLog {
			if got != whole {
				t.Fatal("it is cut off, though it is short enough")
			}
			return
		}
		head, tail, cut := strings.Cut(got, " bytes are left out here]\n")
		i := strings.LastIndex(head, "\n[")
		if !cut || i < 0 || !strings.HasPrefix(whole, head[:i]) || !strings.HasSuffix(whole, tail) && utf8.ValidString(all.String()[all.Len()-len(tail):]) {
			t.Fatalf("it is not the beginning and the end")
		}
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) && r != '\n' && r != '\t' }) {
			t.Fatal("it is not plain text")
		}
	})
}

func TestGamesOf(t *testing.T) {
	t.Parallel()
	claimed, unknown, err := gamesOf(program.Manifest{Games: []string{"teeko", "chess", "brisca  teams=no players=02", "teeko"}})
	if !slices.Equal(claimed, []string{"teeko", "brisca players=2 teams=no"}) || !slices.Equal(unknown, []string{"chess"}) || err != nil {
		t.Errorf("claimed are %q, unknown %q, error %v", claimed, unknown, err)
	}
}
