package site

import (
	"context"
	"crypto/rand"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/timba-arena/timba/internal/cutlog"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/web/messages"
	"github.com/timba-arena/timba/web/play"
)

// funcs returns the functions that templates in language l can call.
func (s *Site) funcs(l *messages.Language) template.FuncMap {
	return template.FuncMap{
		"t":           l.Text,
		"asset":       s.assets.url,
		"languages":   func() []string { return messages.Languages },
		"nav":         navLinks,
		"more":        footerLinks,
		"number":      func(n any) string { return l.Numbers.Sprint(n) },
		"elo":         wholeNumber,
		"plusminus":   plusMinus,
		"deviation":   deviation,
		"percent":     percent,
		"share":       func(x float64) string { return decimal(l, "%.1f %%", 100*x) },
		"time":        func(at time.Time) template.HTML { return timeTag(at, at.UTC().Format("2006-01-02 15:04 UTC")) },
		"age":         func(at time.Time) template.HTML { return timeTag(at, ageText(l, s.Service.Now().Sub(at))) },
		"faultname":   func(code any) string { return truncate(40, l.Text(fmt.Sprint("board.fault.", code))) },
		"duration":    func(d time.Duration) string { return durationText(l, d) },
		"cut":         truncate,
		"lines":       logLines,
		"said":        func(n int, text phrase.Text) template.HTML { return phraseHTML(l, n, text) },
		"words":       func(text phrase.Text) string { words, _ := l.Phrase(text); return words },
		"translate":   l.Translate,
		"ladder":      func(name string) string { return s.ladderTitle(l, name) },
		"option":      func(name, value string) string { return optionName(l, name, value) },
		"ticks":       codeSpans,
		"botname":     func(name string) string { return s.botTitle(l, name) },
		"seatname":    func(name string, bot bool) string { return s.seatName(l, name, bot) },
		"seatnames":   func(seats []play.SeatView) []string { return s.seatNames(l, seats) },
		"gametitle":   titleOf,
		"howto":       func(game string) string { return rulesTitle(l, game) },
		"watching":    s.Live.WatcherCount,
		"minutes":     minutes,
		"botpath":     func(name string) string { return "/bots/" + url.PathEscape(name) },
		"playaddress": func(field, value string) string { return "/play?" + url.Values{field: {value}}.Encode() },
		"sparkline":   func(values []float64) template.HTML { return sparkline(l, values) },
		"dict":        dict,
		"preference":  func(name string) []string { return append([]string{"auto"}, preferences[name]...) },
		"usable":      usable,
		"expiries":    func() []int { return expiries },
		"scopes":      func() []ladder.Scope { return scopes },
		"crumbs":      crumbs,
		"fixed":       func(digits int, x float64) string { return decimal(l, "%.*f", digits, x) },
		"signed":      func(before, after float64) string { return signedText(l, after-before) },
		"mean":        func(sum float64, n int) float64 { return sum / float64(n) },
		"join":        func(names []string) string { return strings.Join(names, ", ") },
		"next":        func(i int) int { return i + 1 },
		"once":        rand.Text,
		"when": func(is bool, text string) string {
			if is {
				return text
			}
			return ""
		},
		"matchstate": matchState,
		"house":      func(bot string) bool { return strings.HasPrefix(bot, "@") },
	}
}

// ladderTitle returns the title of a ladder, or its name if the configuration no longer has it.
func (s *Site) ladderTitle(l *messages.Language, name string) string {
	for _, ladder := range s.Config.Ladders {
		if ladder.Name == name {
			name = l.Translate(ladder.Title)
			break
		}
	}
	return truncate(60, name)
}

// dict returns a map of its arguments, which are keys and values in turn. Templates use it to pass several
// values to another template.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict: %d values are not pairs", len(pairs))
	}
	m := make(map[string]any, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		m[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return m, nil
}

// crumbs returns the links from the home page down to a page, for the template "crumbs". The arguments are
// addresses and texts in turn. The last address is "", because it is the page itself.
func crumbs(pairs ...string) (list []map[string]string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		list = append(list, map[string]string{"URL": pairs[i], "Text": pairs[i+1]})
	}
	return list
}

