package site

import (
	"net/url"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/sample-bots/house"
)

// toField is the name of a field of the form in which a visitor chooses the options of a house bot (a bot that is part
// of timba). The field says which form comes next. The other constants are its values.
const (
	toField = "to"
	toPlay  = "play"  // to the form of a game against the bot
	toMatch = "match" // to the form of a match with the bot
)

// botOption is one field of the form in which a visitor chooses the options of a house bot (a bot that is part of
// timba).
type botOption struct {
	house.BotOption
	Value            string // what the field shows at first
	Minimum, Maximum string // the smallest and the greatest value; "" if the values have no order
}

// botOptions returns the fields of the form in which a visitor chooses the options of the house bot b (a bot that is
// part of timba). A field shows the value in the query of the visit or, without one, the value of b. Options that leave
// no choice have no field. botOptions returns nil if b is the bot of a person, or a house bot with options that people
// may not choose on a server.
func botOptions(v *visit, b ladder.Bot) (list []botOption) {
	spec, isHouse := strings.CutPrefix(b.Name, "@")
	bot, settings, err := house.ParseServerSpec(spec)
	if !isHouse || err != nil {
		return nil
	}
	q := v.query()
	for _, o := range bot.ServerOptions() {
		field := botOption{BotOption: o, Value: settings.Get(o.Name)}
		field.Minimum, field.Maximum = o.Range()
		if !o.IsText() && len(o.Values) == 1 {
			continue // there is no choice
		}
		if given := q.Text(optionField + o.Name); given != "" {
			field.Value = given
		}
		list = append(list, field)
	}
	return list
}

// formAddress returns the address of a page with a form that names the house bot b with the options in the query of v.
// The form starts a match if to is toMatch, and otherwise a game of the visitor against the bot. formAddress returns an
// error if the value of an option is not allowed.
func (s *Site) formAddress(v *visit, b ladder.Bot, to string) (string, error) {
	plain, _, _ := strings.Cut(b.Name, ":")
	var pairs []string
	for _, o := range botOptions(v, b) {
		value, err := o.Resolve(o.Value)
		if err != nil {
			return "", ladder.Errorf(ladder.Invalid, "", "%w", err)
		}
		pairs = append(pairs, o.Name+"="+value)
	}
	spec, err := house.ServerSpec(strings.TrimPrefix(plain, "@") + ":" + strings.Join(pairs, ","))
	if err != nil {
		return "", ladder.Errorf(ladder.Invalid, "", "%w", err)
	}
	if to == toMatch {
		return "/matches/new?" + url.Values{"bot": {"@" + spec}, "ladder": {s.firstLadder(spec)}}.Encode(), nil
	}
	form := playForm{Bot: "@" + spec}
	if made := house.Games(spec); made != nil {
		form.Game = made[0]
	}
	return form.address(), nil
}

// firstLadder returns the name of the first ladder in the configuration whose game the house bot with the given spec
// (name and options) is made for. It returns "" if there is none.
func (s *Site) firstLadder(spec string) string {
	for _, l := range s.Config.Ladders {
		if house.Plays(spec, l.Game) {
			return l.Name
		}
	}
	return ""
}
