package submission

import (
	"fmt"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
)

// MaxLog limits the log of a stage, in bytes. Of a longer log the first and the last half are stored.
const MaxLog = 64 << 10

// transcript is the log of a stage while it is written. It turns the output of bots and compilers into plain text.
type transcript struct {
	head, tail []byte
	lostBytes  int      // number of bytes that were cut between head and tail
	secrets    []string // paths of the server that String removes
}

func (t *transcript) Write(p []byte) (int, error) {
	room := min(MaxLog/2-len(t.head), len(p))
	t.head = append(t.head, p[:room]...)
	t.tail = append(t.tail, p[room:]...)
	if over := len(t.tail) - MaxLog/2; over > 0 {
		t.lostBytes += over
		t.tail = append(t.tail[:0], t.tail[over:]...)
	}
	return len(p), nil
}

// String returns the log, without its middle if it is too long.
func (t *transcript) String() string {
	head, tail := t.head, t.tail
	if t.lostBytes == 0 {
		return t.clean(string(head) + string(tail))
	}
	if i := strings.LastIndexByte(string(head), '\n'); i >= 0 { // whole lines, where there are some
		head = head[:i+1]
	}
	if i := strings.IndexByte(string(tail), '\n'); i >= 0 && i < len(tail)-1 {
		tail = tail[i+1:]
	}
	lost := t.lostBytes + len(t.head) - len(head) + len(t.tail) - len(tail)
	return t.clean(string(head)) + fmt.Sprintf("\n[%d bytes are left out here]\n\n", lost) + t.clean(string(tail))
}

// clean returns text as printable UTF-8 with lines and tabs, without the secrets.
func (t *transcript) clean(text string) string {
	text = string(datadir.HideBotPaths([]byte(text)))
	for _, s := range t.secrets {
		text = strings.ReplaceAll(text, s, "")
	}
	return ladder.Plain(strings.ReplaceAll(text, "\r\n", "\n"))
}

// maxSummary limits the length of the line that sums a stage up, in bytes.
const maxSummary = 800

// firstLine returns the first line of a text, shortened to maxSummary.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(line) > maxSummary {
		line = strings.ToValidUTF8(line[:maxSummary], "") + "..."
	}
	return line
}

// listSome joins the first words of a list, and says how many more there are.
func listSome(words []string, limit int) string {
	if n := len(words) - limit; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:limit], ", "), n)
	}
	return strings.Join(words, ", ")
}
