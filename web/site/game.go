package site

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/web/board"
	"github.com/timba-arena/timba/web/middleware"
)

// seatLog is what a bot of the visitor wrote to standard error in a game.
type seatLog struct {
	Seat int
	Bot  string
	Log  []byte

	HasSource bool // see hasSource
}

// ownLogs returns the logs of game g of match m, but only those of seats whose bots the visitor owns.
func (s *Site) ownLogs(v *visit, m ladder.Match, g ladder.FinishedGame) (list []seatLog, err error) {
	for _, seat := range g.Seats {
		version, err := s.Store.Versions.Find(v.ctx(), m.Versions[seat.Slot])
		if err != nil {
			return nil, err
		}
		if !v.Owns(version.Owner) {
			continue
		}
		log, err := s.Store.Matches.Log(v.ctx(), g.ID, seat.Seat)
		if err != nil {
			return nil, err
		}
		list = append(list, seatLog{seat.Seat, version.Bot, log, hasSource(version)})
	}
	return list, nil
}

type gamePage struct {
	gameView
	ladder.FinishedGame
	Match    ladder.Match
	Faults   []faultNote
	Logs     []seatLog
	SameDeal []ladder.FinishedGame // the games of the same deal by rotation, including this one
	Embedded bool                  // the page is shown in a frame of another site
	Embed    string                // the address for frames of other sites; "" if the operator allows none
	Full     string                // the absolute address of the page
}

// getMatchGame redirects to the page of the game with the match, deal and rotation (seating) in the path. Pages
// that show a match in progress link to this address, because they do not know the ID of the game.
func (s *Site) getMatchGame(v *visit) error {
	match, err := middleware.PathID(v.r, "match")
	if err != nil {
		return err
	}
	deal, err := middleware.PathNumber(v.r, "deal", 0)
	if err != nil {
		return err
	}
	rotation, err := middleware.PathNumber(v.r, "rotation", 0)
	if err != nil {
		return err
	}
	list, err := s.Store.Matches.Games(v.ctx(), match)
	if err != nil {
		return err
	}
	for _, g := range list {
		if int64(g.Deal) == deal && int64(g.Rotation) == rotation {
			return v.redirect("/games/" + strconv.FormatInt(g.ID, 10))
		}
	}
	return ladder.Errorf(ladder.NotFound, "", "match %d has no game of deal %d and rotation %d", match, deal, rotation)
}

// gameView is the data about a replay for a page, and for the JavaScript module that plays the replay back.
type gameView struct {
	Title     string // the name of the game
	BoardGame *board.Recording
	Data      template.JS // BoardGame as JSON
	Notation  string      // as "timba replay export --format text" writes it
	Winners   []string    // the bots with rank 1
	Drawn     bool
}

// The limits of texts from bots and visitors. A longer text is truncated.
const (
	maxName      = 40  // runes of a name or a version
	maxInfo      = 400 // runes of an info line
	maxHost      = 255 // runes of the header Host
	maxInfoLines = 8   // info lines of a move; the page has the last ones
)

// newGameView returns the data of replay r for a page. It truncates texts that bots wrote. g has the rules of the
// game. The argument game identifies the game in error messages.
func newGameView(game any, r *referee.Replay, g *rules.Game) (gameView, error) {
	played, err := board.NewRecording(r, g)
	if err != nil {
		return gameView{}, fmt.Errorf("the replay of game %v: %w", game, err)
	}
	variant, err := r.Resolve(g)
	if err != nil {
		return gameView{}, err
	}
	v := gameView{Title: g.Display.Title, BoardGame: played, Notation: r.Notation(variant)}
	truncateTexts(played)
	for _, seat := range played.Seats {
		if seat.Rank == 1 {
			v.Winners = append(v.Winners, seat.Name)
		}
	}
	v.Drawn = len(v.Winners) == len(played.Seats)
	text, err := json.Marshal(played) // it escapes <, > and &
	v.Data = template.JS(text)
	return v, err
}

// faultsOfPeople maps some faults of people to codes that pages show instead of the stored code of the fault.
// Each code is part of the key of a text about the fault.
var faultsOfPeople = map[fault.Kind]protocol.Code{fault.Resigned: "resigned", fault.ConnectionLost: "lost"}

// maxFaultText is the largest number of runes that pages show of a text about a fault. The rest is cut.
const maxFaultText = 600

func truncateTexts(g *board.Recording) {
	for i := range g.Seats {
		g.Seats[i].Name, g.Seats[i].Version = truncate(maxName, g.Seats[i].Name), truncate(maxName, g.Seats[i].Version)
	}
	for i := range g.Faults {
		g.Faults[i].Text = truncate(maxFaultText, g.Faults[i].Text)
		if code, ok := faultsOfPeople[g.Faults[i].Reason.Kind]; ok {
			g.Faults[i].Code = code
		}
		g.Faults[i].Reason = fault.Reason{} // the player does not show it
	}
	for i := range g.Moves {
		info := g.Moves[i].Info
		info = info[max(0, len(info)-maxInfoLines):]
		short := make([]string, len(info))
		for k, line := range info {
			short[k] = truncate(maxInfo, line)
		}
		g.Moves[i].Info = short
	}
	for i := range g.Differences {
		g.Differences[i] = truncate(maxFaultText, g.Differences[i])
	}
}

