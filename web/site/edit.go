package site

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/submission"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/starters"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/tryout"
)

// editedFile is a file of an uploaded version that its owner edits on the site.
type editedFile struct {
	Version  ladder.Version
	Path     string      // in the upload
	Paths    []string    // of all files that can be edited
	Line     int         // the line to mark; 0 if none
	LostGame playedSeat  // the game that the owner has looked at; the zero value means that there is none
	Faults   []faultNote // of the bot in that game
}

// playedSeat is a finished game and one of its seats.
type playedSeat struct {
	ladder.FinishedGame
	Seat  int
	Match ladder.Match
}

// hasSource reports whether the server has the uploaded files of v, so that the owner can edit them.
func hasSource(v ladder.Version) bool { return v.Bundle != "" && !v.NeverBuilt() }

// languageOf returns the programming language of a source file, given its name. It returns "" if no starter bot has
// that language.
func languageOf(file string) string {
	for _, l := range starters.Languages {
		if path.Ext(l.Source) == path.Ext(file) {
			return l.Name
		}
	}
	return ""
}

// getEdit opens the editor with the version in the path, if the visitor owns the bot.
func (s *Site) getEdit(v *visit) error {
	number, err := middleware.PathID(v.r, "version")
	if err != nil {
		return err
	}
	return s.showEdited(v, v.r.PathValue("bot"), int(number), &editedFile{}, nil)
}

// getEditGame opens the editor for a bot that lost a game: with the version that played at the seat in the path, at
// the line where it failed in that game.
func (s *Site) getEditGame(v *visit) error {
	id, err := middleware.PathID(v.r, "game")
	if err != nil {
		return err
	}
	seat, err := middleware.PathNumber(v.r, "seat", 0)
	if err != nil {
		return err
	}
	log, err := s.Service.GameLog(v.ctx(), v.Actor, id, seat)
	if err != nil {
		return err
	}
	lost, err := s.findSeat(v, id, int(seat))
	if err != nil {
		return err
	}
	r, _, err := s.loadReplay(v, id)
	if err != nil {
		return err
	}
	e := &editedFile{LostGame: lost}
	if e.Faults, err = s.explainFaults(v, lost.Match, lost.FinishedGame, r); err != nil {
		return err
	}
	e.Faults = slices.DeleteFunc(e.Faults, func(f faultNote) bool { return f.Seat != lost.Seat })
	for i := range e.Faults {
		e.Faults[i].Edit = "" // it is here
	}
	slot := lost.Seats[seat].Slot
	return s.showEdited(v, lost.Match.Bots[slot], lost.Match.Numbers[slot], e, fault.Lines(log))
}

func (s *Site) findSeat(v *visit, game int64, seat int) (lost playedSeat, err error) {
	if lost.FinishedGame, err = s.Store.Matches.Game(v.ctx(), game); err != nil {
		return lost, err
	}
	lost.Match, err = s.Store.Matches.Find(v.ctx(), lost.MatchID)
	if lost.Seat = seat; err == nil && seat >= len(lost.Seats) {
		err = ladder.Errorf(ladder.NotFound, "", "game %d has no seat %d", game, seat).Try("the seats are 0 to %d", len(lost.Seats)-1)
	}
	return lost, err
}

