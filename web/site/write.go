package site

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/ladder/submission"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/sample-bots/starters"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/tryout"
)

type writePage struct {
	Games      []gameChoice
	Languages  []starters.Language
	Game       string      // the game that is selected
	Language   string      // the language that is selected
	Bots       []string    // the bots to test against
	Limit      int         // the largest size of a text in bytes
	EditedFile *editedFile // the file of a version; nil for a new bot
}

// RulesGame returns the name of the game to whose rules the page links: the selected one or else the first.
func (p writePage) RulesGame() string {
	if p.Game == "" {
		return p.Games[0].Game
	}
	game, _, _ := strings.Cut(p.Game, " ") // options may follow
	return game
}

// gameChoice is something that a new bot can play: a game or, if Ladder is not empty, a ladder of the game. Claim is
// the text for the manifest, such as "brisca players=2".
type gameChoice struct{ Claim, Game, Ladder string }

// gameChoices returns each game. If the ladders of a game have different options, these ladders follow the game.
func (s *Site) gameChoices() (list []gameChoice) {
	for _, g := range games.All() {
		list = append(list, gameChoice{g.Name, g.Name, ""})
		var own []ladder.Ladder
		for _, l := range s.Config.Ladders {
			if l.Game == g.Name {
				own = append(own, l)
			}
		}
		for _, l := range own {
			var differing []rules.Setting // options with which the ladder differs from another one
			for _, o := range g.Options {
				if slices.ContainsFunc(own, func(other ladder.Ladder) bool { return other.Options[o.Name] != l.Options[o.Name] }) {
					differing = append(differing, rules.Setting{Name: o.Name, Value: l.Options[o.Name]})
				}
			}
			if claim, err := g.CanonicalClaim(differing); err == nil && len(differing) > 0 {
				list = append(list, gameChoice{claim, g.Name, l.Name})
			}
		}
	}
	return list
}

// maxBots is the largest number of bots that a form offers.
const maxBots = 200

// botNames returns the names of the bots that a form offers, at most maxBots.
func (s *Site) botNames(ctx context.Context) (names []string, err error) {
	list, err := s.Store.Bots.Search(ctx, store.BotFilter{}, 0, maxBots)
	for _, b := range list {
		names = append(names, b.Name)
	}
	return names, err
}

func (s *Site) getWrite(v *visit) error {
	return s.showEditor(v, writePage{Game: v.query().Text("game"), Language: v.query().Text("language")})
}

func (s *Site) showEditor(v *visit, page writePage) (err error) {
	page.Games, page.Languages, page.Limit = s.gameChoices(), starters.Languages, tryout.MaxText
	if page.Bots, err = s.botNames(v.ctx()); err != nil {
		return err
	}
	return v.showPage(http.StatusOK, "write", page)
}

// getStarter sends the starter bot of a language, with which the editor begins.
func (s *Site) getStarter(v *visit) error {
	l, err := starters.Find(v.r.PathValue("language"))
	if err != nil || l.Name != v.r.PathValue("language") {
		return ladder.Errorf(ladder.NotFound, "/download lists them", "starter %q does not exist", ladder.Clip(v.r.PathValue("language")))
	}
	files, err := l.Files("my-bot")
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	v.w.Write([]byte(files[l.Source])) // after an error the client is gone: there is no other answer
	return nil
}

// editorForm is what the editor of the page "write" sends: the text of a bot and the game that it plays.
type editorForm struct {
	game   string // as in a manifest, such as "brisca" or "brisca players=2"
	source string // the name of the file
	text   string

	base    ladder.Version  // the version that is edited; the zero value for a new bot
	archive *bundle.Archive // the files of base with the new text
}

// readEditorForm reads and checks the form of the editor. If the form edits a version and pack is true, w.archive has
// the version's files with the new text.
func (v *visit) readEditorForm(pack bool) (w editorForm, err error) {
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, tryout.MaxText+maxForm)
	var large *http.MaxBytesError
	if err := v.r.ParseMultipartForm(tryout.MaxText + maxForm); errors.As(err, &large) {
		return w, ladder.Errorf(ladder.TooLarge, "", "the text is larger than %s", bundle.FormatSize(tryout.MaxText))
	} else if err != nil {
		return w, ladder.Errorf(ladder.Invalid, "", "the form cannot be read")
	}
	if w.game, _, err = games.CanonicalClaim(v.field("game")); err != nil {
		return w, ladder.Errorf(ladder.Invalid, "", "%w", err)
	}
	l, err := starters.Find(v.field("language"))
	if err != nil {
		return w, ladder.Errorf(ladder.Invalid, "", "%w", err)
	}
	w.source, w.text = l.Source, strings.ReplaceAll(v.r.PostForm.Get("text"), "\r\n", "\n")
	if len(w.text) > tryout.MaxText {
		return w, ladder.Errorf(ladder.TooLarge, "", "the text is larger than %s", bundle.FormatSize(tryout.MaxText))
	}
	if v.field("edited") != "" {
		err = v.readEdited(&w, pack)
	}
	return w, err
}

