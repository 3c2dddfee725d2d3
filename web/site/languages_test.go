package site_test

import (
	"fmt"
	stdhtml "html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/messages"
	"github.com/timba-arena/timba/web/site"
	"github.com/timba-arena/timba/web/webtest"
)

var (
	// englishDocuments matches the pages with parts in English, which say that they are.
	englishDocuments = regexp.MustCompile(`^/(docs|protocol|ratings|api|data|search)\b`)
	// englishWords matches frequent English words that are not words of Catalan or Spanish.
	englishWords = regexp.MustCompile(`(?i)(?:^|[^\pL])(the|and|with|of|is|are|was|this|that|which|not|by|for|from|moves?|after|games?|match|matches|your?|its?)(?:$|[^\pL])`)
	place        = regexp.MustCompile(`\\\{\w+\\\}`)
	// asWritten matches words of the protocol and texts that people wrote, which are not translated.
	asWritten = regexp.MustCompile(`"[^"]*"|«[^»]*»|Traceback.*|\bMOVE\b|\{\w+\}`)
)

// english finds English text on pages in another language.
type english struct {
	t     *testing.T
	words *messages.Language
	// The English texts that the language says in another way: those without places, and the others.
	texts  map[string]bool
	values *regexp.Regexp
	seen   map[string]bool // the texts that have been examined
}

func newEnglish(t *testing.T, of, words *messages.Language) english {
	e := english{t: t, words: words, texts: map[string]bool{}, seen: map[string]bool{}}
	var values []string
	for key, text := range of.Texts {
		for form, part := range text {
			pattern := place.ReplaceAllString(regexp.QuoteMeta(part), `.+`)
			switch {
			case words.Texts[key][form] == part:
			case !strings.Contains(part, "{"):
				e.texts[part] = true
			case len(pattern) > 12: // others say nothing but their values
				values = append(values, pattern)
			}
		}
	}
	e.values = regexp.MustCompile(`^(` + strings.Join(values, "|") + `)$`)
	return e
}

// look reports the English text on a page.
func (e english) look(address, page string) {
	e.t.Helper()
	root := kit.Get[*html.Node](e.t)(html.ParseWithOptions(strings.NewReader(page), html.ParseOptionEnableScripting(false)))
	e.node(address, root)
}

func (e english) node(address string, n *html.Node) {
	if n.Type == html.TextNode {
		e.text(address, n.Data)
		return
	}
	for _, a := range n.Attr {
		switch {
		case a.Key == "lang" && n.Data != "html" && a.Val != e.words.Tag:
			if a.Val == "en" && n.Data != "pre" && !englishDocuments.MatchString(address) && n.FirstChild.Data != "en" {
				var b strings.Builder
				kit.Must(e.t, html.Render(&b, n))
				e.t.Errorf("%s: %s has %s", e.words.Tag, address, b.String())
			}
			return
		case slices.Contains([]string{"aria-label", "alt", "placeholder"}, a.Key), a.Key == "content" && slices.Contains(n.Attr, html.Attribute{Key: "name", Val: "description"}):
			e.text(address, a.Val)
		case a.Key == "class" && strings.Contains(a.Val, "bot"), a.Key == "href" && (a.Val == "/account" || strings.HasPrefix(a.Val, "/people/")):
			return // names
		}
	}
	if n.Data == "pre" { // it is not that of a program, which would say so
		for c := range n.ChildNodes() {
			if c.Type == html.TextNode && !englishDocuments.MatchString(address) && englishWords.MatchString(c.Data) {
				e.t.Errorf("%s: %s has, without lang=\"en\": %q", e.words.Tag, address, c.Data)
			}
		}
	}
	if slices.Contains([]string{"script", "style", "code", "pre", "textarea"}, n.Data) || n.Data == "title" && englishDocuments.MatchString(address) {
		return
	}
	for c := range n.ChildNodes() {
		e.node(address, c)
	}
}

func (e english) text(address, text string) {
	text = strings.Join(strings.Fields(asWritten.ReplaceAllString(text, "")), " ")
	if e.seen[text] {
		return
	}
	e.seen[text] = true
	if ours := strings.ReplaceAll(text, "Tebes on a small board", ""); e.texts[text] || e.values.MatchString(text) || englishWords.MatchString(ours) { // a title of the operator
		e.t.Errorf("%s: %s says %q", e.words.Tag, address, text)
	}
}

