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

// visit is one request to a page and what is known of who makes it.
type visit struct {
	*middleware.Request
	site         *Site
	w            http.ResponseWriter
	r            *http.Request
	language     *messages.Language // that of the page
	sessionEnded bool               // the browser came with a session that has ended

	parameters *middleware.Query   // nil: none was read
	Problem    *middleware.Problem // why a form was refused; nil: it was not
}

// sessionCookie is the name of the cookie with the key of a session.
const sessionCookie = "timba_session"

func cookie(r *http.Request, name string) string {
	if c, err := r.Cookie(name); err == nil {
		return c.Value
	}
	return ""
}

// serveVisit serves a request to a route, or to the zero route if there is none.
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
	case v.applyPreferences(): // has answered
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

// fragmentRoutes are the routes that modules ask for, to show the answer in their page: what is wrong is a part, too.
var fragmentRoutes = []string{
	"POST /write", "POST /write/tests",
	"GET /write/tests/{test}", "GET /write/tests/{test}/games/{game}", "POST /write/tests/{test}/cancel",
	"GET /submissions/{submission}/progress",
}

// costlyRoutes are the pages that cost as much as a call of the API: they search, or are downloads.
var costlyRoutes = []string{
	"GET /search", "GET /games/{game}/replay.json", "GET /games/{game}/replay.html", "GET /games/{game}/replay.csv", "GET /play/{id}/replay.json",
}

// preferences are what a visitor may choose for all pages: by a parameter of any address, whose
// choice a cookie keeps. Any other value, such as "auto", takes the choice back, but for a language.
var preferences = map[string][]string{
	"lang":  messages.Languages,
	"theme": {"light", "dark"},     // else as the browser prefers
	"deck":  {"colours", "french"}, // of cards; else the Spanish one
}

func preferenceCookie(name string) string { return "timba_" + name }

// preference returns what the visitor has chosen, "" if nothing.
func (v *visit) preference(name string) string {
	if value := cookie(v.r, preferenceCookie(name)); slices.Contains(preferences[name], value) {
		return value
	}
	return ""
}

// applyPreferences keeps the preferences that the address asks for, and redirects to the address without them.
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

// preferenceAge and sessionAge are how long browsers keep the cookies, in seconds. A session may end before its cookie
// does, for example because its token expires or is revoked: then the key in the cookie is refused, and visit deletes
// the cookie.
const (
	preferenceAge = 365 * 24 * 3600
	sessionAge    = int(store.SessionTime / time.Second)
)

// setCookie sets a cookie; an age below 0 deletes it.
func (v *visit) setCookie(name, value string, age int) {
	http.SetCookie(v.w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: age,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: v.Secure,
	})
}

// clearSession makes the browser forget its session.
func (v *visit) clearSession() { v.setCookie(sessionCookie, "", -1) }

// redirect answers with another address, to be fetched by GET. As all that answers it is the last thing that a handler
// returns.
func (v *visit) redirect(to string) error {
	v.w.Header().Set("Cache-Control", "no-store")
	v.w.Header().Set("Location", to)
	v.w.WriteHeader(http.StatusSeeOther)
	return nil
}

// upgrade makes the request a WebSocket; see middleware.Middleware.Upgrade.
func (v *visit) upgrade(l socket.Limits) (*socket.Conn, error) {
	return v.site.Middleware.Upgrade(v.w, v.r, l)
}

// refuseSocket tells the page of a WebSocket that its session has ended, which its last connection may not have heard.
// The browser then comes back without one.
func (v *visit) refuseSocket() error {
	c, err := v.upgrade(socket.Limits{})
	if err == nil {
		c.Shut(socket.CloseRefused, "the session has ended")
	}
	return err
}

// ctx returns the context of the request.
func (v *visit) ctx() context.Context { return v.r.Context() }

// t returns a text of a message; see messages.Language.Say.
func (v *visit) t(key string, args ...any) string { return v.language.Text(key, args...) }

// query returns the parameters of the address. If one that was read is wrong, the visit ends with that: see answer.
func (v *visit) query() *middleware.Query {
	if v.parameters == nil {
		v.parameters = middleware.NewQuery(v.r)
	}
	return v.parameters
}
