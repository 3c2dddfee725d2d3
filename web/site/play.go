package site

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/web/messages"
	"github.com/timba-arena/timba/web/play"
)

// maxPlayBots is the largest number of bots that the form for a new game takes from the list of all bots. The bots that
// the address of the page names, the levels of difficulty and @random are offered in addition.
const maxPlayBots = 500

// The names of form fields, and a special value.
const (
	optionField  = "set-" // the prefix of the field of a game's option
	playersField = "players"
	otherBot     = "other" // the value of the field bot that refers to the field other
	anyPerson    = "*"     // the value of the field bot that means people who find the table in the list
)

// playForm is the choice of a game to play on the site. It has the fields of the form, which are also query
// parameters of the page.
type playForm struct {
	Game       string
	Bot, Other string            // Bot may be play.Invited, the same with the name of a person, or anyPerson
	Bot2, Bot3 string            // the bots at further seats; "" means the same as Bot
	Seat       string            // "" means a random seat
	Bank       string            // the minutes that each person has for the game; "" means no clock
	Options    map[string]string // the chosen options of the game; others have the defaults of a table
}

// readPlayForm reads the form by which a visitor starts a game. The function field returns the value of a field of
// the form.
func readPlayForm(field func(name string) string) playForm {
	f := playForm{
		Game: field("game"), Bot: field("bot"), Other: field("other"), Bot2: field("bot2"), Bot3: field("bot3"), Seat: field("seat"), Bank: field("bank"),
		Options: map[string]string{},
	}
	if g, err := games.Find(f.Game); err == nil {
		for _, o := range g.Options {
			if value := field(optionField + o.Name); value != "" {
				f.Options[o.Name] = value
			}
		}
	}
	return f
}

// formOf returns a form filled in with the choices that were made for the finished game p.
func formOf(p ladder.Play) playForm {
	f := playForm{Game: p.Game, Seat: strconv.Itoa(p.Opener), Options: map[string]string{}}
	if g, err := games.Find(p.Game); err == nil {
		for _, o := range g.Options {
			if value := p.Options[o.Name]; value != o.TableText() {
				f.Options[o.Name] = value
			}
		}
	}
	if p.Bank != 0 {
		f.Bank = strconv.Itoa(int(p.Bank.Minutes()))
	}
	all := occupants(p)
	for i, field := range []*string{&f.Bot, &f.Bot2, &f.Bot3} {
		if other := all[(p.Opener+1+i)%len(all)]; i < len(all)-1 && (i == 0 || other != f.Bot) {
			*field = other
		}
	}
	return f
}

// occupants returns the name of the bot at each seat of a game, or play.Invited for a person.
func occupants(p ladder.Play) []string {
	n := len(p.Seats)
	if v, err := (ladder.Ladder{Game: p.Game, Options: p.Options}).Variant(); err == nil { // some people may not have come
		n = v.Players
	}
	list := slices.Repeat([]string{play.Invited}, n)
	for _, b := range p.Bots() {
		list[b.Seat] = b.Bot
	}
	return list
}

// address returns the address of the page that shows this form, filled in.
func (f playForm) address() string {
	q := url.Values{}
	for name, value := range map[string]string{"game": f.Game, "bot": f.Bot, "other": f.Other, "bot2": f.Bot2, "bot3": f.Bot3, "seat": f.Seat, "bank": f.Bank} {
		if value != "" {
			q.Set(name, value)
		}
	}
	for name, value := range f.Options {
		q.Set(optionField+name, value)
	}
	return "/play?" + q.Encode()
}

// choice returns the game that the form asks for. If the form names no seat, the seat is chosen at random.
func (f playForm) choice() (c play.Choice, err error) {
	c = play.Choice{Game: f.Game, Options: f.Options}
	first := f.Bot
	switch first {
	case otherBot:
		first = f.Other
	case anyPerson:
		first, c.Listed = play.Invited, true
	}
	second := f.Bot2
	if second == "" && f.Bot3 != "" {
		second = first
	}
	for _, bot := range []string{first, second, f.Bot3} {
		if bot != "" {
			c.OtherPlayers = append(c.OtherPlayers, bot)
		}
	}
	if f.Bank != "" {
		minutes, err := strconv.Atoi(f.Bank)
		if err != nil {
			return c, ladder.Errorf(ladder.Invalid, "try 5", "bank cannot be %q", ladder.Clip(f.Bank))
		}
		c.Bank = time.Duration(minutes) * time.Minute
	}
	if f.Seat != "" {
		if c.Seat, err = strconv.Atoi(f.Seat); err != nil {
			err = ladder.Errorf(ladder.Invalid, "try 0", "seat cannot be %q", ladder.Clip(f.Seat))
		}
		return c, err
	}
	if variant, err := (ladder.Ladder{Game: c.Game, Options: c.Options}).Variant(); err == nil { // otherwise opening the table fails later
		c.Seat = rand.IntN(variant.Players)
	}
	return c, nil
}