// botName returns the display name of a bot at a table. For a bot of timba that is one of the numbered levels of
// difficulty, it returns the translated name of the level.
func (s *Site) botName(l *messages.Language, name string) string {
	if level := levelOf(name); level != nil {
		return l.Text("play.level." + level.Name)
	}
	return s.plainName(name)
}

// botTitle returns the full display name of a bot. For a bot of timba that is one of the numbered levels of
// difficulty, it includes the number: "amateur, level 3".
func (s *Site) botTitle(l *messages.Language, name string) string {
	if level := levelOf(name); level != nil {
		return l.Text("table.level", "Name", l.Text("play.level."+level.Name), "Number", level.Number)
	}
	return s.plainName(name)
}

// findNamesakes returns display names for bots of people whose names have become reserved, such as "greedy (anna)"
// with the name of the owner. The keys are the names of the bots. Only bots that are older than the reservation have
// such names, so no more can be added.
func (s *Site) findNamesakes() map[string]string {
	shown := map[string]string{}
	for _, name := range store.ReservedNames() {
		b, err := s.Store.Bots.Find(context.Background(), name)
		if err != nil {
			continue
		}
		if owner, err := s.Store.People.Find(context.Background(), b.PersonID); err == nil {
			shown[name] = name + " (" + owner.Name + ")"
		}
	}
	return shown
}

// plainName returns the name of a bot without the syntax of the command line: "greedy, noise 20" for
// "@greedy:noise=20".
func (s *Site) plainName(name string) string {
	house, ok := strings.CutPrefix(name, "@")
	if !ok {
		if shown := s.namesakes()[name]; shown != "" {
			name = shown
		}
		return truncate(80, name)
	}
	house, options, _ := strings.Cut(house, ":")
	for option := range strings.SplitSeq(options, ",") {
		if key, value, ok := strings.Cut(option, "="); ok {
			house += ", " + key + " " + value
		}
	}
	return truncate(60, house)
}

