package submission

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/web/middleware"
)

// docs/submitting.md, "Limits": every row says what the code does.
func TestLimitsAreDocumented(t *testing.T) {
	t.Parallel()
	data := kit.Get[[]byte](t)(os.ReadFile("../../docs/submitting.md"))
	_, section, ok := strings.Cut(string(data), "\n## Limits\n")
	if !ok {
		t.Fatal("there is no such section")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	told := map[string]string{}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) == 5 {
			told[strings.Trim(cells[1], ` \*`)] = strings.TrimSpace(cells[2])
		}
	}
	c := config.Default()
	archive := bundle.LimitsOf(c.Limits)
	mib := func(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }
	want := map[string]string{
		"limit": "value", "---": "---",
		"archive":               mib(archive.Upload),
		"all files, unpacked":   mib(archive.Unpacked),
		"files and directories": number(archive.Files),
		"names in a path":       number(archive.Depth),
		"bytes of a path":       number(archive.Path),
		"`timba.toml`":          bundle.Size(program.MaxManifest),
		"build: time":           short(BuildTime),
		"build: CPU time":       short(sandbox.BuildLimit.CPU),
		"build: memory":         mib(sandbox.BuildLimit.Memory),
		"files, built":          mib(MaxBuilt),
		"check: time":           short(CheckTime),
		"trial: time":           short(TrialTime),
		"a stage's log":         bundle.Size(MaxLog),
		"KiB of an upload that must arrive per second": number(int(middleware.DefaultPace.Rate >> 10)),
		"bots of a person":                 number(c.Limits.Bots),
		"build: processes and threads":     number(sandbox.BuildLimit.Processes),
		"build: files that it writes":      mib(sandbox.BuildLimit.Disk),
		"files and directories, built":     number(MaxBuiltFiles),
		"trial: deals on each ladder":      number(TrialDeals),
		"bot: memory, of all processes":    mib(int64(c.Limits.Memory)),
		"bot: processes and threads":       number(sandbox.DefaultLimit.Processes),
		"versions of a person in 24 hours": number(c.Limits.Versions),
		"versions of a bot on their way":   "1",
		"bytes unpacked for each byte of the archive, above " + bundle.Size(bundle.RatioFree): number(int(archive.Ratio)),
	}
	for row, value := range want {
		if told[row] != value {
			t.Errorf("%q is %q, and is told to be %q", row, value, told[row])
		}
	}
	for row := range told {
		if want[row] == "" {
			t.Errorf("%q is told and nobody knows whether it holds", row)
		}
	}
}

// number writes a number as people do.
func number(n int) string {
	s := strconv.Itoa(n)
	if len(s) > 3 {
		return s[:len(s)-3] + "," + s[len(s)-3:]
	}
	return s
}

// docs/submitting.md, "Stages": all of them, in their order, with their states.
func TestStagesAreDocumented(t *testing.T) {
	t.Parallel()
	data := kit.Get[[]byte](t)(os.ReadFile("../../docs/submitting.md"))
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

// SPEC.md, "The manifest": what a competition wants of a name, and shows of a version.
func TestNamesAreDocumented(t *testing.T) {
	t.Parallel()
	data := kit.Get[[]byte](t)(os.ReadFile("../../SPEC.md"))
	for name, ok := range map[string]bool{
		strings.Repeat("a", 32): true, strings.Repeat("a", 33): false, "a-b_c.9": true, "a--b": false, "-a": false, "a.": false, "A": false,
	} {
		if err := ladder.CheckName("bot", name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
	shown := len(label(strings.Repeat("x", 1000), &transcript{}))
	for _, want := range []string{
		"lower-case letters and digits with single `-`, `_` or `.` between them, at most 32 characters",
		fmt.Sprintf("shows at most %d bytes", shown),
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("SPEC.md does not have %q", want)
		}
	}
}
