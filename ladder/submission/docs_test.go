package submission

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
)

// docs/competing.md, "Stages", lists all stages in order, with their states.
func TestStagesAreDocumented(t *testing.T) {
	t.Parallel()
	data := kit.Get[[]byte](t)(os.ReadFile("../../docs/competing.md"))
	rest := string(data)
	for _, s := range (&Pipeline{}).stages() {
		_, after, ok := strings.Cut(rest, fmt.Sprintf("\n| %s | %s |", s.name, s.state))
		if !ok {
			t.Errorf("stage %s, in which a version is %s, is missing or out of order", s.name, s.state)
			continue
		}
		rest = after
	}
}

// docs/writing-a-bot.md, "The manifest", says which names a competition accepts and what it shows of a version.
func TestNamesAreDocumented(t *testing.T) {
	t.Parallel()
	data := kit.Get[[]byte](t)(os.ReadFile("../../docs/writing-a-bot.md"))
	for name, ok := range map[string]bool{
		strings.Repeat("a", 32): true, strings.Repeat("a", 33): false, "a-b_c.9": true, "a--b": false, "-a": false, "a.": false, "A": false,
	} {
		if err := ladder.CheckBotName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
	shown := len(label(strings.Repeat("x", 1000), newTranscript()))
	for _, want := range []string{
		"lower-case letters and digits with single `-`, `_` or `.` between them, at most 32 characters",
		fmt.Sprintf("shows at most %d bytes", shown),
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the page does not have %q", want)
		}
	}
}
