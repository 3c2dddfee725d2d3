// Package site serves the web pages of a competition, which the server renders from templates. Handlers read
// the store directly and make changes through package service, as the API does.
//
// Begin with Site.routes. README.md explains how to add a page.
package site

import (
	"cmp"
	"context"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/web/live"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/play"
	"github.com/timba-arena/timba/web/site/apidocs"
	"github.com/timba-arena/timba/web/socket"
	"github.com/timba-arena/timba/web/tryout"
)

// Options are the options of New. All but Version, Machines and Status are required. Play and Tryouts may be nil only
// if nobody requests the pages that use them.
type Options struct {
	Middleware *middleware.Middleware // the middleware that wraps the site
	Document   []byte                 // the OpenAPI document of the API, as JSON
	Live       *live.Hub              // updates open pages; New sets its Render
	Play       *play.Tables           // the games of people on the site
	Tryouts    *tryout.Tryouts        // the test games of the editor
	Version    string                 // the version of this program, as pages show it
	// Machines returns the machines that play matches. If it is nil, there are none.
	Machines func() ([]ladder.Machine, error)
	// Status returns the state of the server for the page of operators. If Status is nil, the page shows none.
	Status func() ServerStatus
}

// Site is the http.Handler of all pages and of their files. The caller wraps it with Middleware.Wrap.
type Site struct {
	Options
	Service     *service.Service
	Store       *store.Store
	Config      *config.Config
	mux         *http.ServeMux
	assets      *assets
	pages       *pages
	documents   map[string]func() (*document, error) // by language and path of the page: "en/docs/api"
	apiPage     func() (*apidocs.Page, error)
	crossOrigin *http.CrossOriginProtection
	answers     *formAnswers
	secrets     *secretNotes
	challenges  *challenges
	checksums   *checksums               // of the files in Config.Site.Downloads
	namesakes   func() map[string]string // see findNamesakes
}

// route is one route of the site.
type route struct {
	pattern string // the method and the path in the form of a pattern of http.ServeMux
	member  bool   // only for people who are signed in; others are redirected to the sign-in form
	serve   func(*visit) error
}