// postWrite submits the text in the editor. If a version is edited, the text replaces one of its files, and the other
// files stay. Otherwise the text becomes a bot of one file, which plays only the selected game.
func (s *Site) postWrite(v *visit) error {
	w, err := v.readEditorForm(true)
	if err != nil {
		return err
	}
	u := service.Upload{Bot: v.field("bot"), File: w.source, Content: strings.NewReader(w.text), Games: []string{w.game}}
	if w.archive != nil {
		u = service.Upload{Bot: u.Bot, Content: bytes.NewReader(w.archive.Data)}
	}
	if u.Bot == "" {
		return ladder.Errorf(ladder.Invalid, "", "%s", v.t("write.no-name"))
	}
	made, err := s.Middleware.ReceiveUpload(v.w, v.r, u, -1)
	if err != nil {
		return err
	}
	return v.redirect("/submissions/" + strconv.FormatInt(made.ID, 10))
}

// tryoutPart is the data for a part of the page "write": the part that shows the progress and the results of
// a test.
type tryoutPart struct {
	tryout.TryoutProgress
	ID     string
	Wins   int
	Draws  int
	Losses int
	Rows   []testGameRow
}

// testGameRow is a game in the list of a test's games.
type testGameRow struct {
	tryout.TryoutGame
	Number int    // counted from 1
	IsLost bool   // its deal and seats are those of the game that the author has looked at
	Result string // the result of the bot in the editor: "won", "drawn" or "lost"
}

func (s *Site) postTest(v *visit) error {
	w, err := v.readEditorForm(false)
	if err != nil {
		return err
	}
	t, id := submission.Tryout{File: w.source, Text: w.text, Base: w.base, Game: w.game}, ""
	if v.field("again") != "" {
		t.Deal, err = s.playedDeal(v)
	} else {
		t.Opponent, err = s.Store.Versions.FindLive(v.ctx(), v.field("against"))
	}
	if err == nil {
		id, err = s.Tryouts.Add(v.Actor, t)
	}
	if err != nil {
		return err
	}
	return v.redirect("/write/tests/" + id)
}

// tryoutWait is how long a request for the progress of a test waits for a change.
const tryoutWait = 30 * time.Second

// getTest shows the progress of a test in the editor. The query parameter "change", if present, is the number of the
// state that the editor already shows. getTest then waits until the test has another state, for at most tryoutWait.
func (s *Site) getTest(v *visit) error {
	change := int(v.query().Number("change", 0, 1<<30, -1))
	ctx := v.ctx()
	if change >= 0 {
		leave, err := s.Middleware.Waits.Enter(v.Visitor())
		if err != nil {
			return err
		}
		defer leave()
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, tryoutWait)
		defer cancel()
	}
	id := v.r.PathValue("test")
	p, err := s.Tryouts.Await(ctx, v.Actor, id, change)
	if err != nil {
		return err
	}
	part := tryoutPart{TryoutProgress: p, ID: id}
	for i, g := range p.Games {
		shown := testGameRow{TryoutGame: g, Number: i + 1, Result: "drawn"}
		if p.Deal != nil {
			r, _, err := decodeReplay(i+1, g.Replay)
			if err != nil {
				return err
			}
			shown.IsLost = r.Match.Rotation == p.Deal.Rotation
		}
		switch g.Score {
		case 1:
			shown.Result = "won"
			part.Wins++
		case 0:
			shown.Result = "lost"
			part.Losses++
		default:
			part.Draws++
		}
		part.Rows = append(part.Rows, shown)
	}
	return v.showTemplate("tryout", http.StatusOK, "write", part, nil)
}

func (s *Site) postTestCancel(v *visit) error {
	if err := s.Tryouts.Cancel(v.Actor, v.r.PathValue("test")); err != nil {
		return err
	}
	return v.redirect("/write/tests/" + v.r.PathValue("test"))
}

// tryoutGamePart is the data for a part of the page "write": the part that shows one game of a test.
type tryoutGamePart struct {
	gameView
	Number int
	Stderr []string
	Faults []faultNote
}

// getTestGame shows a game of a test: its result, its replay, and the bot's standard error.
func (s *Site) getTestGame(v *visit) error {
	number, err := middleware.PathID(v.r, "game")
	if err != nil {
		return err
	}
	p, err := s.Tryouts.Await(v.ctx(), v.Actor, v.r.PathValue("test"), -1)
	if err != nil {
		return err
	}
	if number > int64(len(p.Games)) {
		return ladder.Errorf(ladder.NotFound, "", "game %d does not exist", number)
	}
	g := p.Games[number-1]
	r, rules, err := decodeReplay(number, g.Replay)
	if err != nil {
		return err
	}
	for i := range r.Seats {
		r.Seats[i].Name = v.site.botName(v.language, r.Seats[i].Name)
	}
	part := tryoutGamePart{Number: int(number)}
	for _, f := range g.Faults {
		m := r.Match
		part.Faults = append(part.Faults, faultNote{
			Deal: m.Deal, Rotation: m.Rotation, Seat: f.Seat, Ply: f.Ply, Bot: r.Seats[f.Seat].Name, Code: string(f.Code), Text: f.Description, Advice: f.Advice,
		})
	}
	part.Stderr = slices.DeleteFunc(slices.Clone(g.Stderr), func(text string) bool { return text == "" })
	if part.gameView, err = newGameView(number, r, rules); err != nil {
		return err
	}
	return v.showTemplate("tryoutgame", http.StatusOK, "write", part, nil)
}