type playPage struct {
	Form      playForm
	Games     []playLink
	HasTexts  bool // see visit.hasTexts
	Rules     template.HTML
	Presets   []playLink // combinations of options: the defaults, and those of ladders
	Counts    []int      // the possible numbers of players; nil if the game has only one
	Players   int        // the chosen number of players
	Options   []playOption
	Levels    []playBot // house bots, the weakest first
	House     []playBot // the house bots that are not levels
	Bots      []playBot
	Opponent  string       // the name of the person whom the form challenges; "" if it challenges nobody
	Banks     []string     // the choices for playForm.Bank
	Lobby     []lobbyTable // the tables at which anybody may sit down
	MoveTime  int          // the seconds for a move in a game of several people without a clock
	MoveClock string       // that time in words
}

// playLink is a link to the page with another game or other options.
type playLink struct {
	Name, Title, Address string
	Picture              string // the name of a file
	Current              bool
}

// playOption is an input element for an option of a game. It is a number field, a checkbox, or the radio
// button of one value.
type playOption struct {
	Name, Kind, Value string
	Checked           bool
	OffValue          string // the value that a checkbox stands for when it is not checked; "" if the field is left out then
	Min, Max          int
	Text              string
	Players           string // the numbers of players with which the value can be chosen, separated by spaces; "" means any
}

// playBot is a bot that the form offers.
type playBot struct {
	Name   string
	Number int    // the number of a level; 0 for other bots
	Level  string // the English name of a level
}

// Bars returns an SVG path of ascending bars. The number of bars is the number of the bot's level.
func (b playBot) Bars() string {
	var path strings.Builder
	for i := range b.Number {
		height := 2 * (i + 1)
		fmt.Fprintf(&path, "M%d 16v-%dh3v%dz", 4*i, height, height)
	}
	return path.String()
}

// Bars returns an SVG path of ascending bars, one for each level.
func (p playPage) Bars() string { return playBot{Number: len(house.Levels())}.Bars() }

// levelOf returns the level of difficulty of the house bot (part of timba) with this name, or nil if the bot is
// none of the numbered levels.
func levelOf(bot string) *house.ChampionLevel {
	for _, l := range house.Levels() {
		if bot == "@"+l.Spec {
			return &l
		}
	}
	return nil
}

func (s *Site) getPlay(v *visit) error {
	return s.showPlayForm(v, readPlayForm(v.query().Text), nil)
}

func (s *Site) postPlay(v *visit) error {
	form := readPlayForm(v.r.PostForm.Get)
	c, err := form.choice()
	var t *play.Table
	key := ""
	if err == nil {
		err = s.reserveSeats(v, &c)
	}
	for i := range c.OtherPlayers {
		if err == nil {
			c.OtherPlayers[i], err = s.Service.AddHouseBot(v.ctx(), v.Actor, c.OtherPlayers[i])
		}
	}
	if err == nil {
		t, key, err = s.Play.Open(v.ctx(), v.Actor, c)
	}
	if err != nil {
		return s.showPlayForm(v, form, err)
	}
	return s.leadToTable(v, t, key, nil)
}

// challengedName returns the name of the person whom a form field challenges to a game, or "" if it challenges
// nobody. bot is the value of the field; a challenge is play.Invited followed by the name.
func challengedName(bot string) string {
	name, ok := strings.CutPrefix(bot, play.Invited)
	if !ok {
		return ""
	}
	return name
}

// reserveSeats reserves seats for the people whom c.OtherPlayers challenges by name. It returns an error if it
// challenges somebody but the visitor has no account.
func (s *Site) reserveSeats(v *visit, c *play.Choice) error {
	for i, other := range c.OtherPlayers {
		name := challengedName(other)
		if name == "" {
			continue
		}
		if v.Person.ID == 0 {
			return ladder.Errorf(ladder.Unauthorized, "sign in", "only people with an account can challenge others")
		}
		p, err := s.Store.People.FindByName(v.ctx(), name)
		if err != nil {
			return err
		}
		if p.ID == v.Person.ID {
			return ladder.Errorf(ladder.Invalid, "choose somebody else", "nobody can play against themselves")
		}
		variant, err := (ladder.Ladder{Game: c.Game, Options: c.Options}).Variant()
		if err != nil {
			return ladder.Errorf(ladder.Invalid, "", "%w", err)
		}
		c.OtherPlayers = slices.Clone(c.OtherPlayers)
		c.OtherPlayers[i] = play.Invited
		if c.ReservedFor == nil {
			c.ReservedFor = map[int]service.Actor{}
		}
		c.ReservedFor[(c.Seat+1+i)%variant.Players] = service.Actor{Person: p}
	}
	return nil
}

