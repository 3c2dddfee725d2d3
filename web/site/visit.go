package site

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/web/messages"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/socket"
)

// visit is one request to a page, with what is known about the visitor.
type visit struct {
	*middleware.Request
	site         *Site
	w            http.ResponseWriter
	r            *http.Request
	language     *messages.Language // the language of the page
	sessionEnded bool               // the request has the cookie of a session that has ended

	parameters *middleware.Query   // the query parameters; nil until query is called
	Problem    *middleware.Problem // why a form was refused; nil if it was not
}

// sessionCookie is the name of the cookie that holds the key of a session.
const sessionCookie = "timba_session"

func cookie(r *http.Request, name string) string {
	if c, err := r.Cookie(name); err == nil {
		return c.Value
	}
	return ""
}

// serveVisit serves a request to rt, or to the zero route if no route matches.
func (s *Site) serveVisit(w http.ResponseWriter, r *http.Request, rt route) {
	v := &visit{Request: middleware.RequestOf(r), site: s, r: r}
	v.w = v.RecordAnswer(w)
	defer v.recoverPanic()
	v.language = s.pages.languages[messages.Choose(v.preference("lang"), r.Header.Get("Accept-Language"))]
	s.setHeaders(w.Header())
	v.Route = rt.pattern
	v.Cheap = (r.Method == http.MethodGet || r.Method == http.MethodHead) && !slices.Contains(costlyRoutes, rt.pattern)
	err := s.Middleware.Identify(w, r, cookie(r, sessionCookie), s.Service.SessionActor)
	if ladder.CodeOf(err) == ladder.Unauthorized {
		v.clearSession()
		v.sessionEnded, err = true, nil
	}
	switch {
	case err != nil:
	case v.applyPreferences(): // it has answered
	case rt.serve == nil:
		err = s.unknownAddressError(v)
	default:
		err = v.run(rt)
	}
	if err != nil && slices.Contains(fragmentRoutes, rt.pattern) {
		err = v.showTemplate("tryout", http.StatusOK, "write", tryoutPart{}, err)
	}
	if err != nil {
		v.fail(err)
	}
}

// fragmentRoutes are the routes whose answers are parts of a page, which its JavaScript module inserts. Their
// errors are parts of a page, too, instead of whole error pages.
var fragmentRoutes = []string{
	"POST /write", "POST /write/tests",
	"GET /write/tests/{test}", "GET /write/tests/{test}/games/{game}", "POST /write/tests/{test}/cancel",
	"GET /submissions/{submission}/progress",
}

// costlyRoutes are the GET routes that count as much as a call of the API for the rate limit, because they
// search or send downloads. Other pages are cheap.
var costlyRoutes = []string{
	"GET /search", "GET /games/{game}/replay.json", "GET /games/{game}/replay.html", "GET /games/{game}/replay.csv", "GET /play/{id}/replay.json",
}

// preferences has the preferences that a visitor can set for all pages, each with its allowed values. A query
// parameter with the name of a preference sets it, at any address, and a cookie stores the value. Any other value,
// such as "auto", removes the preference; only lang stays as it is.
var preferences = map[string][]string{
	"lang":  messages.Languages,
	"theme": {"light", "dark"},     // without a choice, the theme that the browser prefers
	"deck":  {"colours", "french"}, // the drawings of cards; without a choice, the Spanish deck
}

func preferenceCookie(name string) string { return "timba_" + name }

// preference returns the visitor's choice for the named preference, or "" if there is none.
func (v *visit) preference(name string) string {
	if value := cookie(v.r, preferenceCookie(name)); slices.Contains(preferences[name], value) {
		return value
	}
	return ""
}

// applyPreferences stores the preferences that are in the query parameters, and redirects to the same address without
// them. It reports whether it has answered the request.
func (v *visit) applyPreferences() bool {
	if v.r.Method != http.MethodGet {
		return false
	}
	query, asked := v.r.URL.Query(), false
	for name, values := range preferences {
		if !query.Has(name) {
			continue
		}
		asked = true
		if value := query.Get(name); slices.Contains(values, value) {
			v.setCookie(preferenceCookie(name), value, preferenceAge)
		} else if name != "lang" {
			v.setCookie(preferenceCookie(name), "", -1)
		}
		query.Del(name)
	}
	if asked {
		v.redirect((&url.URL{Path: "/" + strings.TrimLeft(v.r.URL.Path, "/"), RawQuery: query.Encode()}).String())
	}
	return asked
}

// preferenceAge and sessionAge are the ages at which the cookies expire, in seconds. A session may end before its
// cookie, for example because its token is revoked. serveVisit then deletes the cookie.
const (
	preferenceAge = 365 * 24 * 3600
	sessionAge    = int(store.SessionTime / time.Second)
)

// setCookie sets a cookie that expires after age seconds. A negative age deletes the cookie.
func (v *visit) setCookie(name, value string, age int) {
	http.SetCookie(v.w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: age,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: v.Secure,
	})
}

func (v *visit) clearSession() { v.setCookie(sessionCookie, "", -1) }

// redirect answers with a redirect to another address, which the browser fetches with GET. Like all methods
// that answer, it must be the last call of a handler.
func (v *visit) redirect(address string) error {
	v.w.Header().Set("Cache-Control", "no-store")
	v.w.Header().Set("Location", address)
	v.w.WriteHeader(http.StatusSeeOther)
	return nil
}

// upgrade turns the request into a WebSocket connection; see middleware.Middleware.Upgrade.
func (v *visit) upgrade(l socket.Limits) (*socket.Conn, error) {
	return v.site.Middleware.Upgrade(v.w, v.r, l)
}

// refuseSocket ends a WebSocket whose session has ended: it tells the page so, and closes the connection. The browser
// then connects again without a session.
func (v *visit) refuseSocket() error {
	c, err := v.upgrade(socket.Limits{})
	if err == nil {
		c.Shut(socket.CloseRefused, "the session has ended")
	}
	return err
}

func (v *visit) ctx() context.Context { return v.r.Context() }

// t returns the text with this key in the language of the page. For args see messages.Language.Text.
func (v *visit) t(key string, args ...any) string { return v.language.Text(key, args...) }

// query returns the query parameters of the address. If a handler reads an invalid parameter, showTemplate later
// answers with an error page instead of the template.
func (v *visit) query() *middleware.Query {
	if v.parameters == nil {
		v.parameters = middleware.NewQuery(v.r)
	}
	return v.parameters
}