// showEdited shows the editor with a file of a version. The query parameter "file" names the file. Without it, the
// file is one in which log shows a failure or, failing that, one in the command of the version, or else the first
// file. log has lines of the bot's standard error. If the query parameter "text" is set, only the text of the file is
// sent.
func (s *Site) showEdited(v *visit, bot string, number int, e *editedFile, log []string) (err error) {
	if e.Version, err = s.Service.FindVersion(v.ctx(), bot, number); err != nil {
		return err
	}
	e.Path = v.query().Text("file")
	var text []byte
	_, err = s.Service.EditUpload(v.ctx(), v.Actor, bot, number, func(dir string, t bundle.Tree) error {
		for _, f := range t.Files {
			if f.Size <= tryout.MaxText && languageOf(f.Path) != "" {
				e.Paths = append(e.Paths, f.Path)
			}
		}
		if len(e.Paths) == 0 {
			return ladder.Errorf(ladder.NotFound, "fetch its files", "this version has no source file that the editor knows")
		}
		if e.Path == "" {
			failed := slices.IndexFunc(e.Paths, func(p string) bool { return fault.FailedLine(log, p) > 0 })
			started := slices.IndexFunc(e.Paths, func(p string) bool { return slices.Contains(e.Version.Command, p) })
			e.Path = e.Paths[max(0, cmp.Or(failed+1, started+1)-1)]
		}
		if text, err = os.ReadFile(filepath.Join(dir, filepath.FromSlash(e.Path))); !slices.Contains(e.Paths, e.Path) || err != nil {
			return ladder.Errorf(ladder.NotFound, "", "file %q does not exist", ladder.Clip(e.Path))
		}
		e.Line = fault.FailedLine(log, e.Path)
		return nil
	})
	if err != nil {
		return err
	}
	if v.query().Text("text") != "" {
		v.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		v.w.Write(text) // after an error the client is gone: there is no other answer
		return nil
	}
	page := writePage{Language: languageOf(e.Path), EditedFile: e}
	for _, g := range s.gameChoices() {
		if e.LostGame.MatchID != 0 && g.Game == e.LostGame.Match.Game && g.Ladder == "" || page.Game == "" && slices.Contains(e.Version.Games, g.Claim) {
			page.Game = g.Claim
		}
	}
	return s.showEditor(v, page)
}

// readEdited reads from the form which file of which version is edited, and stores both in w. If pack is true, it
// also sets w.archive to the version's files with the new text. It returns an error unless the visitor owns the bot.
func (v *visit) readEdited(w *editorForm, pack bool) error {
	bot, number, err := service.SplitRef(v.field("edited"))
	if err != nil {
		return err
	}
	w.source = v.field("file")
	w.base, err = v.site.Service.EditUpload(v.ctx(), v.Actor, bot, number, func(dir string, t bundle.Tree) error {
		if !slices.ContainsFunc(t.Files, func(f bundle.BotFile) bool { return f.Path == w.source }) {
			return ladder.Errorf(ladder.NotFound, "", "file %q does not exist", ladder.Clip(w.source))
		}
		if !pack {
			return nil
		}
		err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(w.source)), []byte(w.text), 0o644)
		if err == nil {
			w.archive, err = bundle.Pack(dir, bundle.LimitsOf(v.site.Config.Limits))
		}
		return err
	})
	return err
}

// playedDeal returns the deal that the editor's form asks to play again. The form field "again" is GAME/SEAT; the
// tested bot takes the place of the bot at that seat. It returns an error if the match is not over or one of its bots
// is banned.
func (s *Site) playedDeal(v *visit) (*submission.PlayedDeal, error) {
	var game int64
	var seat uint
	if _, err := fmt.Sscanf(v.field("again"), "%d/%d", &game, &seat); err != nil {
		return nil, ladder.Errorf(ladder.Invalid, "", "game %q does not exist", ladder.Clip(v.field("again")))
	}
	lost, err := s.findSeat(v, game, int(min(seat, 1000)))
	if err != nil {
		return nil, err
	}
	r, _, err := s.loadReplay(v, game)
	if err != nil {
		return nil, err
	}
	if r.Match.Seed == nil {
		return nil, ladder.Errorf(ladder.Conflict, "wait until the match is over", "the seed of match %d is secret", lost.MatchID)
	}
	d := &submission.PlayedDeal{Match: lost.Match, Seed: rules.Seed(*r.Match.Seed), Deal: lost.Deal, Rotation: lost.Rotation, Slot: lost.Seats[lost.Seat].Slot}
	for _, id := range lost.Match.Versions {
		version, err := s.Store.Versions.Find(v.ctx(), id)
		if err != nil {
			return nil, err
		}
		if b, err := s.Store.Bots.Find(v.ctx(), version.Bot); err != nil || !b.BannedAt.IsZero() {
			return nil, cmp.Or(err, error(ladder.Errorf(ladder.Conflict, "choose another bot", "bot %q is banned", version.Bot)))
		}
		d.Versions = append(d.Versions, version)
	}
	return d, nil
}