// showPlayForm shows the form as it was filled in. An unknown game is replaced by the first game.
func (s *Site) showPlayForm(v *visit, form playForm, refused error) error {
	g, err := games.Find(form.Game)
	if err != nil {
		g = games.All()[0]
		form.Game = g.Name
	}
	page := playPage{HasTexts: v.hasTexts(g.Name), Lobby: s.lobby(v.language), MoveTime: int(s.Play.Limits.Move.Seconds())}
	page.MoveClock = v.t("play.seconds-move", "Count", page.MoveTime)
	if page.MoveTime%60 == 0 {
		page.MoveClock = v.t("play.minutes-move", "Count", page.MoveTime/60)
	}
	for _, bank := range play.Banks {
		page.Banks = append(page.Banks, strconv.Itoa(int(bank.Minutes())))
	}
	if err := s.listBots(v, &page, &form); err != nil {
		return err
	}
	page.Form = form
	for _, other := range games.All() {
		link := playLink{Name: other.Name, Title: titleOf(other.Name), Picture: s.picture(other.Name), Current: other == g}
		link.Address = playForm{Game: other.Name, Bot: form.Bot, Other: form.Other, Seat: form.Seat, Bank: form.Bank}.address()
		page.Games = append(page.Games, link)
	}
	if page.Rules, err = rulesText(v, g, nil); err != nil {
		return err
	}
	page.Presets = s.presets(v, g, form)
	page.listOptions(v.language, g)
	return v.showForm(http.StatusOK, "play", page, refused)
}

// PlayRefusal returns why the visitor cannot play at all: "guests" if guests may not, "none" if nobody may,
// or "" if the visitor can play.
func (f frame) PlayRefusal() string {
	if f.site.Play == nil {
		return "none"
	}
	switch ladder.CodeOf(f.site.Play.CheckPlayer(f.Actor)) {
	case ladder.Forbidden:
		return "none"
	case ladder.Unauthorized:
		return "guests"
	}
	return ""
}

// listBots adds to page the bots that a visitor can choose as opponents: those of offeredVersions that play the game
// form.Game and run on the server. It also corrects form.Bot. If form.Bot stands for a person, it stays. A bot that is
// not offered becomes the middle level of difficulty or, if the game has no levels, @random. A bot that is not a level
// then moves to form.Other, and form.Bot becomes otherBot. listBots returns an error if the store cannot be read.
func (s *Site) listBots(v *visit, page *playPage, form *playForm) error {
	chosen, middle, anchor, invited := "", "", "", ""
	if name := challengedName(form.Bot); form.Bot == play.Invited || form.Bot == anyPerson {
		invited = form.Bot
	} else if name != "" {
		invited, page.Opponent = form.Bot, name
	}
	if form.Bot == otherBot {
		form.Bot = form.Other
	}
	versions, err := s.offeredVersions(v.ctx(), form)
	if err != nil {
		return err
	}
	for _, b := range versions {
		if !rules.ClaimsGame(b.Games, form.Game) || b.Remote {
			continue
		}
		if b.Bot == form.Bot {
			chosen = b.Bot
		}
		if b.Bot == ladder.Anchor {
			anchor = b.Bot
		}
		switch level := levelOf(b.Bot); {
		case level != nil:
			page.Levels = append(page.Levels, playBot{b.Bot, level.Number, level.Name})
			if level.Number == house.DefaultLevel {
				middle = b.Bot
			}
		case b.IsHouse():
			page.House = append(page.House, playBot{Name: b.Bot})
		default:
			page.Bots = append(page.Bots, playBot{Name: b.Bot})
		}
	}
	slices.SortFunc(page.Levels, func(a, b playBot) int { return a.Number - b.Number })
	switch form.Bot, form.Other = cmp.Or(chosen, middle, anchor), ""; {
	case invited != "":
		form.Bot = invited
	case levelOf(form.Bot) == nil:
		form.Bot, form.Other = otherBot, form.Bot
	}
	return nil
}

