package text

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
)

func TestCount(t *testing.T) {
	for _, c := range []struct {
		n           int
		thing, want string
	}{
		{0, "game", "0 games"}, {1, "game", "1 game"}, {12345, "game", "12345 games"},
		{1, "match", "1 match"}, {2, "match", "2 matches"}, {2, "process", "2 processes"}, {2, "ply", "2 plies"}, {2, "replay", "2 replays"},
		{2, "other check", "2 other checks"},
	} {
		if got := Count(c.n, c.thing); got != c.want {
			t.Errorf("%d of %q is %q, want %q", c.n, c.thing, got, c.want)
		}
	}
}

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "señal": 5, "\x1b[1mbold\x1b[0m": 4, "\x1b[": 2} {
		if got := Width(text); got != want {
			t.Errorf("%q is %d wide, want %d", text, got, want)
		}
	}
}

// TestWrap checks that lines have all words in order and are as wide as allowed. Only a single word may be wider.
func TestWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-zé]{1,12}`)).Draw(t, "words")
		columns := rapid.IntRange(1, 30).Draw(t, "columns")
		lines := Wrap(words, columns)
		if got := strings.Fields(strings.Join(lines, " ")); !slices.Equal(got, words) {
			t.Fatalf("the words are %q, want %q", got, words)
		}
		for i, line := range lines {
			if Width(line) > columns && strings.Contains(line, " ") {
				t.Fatalf("%q is wider than %d", line, columns)
			}
			if i > 0 && Width(lines[i-1])+1+Width(strings.Fields(line)[0]) <= columns {
				t.Fatalf("the first word of %q fits behind %q", line, lines[i-1])
			}
		}
	})
}

func TestParagraph(t *testing.T) {
	for _, c := range []struct{ mark, text, want string }{
		{"- ", "one two  three", "- one two\n  three"},
		{"change ", "unbreakable words", "change unbreakable\n       words"},
		{"- ", "", "- "},
	} {
		if got := Paragraph(c.mark, c.text, 10); got != c.want {
			t.Errorf("%q behind %q is\n%s\nwant\n%s", c.text, c.mark, got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	var out bytes.Buffer
	Rows(&out, "bot|games", []string{"@random", "", "señal"}, func(bot string) []any {
		if bot == "" {
			return nil
		}
		return []any{bot, map[string]int{"@random": 12, "señal": 1234}[bot]}
	})
	if want := "bot      games\n@random     12\nseñal     1234\n"; out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// TestQuote checks that a shell reads a quoted word as the original.
func TestQuote(t *testing.T) {
	if got := Quote("my/bot.py"); got != "my/bot.py" {
		t.Errorf("a plain word is quoted as %s", got)
	}
	if _, err := exec.LookPath("sh"); err != nil {
		kit.Lacks(t, "sh")
	}
	for _, word := range []string{"", " ", "my bot", "it's", `a\b`, `"a"`, "$HOME", "*", "~", "a;b", "a|b", "#a", "a=b", "!x", "{a,b}"} {
		out, err := exec.Command("sh", "-c", "printf %s "+Quote(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q is quoted as %s, which a shell reads as %q, %v", word, Quote(word), out, err)
		}
	}
	if _, err := exec.LookPath("bash"); err != nil {
		kit.Lacks(t, "bash")
	}
	for _, word := range []string{"a\xffb", "red\x1b[31m", "line\nbreak", "it's\ta \"tab\"\\", "\u202eright"} {
		cmd := exec.Command("bash", "-c", "printf %s "+Quote(word))
		cmd.Env = append(cmd.Environ(), "LC_ALL=C.UTF-8")
		out, err := cmd.Output()
		if err != nil || string(out) != word {
			t.Errorf("%q is quoted as %s, which bash reads as %q, %v", word, Quote(word), out, err)
		}
	}
}
