package site_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/tournament"
	"github.com/timba-arena/timba/tournament/report"
	"github.com/timba-arena/timba/web/site"
	"github.com/timba-arena/timba/web/webtest"
)

// cheat is a bot whose name would be markup in a page. It makes illegal moves.
const cheat = "</script><script>window.pwned=1</script><img/src=x>"

// playStored plays a tournament of Teeko in a directory and returns what is stored there.
func playStored(t testing.TB, format tournament.Format, deals int, bots ...string) *report.Archive {
	t.Helper()
	c := tournament.Config{
		Game: "teeko", Options: map[string]string{"limit": "40"}, Format: format, Deals: deals, Seed: referee.Hex{1},
		Clock: referee.Clock{Move: time.Minute, Startup: time.Minute},
	}
	r := &report.Run{Self: "timba"}
	for _, name := range bots {
		b := match.Contestant{Name: name, Hash: strings.Repeat("5a", 32), Serve: func(in io.Reader, out io.Writer) error {
			if name == cheat {
				return protocol.Serve(in, out, "cheat", "1", func(*protocol.Turn) protocol.Answer { return protocol.Answer{Move: []byte("pass")} })
			}
			return house.Run(name, in, out)
		}}
		r.Programs = append(r.Programs, b)
		c.Bots = append(c.Bots, tournament.Entrant{BotSpec: program.BotSpec{Bot: name, Name: name}, SHA256: b.Hash})
	}
	r.State = kit.Get[*tournament.State](t)(tournament.New(c))
	r.Dir = kit.Get[*tournament.Dir](t)(tournament.CreateDir(filepath.Join(t.TempDir(), "out"), r.Config))
	defer r.Dir.Close()
	kit.Must(t, r.Play(t.Context(), func(*tournament.Match, *referee.GameResult) {}, func(string) {}))
	kit.Must(t, r.Dir.StoreResult(kit.Get[[]byte](t)(json.Marshal(r.Document()))))
	return kit.Get[*report.Archive](t)(report.ReadArchive(r.Dir.Path))
}

// link matches what could lead out of a page.
var link = regexp.MustCompile(`(?:href|src|action)="?(?:https?:)?//[^">]*`)

// The report says in each language what was played, how it ended and why a bot failed. What bots are called is text, and the
// only link that leads out of the page is that to timba.
func TestReport(t *testing.T) {
	t.Parallel()
	s := playStored(t, tournament.RoundRobin, 2, "greedy", "random", cheat)
	s.Result.Bots[0].Credit, s.Plan.Openings = 1234.5, make([]referee.DealOpening, 2) // no test can make a machine busy
	var b bytes.Buffer
	kit.Must(t, site.WriteReport(&b, s))
	page := b.String()
	requireTexts(t, "the report", page,
		"<title>Teeko: greedy – random – &lt;/script&gt;", `<main lang="en"`, `<main lang="ca" hidden`, `<main lang="es" hidden`,
		"round-robin: all against all", "liga: todos contra todos", "lliga: tots contra tots",
		"drawn after 40 moves", "60 s a move", s.Plan.Seed.String(), fmt.Sprintf("timba %s<", s.Result.Program),
		`<td class="number" data-label="W / D / L">8 / 0 / 0</td>`, `<td data-label="3" class="number win">100 %</td>`,
		`href="#game=0000-00000-0"`, "illegal move", "&#34;pass&#34; is not a move", "and 7 more of this kind",
		"clock credit: 1234.5 ms", "crèdit de rellotge: 1234,5 ms", "The deals begin with 2 openings", s.Result.Machine.System,
	)
	forbidTexts(t, "the report", page, cheat, "<script>window")
	for _, found := range link.FindAllString(page, -1) {
		if found != `href="https://github.com/timba-arena/timba` {
			t.Errorf("the report has the link %s", found)
		}
	}
}

