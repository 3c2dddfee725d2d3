// Package messages has all texts for people on pages: those of the site and of the boards, in each
// language. A text is found by its key: the names of its tables and its own, with dots between, such
// as "site.home". In its places a text has the names of values in braces, such as {name}. A table of
// the forms one, other and so on is one text, whose form the value Count chooses by the rules of the
// language.
package messages

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/timba-arena/timba/internal/phrase"
)

//go:embed *.toml phrases
var files embed.FS

// Languages are the languages of the texts; the first one stands for any other.
var Languages = []string{"en", "ca", "es"}

// Language has the texts of a language.
type Language struct {
	Tag     string // as in Languages
	Numbers *message.Printer
	Texts   map[string]Text   // by key
	Phrases map[string]string // the formats of texts of the program, by those in English

	tag language.Tag
}

// Phrase returns a text of the program, and whether all of it is in the language.
func (l *Language) Phrase(text phrase.Text) (words string, complete bool) {
	words, complete = text.Translate(l.Phrases)
	return words, complete || l.Tag == Languages[0]
}

// Translate returns what a text without values is in the language, such as the title of a ladder; one that is not
// known as it is.
func (l *Language) Translate(text string) string {
	if translated, ok := l.Phrases[text]; ok {
		return translated
	}
	return text
}

// Text is a text by its plural forms. One without any has the form "".
type Text map[string]string

// forms are the names of plural forms.
var forms = map[plural.Form]string{
	plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many", plural.Other: "other",
}

// All returns all languages, in the order of Languages. They are read once.
var All = sync.OnceValues(func() (list []*Language, err error) {
	for _, tag := range Languages {
		l := &Language{Tag: tag, Texts: map[string]Text{}, tag: language.MustParse(tag)}
		l.Numbers = message.NewPrinter(l.tag)
		tree := map[string]any{}
		if _, err := toml.DecodeFS(files, tag+".toml", &tree); err != nil {
			return nil, fmt.Errorf("messages: %s.toml: %w", tag, err)
		}
		l.addTable("", tree)
		if _, err := toml.DecodeFS(files, "phrases/"+tag+".toml", &l.Phrases); err != nil {
			return nil, fmt.Errorf("messages: phrases/%s.toml: %w", tag, err)
		}
		list = append(list, l)
	}
	return list, nil
})

// addTable adds the texts of a table, whose keys begin with a head.
func (l *Language) addTable(head string, table map[string]any) {
	for name, value := range table {
		switch value := value.(type) {
		case string:
			l.Texts[head+name] = Text{"": value}
		case map[string]any:
			if _, plural := value["other"]; !plural {
				l.addTable(head+name+".", value)
				continue
			}
			t := Text{}
			for form, text := range value {
				t[form] = fmt.Sprint(text)
			}
			l.Texts[head+name] = t
		}
	}
}

// Text returns a text. The arguments are pairs of a name and a value for its places. A missing text
// is its key: a test keeps the texts complete.
func (l *Language) Text(key string, args ...any) string {
	t, ok := l.Texts[key]
	if !ok {
		return key
	}
	form, places := "", make([]string, 0, len(args))
	for i := 0; i+1 < len(args); i += 2 {
		name, value := fmt.Sprint(args[i]), fmt.Sprint(args[i+1])
		n, err := strconv.Atoi(value)
		if err == nil && name == "Count" {
			form = forms[plural.Cardinal.MatchPlural(l.tag, n, 0, 0, 0, 0)]
		}
		switch args[i+1].(type) {
		case int, int64:
			value = l.Numbers.Sprint(n)
		}
		places = append(places, "{"+name+"}", value)
	}
	text, ok := t[form]
	if !ok {
		text = t[""] + t["other"] // one of them
	}
	return strings.NewReplacer(places...).Replace(text)
}

// TextsJSON returns the texts whose keys begin with one of some heads, without it, by language, for
// scripts; nil if there are none. It has <, > and & as escapes.
func TextsJSON(heads []string, languages ...*Language) ([]byte, error) {
	all, none := map[string]map[string]any{}, true
	for _, l := range languages {
		texts := map[string]any{}
		for _, head := range heads {
			l.collectTexts(head, texts)
		}
		all[l.Tag], none = texts, none && len(texts) == 0
	}
	if none {
		return nil, nil
	}
	return json.Marshal(all)
}

// collectTexts adds the texts whose keys begin with a head, without it.
func (l *Language) collectTexts(head string, texts map[string]any) {
	for key, t := range l.Texts {
		if name, ok := strings.CutPrefix(key, head); ok {
			texts[name] = t
			if text, plain := t[""]; plain {
				texts[name] = text
			}
		}
	}
}

// maxHeader is how much of a header is read, in bytes.
const maxHeader = 200

var matcher = language.NewMatcher(func() (tags []language.Tag) {
	for _, tag := range Languages {
		tags = append(tags, language.MustParse(tag))
	}
	return tags
}())

// Choose returns the index of a language by its tag, else of that which a header Accept-Language
// prefers.
func Choose(tag, header string) int {
	if i := slices.Index(Languages, tag); i >= 0 {
		return i
	}
	if len(header) > maxHeader {
		header = header[:max(0, strings.LastIndexByte(header[:maxHeader], ','))]
	}
	_, i := language.MatchStrings(matcher, header)
	return i
}