// offeredVersions returns the bot versions that the form for a new game offers, for all games together. They are up to
// maxPlayBots versions in play, and those of the bots that form selects, of the levels of difficulty and of @random. In
// form, the names of house bots (part of timba) with options get their canonical spelling. If the store does not find a
// house bot with valid options, its version has the ID 0. Other bots that the store does not find are left out.
// offeredVersions returns an error if the store cannot be read.
func (s *Site) offeredVersions(ctx context.Context, form *playForm) ([]ladder.Version, error) {
	versions, err := s.Store.Versions.ListLive(ctx, maxPlayBots)
	if err != nil {
		return nil, err
	}
	isOffered := func(name string) bool {
		return slices.ContainsFunc(versions, func(b ladder.Version) bool { return b.Bot == name })
	}
	needed := []string{form.Bot, form.Bot2, form.Bot3, ladder.Anchor}
	for _, l := range house.Levels() {
		needed = append(needed, "@"+l.Spec)
	}
	for _, name := range needed {
		if isOffered(name) {
			continue
		}
		b, err := s.Store.Versions.FindLive(ctx, name)
		if err == nil {
			versions = append(versions, b)
		} else if ladder.CodeOf(err) != ladder.NotFound {
			return nil, err
		}
	}
	for _, bot := range []*string{&form.Bot, &form.Bot2, &form.Bot3} {
		spec, isHouse := strings.CutPrefix(*bot, "@")
		if !isHouse || !strings.Contains(spec, ":") || isOffered(*bot) {
			continue
		}
		if spec, err = house.ServerSpec(spec); err != nil {
			continue // opening the table reports the error
		}
		if *bot = "@" + spec; !isOffered(*bot) {
			versions = append(versions, ladder.Version{Bot: *bot, Games: house.Games(spec)})
		}
	}
	return versions, nil
}

// settingsOf returns the settings of game g with the given options, or nil if the options are not valid.
func settingsOf(g *rules.Game, options map[string]string) rules.Settings {
	variant, err := g.Resolve(play.TableOptions(g.Name, options))
	if err != nil {
		return nil
	}
	return variant.Settings
}

// presets returns links that fill in the form with options of game g: one with the default options, and one for each
// ladder of g. Links with the same options as an earlier link are left out. If then only the default options remain,
// presets returns nil.
func (s *Site) presets(v *visit, g *rules.Game, form playForm) []playLink {
	now, seen := settingsOf(g, form.Options).String(), []string{}
	var list []playLink
	add := func(title string, options map[string]string) {
		settings := settingsOf(g, options).String()
		if slices.Contains(seen, settings) {
			return
		}
		seen = append(seen, settings)
		address := playForm{Game: g.Name, Bot: form.Bot, Other: form.Other, Seat: form.Seat, Bank: form.Bank, Options: options}.address()
		list = append(list, playLink{Title: title, Address: address, Current: settings == now})
	}
	add(v.t("play.plain"), nil)
	for _, l := range s.Config.Ladders {
		if l.Game == g.Name {
			add(l.Title, l.Options)
		}
	}
	if len(list) == 1 {
		return nil
	}
	return list
}

// optionText returns a sentence about the option o of a game, when it is set to value. If value is "", the option is
// a number, and the sentence is about any value of it.
func optionText(l *messages.Language, o rules.Option, value string) string {
	key := strings.TrimSuffix("play.option."+o.Name+"."+value, ".")
	if l.Texts[key] == nil {
		return strings.TrimSuffix(o.Help+": "+value, ": ") // the options of games of other modules have no texts
	}
	return l.Text(key)
}

func (p *playPage) listOptions(l *messages.Language, g *rules.Game) {
	settings := settingsOf(g, p.Form.Options)
	for _, o := range g.Options {
		value := cmp.Or(p.Form.Options[o.Name], settings.Get(o.Name), o.TableText())
		switch values := o.Values; {
		case o.Name == playersField:
			for n := o.Min; n <= o.Max; n++ {
				p.Counts = append(p.Counts, n)
			}
			p.Players, _ = strconv.Atoi(value)
		case values == nil:
			p.Options = append(p.Options, playOption{Name: o.Name, Kind: "number", Value: value, Min: o.Min, Max: o.Max, Text: optionText(l, o, "")})
		default:
			kind, offValue := "radio", ""
			if len(values) == 2 {
				kind, values = "checkbox", values[1:]
				if o.TableValue != "" {
					offValue = o.Values[0]
				}
			}
			for _, each := range values {
				p.Options = append(p.Options, playOption{
					Name: o.Name, Kind: kind, Value: each, Checked: each == value, OffValue: offValue, Players: p.playersWith(g, o.Name, each),
					Text: optionText(l, o, each),
				})
			}
		}
	}
}

// playersWith returns the numbers of players for which the named option of g may be set to value. They are separated
// by spaces. If every number in p.Counts allows the value, it returns "".
func (p *playPage) playersWith(g *rules.Game, option, value string) string {
	var fit []string
	for _, n := range p.Counts {
		players := strconv.Itoa(n)
		if _, err := g.Resolve(map[string]string{playersField: players, option: value}); err == nil {
			fit = append(fit, players)
		}
	}
	if len(fit) == len(p.Counts) {
		return ""
	}
	return strings.Join(fit, " ")
}
