package site

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/net/html"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/web/live"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/wire"
)

// newStrangerVisit returns a visit by nobody, for pages that are rendered without a server.
func newStrangerVisit(t testing.TB) *visit {
	x := &service.Service{Options: service.Options{Store: new(store.Store), Config: &config.Config{}, Now: time.Now}}
	s, err := New(Options{Middleware: &middleware.Middleware{Options: middleware.Options{Service: x}}, Live: live.NewHub(live.Options{})})
	kit.Must(t, err)
	s.Store = kit.Get[*store.Store](t)(store.Open(t.TempDir(), store.Options{Server: true, NoSync: true}))
	t.Cleanup(func() { s.Store.Close() })
	w := httptest.NewRecorder()
	v := &visit{Request: new(middleware.Request), site: s, w: w, language: s.pages.languages[0]}
	v.r = httptest.NewRequest(http.MethodGet, "/bots/x", nil)
	return v
}

// pagesOf returns all pages that show what a bot or its owner wrote, with text in every place for it.
func pagesOf(v *visit, text string) map[string]any {
	at := time.Unix(1_800_000_000, 0)
	v.Problem = &middleware.Problem{Text: phrase.Plain(text), Problem: wire.Problem{Hint: text}, Remedy: phrase.Plain(text)}
	name := text[:min(len(text), 64)] // names of bots, people and ladders are short
	b := ladder.Bot{ID: 1, PersonID: 1, Name: name, CreatedAt: at}
	ver := ladder.Version{ID: 1, BotID: 1, Bot: name, Owner: 1, Number: 1, Label: text, Language: text, Games: []string{text}, State: ladder.Retired, Reason: phrase.Plain(text), Hash: text, CreatedAt: at}
	place := ladder.Standing{Ladder: name, Bot: name, Version: 1, Owner: name, Elo: 1000, Matches: 2, Games: 4, Rank: 1, Active: true}
	m := ladder.Match{ID: 1, Ladder: name, Bots: []string{name, "@random"}, Numbers: []int{1, 1}, CreatedAt: at, FinishedAt: at, Changes: []ladder.Change{{}, {}}}
	listed := store.ListedBot{Bot: b, Owner: name, Number: 1, State: ladder.Live, Language: text, Label: text}
	ch := chart{Title: text, XTitle: text, Points: []point{{X: 1, Y: 1, Label: text}, {X: 2, Y: 2, Label: text}}, Marks: []mark{{1.5, text}}}
	return map[string]any{
		"bots": botsPage{Query: text[:min(len(text), 256)], Bots: []store.ListedBot{listed}, Languages: []string{name}, Ladders: []store.LadderInfo{{Ladder: ladder.Ladder{Name: name, Title: text}}}},
		"bot": botPage{
			Bot: b, Owner: name, IsOwner: true, Versions: []ladder.Version{ver}, Places: []ladder.Standing{place, place}, Ladder: name, Chart: ch,
			Opponents: []store.Opponent{{Bot: name}}, Matches: []shownMatch{{Match: m}}, Messages: []ladder.Message{{Kind: "failed", Bot: name, Version: 1, Match: 1, Reason: phrase.Plain(text), CreatedAt: at}}, Links: v.publicLinks(name),
			Forfeits: []forfeit{{Forfeit: store.Forfeit{Code: text, Ladder: name, GameName: name}, Note: faultNote{Text: phrase.Plain(text), Advice: []phrase.Text{phrase.Plain(text)}, Log: text}}},
		},
		"versions": versionsPage{Bot: b, IsOwner: true, Versions: []ladder.Version{ver}},
		"version":  versionPage{Bot: b, Owner: name, IsOwner: true, Version: ver, Places: []ladder.Standing{place}, Stages: []ladder.Stage{{Name: text, Summary: phrase.Plain(text), Log: text, EndedAt: at}}},
		"person": personPage{
			Person: ladder.Person{Name: name, CreatedAt: at}, Bots: []personBot{{listed, []ladder.Standing{place}}}, Records: []ladder.PlayRecord{{Bot: name}},
			Plays: personPlays{List: []ownPlay{{Play: ladder.Play{Seats: []ladder.PlaySeat{{Person: name, PersonID: 1}}}, OwnSeat: 1, Result: ladder.PlayWin}}},
		},
		"removal": removalPage{Person: ladder.Person{Name: name}, OtherName: name, Bots: []store.ListedBot{listed}},
		"people":  peoplePage{Game: "brisca", List: []ladder.PersonRating{{Person: name, Rating: 1500}}},
		"machines": machinesPage{Machines: []machineRow{{Machine: ladder.Machine{
			Name: name, State: ladder.MachineRefused, Reason: phrase.Plain(text), Version: text, Arch: text, Sandbox: text, LastReportAt: at,
			Playing: []ladder.MachineMatch{{Match: 1, Bots: []string{name, name}, Numbers: []int{1, 1}, StartedAt: at}},
		}}}},
		"operation": operationPage{
			HasStatus: true, ServerStatus: ServerStatus{Failure: errors.New(text), DiskBytes: 9},
			Submissions: []ladder.Version{ver}, Running: []ladder.Match{m}, FailedVersions: []ladder.Version{ver}, DroppedMatches: []ladder.Match{m}, BannedBots: []ladder.Bot{{Name: name, BanReason: text}},
			Ladders: []store.LadderInfo{{Ladder: ladder.Ladder{Name: name, Title: text}, PausedAt: at}},
		},
		"search": searchPage{Query: text[:min(len(text), 256)], Bots: []string{name}, People: []string{name}, RowLimit: 9},
	}
}

