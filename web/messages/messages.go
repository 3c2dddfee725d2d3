// Package messages has all texts that pages show to people, in each language: those of the site and of the boards.
//
// A text is found by its key, which joins the names of its TOML tables and its own with dots, such as
// "site.home". A text contains the names of values in braces, such as {name}. A TOML table of plural forms
// (one, other and so on) is one text: the value named Count selects the form by the rules of the language.
//
// Errors, faults and other texts that the program itself makes are phrases instead: their English format is
// the key of their translation. Begin with All.
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

// Languages are the tags of the languages that have texts. The first one, English, is used for any other language.
var Languages = []string{"en", "ca", "es"}

// Language has the texts of one language. It is not changed after All has loaded it.
type Language struct {
	Tag     string                // one of Languages
	Numbers *message.Printer      // formats numbers
	Texts   map[string]PluralText // by key
	Phrases map[string]string     // translated formats of phrases by their English formats

	tag language.Tag
}

// Phrase translates text, a message that the program makes, such as an error. complete reports whether all its
// parts have a translation; in English it is true.
func (l *Language) Phrase(text phrase.Text) (words string, complete bool) {
	words, complete = text.Translate(l.Phrases)
	return words, complete || l.Tag == Languages[0]
}

// Translate returns the translation of a fixed text of the program, such as the title of a ladder. A text without
// a translation is returned unchanged.
func (l *Language) Translate(text string) string {
	if translated, ok := l.Phrases[text]; ok {
		return translated
	}
	return text
}

// PluralText maps the names of plural forms, such as "one", to the forms of a text. A text without plural
// forms has the key "".
type PluralText map[string]string

// forms maps plural forms to their names in TOML tables.
var forms = map[plural.Form]string{
	plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many", plural.Other: "other",
}

// All returns all languages in the order of Languages. The first call loads them; later calls return the same
// value.
var All = sync.OnceValues(func() (list []*Language, err error) {
	for _, tag := range Languages {
		l := &Language{Tag: tag, Texts: map[string]PluralText{}, tag: language.MustParse(tag)}
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

// addTable adds the texts of a TOML table and of the tables in it. prefix is the beginning of their keys.
func (l *Language) addTable(prefix string, table map[string]any) {
	for name, value := range table {
		switch value := value.(type) {
		case string:
			l.Texts[prefix+name] = PluralText{"": value}
		case map[string]any:
			if _, plural := value["other"]; !plural {
				l.addTable(prefix+name+".", value)
				continue
			}
			t := PluralText{}
			for form, text := range value {
				t[form] = fmt.Sprint(text)
			}
			l.Texts[prefix+name] = t
		}
	}
}

// Text returns the text with a key in the language l. args are names and values in turn: each name in braces in the
// text is replaced by its value. If there is no such text, Text returns the key; a test makes sure that this does not
// happen.
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
		text = t[""] + t["other"] // only one of them exists
	}
	return strings.NewReplacer(places...).Replace(text)
}

// TextsJSON returns texts for scripts, as a JSON object. It maps the tag of each of the given languages to an object
// of texts. This has the texts whose keys begin with one of the prefixes, under keys without the prefix. In the JSON,
// <, > and & are escaped. If there are no such texts, TextsJSON returns nil.
func TextsJSON(prefixes []string, languages ...*Language) ([]byte, error) {
	all, none := map[string]map[string]any{}, true
	for _, l := range languages {
		texts := map[string]any{}
		for _, prefix := range prefixes {
			l.collectTexts(prefix, texts)
		}
		all[l.Tag], none = texts, none && len(texts) == 0
	}
	if none {
		return nil, nil
	}
	return json.Marshal(all)
}

// collectTexts adds the texts whose keys begin with prefix to the map texts, under keys without the prefix.
func (l *Language) collectTexts(prefix string, texts map[string]any) {
	for key, t := range l.Texts {
		if name, ok := strings.CutPrefix(key, prefix); ok {
			texts[name] = t
			if text, plain := t[""]; plain {
				texts[name] = text
			}
		}
	}
}

// maxHeader is the number of bytes of the header Accept-Language that Choose reads. The rest is ignored.
const maxHeader = 200

var matcher = language.NewMatcher(func() (tags []language.Tag) {
	for _, tag := range Languages {
		tags = append(tags, language.MustParse(tag))
	}
	return tags
}())

// Choose returns an index in Languages. It is that of the language tag if Languages contains tag, and otherwise that
// of the language that header prefers. header is the Accept-Language header of a request.
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