func (s *Site) routes() []route {
	return []route{
		{"GET /{$}", false, s.getHome},
		{"GET /ladders", false, s.getLadders},
		{"GET /ladders/{ladder}", false, named("ladder", s.Store.Ladders.Find, s.getStandings)},
		{"POST /ladders/{ladder}/pause", true, s.postPaused(true)},
		{"POST /ladders/{ladder}/resume", true, s.postPaused(false)},
		{"GET /ladders/{ladder}/pairs", false, named("ladder", s.Store.Ladders.Find, s.getPairs)},
		{"GET /ladders/{ladder}/pairs/{one}/{other}", false, named("ladder", s.Store.Ladders.Find, s.getPair)},

		{"GET /bots", false, s.getBots},
		{"GET /bots/{bot}", false, named("bot", s.Store.Bots.Find, s.getBot)},
		{"GET /bots/{bot}/versions", false, named("bot", s.Store.Bots.Find, s.getVersions)},
		{"GET /bots/{bot}/versions/{version}", false, named("bot", s.Store.Bots.Find, s.getVersion)},
		{"GET /bots/{bot}/versions/{version}/files", true, s.getFiles},
		{"GET /bots/{bot}/versions/{version}/edit", true, s.getEdit},
		{"GET /bots/{bot}/versions/{version}/upload", true, func(v *visit) error { return s.Middleware.SendUpload(v.w, v.r) }},
		{"GET /bots/{bot}/lost", false, named("bot", s.Store.Bots.Find, s.getLost)},
		{"GET /bots/{bot}/badge.svg", false, named("bot", s.Store.Bots.Find, s.getBadge)},
		{"GET /bots/{bot}/feed.atom", false, named("bot", s.Store.Bots.Find, s.getFeed)},
		{"POST /bots/{bot}/withdraw", true, s.postBot(s.Service.WithdrawBot)},
		{"POST /bots/{bot}/restore", true, s.postBot(s.Service.RestoreBot)},
		{"POST /bots/{bot}/use", true, s.postUse},
		{"POST /bots/{bot}/ban", true, s.postBan},
		{"POST /bots/{bot}/unban", true, s.postBot(s.Service.UnbanBot)},
		{"GET /people", false, s.getPeople},
		{"GET /people/{name}", false, named("name", s.Store.People.FindByName, s.getPerson)},
		{"GET /people/{name}/remove", true, named("name", s.Store.People.FindByName, s.getRemoval)},
		{"POST /people/{name}/remove", true, s.postRemoval},
		{"POST /people/{name}/sign-in", true, named("name", s.Store.People.FindByName, s.postSignInLink)},
		{"GET /search", false, s.getSearch},
		{"GET /docs", false, s.getDocs},
		{"GET /docs/{document}", false, s.getDocument},
		{"GET /protocol", false, s.getDocument},
		{"GET /ratings", false, s.getRatings},
		{"GET /data", false, s.getDocument},
		{"GET /api", false, s.getAPIDocs},

		{"GET /join", false, s.getJoin},
		{"POST /join", false, s.postJoin},
		{"GET /account", true, s.getAccount},
		{"POST /account/sessions/end", true, s.postID("/account", s.Service.EndSession)},
		{"POST /account/sessions/end-others", true, s.postEndOthers},
		{"GET /account/tokens", true, s.getTokens},
		{"POST /account/tokens", true, s.postToken},
		{"POST /account/tokens/revoke", true, s.postID("/account/tokens", s.Service.RevokeToken)},
		{"POST /account/passkeys", true, s.postPasskey},
		{"POST /account/passkeys/options", true, s.postNewPasskey},
		{"GET /account/invites", true, s.getInvites},
		{"POST /account/invites", true, s.postInvite},
		{"POST /account/invites/revoke", true, s.postID("/account/invites", s.Service.RevokeInvite)},
		{"GET /account/people", true, s.getMembers},
		{"GET /account/operation", true, s.getOperation},
		{"POST /account/operation/announcement", true, s.postAnnouncement},
		{"POST /account/people/reset", true, s.postReset},
		{"POST /account/people/{what}", true, s.postBlock},

		{"GET /download", false, s.getDownload},
		{"GET /download/timba", false, s.getProgram},
		{"GET /download/starters/{file}", false, s.getStarterArchive},
		{"GET /download/files/{file}", false, s.getOffer},
		{"GET /schemas/{file}", false, s.getSchema},
		{"GET /write", false, s.getWrite},
		{"POST /write", true, s.postWrite},
		{"GET /write/{language}", false, s.getStarter},
		{"POST /write/tests", true, s.postTest},
		{"GET /write/tests/{test}", true, s.getTest},
		{"POST /write/tests/{test}/cancel", true, s.postTestCancel},
		{"GET /write/tests/{test}/games/{game}", true, s.getTestGame},
		{"GET /submit", false, s.getSubmit},
		{"POST /submit", true, s.postSubmit},
		{"GET /submissions/{submission}", true, s.getSubmission},
		{"GET /submissions/{submission}/progress", true, s.getProgress},
		{"POST /submissions/{submission}/cancel", true, s.postSubmissionCancel},
		{"GET /matches/new", true, s.getNewMatch},
		{"POST /matches/new", true, s.postNewMatch},

		{"GET /live", false, s.getLive},
		{"GET /live/{match}", false, s.getLiveMatch},
		{"GET /ws/watch", false, s.getWatchSocket},

		{"GET /machines", false, s.getMachines},

		{"GET /matches", false, s.getMatches},
		{"GET /matches/{match}", false, s.getMatch},
		{"GET /matches/{match}/games/{deal}/{rotation}", false, s.getMatchGame},
		{"GET /games/{game}", false, s.getGame},
		{"GET /games/{game}/edit/{seat}", true, s.getEditGame},
		{"GET /games/{game}/embed", false, s.getEmbed},
		{"GET /games/{game}/replay.json", false, s.getReplayJSON},
		{"GET /games/{game}/replay.html", false, s.getReplayHTML},
		{"GET /games/{game}/replay.csv", false, s.getReplayCSV},
		{"GET /games/{game}/stderr/{seat}", true, s.getStderr},

		{"GET /rules/{game}", false, s.getRules},
		{"GET /play", false, s.getPlay},
		{"POST /play", false, s.postPlay},
		{"GET /play/ongoing", false, s.getOngoing},
		{"GET /play/{id}", false, s.getTable},
		{"POST /play/{id}/sit", false, s.postSit},
		{"POST /play/{id}/cancel", false, s.postCancel},
		{"POST /play/{id}/resign", false, s.postResign},
		{"POST /play/{id}/rematch", false, s.postRematch},
		{"GET /play/{id}/refusal", false, s.getRefusal},
		{"GET /play/{id}/replay.json", false, s.getTableReplay},
		{"GET /ws/play/{id}", false, s.getTableSocket},

		{"GET /sign-in", false, s.getSignIn},
		{"POST /sign-in", false, s.postSignIn},
		{"POST /sign-in/options", false, s.postUsePasskey},
		{"POST /sign-out", false, s.postSignOut},
	}
}

// named returns a handler for addresses that contain a name, such as that of a bot. part is the path parameter that
// has the name. The handler calls find with the name and passes the result to serve. It returns the errors of both.
func named[T any](part string, find func(context.Context, string) (T, error), serve func(*visit, T) error) func(*visit) error {
	return func(v *visit) error {
		found, err := find(v.ctx(), v.r.PathValue(part))
		if err != nil {
			return err
		}
		return serve(v, found)
	}
}

// navLinks returns the links at the top of each page (at the bottom on a phone). Each link is its address and the key
// of its text.
func navLinks() [][2]string {
	return [][2]string{
		{"/play", "play.begin"},
		{"/live", "site.watch"},
		{"/ladders", "home.ladders"},
		{"/write", "site.write"},
	}
}

// footerLinks returns the links at the foot of each page, in the same form as navLinks.
func footerLinks() [][2]string {
	return [][2]string{
		{"/matches", "word.matches"},
		{"/bots", "word.bots"},
		{"/submit", "site.submit"},
		{"/docs", "site.docs"},
		{"/data", "site.data"},
		{"/search", "word.search"},
		{"/machines", "machines.title"},
	}
}

