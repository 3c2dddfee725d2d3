package site

import (
	"net/url"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/sample-bots/house"
)

// The field of the form with the options of a house bot that says where the form leads, and its values.
const (
	toField = "to"
	toPlay  = "play"  // to the form of a game against the bot
	toMatch = "match" // to the form of a match with the bot
)

// botOption is a field of the form with the options of a house bot.
type botOption struct {
	house.BotOption
	Value            string
	Minimum, Maximum string // the smallest and the greatest value; "" if the values are words
}

// botOptions returns the fields of the form with the options of a house bot. The values are those of the bot, unless
// the query of the visit has others. It returns nil for the bots of people, for bots without options, and for a house
// bot that only the configuration can name.
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

// formAddress returns the address of the form for a game against b or, if to is toMatch, for a match. The form has the
// bot with the options in the query of the visit. It returns an error if an option is not allowed.
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

// firstLadder returns the name of the first ladder of a game for which the house bot with the given spec is made. It
// returns "" if there is none.
func (s *Site) firstLadder(spec string) string {
	for _, l := range s.Config.Ladders {
		if house.Plays(spec, l.Game) {
			return l.Name
		}
	}
	return ""
}
