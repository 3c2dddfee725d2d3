package site

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// The page of a bot shows at most these numbers of rows or points.
const (
	botVersions   = 8
	botMatches    = 10
	botPlays      = 10 // games against people
	botMessages   = 10
	botOpponents  = 20 // rows on one page of the list
	ratedVersions = 12 // the charts and the records include only so many of the latest versions
	chartPoints   = 60 // points in the chart of the rating
)

type botPage struct {
	Bot          ladder.Bot
	Owner        string // the name of the owner; "" for a house bot
	IsOwner      bool   // the visitor is the owner or an admin
	Versions     []ladder.Version
	More         bool // there are earlier versions
	Places       []ladder.Standing
	Ladder       string // the ladder of the charts and the records; "" if the bot has no place on one
	Chart        chart
	VersionChart chart // the rating of each version with its interval
	Opponents    []store.Opponent
	Pager        pager
	Matches      []shownMatch
	Forfeits     []forfeit
	People       rules.Record // the record of the bot against people
	Plays        []ladder.PlayAgainstBot
	Messages     []ladder.Message
	Options      []botOption // those of a house bot that people can choose
	Links        links
}

// Remote reports whether the version with which the bot plays runs on its owner's machine.
func (p botPage) Remote() bool {
	return slices.ContainsFunc(p.Versions, func(v ladder.Version) bool { return v.Number == p.Live() && v.Remote })
}

// Live returns the number of the version with which the bot plays, or 0 if none plays on a ladder.
func (p botPage) Live() int {
	for _, s := range p.Places {
		if s.Active {
			return s.Version
		}
	}
	return 0
}

// Training returns indented JSON that says how a version of the bot was trained. It is the version with which the bot
// plays or, if the bot plays on no ladder, the newest version. Training returns "" if that version is not a model or
// does not say how it was trained.
func (p botPage) Training() string {
	for _, v := range p.Versions {
		if p.Live() == 0 || v.Number == p.Live() {
			return trainingText(v)
		}
	}
	return ""
}

func trainingText(v ladder.Version) string {
	var text bytes.Buffer
	if json.Indent(&text, []byte(v.Training), "", "  ") != nil {
		return ""
	}
	return text.String()
}

// EditedVersion returns the number of the version that the editor opens. It is the version that plays or, if none
// plays, the newest one whose files the server has. It is 0 if the visitor is not the owner, or if the server does
// not have the files.
func (p botPage) EditedVersion() int {
	for _, v := range p.Versions {
		if p.IsOwner && hasSource(v) && (p.Live() == 0 || v.Number == p.Live()) {
			return v.Number
		}
	}
	return 0
}

func (s *Site) getBot(v *visit, b ladder.Bot) error {
	to := v.query().Choice(toField, toPlay, toMatch)
	if to == "" {
		return s.showBot(v, b, nil)
	}
	address, err := s.formAddress(v, b, to)
	if err != nil {
		return s.showBot(v, b, err)
	}
	return v.redirect(address)
}

// showBot shows the page of a bot. If refused is not nil, it is the error of an action on this page, which the page
// then shows.
func (s *Site) showBot(v *visit, b ladder.Bot, refused error) error {
	page := botPage{Bot: b, IsOwner: v.Owns(b.PersonID), Links: v.publicLinks(b.Name), Options: botOptions(v, b)}
	var err error
	if page.Owner, err = s.ownerName(v, b); err != nil {
		return err
	}
	for _, add := range []func(*visit, *botPage) error{
		s.addVersions, s.addPlaces, s.addRatings, s.addOpponents, s.addGames, s.addMessages,
	} {
		if err := add(v, &page); err != nil {
			return err
		}
	}
	return v.showForm(http.StatusOK, "bot", page, refused)
}

// ownerName returns the name of a bot's owner, "" for a house bot (part of timba).
func (s *Site) ownerName(v *visit, b ladder.Bot) (string, error) {
	if b.IsHouse() {
		return "", nil
	}
	p, err := s.Store.People.Find(v.ctx(), b.PersonID)
	return p.Name, err
}

