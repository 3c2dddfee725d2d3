package fault

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Recover sets the reason of a fault from an older replay, which has only the text. The
// reason stays zero if no version of the referee writes such a text.
func (f *Fault) Recover() {
	if f.Reason.Kind != "" {
		return
	}
	text, early := strings.CutPrefix(f.Text, atStart)
	for _, p := range patterns() {
		m := p.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		r, ok := Reason{Kind: p.Kind, BeforeReady: early}, true
		for i, name := range p.SubexpNames() {
			if name != "" && m[i] != "" {
				ok = r.set(name, m[i]) && ok
			}
		}
		if ok {
			f.Reason = r
			return
		}
	}
}

type pattern struct {
	Kind
	*regexp.Regexp
}

// patterns are the texts of all kinds, of all versions.
var patterns = sync.OnceValue(func() (list []pattern) {
	for _, k := range kinds {
		for _, text := range append([]string{k.text}, k.older...) {
			list = append(list, pattern{k.Kind, regexp.MustCompile("(?s)^" + expand(text, regexp.QuoteMeta, group) + "$")})
		}
	}
	return list
})

// group returns the part of a pattern that matches a parameter.
func group(name string) string {
	const quoted = `"(?:[^"\\]|\\.)*"`
	find := `-?[0-9]+`
	switch name {
	case "line":
		find = quoted + `(?:\.\.\.)?`
	case "move", "command":
		find = quoted
	case "byte":
		find = `0x[0-9a-f]{2}`
	case "name":
		find = `[A-Z0-9+]*`
	case "detail":
		find = `.*`
	case "unfinished":
		return fmt.Sprintf("(?:%s(?P<unfinished>%s))?", afterLine, quoted)
	case "end":
		return fmt.Sprintf("(?:%s|%s)", expand(exitedWith, regexp.QuoteMeta, group), expand(killedBy, regexp.QuoteMeta, group))
	}
	return fmt.Sprintf("(?P<%s>%s)", name, find)
}