// minutes returns a duration as minutes and seconds: "4:05".
func minutes(d time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// unknownValue is what pages show for an unknown value.
const unknownValue = "–"

// wholeNumber returns x, a float64 or *float64 such as a rating, as a whole number. A value that is nil,
// infinite or NaN is unknownValue.
func wholeNumber(x any) string {
	switch x := x.(type) {
	case float64:
		if !math.IsInf(x, 0) && !math.IsNaN(x) {
			return fmt.Sprintf("%.0f", math.Round(x)+0) // adding 0 turns -0 into 0
		}
	case *float64:
		if x != nil {
			return wholeNumber(*x)
		}
	}
	return unknownValue
}

// plusMinus returns half the width of the interval of a rating, such as "±35", or "" if it is unknown. A value below
// 100 is never rounded up to 100, because a rating with 100 or more counts as provisional.
func plusMinus(x *float64) string {
	switch {
	case wholeNumber(x) == unknownValue:
		return ""
	case *x < 100:
		return "±" + wholeNumber(min(*x, 99))
	}
	return "±" + wholeNumber(*x)
}

// deviation returns the deviation of a person's rating, such as "±73". It is rounded up, because a rating with a
// deviation above 110 counts as provisional.
func deviation(x float64) string { return "±" + wholeNumber(math.Ceil(x)) }

// percent returns part as a percentage of total, such as "62 %". If total is 0, it returns unknownValue.
func percent(part, total float64) string {
	if total == 0 {
		return unknownValue
	}
	return fmt.Sprintf("%.0f %%", 100*part/total)
}

// timeTag returns an HTML time element with text as its content. The attribute datetime has the time for
// programs, and the title has it for people, in UTC. For the zero time it returns unknownValue.
func timeTag(at time.Time, text string) template.HTML {
	if at.IsZero() {
		return unknownValue
	}
	at = at.UTC()
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`,
		at.Format(time.RFC3339), at.Format("2006-01-02 15:04:05 UTC"), template.HTMLEscapeString(text)))
}

// ageText returns how long ago something happened, such as "3 hours ago". d is the time since then. The text uses the
// largest unit that is not longer than d.
func ageText(l *messages.Language, d time.Duration) string {
	for _, unit := range []struct {
		key  string
		long time.Duration
	}{
		{"site.age.years", 365 * 24 * time.Hour}, {"site.age.days", 24 * time.Hour}, {"site.age.hours", time.Hour}, {"site.age.minutes", time.Minute},
	} {
		if d >= unit.long {
			return l.Text(unit.key, "Count", int(d/unit.long))
		}
	}
	return l.Text("site.age.now")
}

// durationText returns a duration such as "26 ms", "7.8 s" or "2 min 5 s".
func durationText(l *messages.Language, d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
	case d < time.Minute:
		return decimal(l, "%.1f s", d.Seconds())
	}
	d = d.Round(time.Second)
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}

// decimal formats numbers like fmt.Sprintf, but with the decimal mark of the language. There are no separators
// between thousands.
func decimal(l *messages.Language, format string, args ...any) string {
	mark := strings.Trim(l.Numbers.Sprint(0.5), "05")
	return strings.Replace(fmt.Sprintf(format, args...), ".", mark, 1)
}

// signedText returns a number with its sign, such as "+3.5"; the sign of infinity is "+∞" or "-∞".
func signedText(l *messages.Language, x float64) string {
	return strings.Replace(decimal(l, "%+.1f", x), "Inf", "∞", 1)
}

// truncate returns text that a bot or a person wrote, made safe to show. Control characters, such as those that
// change the direction of text, become visible, and a text longer than n runes is cut and ends in an ellipsis.
func truncate(n int, text string) string {
	long := len(text) > n*utf8.UTFMax
	if long {
		text = text[:n*utf8.UTFMax] // at least n runes; the last one may be incomplete
	}
	text = ladder.Plain(text)
	count := 0
	for i := range text {
		if count++; count > n {
			return text[:i] + "…"
		}
	}
	if long {
		return text + "…"
	}
	return text
}

var backticks = regexp.MustCompile("`([^`]*)`")

// phraseHTML returns at most n runes of a phrase as HTML, in the language of the page. A phrase without a translation
// is marked as English.
func phraseHTML(l *messages.Language, n int, text phrase.Text) template.HTML {
	translated, ok := l.Phrase(text)
	if translated = template.HTMLEscapeString(truncate(n, translated)); !ok {
		translated = `<span lang="en">` + translated + `</span>`
	}
	return template.HTML(translated)
}

// optionName returns a short description of an option of a game. name is the name of the option, and value its value.
// If the language has no text for the option, the description is the name and the value.
func optionName(l *messages.Language, name, value string) string {
	for _, key := range []string{name + "." + value, name} {
		if key = "board.option." + key; l.Texts[key] != nil {
			return l.Text(key, "value", value)
		}
	}
	return name + " " + value
}

// codeSpans returns text as HTML, in which the parts between backticks are code.
func codeSpans(text string) template.HTML {
	return template.HTML(backticks.ReplaceAllString(template.HTMLEscapeString(text), "<code>$1</code>"))
}

// maxLog is the number of bytes of a log that a page shows.
const maxLog = 24 << 10

// logLines returns a log in a form that is safe to show: control characters, other than tabs and line ends, become
// visible. The middle of a long log is left out.
func logLines(text string) string {
	text = string(cutlog.Cut([]byte(text), maxLog))
	return ladder.Plain(strings.ReplaceAll(text, "\r\n", "\n"))
}

// addressWith returns the address of r with changed query parameters. pairs are names and values in turn; the
// value "" removes a parameter. The parameter page is removed, too, unless pairs sets it, so that the address
// leads to the first page.
func addressWith(r *http.Request, pairs ...string) string {
	query := r.URL.Query()
	query.Del("page")
	for i := 0; i < len(pairs); i += 2 {
		query.Set(pairs[i], pairs[i+1])
		if pairs[i+1] == "" {
			query.Del(pairs[i])
		}
	}
	return (&url.URL{Path: r.URL.Path, RawQuery: query.Encode()}).RequestURI()
}