// A report has at most 200 games and so many bytes of them: first those with a fault, then both games of deals from all
// parts of the match.
func TestReportLimits(t *testing.T) {
	t.Parallel()
	s := playStored(t, tournament.Single, 1, "greedy", cheat)
	one := kit.Get[[]byte](t)(os.ReadFile(s.ReplayPath(0, 0, 0)))
	s.Games = nil
	for deal := range 300 {
		for rotation := range 2 {
			s.Games = append(s.Games, tournament.GameID{Deal: deal, Rotation: rotation})
			kit.Must(t, os.WriteFile(s.ReplayPath(0, deal, rotation), one, 0o644))
		}
	}
	fault := s.Result.Faults[0]
	fault.Deal, fault.Rotation = 299, 1
	s.Result.Faults = append(s.Result.Faults[:0], fault)
	ids, size := site.ReportedGames(t, s, 1<<30)
	if len(ids) != 200 || ids[0] != "0000-00000-0" || ids[199] != "0000-00299-1" {
		t.Errorf("the report has %d games, %q", len(ids), ids)
	}
	games, last := map[int]int{}, 0
	for _, id := range ids {
		deal := kit.Get[int](t)(strconv.Atoi(id[5:10]))
		if games[deal]++; deal-last > 4 {
			t.Errorf("after deal %d comes deal %d", last, deal)
		}
		last = deal
	}
	if half := 2*len(games) - len(ids); half > 2 { // one deal at the end of the list, and that of the fault
		t.Errorf("of %d deals %d have one game only", len(games), half)
	}
	few, smaller := site.ReportedGames(t, s, size/40)
	if smaller > size/40 || len(few) != 5 || few[4] != "0000-00299-1" || few[2] != "0000-00256-0" {
		t.Errorf("of %d bytes %d games have %d: %q", size/40, len(few), smaller, few)
	}
}

// The report in a file plays its games back, keeps game and position in the address, and can be read on a telephone, in
// the reader's language.
func TestReportInBrowser(t *testing.T) {
	t.Parallel()
	browser := webtest.Start(t)
	s := playStored(t, tournament.RoundRobin, 2, "greedy", "random", "first", cheat)
	path := filepath.Join(t.TempDir(), "report.html")
	f := kit.Get[*os.File](t)(os.Create(path))
	kit.Must(t, site.WriteReport(f, s))
	kit.Must(t, f.Close())
	b := webtest.Open(t, browser, "file://"+path)
	examine(b, "file://"+path, "report")

	b.Click(`main:not([hidden]) [href="#game=0002-00000-0"]`)
	b.Wait(`dialog[open] .player[data-ply="0"]`)
	b.RequireAccessible()
	b.Press(kb.ArrowRight)
	b.Wait(`dialog[open] .player[data-ply="1"]`)
	if text := b.Text(".player .seats"); !strings.Contains(text, cheat) || !strings.Contains(text, "greedy") {
		t.Errorf("the player shows the seats %q", text)
	}
	kit.Until(t, "the address has the position", func() bool { return webtest.Eval[string](b, "location.hash") == "#game=0002-00000-0&ply=1" })
	b.Click(`dialog button`)
	b.Wait(`dialog:not([open]) .player:empty`)
	if hash := webtest.Eval[string](b, "location.hash"); hash != "" {
		t.Errorf("without a game the address has %q", hash)
	}
	b.Click(`main:not([hidden]) .faultnotes a`)
	b.Wait(`dialog[open] .player .faulttext`)
	webtest.Eval[bool](b, "location.hash = ''; true")
	b.Wait(`dialog:not([open])`)

	b.Click(`[data-speak="ca"]`)
	b.Wait(`html[lang="ca"] main[lang="ca"]:not([hidden])`)
	if got := webtest.Eval[string](b, "[...document.querySelectorAll('main:not([hidden])')].map((e) => e.querySelector('h2').textContent) + window.pwned"); got != "Classificacióundefined" {
		t.Errorf("in Catalan the page has %q", got)
	}
	b.RequireQuiet()
}