// New returns a site. It fails only if the templates or texts of the program itself are broken.
func New(o Options) (*Site, error) {
	if o.Machines == nil {
		o.Machines = func() ([]ladder.Machine, error) { return nil, nil }
	}
	service := o.Middleware.Service
	s := &Site{
		Options: o, Service: service, Store: service.Store, Config: service.Config,
		mux: http.NewServeMux(), crossOrigin: http.NewCrossOriginProtection(),
		answers: newFormAnswers(), secrets: newSecretNotes(), challenges: newChallenges(), checksums: &checksums{files: map[string]checksum{}},
	}
	var err error
	if s.assets, err = newAssets(); err != nil {
		return nil, err
	}
	if s.pages, err = newPages(s); err != nil {
		return nil, err
	}
	s.namesakes = sync.OnceValue(s.findNamesakes)
	s.documents, s.apiPage = s.newDocuments(), sync.OnceValues(func() (*apidocs.Page, error) { return apidocs.NewPage(s.Document) })
	for _, rt := range s.routes() {
		s.mux.HandleFunc(rt.pattern, func(w http.ResponseWriter, r *http.Request) { s.serveVisit(w, r, rt) })
	}
	s.Live.Render = s.liveParts
	if s.Play != nil {
		s.Play.OnChange = func(id string) {
			s.Live.Refresh(playTopic + id)
			s.Live.Refresh(lobbyTopic)
		}
		s.Play.NewWatcher = func(t *play.Table) play.Watcher {
			return s.Live.ShowTable(t.ID, t.Variant, t.Names(), len(t.People()) > 1, func() { s.Play.OnChange(t.ID) })
		}
	}
	return s, nil
}

// ServeHTTP serves a page, a file that pages use, or an error page.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if name, ok := strings.CutPrefix(r.URL.Path, assetsPath); ok {
		middleware.RequestOf(r).Route = "GET " + assetsPath
		s.serveAsset(w, r, name)
		return
	}
	if known, _ := middleware.FindRoute(s.mux, r); !known {
		s.serveVisit(w, r, route{})
		return
	}
	s.mux.ServeHTTP(w, r)
}

// unknownAddressError returns the error for a request that no route serves: there is nothing at the address, or it
// does not support the method.
func (s *Site) unknownAddressError(v *visit) error {
	_, methods := middleware.FindRoute(s.mux, v.r)
	if methods == "" {
		return ladder.Errorf(ladder.NotFound, "", "%q does not exist", ladder.Clip(v.r.URL.Path))
	}
	v.w.Header().Set("Allow", methods)
	return middleware.NotAllowed(v.r, methods)
}

// run calls the handler of the route rt. Before that, it reads the form of the request and checks that the form is
// from this site. If the route is for members and the visitor is not signed in, run redirects to the sign-in form
// instead, or returns an error if the request is not for a whole page.
func (v *visit) run(rt route) error {
	if err := v.readForm(); err != nil {
		return err
	}
	if rt.member && v.Person.ID == 0 {
		if v.r.Method == http.MethodGet && !slices.Contains(fragmentRoutes, rt.pattern) {
			q := url.Values{"next": {v.r.URL.RequestURI()}}
			if v.sessionEnded {
				q.Set("ended", "1")
			}
			return v.redirect("/sign-in?" + q.Encode())
		}
		return ladder.Errorf(ladder.Unauthorized, "", "nobody is signed in")
	}
	if v.sessionEnded && strings.HasPrefix(rt.pattern, "GET /ws/") {
		return v.refuseSocket()
	}
	if v.r.PostForm.Has("once") {
		return v.serveOnce(rt.serve)
	}
	return rt.serve(v)
}

// maxForm is the largest size of a form without files, in bytes.
const maxForm = 64 << 10

// readForm parses the form of a request that changes something. It refuses a form that another site sent. If
// the form has files, readForm only limits the size of the body, and the handler reads the form.
func (v *visit) readForm() error {
	if v.r.Method == http.MethodGet || v.r.Method == http.MethodHead {
		return nil
	}
	if v.isForeign() {
		if v.r.Header.Get("Sec-Fetch-Site") == "" && v.r.Header.Get("Origin") != "" {
			return socket.OriginError(v.r)
		}
		return ladder.Errorf(ladder.Forbidden, "", "the form is on a page of another site")
	}
	limit := int64(maxForm)
	if kind, _, _ := mime.ParseMediaType(v.r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		limit += 2 * int64(v.site.Config.Limits.Upload)
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, limit)
	return formError(v.r.ParseForm(), nil)
}

// isForeign reports whether a form may come from another site. Browsers send Sec-Fetch-Site or Origin with
// every form, except for some text browsers, whose Referer must name this site.
func (v *visit) isForeign() bool {
	r := v.r
	if r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == "" {
		r = r.Clone(r.Context())
		r.Header.Set("Origin", cmp.Or(r.Referer(), "null"))
	}
	return v.site.crossOrigin.Check(v.site.Middleware.ReadOrigin(r)) != nil
}