// Pages in Catalan and Spanish have no English text except for names, code, and documents that are marked as
// English.
func TestNoEnglishLeft(t *testing.T) {
	t.Parallel()
	s := webtest.NewStaticWorld(t, withMachines)
	addLola(s)
	s.PlayEach(1)
	queue := []string{
		"/nothing", "/bots/nobody", "/bots?who=robots", "/bots?before=0", "/bots?ladder=chess", "/bots?q=zzz", "/matches/99", "/matches/x", "/games/7777", "/ladders/chess", "/people/nobody", "/docs/nothing",
		"/search?q=zzzz", "/search?q=brisca", "/search?q=a", "/rules/chess", "/submissions/99", "/ladders/brisca?q=zzz", "/bots/lola/versions/9", "/bots/lola/versions?before=1", "/matches/new?bot=lola", "/matches?bot=nobody", "/bots/@greedy?set-noise=101&to=play",
	}
	for _, path := range matchStates(s) {
		queue = append(queue, path)
	}
	boss := s.Ladder.AddPerson("boss", true)
	bossToken := s.NewToken(boss, ladder.ScopeAll)
	mux := http.NewServeMux()
	for pattern := range site.Patterns() {
		if strings.Contains(pattern, " /play") {
			continue // below
		}
		mux.HandleFunc(pattern, http.NotFound)
		if address := strings.TrimPrefix(pattern, "GET "); address != pattern && !strings.Contains(address, "{") && !strings.HasPrefix(address, "/ws/") {
			queue = append(queue, address)
		}
	}
	// Games and submissions need a server that plays.
	w := webtest.New(t, webtest.Calm, 0)
	member := w.Client()
	w.SignIn(member, w.Token)
	played := []string{"/play", "/play?game=brisca&set-teams=yes&set-players=4", "/submissions/" + submitBot(w, member, "crawled", w.Archive(starter(t, "python")))}
	at := w.Post(member, "/play", "game=brisca&bot=@greedy&seat=0").Header.Get("Location")
	played = append(played, at)
	all := kit.Get[[]*messages.Language](t)(messages.All())
	for _, words := range all[1:] {
		e := newEnglish(t, all[0], words)
		for _, token := range []string{"", s.AdaToken, bossToken} {
			c := s.Client()
			if token != "" {
				s.SignIn(c, token)
			}
			s.Get(c, "/?lang="+words.Tag)
			if pages := e.crawl(&s.World, c, mux, queue, perRoute); pages < 50 {
				t.Errorf("only %d pages are seen", pages)
			}
			e.refused(&s.World, c, refusedForms)
		}
		w.Get(member, "/?lang="+words.Tag)
		e.crawl(w, member, mux, played, 0)
		w.Post(member, at+"/resign", "")
		e.crawl(w, member, mux, played, 0)
		e.refused(w, member, refusedGames)
	}
}

// A visitor learns in English what is wrong with each form, without the names of packages: World.Post checks that.
func TestEveryFormRefused(t *testing.T) {
	t.Parallel()
	s, w := webtest.NewStaticWorld(t, nil), webtest.New(t, webtest.Calm, 0)
	addLola(s)
	refused, mux := map[string]bool{}, http.NewServeMux()
	for pattern := range site.Patterns() {
		mux.HandleFunc(pattern, http.NotFound)
	}
	post := func(w *webtest.World, token string, forms map[string][]string) {
		c := w.Client()
		w.SignIn(c, token)
		for address, list := range forms {
			_, pattern := mux.Handler(&http.Request{Method: http.MethodPost, URL: &url.URL{Path: address}, Host: "test"})
			for _, form := range list {
				refused[pattern] = refused[pattern] || w.Post(c, address, form).Status >= 400
			}
		}
	}
	post(&s.World, s.AdaToken, refusedForms)
	post(&s.World, s.NewToken(s.Ladder.AddPerson("boss", true), ladder.ScopeAll), refusedForms)
	post(w, w.Token, refusedForms)
	post(w, w.Token, refusedGames)
	for pattern := range site.Patterns() {
		if strings.HasPrefix(pattern, "POST ") && !refused[pattern] && !slices.Contains(unrefused, pattern) {
			t.Errorf("%s: no form is refused: add wrong ones to refusedForms", pattern)
		}
	}
}