func (s *Site) loadReplay(v *visit, game int64) (*referee.Replay, *rules.Game, error) {
	data, err := s.Store.Matches.Replay(v.ctx(), game)
	if err != nil {
		return nil, nil, err
	}
	return decodeReplay(game, data)
}

// decodeReplay decodes the replay in data and finds the rules of its game. The argument game identifies the game in
// error messages.
func decodeReplay(game any, data []byte) (*referee.Replay, *rules.Game, error) {
	r, err := referee.DecodeReplay(data)
	if err != nil {
		return nil, nil, fmt.Errorf("the replay of game %v: %w", game, err)
	}
	g, err := games.Find(r.Game)
	return r, g, err
}

func (s *Site) getGame(v *visit) error {
	page, r, err := s.gamePage(v)
	if err != nil {
		return err
	}
	if page.Faults, err = s.explainFaults(v, page.Match, page.FinishedGame, r); err != nil {
		return err
	}
	if page.Logs, err = s.ownLogs(v, page.Match, page.FinishedGame); err != nil {
		return err
	}
	list, err := s.Store.Matches.Games(v.ctx(), page.MatchID)
	if err != nil {
		return err
	}
	page.SameDeal = slices.DeleteFunc(list, func(other ladder.FinishedGame) bool { return other.Deal != page.Deal })
	if s.Config.Site.Embed {
		page.Embed = page.Full + "/embed"
	}
	return v.showPage(http.StatusOK, "game", page)
}

func (s *Site) gamePage(v *visit) (page gamePage, r *referee.Replay, err error) {
	id, err := middleware.PathID(v.r, "game")
	if err != nil {
		return page, nil, err
	}
	if page.FinishedGame, err = s.Store.Matches.Game(v.ctx(), id); err != nil {
		return page, nil, err
	}
	if page.Match, err = s.Store.Matches.Find(v.ctx(), page.MatchID); err != nil {
		return page, nil, err
	}
	r, g, err := s.loadReplay(v, id)
	if err != nil {
		return page, nil, err
	}
	for i := range r.Seats {
		r.Seats[i].Name = v.site.botTitle(v.language, r.Seats[i].Name)
	}
	page.Full = fmt.Sprintf("%s/games/%d", v.origin(), id)
	page.gameView, err = newGameView(id, r, g)
	return page, r, err
}

// getEmbed serves the page of a game for a frame of any other site, if the operator allows it. It has no
// forms and shows nothing about the visitor.
func (s *Site) getEmbed(v *visit) error {
	if !s.Config.Site.Embed {
		return ladder.Errorf(ladder.NotFound, "the operator has switched them off", "this competition has no replays for frames")
	}
	page, _, err := s.gamePage(v)
	if err != nil {
		return err
	}
	page.Embedded = true
	h := v.w.Header()
	h.Set("Content-Security-Policy", strings.Replace(policy, "frame-ancestors 'none'", "frame-ancestors *", 1))
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	return v.showTemplate("bare", http.StatusOK, "game", page, nil)
}

// getReplayJSON sends the stored replay, byte for byte.
func (s *Site) getReplayJSON(v *visit) error {
	id, err := middleware.PathID(v.r, "game")
	if err != nil {
		return err
	}
	data, err := s.Store.Matches.Replay(v.ctx(), id)
	if err != nil {
		return err
	}
	return v.sendFile("application/json", fmt.Sprintf("game-%d.json", id), data)
}

// getReplayHTML sends the page that "timba replay export" makes.
func (s *Site) getReplayHTML(v *visit) error {
	return s.sendExport(v, "text/html; charset=utf-8", "html", func(w io.Writer, r *referee.Replay, g *rules.Game) error {
		played, err := board.NewRecording(r, g)
		if err != nil {
			return err
		}
		return played.WritePage(w)
	})
}

// getReplayCSV sends the replay as CSV, as "timba replay export --format csv" does.
func (s *Site) getReplayCSV(v *visit) error {
	return s.sendExport(v, "text/csv; charset=utf-8", "csv", func(w io.Writer, r *referee.Replay, g *rules.Game) error {
		return board.WriteCSV(w, board.Rows(r, g, "game-"+v.r.PathValue("game")+".json"))
	})
}

// sendExport sends a file made from the replay in the path, for the browser to save. The function write writes the
// file. kind is the media type of the file, and ext the extension of its name, without a dot.
func (s *Site) sendExport(v *visit, kind, ext string, write func(io.Writer, *referee.Replay, *rules.Game) error) error {
	id, err := middleware.PathID(v.r, "game")
	if err != nil {
		return err
	}
	r, g, err := s.loadReplay(v, id)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := write(&b, r, g); err != nil {
		return fmt.Errorf("the replay of game %d: %w", id, err)
	}
	return v.sendFile(kind, fmt.Sprintf("game-%d.%s", id, ext), b.Bytes())
}

// sendFile answers with a file that the browser saves under name. kind is its media type.
func (v *visit) sendFile(kind, name string, data []byte) error {
	v.setDownloadHeader(kind, name)
	v.w.Write(data) // after an error the client is gone: there is no other answer
	return nil
}

// setDownloadHeader sets the headers that make the browser save the answer under name. kind is its media
// type. It does not change the headers for caching.
func (v *visit) setDownloadHeader(kind, name string) {
	h := v.w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s"`, name))
}
