package messages

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// program has the texts that other packages write in English, for commands, for the API and for
// pages alike: errors, faults with their advice, messages that are stored. Each is three lines,
// as in Languages, with an empty line between two of them. Where the first one names a command, a fourth is
// what pages in English say in its place.
//
//go:embed program.txt
var program string

// phrase is a text of the program.
type phrase struct {
	parts  []string // what is between the places of the English text
	places []string // their names in braces
	texts  []string // by language; "" in English where pages say the same
}

var phrases = sync.OnceValue(func() (list []phrase) {
	for block := range strings.SplitSeq(strings.TrimSpace(program), "\n\n") {
		texts := append(strings.Split(block, "\n"), "")
		english := texts[0]
		texts[0] = texts[len(Languages)]
		list = append(list, phrase{inBraces.Split(english, -1), inBraces.FindAllString(english, -1), texts})
	}
	// First those that a text has to begin with: what follows them may be a phrase, too.
	length := func(p phrase) int { return len(p.parts[0])*1000 + len(strings.Join(p.parts, "")) }
	slices.SortStableFunc(list, func(a, b phrase) int { return cmp.Compare(length(b), length(a)) })
	return list
})

var inBraces = regexp.MustCompile(`\{[a-z]\}`)

// match returns the values of the places if a text in English is the phrase.
func (p phrase) match(text string) (values []string, ok bool) {
	rest, ok := strings.CutPrefix(text, p.parts[0])
	if last := len(p.parts) - 1; last == 0 {
		return nil, ok && rest == ""
	}
	for i, part := range p.parts[1:] {
		at := strings.Index(rest, part)
		if i == len(p.parts)-2 {
			at = len(rest) - len(part)
		}
		if !ok || at < 0 || !strings.HasPrefix(rest[at:], part) {
			return nil, false
		}
		values, rest = append(values, rest[:at]), rest[at+len(part):]
	}
	return values, true
}

// Translate returns a text that the program wrote in English as pages in this language have it, and whether it is
// known. What is in the places of a text is translated as well, if it is known.
func (l *Language) Translate(english string) (text string, ok bool) {
	to := slices.Index(Languages, l.Tag)
	if lines := strings.SplitAfter(english, "\n"); len(lines) > 1 {
		for i, line := range lines {
			whole := strings.TrimSuffix(line, "\n")
			item := strings.TrimPrefix(whole, "- ") // of a list
			translated, known := l.Translate(item)
			ok = ok || known
			lines[i] = strings.TrimSuffix(whole, item) + translated + strings.TrimPrefix(line, whole)
		}
		return strings.Join(lines, ""), ok
	}
	for _, p := range phrases() {
		if p.texts[to] == "" {
			continue
		}
		if values, found := p.match(english); found {
			var pairs []string
			for i, value := range values {
				value, _ = l.Translate(value)
				pairs = append(pairs, p.places[i], value)
			}
			return strings.NewReplacer(pairs...).Replace(p.texts[to]), true
		}
	}
	return english, to == 0
}
