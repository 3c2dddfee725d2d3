package site

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/nicksnyder/go-i18n/v2/i18n"
	textlanguage "golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/timba-arena/timba/web/problem"
)

//go:embed messages
var messageFiles embed.FS

// Languages are the languages of the site; the first one stands for any other.
var Languages = []string{"en", "ca", "es"}

// language is a language with its messages.
type language struct {
	Tag     string // as in Languages
	texts   *i18n.Localizer
	numbers *message.Printer
	scripts map[string]template.JS // the messages for the script of a page, by page
}

// Messages returns the messages of all languages, from messages/NAME.LANGUAGE.toml.
func Messages() (*i18n.Bundle, []*i18n.MessageFile, error) {
	b := i18n.NewBundle(textlanguage.English)
	b.RegisterUnmarshalFunc("toml", toml.Unmarshal)
	names, err := fs.Glob(messageFiles, "messages/*.toml")
	if err != nil {
		return nil, nil, err
	}
	var files []*i18n.MessageFile
	for _, name := range names {
		f, err := b.LoadMessageFileFS(messageFiles, name)
		if err != nil {
			return nil, nil, fmt.Errorf("site: %s: %w", name, err)
		}
		files = append(files, f)
	}
	return b, files, nil
}

func newLanguages() (list []*language, err error) {
	bundle, files, err := Messages()
	if err != nil {
		return nil, err
	}
	for _, tag := range Languages {
		l := &language{
			Tag: tag, texts: i18n.NewLocalizer(bundle, tag), numbers: message.NewPrinter(textlanguage.MustParse(tag)),
			scripts: map[string]template.JS{},
		}
		scripts := map[string]map[string]string{}
		for _, f := range files {
			for _, m := range f.Messages {
				page, key, ok := strings.Cut(m.ID, ".js.")
				if !ok || f.Tag.String() != tag {
					continue
				}
				if scripts[page] == nil {
					scripts[page] = map[string]string{}
				}
				scripts[page][key] = m.Other
			}
		}
		for page, texts := range scripts {
			data, err := json.Marshal(texts) // which writes <, > and & as escapes
			if err != nil {
				return nil, err
			}
			l.scripts[page] = template.JS(data)
		}
		list = append(list, l)
	}
	return list, nil
}

// text returns a message. The arguments are pairs of a name and a value for its placeholders;
// an integer named Count also chooses the plural. A missing message gives its key: a test
// keeps the messages complete.
func (l *language) text(key string, args ...any) string {
	c := &i18n.LocalizeConfig{MessageID: key}
	if len(args) > 0 {
		data := make(map[string]any, len(args)/2)
		for i := 0; i+1 < len(args); i += 2 {
			name := fmt.Sprint(args[i])
			data[name] = args[i+1]
			switch n := args[i+1].(type) {
			case int:
				data[name] = l.numbers.Sprint(n)
			case int64:
				data[name] = l.numbers.Sprint(n)
			}
			if name == "Count" {
				c.PluralCount = args[i+1]
			}
		}
		c.TemplateData = data
	}
	text, err := l.texts.Localize(c)
	if err != nil && c.PluralCount != nil { // a plural form of millions
		c.PluralCount = 2
		text, err = l.texts.Localize(c)
	}
	if err != nil {
		return key
	}
	return text
}

var matcher = textlanguage.NewMatcher(func() (tags []textlanguage.Tag) {
	for _, tag := range Languages {
		tags = append(tags, textlanguage.MustParse(tag))
	}
	return tags
}())

// choose returns the language of a cookie, else of a header Accept-Language.
func (p *pages) choose(cookie, header string) *language {
	if i := slices.Index(Languages, cookie); i >= 0 {
		return p.languages[i]
	}
	_, i := textlanguage.MatchStrings(matcher, problem.Clip(header))
	return p.languages[i]
}

// has reports whether the site speaks a language.
func (p *pages) has(tag string) bool { return slices.Contains(Languages, tag) }
