package submission

import (
	"fmt"
	"strings"

	"github.com/timba-arena/timba/internal/cutlog"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
)

// MaxLog is the limit for the stored log of a stage of a submission, in bytes. The middle of a longer log is left
// out.
const MaxLog = 64 << 10

// transcript is the log of a stage of a submission (such as the build) while it is written. It turns the output
// of bots and compilers into plain text that can be shown to people.
type transcript struct {
	cutlog.Buffer
	secrets []string // paths of the server that String removes
}

func newTranscript(secrets ...string) *transcript {
	return &transcript{Buffer: cutlog.Buffer{Limit: MaxLog}, secrets: secrets}
}

// String returns the log as plain text. If it is longer than MaxLog, its middle is missing.
func (t *transcript) String() string { return t.clean(string(t.Bytes())) }

// clean removes the secrets of t and the directories of bots from text, and escapes everything that is not
// printable, except line ends and tabs.
func (t *transcript) clean(text string) string {
	text = string(datadir.HideBotPaths([]byte(text)))
	for _, s := range t.secrets {
		text = strings.ReplaceAll(text, s, "")
	}
	return ladder.Plain(strings.ReplaceAll(text, "\r\n", "\n"))
}

// maxSummary limits the summary of a stage of a submission, in bytes.
const maxSummary = 800

// firstLine returns the first line of text that is not blank. If the line is longer than maxSummary bytes, firstLine
// cuts it there and appends "...".
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(line) > maxSummary {
		line = strings.ToValidUTF8(line[:maxSummary], "") + "..."
	}
	return line
}

func listSome(words []string, limit int) string {
	if n := len(words) - limit; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:limit], ", "), n)
	}
	return strings.Join(words, ", ")
}
