package messages_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/web/messages"
)

var place = regexp.MustCompile(`\{(\w+)\}`)

// shape returns the plural forms of a text and the names of the values in them.
func shape(t messages.PluralText) []string {
	names := map[string]bool{}
	for _, text := range t {
		for _, m := range place.FindAllStringSubmatch(text, -1) {
			names[m[1]] = true
		}
	}
	return slices.Concat(slices.Sorted(maps.Keys(t)), slices.Sorted(maps.Keys(names)))
}

// All languages have the same texts, with the same values and plural forms.
func TestComplete(t *testing.T) {
	all := kit.Get[[]*messages.Language](t)(messages.All())
	english := all[0].Texts
	if len(english) < 500 {
		t.Errorf("there are only %d texts", len(english))
	}
	for i, l := range all {
		if l.Tag != messages.Languages[i] {
			t.Errorf("language %d is %s", i, l.Tag)
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(english)), slices.Sorted(maps.Keys(l.Texts))); diff != "" {
			t.Errorf("%s has other keys than en (-en +%s): %s", l.Tag, l.Tag, diff)
		}
		for key, text := range l.Texts {
			if diff := cmp.Diff(shape(english[key]), shape(text)); diff != "" {
				t.Errorf("%s: %q has other forms or places than en: %s", l.Tag, key, diff)
			}
			for form, part := range text {
				if strings.TrimSpace(part) == "" {
					t.Errorf("%s: %q is empty in the form %q", l.Tag, key, form)
				}
			}
		}
	}
}

// formal matches words of Catalan and Spanish texts that address the reader formally, as vós or usted. All
// texts use tu.
var formal = regexp.MustCompile(`(?i)\b(vostr|usted|teniu\b|voleu\b|(inici|copi|trebal|envi|tri|obr|puj|dem|pod|teni|fe|llegi|deix|dese|uni)eu\b|(copie|lea|haga|guarde|guárdelo|suba|abra|suelte|deje|trabaje|únase)\b)`)

// Texts address the reader in the same way, and use typographic apostrophes and dots.
func TestStyle(t *testing.T) {
	for _, l := range kit.Get[[]*messages.Language](t)(messages.All()) {
		for key, text := range l.Texts {
			for _, part := range text {
				if strings.Contains(part, "'") || strings.Contains(part, " …") {
					t.Errorf("%s: %q has ' for ’, or a space before …: %s", l.Tag, key, part)
				}
				if word := formal.FindString(part); word != "" && l.Tag != "en" {
					t.Errorf("%s: %q says %q to a reader who is tu: %s", l.Tag, key, word, part)
				}
			}
		}
	}
}

// A text has its values in its places, in the form of its count and with numbers as the language writes them.
func TestSay(t *testing.T) {
	all := kit.Get[[]*messages.Language](t)(messages.All())
	en, es := all[0], all[2]
	for _, c := range []struct{ got, want string }{
		{en.Text("site.home"), "Home"},
		{en.Text("site.age.days", "Count", 1), "1 day ago"},
		{en.Text("site.age.days", "Count", 2000), "2,000 days ago"},
		{es.Text("site.age.days", "Count", 1), "hace 1 día"},
		{es.Text("site.age.days", "Count", 20_000_000), "hace 20.000.000 días"},
		{en.Text("site.rows", "From", 1, "To", int64(10), "Total", "{To}"), "1 to 10 of {To}"},
		{en.Text("site.nothing"), "site.nothing"},
	} {
		if c.got != c.want {
			t.Errorf("it says %q, want %q", c.got, c.want)
		}
	}
}

// Choose prefers the tag to the header of the browser, and handles headers of any length.
func TestChoose(t *testing.T) {
	long := "ca-ES,ca;q=0.9,pt-BR;q=0.8,pt;q=0.7,fr-CH;q=0.6,fr;q=0.5,de-AT;q=0.4,de;q=0.3,it;q=0.2,nl;q=0.1"
	for _, c := range []struct{ tag, header, want string }{
		{"", "", "en"}, {"es", "ca", "es"}, {"xx", "ca", "ca"}, {"", "es-MX, en;q=0.5", "es"}, {"", "ja", "en"},
		{"", long, "ca"}, {"", long + strings.Repeat(",sv;q=0.1", 1000), "ca"}, {"", strings.Repeat("x", 1000), "en"},
	} {
		if got := messages.Languages[messages.Choose(c.tag, c.header)]; got != c.want {
			t.Errorf("%q with %.100q is %s, want %s", c.tag, c.header, got, c.want)
		}
	}
}

// The form of a game describes each option with the words of the game's rules.
func TestOptions(t *testing.T) {
	for _, l := range kit.Get[[]*messages.Language](t)(messages.All()) {
		used := map[string]bool{}
		for _, g := range games.All() {
			text := strings.Join(strings.Fields(strings.ReplaceAll(g.Text(l.Tag), "'", "’")), " ")
			for _, o := range g.Options {
				keys, item := []string{o.Name}, []string{o.Name}
				if values := o.Values; values != nil {
					if keys, item = nil, nil; len(values) == 2 {
						values = values[1:] // the option is a checkbox
					}
					for _, value := range values {
						keys, item = append(keys, o.Name+"."+value), append(item, o.Name+"="+value)
					}
				}
				for i, key := range keys {
					used["play.option."+key] = true
					if want := "`" + item[i] + "`: " + l.Text("play.option."+key); o.Name != "players" && !strings.Contains(text, want) {
						t.Errorf("%s: the rules of %s do not say %s", l.Tag, g.Name, want)
					}
				}
			}
		}
		for key := range l.Texts {
			if strings.HasPrefix(key, "play.option.") && !used[key] {
				t.Errorf("%s: %q is of no option", l.Tag, key)
			}
		}
	}
}

// In Spanish a file is always "archivo", and an archive "archivo comprimido".
func TestOneWordForFile(t *testing.T) {
	for _, name := range []string{"es.toml", "phrases/es.toml", "../../docs/es/competing.md", "../../docs/es/writing-a-bot.md", "../../docs/es/SPEC.md"} {
		if text := string(kit.Get[[]byte](t)(os.ReadFile(name))); strings.Contains(strings.ToLower(text), "fichero") {
			t.Errorf("%s says fichero", name)
		}
	}
}