func (s *Site) addVersions(v *visit, page *botPage) (err error) {
	page.Versions, err = s.Store.Versions.List(v.ctx(), page.Bot.ID, 0, botVersions+1)
	if page.More = len(page.Versions) > botVersions; page.More {
		page.Versions = page.Versions[:botVersions]
	}
	return err
}

// addPlaces adds the bot's places on all ladders to the page: those of its present version or, if it has none, of its
// last rated version. It also sets page.Ladder, the ladder of the charts. This is the ladder in the query parameter
// "ladder" or, without that parameter, the ladder of the first place. It returns an error if the bot has no place on
// the ladder in the query.
func (s *Site) addPlaces(v *visit, page *botPage) error {
	page.Ladder = v.query().Text("ladder")
	var err error
	if page.Places, err = s.Store.Ladders.PlacesOfBot(v.ctx(), page.Bot.ID); err != nil {
		return err
	}
	isChosen := func(p ladder.Standing) bool { return p.Ladder == page.Ladder }
	switch {
	case page.Ladder == "" && len(page.Places) > 0:
		page.Ladder = page.Places[0].Ladder
	case page.Ladder != "" && !slices.ContainsFunc(page.Places, isChosen):
		return ladder.Errorf(ladder.NotFound, "", "bot %q does not play on ladder %q", page.Bot.Name, ladder.Clip(page.Ladder))
	}
	return nil
}

// addRatings adds two charts about the ladder page.Ladder: the bot's rating after each match, and the rating of each
// version. It does nothing if page.Ladder is "".
func (s *Site) addRatings(v *visit, page *botPage) error {
	if page.Ladder == "" {
		return nil
	}
	points, err := s.Store.Ladders.RatingHistory(v.ctx(), page.Ladder, page.Bot.ID, ratedVersions, chartPoints)
	page.Chart = chart{Title: v.t("bot.chart", "Bot", page.Bot.Name, "Ladder", s.ladderTitle(v.language, page.Ladder)), XTitle: v.t("word.matches")}
	for i, p := range points {
		page.Chart.Points = append(page.Chart.Points, point{
			X: float64(p.Count), Y: p.Elo,
			Label: v.t("bot.chart-point", "Elo", wholeNumber(p.Elo), "Count", p.Count, "Version", p.Version, "Day", p.FinishedAt.Format("2006-01-02")),
		})
		if i > 0 && p.Version != points[i-1].Version {
			page.Chart.Marks = append(page.Chart.Marks, mark{(float64(points[i-1].Count) + float64(p.Count)) / 2, "@" + v.language.Numbers.Sprint(p.Version)})
		}
	}
	if err != nil {
		return err
	}
	list, err := s.Store.Ladders.StandingsOn(v.ctx(), page.Ladder, page.Bot.ID, ratedVersions)
	page.VersionChart = chart{Title: v.t("bot.versions-chart", "Bot", page.Bot.Name, "Ladder", s.ladderTitle(v.language, page.Ladder)), Bars: true}
	for _, p := range slices.Backward(list) {
		bar := point{
			X: float64(p.Version), Y: p.Rating(),
			Label: v.t("bot.versions-point", "Version", p.Version, "Rating", wholeNumber(p.Rating()), "PlusMinus", plusMinus(p.PlusMinus), "Count", p.Matches),
		}
		if plusMinus(p.PlusMinus) != "" {
			bar.Err = *p.PlusMinus
		}
		page.VersionChart.Points = append(page.VersionChart.Points, bar)
	}
	return err
}

// addOpponents adds the record against each opponent on the chosen ladder, and the record against people.
func (s *Site) addOpponents(v *visit, page *botPage) error {
	number := v.pageNumber()
	for total := 0; page.Ladder != ""; number = 1 {
		var err error
		page.Opponents, total, err = s.Store.Ladders.Opponents(v.ctx(), page.Ladder, page.Bot.ID, ratedVersions, (number-1)*botOpponents, botOpponents)
		if err != nil {
			return err
		}
		if page.Pager = newPager(v, number, total, botOpponents); total > 0 || number == 1 {
			break
		}
	}
	var err error
	if page.People, err = s.Store.Plays.RecordAgainstPeople(v.ctx(), page.Bot.ID); err != nil || page.People.Games == 0 {
		return err
	}
	page.Plays, err = s.Store.Plays.ListAgainstBot(v.ctx(), page.Bot.ID, botPlays)
	return err
}

