package site

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"math"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzhttp"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/web/messages"
	"github.com/timba-arena/timba/web/middleware"
)

// policy is the Content-Security-Policy of all pages.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// setHeaders sets the headers of all pages. Some of them replace stricter headers that the middleware has set.
func (s *Site) setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "same-origin") // with "no-referrer", browsers send forms with the origin "null"
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Vary", "Accept-Encoding, Accept-Language, Cookie")
}

// pages has the templates of all pages in all languages. Each page has a directory below the directory pages.
// In that directory, NAME.html defines the templates "title" and "main", and NAME.js, if it exists, is the
// page's JavaScript module.
type pages struct {
	languages []*messages.Language
	// templates has a function for each language and page, such as "en/home". It returns the page's template,
	// which the first call parses. All templates together take 25 MB of memory.
	templates map[string]func() *template.Template
	compress  func(http.Handler) http.HandlerFunc
}

// layoutDir is the directory of the templates that are part of every page.
const layoutDir = "pages/layout"

func newPages(s *Site) (*pages, error) {
	p := &pages{templates: map[string]func() *template.Template{}}
	var err error
	if p.languages, err = messages.All(); err != nil {
		return nil, err
	}
	if p.compress, err = gzhttp.NewWrapper(gzhttp.MinSize(1024), gzhttp.EnableZstd(true), gzhttp.ContentTypes([]string{"text/html"})); err != nil {
		return nil, err
	}
	names, err := fs.Glob(pageFiles, "pages/*/*.html")
	if err != nil {
		return nil, err
	}
	for _, l := range p.languages {
		layout, err := template.New("layout").Funcs(s.funcs(l)).ParseFS(pageFiles, layoutDir+"/*.html")
		if err != nil {
			return nil, fmt.Errorf("site: %w", err)
		}
		for _, name := range names {
			page := strings.TrimSuffix(path.Base(name), ".html")
			if path.Dir(name) == layoutDir {
				continue
			}
			p.templates[l.Tag+"/"+page] = sync.OnceValue(func() *template.Template {
				return template.Must(template.Must(layout.Clone()).ParseFS(pageFiles, name))
			})
		}
	}
	return p, nil
}

// frame is the value on which a page's templates are executed: the visit (the request with what is known about
// the visitor), and the page's own data.
type frame struct {
	*visit
	Name string // the name of the page
	Data any    // the data of the page
}

// Lang returns the tag of the page's language.
func (f frame) Lang() string { return f.language.Tag }

// Preference returns the visitor's choice for the named preference, or "" if there is none.
func (f frame) Preference(name string) string { return f.preference(name) }

func (f frame) Path() string { return f.r.URL.Path }

// Origin returns the public address of the site.
func (f frame) Origin() string { return f.origin() }

// With returns the address of the page with a query parameter changed. The value "" removes the parameter.
func (f frame) With(name, value string) string { return addressWith(f.r, name, value) }

// Names returns a JSON object that maps names to their titles: the names of house bots (part of timba), of guests and
// of ladders. The key of a ladder is "/" and its name. The key "guest#" has the title of one of several guests, with
// "#" in place of the number. JavaScript modules use the titles to show matches that begin after the page was loaded.
func (f frame) Names() (template.JS, error) {
	names := map[string]string{ladder.GuestName: f.language.Text("bot.guest"), ladder.GuestName + "#": f.language.Text("bot.guests", "Number", "#")}
	for _, level := range house.Levels() {
		names["@"+level.Spec] = f.site.botTitle(f.language, "@"+level.Spec)
	}
	for name, shown := range f.site.namesakes() {
		names[name] = shown
	}
	for _, l := range f.site.Config.Ladders {
		names["/"+l.Name] = f.site.ladderTitle(f.language, l.Name)
		for _, bot := range l.House {
			names[bot] = f.site.botTitle(f.language, bot)
		}
	}
	text, err := json.Marshal(names) // it escapes <, > and &
	return template.JS(text), err
}

// Announcement returns the text that an admin shows on all pages, or "". It ignores errors, so that error pages can be
// shown.
func (f frame) Announcement() string {
	text, _ := f.site.Store.People.Announcement(f.ctx())
	return text
}

// Unread returns the number of messages that the visitor has not read.
func (f frame) Unread() (int, error) {
	if f.Person.ID == 0 {
		return 0, nil
	}
	return f.site.Store.People.CountUnseen(f.ctx(), f.Person.ID)
}

