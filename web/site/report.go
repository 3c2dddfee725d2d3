package site

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/tournament"
	"github.com/timba-arena/timba/tournament/report"
	"github.com/timba-arena/timba/web/board"
	"github.com/timba-arena/timba/web/messages"
)

// The limits of a report, which keep it small enough for a mail.
const (
	reportGames  = 200     // games that it plays back
	reportBytes  = 4 << 20 // of these games, compressed and in base64
	reportPairs  = 16      // bots in the table of who beats whom
	reportFaults = 50      // kinds of faults that it explains
)

// reportPage is the data of the report of a match or a tournament.
type reportPage struct {
	*report.Archive
	Options    [][2]string // the names and values of options that are not the defaults, in the game's order
	Pairs      []reportRow
	Replays    []reportGame      // the games that it plays back, in order
	recordings map[string]string // by the IDs of these games; see packReplay
}

// reportRow is a bot with its scores against the bots of the table's columns, in the order of the standings.
type reportRow struct {
	Name  string
	Cells []cell
}

// reportGame is a game that the report plays back.
type reportGame struct {
	tournament.GameID
	*referee.Replay
}

// FaultLimit returns the largest number of kinds of faults that the page explains.
func (p *reportPage) FaultLimit() int { return reportFaults }

// PlayedID returns the ID of a game, or "" if the page does not play it back.
func (p *reportPage) PlayedID(match, deal, rotation int) string {
	id := tournament.GameID{Match: match, Deal: deal, Rotation: rotation}.String()
	if p.recordings[id] == "" {
		return ""
	}
	return id
}

// WriteReport writes the report of a match or a tournament as an HTML document in one file. The document plays some of
// the games back, has the texts of all languages, and needs no network.
func WriteReport(w io.Writer, a *report.Archive) error {
	p := &reportPage{Archive: a, Pairs: reportPairsOf(a), recordings: map[string]string{}}
	if err := p.addOptions(); err != nil {
		return err
	}
	if err := p.addGames(reportBytes); err != nil {
		return err
	}
	sheet, err := readReportStyle()
	if err != nil {
		return err
	}
	all, err := newPages(new(Site))
	if err != nil {
		return err
	}
	page := board.Page{Class: "page-report", Style: sheet, Games: p.recordings}
	var reports []template.HTML
	for _, l := range all.languages {
		reports = append(reports, executeReport(all, l.Tag, "report", p, &err))
	}
	page.Title = executeReport(all, messages.Languages[0], "title", p, &err)
	page.Body = executeReport(all, messages.Languages[0], "sheet", reports, &err)
	if err != nil {
		return err
	}
	return page.Write(w)
}

// reportFrame is the value on which the templates of a report are executed.
type reportFrame struct {
	Lang string // tag of the language
	Data any
}

// executeReport returns the result of a template of the report in the language lang. It adds its error to err.
func executeReport(all *pages, lang, name string, data any, err *error) template.HTML {
	var b strings.Builder
	*err = errors.Join(*err, all.templates[lang+"/report"]().ExecuteTemplate(&b, name, reportFrame{lang, data}))
	return template.HTML(b.String())
}

// readReportStyle returns the style sheet of the site, with its fonts in it.
func readReportStyle() (string, error) {
	sheet, err := fs.ReadFile(pageFiles, layoutDir+"/site.css")
	if err != nil {
		return "", err
	}
	fonts, err := fs.Glob(pageFiles, layoutDir+"/*.woff2")
	for _, path := range fonts {
		font, err := fs.ReadFile(pageFiles, path)
		if err != nil {
			return "", err
		}
		name := strings.TrimPrefix(path, layoutDir+"/")
		sheet = bytes.ReplaceAll(sheet, []byte("url("+name+")"), []byte("url(data:font/woff2;base64,"+base64.StdEncoding.EncodeToString(font)+")"))
	}
	return string(sheet), err
}

func (p *reportPage) addOptions() error {
	g, err := games.Find(p.Plan.Game)
	if err != nil {
		return err
	}
	v, err := g.Resolve(p.Plan.Options)
	if err != nil {
		return err
	}
	p.Options, err = changedOptions(v)
	return err
}

// addGames adds the games that the page plays back. limit is the number of bytes that they may have together.
func (p *reportPage) addGames(limit int) error {
	for _, id := range p.Sample(reportGames) {
		r, err := p.Replay(id)
		if err != nil {
			return err
		}
		packed, err := packReplay(r)
		if err != nil {
			return fmt.Errorf("report: %s: %w", p.ReplayPath(id.Match, id.Deal, id.Rotation), err)
		}
		if len(packed) > limit {
			continue
		}
		limit -= len(packed)
		p.recordings[id.String()] = packed
		p.Replays = append(p.Replays, reportGame{id, r})
	}
	slices.SortFunc(p.Replays, func(a, b reportGame) int { return a.Compare(b.GameID) })
	return nil
}

// packReplay returns the recording of a game as JSON, compressed by gzip, in base64.
func packReplay(r *referee.Replay) (string, error) {
	g, err := games.Find(r.Game)
	if err != nil {
		return "", err
	}
	recording, err := board.NewRecording(r, g)
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(recording)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data) // a buffer has no errors
	z.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// reportPairsOf returns the table of who beats whom among the best bots. It is nil if there are only two.
func reportPairsOf(a *report.Archive) (rows []reportRow) {
	met := map[[2]string]store.Meeting{}
	for _, pair := range a.Result.Pairs {
		deals := float64(pair.Deals)
		met[[2]string{pair.A, pair.B}] = store.Meeting{Deals: deals, Score: pair.Score.Value * deals}
		met[[2]string{pair.B, pair.A}] = store.Meeting{Deals: deals, Score: (1 - pair.Score.Value) * deals}
	}
	bots := a.Result.Bots[:min(len(a.Result.Bots), reportPairs)]
	if len(bots) <= 2 {
		return nil
	}
	for _, b := range bots {
		row := reportRow{Name: b.Name}
		for _, other := range bots {
			row.Cells = append(row.Cells, cellOf(met[[2]string{b.Name, other.Name}], b.Name == other.Name))
		}
		rows = append(rows, row)
	}
	return rows
}