// addGames adds the latest matches, and the games that the bot forfeited by a fault.
func (s *Site) addGames(v *visit, page *botPage) (err error) {
	if page.Matches, err = s.latestMatches(v.ctx(), page.Bot.Name); err != nil {
		return err
	}
	page.Forfeits, err = s.explainForfeits(v, page.Bot)
	return err
}

// botParts returns the data for the parts of a bot's page that live updates replace. name is the name of the bot. The
// other fields are zero.
func (s *Site) botParts(ctx context.Context, name string) (page botPage, err error) {
	if page.Bot, err = s.Store.Bots.Find(ctx, name); err != nil {
		return page, err
	}
	if page.Places, err = s.Store.Ladders.PlacesOfBot(ctx, page.Bot.ID); err != nil {
		return page, err
	}
	page.Matches, err = s.latestMatches(ctx, page.Bot.Name)
	return page, err
}

func (s *Site) latestMatches(ctx context.Context, bot string) ([]shownMatch, error) {
	list, err := s.Store.Matches.List(ctx, store.MatchFilter{Bot: bot, Limit: botMatches})
	if err != nil {
		return nil, err
	}
	return s.withOutcomes(ctx, list)
}

// addMessages adds the messages about the bot to the page if the visitor is its owner.
func (s *Site) addMessages(v *visit, page *botPage) (err error) {
	if page.IsOwner {
		page.Messages, err = s.Store.People.MessagesOf(v.ctx(), page.Bot.ID, botMessages)
	}
	return err
}

// postUse makes the visitor's own bot play with an earlier version again.
func (s *Site) postUse(v *visit) error {
	number, err := v.number("version")
	if err != nil {
		return err
	}
	return s.postBot(func(ctx context.Context, by service.Actor, bot string) (ladder.Bot, error) {
		return s.Service.UseVersion(ctx, by, bot, int(number))
	})(v)
}

// postBan lets an admin ban the bot in the path.
func (s *Site) postBan(v *visit) error {
	return s.postBot(func(ctx context.Context, by service.Actor, bot string) (ladder.Bot, error) {
		return s.Service.BanBot(ctx, by, bot, v.field("reason"))
	})(v)
}

// postBot returns a handler that calls change with the bot in the path and then redirects to the page of the bot. If
// change returns an error, the handler shows the page with that error instead.
func (s *Site) postBot(change func(context.Context, service.Actor, string) (ladder.Bot, error)) func(*visit) error {
	return named("bot", s.Store.Bots.Find, func(v *visit, b ladder.Bot) error {
		if _, err := change(v.ctx(), v.Actor, b.Name); err != nil {
			return s.showBot(v, b, err)
		}
		return v.redirect("/bots/" + url.PathEscape(b.Name))
	})
}

const botForfeits = 3 // forfeits that the page of a bot explains

// forfeit is a game that a bot lost by a fault, with an explanation.
type forfeit struct {
	store.Forfeit
	Note faultNote
}

func (s *Site) explainForfeits(v *visit, b ladder.Bot) (out []forfeit, err error) {
	list, err := s.Store.Matches.Forfeits(v.ctx(), b.ID, botForfeits)
	if err != nil {
		return nil, err
	}
	for _, lost := range list {
		f := forfeit{Forfeit: lost}
		if f.Note, err = s.explainFirstFault(v, lost.GameID, lost.Seat); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// explainFirstFault explains the first fault of a seat in a game, such as a crash. It returns the zero faultNote
// if there is none.
func (s *Site) explainFirstFault(v *visit, game int64, seat int) (n faultNote, err error) {
	g, err := s.Store.Matches.Game(v.ctx(), game)
	if err != nil {
		return n, err
	}
	m, err := s.Store.Matches.Find(v.ctx(), g.MatchID)
	if err != nil {
		return n, err
	}
	r, _, err := s.loadReplay(v, game)
	if err != nil {
		return n, err
	}
	i := slices.IndexFunc(r.Faults, func(f referee.Fault) bool { return f.Seat == seat })
	if i < 0 {
		return n, nil
	}
	return s.explainFault(v, m, g, r, r.Faults[i])
}