// Script returns the address of the page's module, or "" if it has none.
func (f frame) Script() (string, error) {
	name := f.Name + "/" + f.Name + ".js"
	if !f.site.assets.has(name) {
		return "", nil
	}
	return f.site.assets.url(name)
}

// Texts returns a JSON object with the texts that the page's module needs. Their keys begin with the name of the page
// and ".js". If the module draws games, the texts of the boards are included.
func (f frame) Texts() (template.JS, error) {
	heads := []string{f.Name + ".js."}
	if f.site.assets.drawsGames(f.Name + "/" + f.Name + ".js") {
		heads = append(heads, "board.")
	}
	texts, err := messages.TextsJSON(heads, f.language)
	return template.JS(texts), err
}

// Modules returns the addresses of the modules that the page's module imports, so that the browser can fetch
// all of them at once.
func (f frame) Modules() []string { return f.site.assets.importURLs(f.Name + "/" + f.Name + ".js") }

func (v *visit) showPage(status int, name string, data any) error {
	return v.showTemplate("layout", status, name, data, nil)
}

// showForm answers with a page that has a form. If err is not nil, the form was refused: the page shows err, and the
// answer has the HTTP status of err instead of status.
func (v *visit) showForm(status int, name string, data any, err error) error {
	return v.showTemplate("layout", status, name, data, err)
}

// showTemplate answers with the named template of the page called name; the template "layout" is the whole page.
// refused, if not nil, is the reason why a form was refused, and the page shows it. If a query parameter is invalid,
// or if refused is an internal error of the server, showTemplate returns that error and writes no answer.
func (v *visit) showTemplate(template string, status int, name string, data any, refused error) error {
	if v.parameters != nil && v.parameters.Err() != nil {
		return v.parameters.Err()
	}
	if refused != nil {
		if middleware.ProblemOf(refused).Status == http.StatusInternalServerError {
			return refused
		}
		p := v.site.Middleware.Problem(v.r, refused)
		v.Problem, status = &p, p.Status
	}
	return v.writeTemplate(template, status, name, data)
}

func (v *visit) writeTemplate(template string, status int, name string, data any) error {
	t := v.site.pages.templates[v.language.Tag+"/"+name]
	if t == nil {
		return fmt.Errorf("site: page %q does not exist", name)
	}
	var b bytes.Buffer
	if err := t().ExecuteTemplate(&b, template, frame{v, name, data}); err != nil {
		return err
	}
	v.site.pages.compress(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		w.Write(b.Bytes()) // after an error the client is gone: there is no other answer
	}))(v.w, v.r)
	return nil
}

type problemPage struct {
	middleware.Problem
	Kind  string // selects the texts: a value of problemKinds, or "invalid"
	Retry int    // the seconds after which to try again; 0 if that does not help
}

// problemKinds maps an HTTP status to the kind of its error page.
var problemKinds = map[int]string{
	http.StatusNotFound:           "notfound",
	http.StatusUnauthorized:       "forbidden",
	http.StatusForbidden:          "forbidden",
	http.StatusTooManyRequests:    "toomany",
	http.StatusServiceUnavailable: "unavailable",

	http.StatusInternalServerError: "failed",
}

// fail answers with an error page. If the answer has already begun, it aborts the connection.
func (v *visit) fail(err error) {
	p := v.site.Middleware.Problem(v.r, err)
	if v.HasAnswerBegun() {
		panic(http.ErrAbortHandler) // the client sees that the answer is incomplete
	}
	data := problemPage{Problem: p, Kind: cmp.Or(problemKinds[p.Status], "invalid")}
	if after := middleware.RetryAfter(err, p.Status); after > 0 {
		v.w.Header().Set("Retry-After", middleware.Seconds(after))
		data.Retry = int(math.Ceil(after.Seconds()))
	}
	v.w.Header().Set("Cache-Control", "no-store")
	if err := v.writeTemplate("layout", p.Status, "problem", data); err != nil {
		v.site.Middleware.Problem(v.r, err) // it logs the error
		http.Error(v.w, p.Error(), p.Status)
	}
}

// recoverPanic answers with an error page if the handler has panicked. It must be deferred.
func (v *visit) recoverPanic() {
	switch failure := recover(); {
	case failure == nil:
	case failure == http.ErrAbortHandler:
		panic(failure)
	default:
		v.fail(fmt.Errorf("panic: %v\n%s", failure, debug.Stack()))
	}
}