// unrefused are forms that cannot be filled in wrongly, those of a table that is gone, which lead to the page to play,
// and those that only scripts send.
var unrefused = []string{
	"POST /play/{id}/sit", "POST /play/{id}/cancel", "POST /play/{id}/resign",
	"POST /sign-out", "POST /sign-in/options", "POST /account/sessions/end-others", "POST /account/passkeys", "POST /account/passkeys/options",
}

// refused looks at the answers to forms that are filled in wrongly.
func (e english) refused(w *webtest.World, c *http.Client, forms map[string][]string) {
	for address, list := range forms {
		for _, form := range list {
			e.look(fmt.Sprintf("POST %s %s", address, form), w.Post(c, address, form).Body)
		}
	}
}

// refusedGames are forms of games that are filled in wrongly.
var refusedGames = map[string][]string{
	"/play":                {"game=chess", "game=brisca&bot=nobody", "game=brisca&bot=@greedy&seat=x", "game=brisca&bot=@greedy&seat=9", "game=brisca&bot=@greedy&set-players=2&set-teams=yes", "game=tebes&bot=@greedy&set-limit=-1"},
	"/play/nothing/resign": {""}, "/play/nothing/rematch": {""},
	"/write/tests/x/cancel": {""},
}

// refusedForms are forms that are filled in wrongly.
var refusedForms = map[string][]string{
	"/sign-in":                        {"token=x", "token="},
	"/join":                           {"name=&code=", "name=A!&code=x", "name=ann&code=x", "name=ada"},
	"/account/tokens":                 {"label=x&scope=none&days=", "label=%01&scope=read", "label=x&scope=read&days=5"},
	"/account/tokens/revoke":          {"id=99", "id=x"},
	"/account/invites":                {"name=A!&days=", "name=x&days=5"},
	"/account/invites/revoke":         {"id=99"},
	"/account/sessions/end":           {"id=99"},
	"/account/people/block":           {"name=nobody", "name=admin"},
	"/account/operation/announcement": {"text=a%00b", "text=" + strings.Repeat("x", 501)},
	"/account/people/reset":           {"name=nobody"},
	"/people/nobody/sign-in":          {""},
	"/people/nobody/remove":           {""},
	"/matches/new":                    {"ladder=brisca&bot=&deals=x", "ladder=brisca&bot=nobody&bot=@greedy", "ladder=chess&bot=a&bot=b", "ladder=brisca&bot=lola&bot=lola", "ladder=brisca&bot=lola", "ladder=brisca&bot=lola&bot=@greedy&deals=100000", "ladder=brisca&bot=@greedy&bot=@greedy:noise=x"},
	"/bots/lola/use":                  {"version=x", "version=9", "version=2"},
	"/bots/nobody/withdraw":           {""},
	"/bots/nobody/restore":            {""},
	"/bots/nobody/ban":                {""},
	"/bots/nobody/unban":              {""},
	"/ladders/chess/pause":            {""},
	"/ladders/chess/resume":           {""},
	"/bots/@greedy/withdraw":          {""},
	"/submit":                         {"bot=x"},
	"/write":                          {"game=chess"},
	"/write/tests":                    {"game=chess"},
	"/submissions/99/cancel":          {""},
	"/bots/lola/restore/again":        {""},
}

// crawl looks at the pages of queue and at those to which they link, up to perRoute for each route. It
// returns the number of pages.
func (e english) crawl(w *webtest.World, c *http.Client, mux *http.ServeMux, queue []string, perRoute int) (pages int) {
	seen, visited := map[string]bool{}, map[string]int{}
	given := len(queue)
	for i := 0; i < len(queue); i++ {
		u := kit.Get[*url.URL](e.t)(url.Parse(queue[i]))
		u.Fragment = ""
		_, pattern := mux.Handler(&http.Request{Method: http.MethodGet, URL: u, Host: "test"})
		if seen[u.String()] || i >= given && (pattern == "" || visited[pattern] >= perRoute) || u.Query().Has("lang") || u.Query().Has("theme") {
			continue
		}
		seen[u.String()] = true
		visited[pattern]++
		a := w.Get(c, u.RequestURI(), "Accept-Encoding", "identity")
		if !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") || strings.Contains(a.Header.Get("Content-Disposition"), "attachment") {
			continue
		}
		pages++
		e.look(u.RequestURI(), a.Body)
		for _, m := range pageLinks.FindAllStringSubmatch(a.Body, -1) {
			queue = append(queue, stdhtml.UnescapeString(m[1]))
		}
	}
	return pages
}