// shape returns the elements of a page with the names of their attributes, and the text that the page shows.
func shape(page []byte) (elements, texts string) {
	var shapes, shown strings.Builder
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return shapes.String(), shown.String()
		case html.TextToken:
			shown.Write(z.Text())
		default:
			token := z.Token()
			fmt.Fprintf(&shapes, "%v<%s", kind, token.Data)
			for _, a := range token.Attr {
				shapes.WriteString(" " + a.Key)
			}
			shapes.WriteString(">\n")
		}
	}
}

func render(t testing.TB, v *visit, name string, data any) []byte {
	w := httptest.NewRecorder()
	v.w = w
	kit.Must(t, v.showPage(http.StatusOK, name, data))
	return w.Body.Bytes()
}

// FuzzPages puts a text in all places where pages show what bots and people wrote. Compared with a plain
// word, no page gets other elements or attributes, exceeds its size limit, or contains a control character
// that changes the direction of text. Badges and feeds stay well formed.
func FuzzPages(f *testing.F) {
	for _, text := range []string{
		"plain", "\"><script>alert(1)</script>", "' onload='x", "</textarea></pre></title>-->]]>", "{{.}}", "\u202eevil\u2066\x00\x1b[0m", "\xff\xfe", strings.Repeat("<b>", 5000), "javascript:alert(1)", "//evil.example/", "@a b?c#d/../e",
	} {
		f.Add(text)
	}
	v := newStrangerVisit(f)
	plain := map[string]string{}
	for name, data := range pagesOf(v, "word") {
		plain[name], _ = shape(render(f, v, name, data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = "w" + text // pages have other elements for an empty text
		for name, data := range pagesOf(v, text) {
			page := render(t, v, name, data)
			elements, shown := shape(page)
			if elements != plain[name] {
				t.Errorf("%s: the page has other elements with %q:\n%s", name, text, page)
			}
			if strings.ContainsFunc(shown, func(r rune) bool { return unicode.Is(unicode.Cf, r) || r < ' ' && r != '\n' && r != '\t' }) {
				t.Errorf("%s shows a control of %q", name, text)
			}
			if len(page) > 256<<10 {
				t.Errorf("%s has %d bytes", name, len(page))
			}
		}
		wellFormed(t, badgeOf(ladder.Standing{Ladder: text, Bot: text, Elo: 1, Matches: 1, Rank: 1}))
		b := ladder.Bot{Name: text}
		feed, err := v.feedOf(b, text, []ladder.Match{{ID: 1, Ladder: text, Bots: []string{text}, Changes: []ladder.Change{{}}}}, []ladder.Version{{Bot: text, Number: 1, Label: text, Language: text, LiveAt: time.Unix(1, 0)}})
		kit.Must(t, err)
		wellFormed(t, feed)
	})
}

func wellFormed(t *testing.T, data []byte) {
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if e, ok := token.(xml.StartElement); err != nil || ok && e.Name.Local == "script" {
			t.Fatalf("%v in %s", err, data)
		}
	}
}
