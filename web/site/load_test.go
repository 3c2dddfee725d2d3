package site_test

import (
	"bytes"
	"html"
	"maps"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/web/site"
	"github.com/timba-arena/timba/web/webtest"
)

// maxLoad is the largest compressed size of everything that the first visit to a page fetches, in bytes.
const maxLoad = 150_000

// perRoute is the number of addresses that are measured for each route.
const perRoute = 4

// unlinked has the routes to which no page of an idle competition links. The value is an address that is
// measured instead, or "" if the route is not a page or needs a form.
var unlinked = map[string]string{
	"GET /bots/{bot}/badge.svg":                    "/bots/@greedy/badge.svg",
	"GET /bots/{bot}/versions":                     "/bots/@greedy/versions",
	"GET /matches/new":                             "/matches/new?bot=@greedy",
	"GET /people/{name}/remove":                    "/people/admin/remove", // of another person
	"GET /submissions/{submission}/progress":       "",
	"GET /games/{game}/embed":                      "/games/100000/embed",
	"GET /games/{game}/stderr/{seat}":              "", // of a bot that has written something
	"GET /games/{game}/edit/{seat}":                "", // of a bot that has lost
	"GET /live/{match}":                            "", // of a match in progress
	"GET /play/{id}":                               "",
	"GET /matches/{match}/games/{deal}/{rotation}": "", // from a script, to a game
	"GET /play/{id}/refusal":                       "", // from a script, to a text
	"GET /play/{id}/replay.json":                   "",
	"GET /schemas/{file}":                          "", // for editors
	"GET /download/files/{file}":                   "", // of a directory of the operator
	"GET /write/{language}":                        "/write/python",
	"GET /write/tests/{test}":                      "", // parts of a page, of a test
	"GET /write/tests/{test}/games/{game}":         "",
}

var (
	pageLinks   = regexp.MustCompile(`<a [^>]*href="(/[^"]*)"`)
	pageFiles   = regexp.MustCompile(`<(?:link|script|img)[^>]* (?:href|src)="(/[^"]*)"`)
	moduleFiles = regexp.MustCompile(`(?:from|import)\s*['"](\.[^'"]*)['"]`) // modules loaded by import() are not part of the first load
)

// crawler measures the pages of a competition.
type crawler struct {
	*webtest.World
	c       *http.Client
	mux     *http.ServeMux
	visited map[string]int // the number of addresses visited for each pattern
	assets  map[string]asset
}

type asset struct {
	size    int
	imports []string
}

// No page, with everything that it needs, is larger than maxLoad. The test finds pages by links; a route to
// which no page links needs an entry in unlinked.
func TestFirstLoad(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, "", 2)
	x := crawler{World: w, c: w.Client(), mux: http.NewServeMux(), visited: map[string]int{}, assets: map[string]asset{}}
	w.SignIn(x.c, w.Token)
	archive := w.Archive(starter(t, "python"))
	id := submitBot(w, x.c, "crawled", archive)
	if a := w.Get(x.c, "/bots/crawled/versions/1/files"); a.Status != http.StatusOK || !strings.Contains(a.Body, "<code>timba.toml</code>") {
		t.Errorf("the files of an upload: status %d: %s", a.Status, a.Body)
	}
	if a := w.Get(x.c, "/bots/crawled/versions/1/upload"); a.Status != http.StatusOK || a.Body != string(archive) {
		t.Errorf("the upload: status %d, %d bytes", a.Status, len(a.Body))
	}
	if a := w.Get(x.c, "/submissions/"+id+"/progress"); a.Status != http.StatusOK {
		t.Errorf("the progress answers %d", a.Status)
	}
	queue := []string{"/", "/join", "/sign-in"}
	for pattern := range site.Patterns() {
		x.mux.HandleFunc(pattern, http.NotFound)
		if address := strings.TrimPrefix(pattern, "GET "); address != pattern && !strings.Contains(address, "{") && !strings.HasPrefix(address, "/ws/") {
			queue = append(queue, address)
		}
		if unlinked[pattern] != "" {
			queue = append(queue, unlinked[pattern])
		}
	}
	slices.Sort(queue)
	x.crawl(queue)
	for _, pattern := range slices.Sorted(maps.Keys(site.Patterns())) {
		_, known := unlinked[pattern]
		if strings.HasPrefix(pattern, "GET ") && !strings.Contains(pattern, " /ws/") && x.visited[pattern] == 0 && !known {
			t.Errorf("no page links to %q: add an address to unlinked", pattern)
		}
	}
}

// crawl measures the pages of queue and those to which they link, up to perRoute for each route.
func (x *crawler) crawl(queue []string) {
	seen := map[string]bool{}
	for len(queue) > 0 {
		address := queue[0]
		queue = queue[1:]
		u := kit.Get[*url.URL](x.T)(url.Parse(address))
		u.Fragment = ""
		_, pattern := x.mux.Handler(&http.Request{Method: http.MethodGet, URL: u, Host: "test"})
		if pattern == "" || seen[u.String()] || x.visited[pattern] == perRoute || u.Query().Has("lang") || u.Query().Has("theme") || u.Query().Has("deck") {
			continue
		}
		seen[u.String()] = true
		a := x.Get(x.c, u.RequestURI(), "Accept-Encoding", "identity")
		if a.Status >= 300 && a.Status < 400 {
			x.visited[pattern]++
			queue = append(queue, a.Header.Get("Location"))
			continue
		}
		if a.Status != http.StatusOK {
			x.T.Errorf("%s: status %d: %.300s", address, a.Status, a.Body)
			continue
		}
		x.visited[pattern]++
		if !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") || strings.Contains(a.Header.Get("Content-Disposition"), "attachment") {
			continue // a file
		}
		if size := x.load(a.Body); size > maxLoad {
			x.T.Errorf("%s: its first load has %d bytes, more than %d", address, size, maxLoad)
		} else {
			x.T.Logf("%6d %s", size, address)
		}
		for _, m := range pageLinks.FindAllStringSubmatch(a.Body, -1) {
			queue = append(queue, html.UnescapeString(m[1]))
		}
	}
}

// load returns the compressed size of a page with its style sheets, modules and pictures.
func (x *crawler) load(page string) int {
	total, queue, seen := compressed(x.T, page), []string{}, map[string]bool{}
	for _, m := range pageFiles.FindAllStringSubmatch(page, -1) {
		queue = append(queue, html.UnescapeString(m[1]))
	}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		a, ok := x.assets[name]
		if !ok {
			answer := x.Get(x.c, name, "Accept-Encoding", "identity")
			if answer.Status != http.StatusOK {
				x.T.Errorf("%s: status %d", name, answer.Status)
			}
			a.size = compressed(x.T, answer.Body)
			if strings.HasSuffix(name, ".js") {
				for _, m := range moduleFiles.FindAllStringSubmatch(answer.Body, -1) {
					a.imports = append(a.imports, path.Join(path.Dir(name), m[1]))
				}
			}
			x.assets[name] = a
		}
		total += a.size
		queue = append(queue, a.imports...)
	}
	return total
}

// compressed returns the size of text in gzip, the larger of the two compressed forms.
func compressed(t testing.TB, text string) int {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	kit.Must(t, z.Close())
	return b.Len()
}
