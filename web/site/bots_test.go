package site_test

import (
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/stats"
	"github.com/timba-arena/timba/web/site"
	"github.com/timba-arena/timba/web/webtest"
)

// hostile has texts with which bots and people may try to break pages.
var hostile = map[string]string{
	"markup":    `"><script>document.title='pwned'</script><img src=x onerror=alert(1)>`,
	"quotes":    `' onmouseover='alert(1)" style="position:fixed`,
	"template":  `{{.Bot}} ${alert(1)} <!-- ]]> &lt;`,
	"bidi":      "live\u202egnp.exe\u2066 \u200f \u061c",
	"controls":  "a\x00b\x1b[31mc\r\nd\x7f\u0085\ufeff",
	"invalid":   "\xff\xfe\xc0\xafend",
	"megabytes": strings.Repeat("<b>W\u202e", 200_000),
	"combining": strings.Repeat("Z\u0321\u0349\u035d", 2000),
}

// addLola creates a bot of ada's with two versions, some matches, and games lost by faults.
func addLola(s *webtest.StaticWorld) {
	s.T.Helper()
	ctx := s.T.Context()
	first := s.MakeLive("lola", store.BuildInfo{Label: "1.0", Language: "Python", Command: []string{"python3", "bot.py"}})
	random, greedy := s.Version("@random"), s.Version("@greedy")
	for range 3 {
		s.Play("brisca", []int64{first.ID, random}, nil)
		s.Play("brisca", []int64{greedy, first.ID}, map[int64]webtest.Player{greedy: webtest.House("greedy")})
	}
	v := s.Ladder.Submit(s.Ada.ID, "lola", fmt.Sprintf("%064x", 99))
	for _, st := range []ladder.Stage{
		{Name: "unpack", OK: true, Summary: phrase.New("%d files, %s", 3, "2 KiB")},
		{Name: "build", OK: true, Summary: phrase.New("nothing to build"), Log: "pip is not needed\n"},
		{Name: "check", OK: true, Summary: phrase.New("passes all %d checks", 31), Log: "ok\n"},
		{Name: "trial", OK: true, Summary: phrase.New("%d games against %s in 1 match, no fault", 10, "@random")},
	} {
		s.Must(s.Store.Versions.StartStage(ctx, v.ID, st.Name))
		s.Must(s.Store.Versions.FinishStage(ctx, v.ID, st))
	}
	v = s.Ladder.MakeLive(v.ID, store.BuildInfo{Label: "2.0", Hash: webtest.Hash, Language: "Python", Command: []string{"python3", "bot.py"}})
	for range 4 {
		s.Play("brisca", []int64{v.ID, random}, map[int64]webtest.Player{v.ID: webtest.House("greedy")})
	}
	s.Play("tebes-4", []int64{v.ID, random}, map[int64]webtest.Player{v.ID: webtest.Illegal("zz", "Traceback (most recent call last):\nKeyError: 'zz'\n")})
	variant := kit.Get[*rules.Variant](s.T)(brisca.Game.Resolve(nil))
	for i, ranks := range [][]int{{2, 1}, {2, 1}, {2, 1}, {2, 1}, {1, 1}, {1, 2}, {1, 2}} {
		p := ladder.Play{
			ID: fmt.Sprint("AGAINST", i), Game: "brisca", Options: map[string]string{}, Commitment: webtest.Hash,
			Seats: []ladder.PlaySeat{{}, {Seat: 1, Version: v.ID, BotID: v.BotID}},
		}
		_, _, err := s.Store.Plays.Add(ctx, p, netip.Addr{}, 0, false)
		s.Must(err)
		s.Must(s.Store.Plays.Finish(ctx, p.ID, variant, ranks, nil))
	}
}

// The pages of a bot show what they should, without a browser.
func TestBotPages(t *testing.T) {
	t.Parallel()
	s := webtest.NewStaticWorld(t, nil)
	addLola(s)
	s.MakeLive("idle", store.BuildInfo{Language: "Go"})
	c, own := s.Client(), s.Client()
	s.SignIn(own, s.AdaToken)
	other, bob := s.Ladder.AddPerson("bob", false), s.Client()
	s.SignIn(bob, s.NewToken(other, ladder.ScopeSubmit))
	_, games := s.LastFinished("tebes-4")
	fault := games[0]
	seat := slices.IndexFunc(fault.Seats, func(s ladder.GameSeat) bool { return s.Fault != "" })
	log := fmt.Sprintf("/games/%d/stderr/%d", fault.ID, seat)
	for _, x := range []struct {
		client     *http.Client
		path       string
		status     int
		has, lacks []string
	}{
		{c, "/bots", 200, []string{`href="/bots/lola"`, `href="/bots/@random"`, "Python", `href="/people/ada"`}, nil},
		{c, "/bots?who=people&language=Python&ladder=brisca&q=LO", 200, []string{`href="/bots/lola"`}, []string{`href="/bots/@random"`}},
		{c, "/bots?q=nobody", 200, []string{"No bot fits this filter"}, []string{"<table"}},
		{c, "/bots?before=1", 200, []string{"There are no more bots"}, nil},
		{c, "/bots?before=0", 400, []string{"before cannot be"}, nil},
		{c, "/bots?ladder=chess", 404, []string{"ladder &#34;chess&#34; does not exist"}, nil},
		{c, "/bots?who=robots", 400, []string{"who cannot be"}, nil},
		{c, "/bots/lola", 200, []string{"<svg class=\"linechart\"", "4 / 1 / 2", "&#34;zz&#34; is not a move", "@2", `href="/bots/lola/versions/1"`, `id="vs-@greedy"`, "[![lola]("}, []string{"KeyError", "Make it live", "Withdraw"}},
		{own, "/bots/lola", 200, []string{"KeyError", "Make it live", "Withdraw the bot"}, nil},
		{c, "/bots/lola?ladder=tebes-4", 200, []string{"There is a chart once it has played two matches"}, nil},
		{c, "/bots/lola?ladder=teams", 200, []string{"It has met nobody on this ladder yet"}, nil},
		{c, "/bots/lola?ladder=chess", 404, []string{"does not play on ladder"}, nil},
		{c, "/bots/lola?page=9", 200, []string{`id="vs-@greedy"`}, nil},
		{c, "/bots/idle", 200, []string{`data-label="Rank">–</td>`}, []string{`data-label="Rank">4`}},
		{c, "/bots/nobody", 404, []string{"bot &#34;nobody&#34; does not exist", "the search finds them"}, nil},
		{c, "/bots/%3Cscript%3E", 404, []string{"&lt;script&gt;"}, []string{"<script>"}},
		{c, "/bots/lola/versions", 200, []string{`href="/bots/lola/versions/1"`}, nil},
		{c, "/bots/lola/versions?before=1", 200, []string{"There are no earlier versions"}, nil},
		{c, "/bots/lola/versions/2", 200, []string{"Python", "SHA-256"}, []string{"pip is not needed", "Stages"}},
		{own, "/bots/lola/versions/2", 200, []string{"pip is not needed", "passes all 31 checks"}, nil},
		{own, "/bots/lola/versions/1", 200, []string{"Make it live", "No stage has begun"}, nil},
		{c, "/bots/lola/versions/3", 404, []string{"has no version 3"}, nil},
		{c, "/bots/lola/versions/02", 404, []string{"version &#34;02&#34;"}, nil},
		{c, "/bots/lola/versions/2/files", 303, nil, nil},
		{own, "/bots/lola/versions/2/files", 404, []string{"is not kept"}, nil},
		{bob, "/bots/lola/versions/2/files", 403, []string{"only the owner may fetch an upload"}, nil},
		{bob, "/bots/lola/versions/2/upload", 403, []string{"only the owner may fetch an upload"}, nil},
		{c, "/bots/lola/lost", 200, []string{"illegal move", fmt.Sprintf(`href="/games/%d"`, fault.ID)}, []string{"#stderr"}},
		{own, "/bots/lola/lost", 200, []string{fmt.Sprintf(`href="/games/%d#stderr"`, fault.ID)}, nil},
		{c, "/bots/quiet/lost", 404, nil, nil},
		{own, fmt.Sprintf("/games/%d", fault.ID), 200, []string{"What your bots wrote to stderr", "KeyError", log + `"`}, nil},
		{bob, fmt.Sprintf("/games/%d", fault.ID), 200, nil, []string{"wrote to stderr</h2>", "KeyError", log}},
		{own, log, 200, []string{"KeyError: 'zz'"}, nil},
		{bob, log, 403, []string{"only the owner may see what a bot wrote"}, nil},
		{own, fmt.Sprintf("/games/%d/stderr/7", fault.ID), 404, []string{"has no seat 7"}, nil},
		{c, "/ladders/brisca/pairs", 200, []string{`href="/ladders/brisca/pairs/lola@2/@random@1"`, "in 4 matches"}, nil},
		{c, "/ladders/brisca/pairs/lola@2/@random@1", 200, []string{"<b>4</b>", "Difference in Elo", `href="/bots/lola/versions/2"`, `href="/matches/`}, nil},
		{c, "/ladders/brisca/pairs/@random@1/lola@1", 200, []string{"<b>3</b>"}, nil},
		{c, "/ladders/teams/pairs/lola@2/@random@1", 200, []string{"They have not met on this ladder."}, nil},
		{c, "/ladders/brisca/pairs/lola@3/@random@1", 404, []string{"has no version 3"}, nil},
		{c, "/ladders/brisca/pairs/lola/@random", 200, []string{`href="/bots/lola/versions/2"`}, nil},
		{c, "/ladders/brisca/pairs/lola@two/@random", 400, []string{"bot cannot be &#34;lola@two&#34;"}, nil},
		{c, "/people/ada", 200, []string{`href="/bots/lola"`, "/ladders/brisca"}, nil},
		{bob, "/people/bob", 200, []string{`class="button" href="/write"`}, nil},
		{bob, "/account", 200, []string{`class="button" href="/write"`}, nil},
		{c, "/people/bob", 200, nil, []string{`class="button" href="/write"`}},
		{c, "/people/nobody", 404, []string{"person &#34;nobody&#34; does not exist"}, nil},
		{c, "/search", 200, []string{"A part of the name of a bot"}, nil},
		{c, "/search?q=A", 200, []string{`href="/bots/lola"`, `href="/people/ada"`}, nil},
		{c, "/search?q=zzzz", 200, []string{"Nothing here has “zzzz”"}, nil},
		{c, "/search?q=" + strings.Repeat("x", 300), 400, []string{"longer than"}, nil},
	} {
		a := s.Get(x.client, x.path)
		if a.Status != x.status {
			t.Errorf("%s: status %d, want %d: %s", x.path, a.Status, x.status, a.Body)
		}
		requireTexts(t, x.path, a.Body, x.has...)
		forbidTexts(t, x.path, a.Body, x.lacks...)
	}
}

// The owner can withdraw a bot, restore it and choose its live version. For others, the page says why they cannot.
func TestBotActions(t *testing.T) {
	t.Parallel()
	s := webtest.NewStaticWorld(t, nil)
	addLola(s)
	bob := s.Ladder.AddPerson("bob", false)
	own, other, reader, nobody := s.Client(), s.Client(), s.Client(), s.Client()
	s.SignIn(own, s.AdaToken)
	s.SignIn(other, s.NewToken(bob, ladder.ScopeSubmit))
	s.SignIn(reader, s.NewToken(s.Ada, ladder.ScopeRead))
	state := func() string {
		b := kit.Get[ladder.Bot](t)(s.Store.Bots.Find(t.Context(), "lola"))
		list := kit.Get[[]ladder.Version](t)(s.Store.Versions.List(t.Context(), b.ID, 0, -1))
		return fmt.Sprintf("%s %s %v", list[1].State, list[0].State, !b.WithdrawnAt.IsZero())
	}
	for _, x := range []struct {
		name   string
		client *http.Client
		path   string
		form   url.Values
		status int
		text   string // in the answer, or the state after it
	}{
		{"nobody", nobody, "/bots/lola/withdraw", nil, 401, "nobody is signed in"},
		{"another", other, "/bots/lola/withdraw", nil, 403, "only the owner may withdraw a bot"},
		{"to read", reader, "/bots/lola/withdraw", nil, 403, "scope"},
		{"no bot", own, "/bots/nobody/withdraw", nil, 404, "does not exist"},
		{"house", own, "/bots/@random/withdraw", nil, 403, "only the owner"},
		{"no version", own, "/bots/lola/use", url.Values{"version": {"9"}}, 404, "has no version 9"},
		{"no number", own, "/bots/lola/use", url.Values{"version": {"<b>"}}, 400, "version cannot be &#34;&lt;b&gt;&#34;"},
		{"use", own, "/bots/lola/use", url.Values{"version": {"1"}}, 303, "live retired false"},
		{"withdraw", own, "/bots/lola/withdraw", nil, 303, "retired retired true"},
		{"restore", own, "/bots/lola/restore", nil, 303, "live retired false"},
	} {
		a := s.Post(x.client, x.path, x.form.Encode())
		text := a.Body
		if a.Status == http.StatusSeeOther {
			text = state()
		}
		if a.Status != x.status || !strings.Contains(text, x.text) {
			t.Errorf("%s: status %d, want %d with %q: %s", x.name, a.Status, x.status, x.text, text)
		}
		if x.name == "withdraw" && !strings.Contains(s.Get(own, "/bots/lola").Body, "Bring the bot back") {
			t.Error("a bot that is withdrawn cannot be restored")
		}
	}
	if page := s.Get(other, "/bots/lola").Body; strings.Contains(page, "KeyError") || strings.Contains(page, "Withdraw the bot") {
		t.Error("another person sees what is the owner's")
	}
}

// On a young ladder the table is in the order of the ratings, only the uncertain ones are marked, and the home page has
// the bot whose interval has the highest lower end.
func TestYoungLadder(t *testing.T) {
	t.Parallel()
	s := webtest.NewStaticWorld(t, nil)
	lola, random, greedy := s.MakeLive("lola", store.BuildInfo{Language: "Go"}).ID, s.Version("@random"), s.Version("@greedy")
	s.Play("brisca", []int64{lola, random}, nil)
	s.Play("brisca", []int64{greedy, random}, nil)
	about := func(elo, half float64) stats.Estimate {
		return stats.Estimate{Value: elo, Low: elo - half, High: elo + half}
	}
	s.Must(s.Store.Ladders.SaveFit(t.Context(), "brisca", map[int64]stats.Estimate{lola: about(1500, 600), greedy: about(1300, 99), random: about(1000, 0)}))
	c := s.Client()
	cells := regexp.MustCompile(`(?s)<[^>]*>|\s+`)
	text := func(path string) string {
		return strings.Join(strings.Fields(cells.ReplaceAllString(s.Get(c, path).Body, " ")), " ")
	}
	for path, want := range map[string]string{
		"/":               `Brisca usual rules 1300 greedy two`,
		"/ladders":        `lola provisional 1500 greedy provisional 1300 random 1000 `,
		"/ladders/brisca": `1 lola @1 ada \d+ provisional 1500 ±600 .* 2 greedy @1 house bot \d+ provisional 1300 ±99 .* 3 random @1 house bot 1000 1000 fixed `,
		"/bots/@random":   `Brisca 3 1000 fixed `,
	} {
		if page := text(path); !regexp.MustCompile(want).MatchString(page) {
			t.Errorf("%s has no %q: %s", path, want, page)
		}
	}
}

// Badges and feeds are well formed, and their headers allow caches and other sites to use them.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	s := webtest.NewStaticWorld(t, nil)
	addLola(s)
	s.MakeLive("quiet", store.BuildInfo{Language: "Go"})
	c := s.Client()
	for path, text := range map[string]string{
		"/bots/lola/badge.svg": "brisca: rating ", "/bots/lola/badge.svg?ladder=tebes-4": "tebes-4: rating ", "/bots/quiet/badge.svg?ladder=teams": "quiet, teams: not rated",
		"/bots/lola/badge.svg?ladder=teams": "teams: not rated", "/bots/@random/badge.svg": "rating 1000 · #", "/bots/lola/feed.atom": "version 2 is live", "/bots/quiet/feed.atom": "quiet on timba",
	} {
		a := s.Get(c, path)
		if a.Status != 200 || !strings.Contains(a.Body, text) || xml.Unmarshal([]byte(a.Body), new(struct{ XMLName xml.Name })) != nil {
			t.Errorf("%s: status %d, want %q: %s", path, a.Status, text, a.Body)
		}
		if a.Header.Get("Cache-Control") != "public, max-age=300" || a.Header.Get("Cross-Origin-Resource-Policy") != "cross-origin" || a.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s has the header %v", path, a.Header)
		}
		if again := s.Get(c, path, "If-None-Match", a.Header.Get("ETag")); again.Status != http.StatusNotModified {
			t.Errorf("%s is sent again: %d", path, again.Status)
		}
	}
	for path, vary := range map[string]string{"/bots/lola/badge.svg": "", "/bots/lola/feed.atom": "Accept-Language, Cookie"} {
		a := s.Get(s.Client(), path, "Accept-Language", "ca", "Cookie", "timba_session=ended")
		if got := a.Header.Get("Vary"); got != vary || a.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s varies by %q, want %q, and sets the cookie %q", path, got, vary, a.Header.Get("Set-Cookie"))
		}
	}
	for _, path := range []string{"/bots/nobody/badge.svg", "/bots/lola/badge.svg?ladder=chess", "/bots/nobody/feed.atom"} {
		if a := s.Get(c, path); a.Status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, a.Status)
		}
	}
	var feed struct {
		ID      string `xml:"id"`
		Updated string `xml:"updated"`
		Author  string `xml:"author>name"`
		Entry   []struct {
			ID      string `xml:"id"`
			Title   string `xml:"title"`
			Updated string `xml:"updated"`
			Link    struct {
				Href string `xml:"href,attr"`
			} `xml:"link"`
		} `xml:"entry"`
	}
	s.Must(xml.Unmarshal([]byte(s.Get(c, "/bots/lola/feed.atom").Body), &feed))
	seen := map[string]bool{}
	for i, e := range feed.Entry {
		if e.ID == "" || e.Title == "" || e.Updated == "" || !strings.HasPrefix(e.Link.Href, s.URL) || seen[e.ID] || i > 0 && e.Updated > feed.Entry[i-1].Updated {
			t.Errorf("entry %d is %+v", i, e)
		}
		seen[e.ID] = true
	}
	if len(feed.Entry) != 13 || feed.Updated != feed.Entry[0].Updated || feed.Author != "ada" || feed.ID == "" {
		t.Errorf("the feed is %+v", feed)
	}
}

// Public addresses begin with the configured address of the site, whatever a request says. Without one they
// begin with the address that the visitor requested.
func TestPublicAddress(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ configured, host, want string }{
		{"https://bots.example.org", "evil.example", "https://bots.example.org"},
		{"", "arena.example:8080", "http://arena.example:8080"},
	} {
		s := webtest.NewStaticWorld(t, func(o *site.Options) { o.Middleware.Service.Config.Site.URL = x.configured })
		addLola(s)
		_, games := s.LastFinished("brisca")
		get := func(path string) string {
			r := kit.Get[*http.Request](t)(http.NewRequest(http.MethodGet, s.URL+path, nil))
			r.Host = x.host
			resp := kit.Get[*http.Response](t)(http.DefaultClient.Do(r))
			defer resp.Body.Close()
			return string(kit.Get[[]byte](t)(io.ReadAll(resp.Body)))
		}
		for path, want := range map[string]string{
			"/bots/lola":                                "(" + x.want + "/bots/lola/badge.svg?ladder=brisca)",
			"/bots/lola/feed.atom":                      `href="` + x.want + "/bots/lola",
			fmt.Sprintf("/games/%d", games[0].ID):       fmt.Sprintf("%s/games/%d/embed", x.want, games[0].ID),
			fmt.Sprintf("/games/%d/embed", games[0].ID): fmt.Sprintf(`href="%s/games/%d`, x.want, games[0].ID),
		} {
			page := get(path)
			if !strings.Contains(page, want) || x.configured != "" && strings.Contains(page, x.host) {
				t.Errorf("%s for %s lacks %q, or has the host: %s", path, x.host, want, page)
			}
		}
		admin := s.Client()
		s.SignIn(admin, s.NewToken(s.Ladder.AddPerson("root", true), ladder.ScopeAll))
		form := url.Values{"days": {"7"}}
		s.Post(admin, "/account/invites", form.Encode())
		made := s.Get(admin, "/account/invites").Body
		if want := `value="` + x.want + "/join#"; x.configured != "" && !strings.Contains(made, want) {
			t.Errorf("the invite lacks %q: %s", want, made)
		}
	}
}

// What bots and people write never becomes markup, and its length does not make a page longer.
func TestHostileBots(t *testing.T) {
	t.Parallel()
	s := webtest.NewStaticWorld(t, nil)
	ctx := t.Context()
	random := s.Version("@random")
	for name, text := range hostile {
		bot, own := "bot-"+name, s.Client()
		p := s.Ladder.AddPerson(name, false)
		s.SignIn(own, s.NewToken(p, ladder.ScopeRead))
		v := s.Ladder.Submit(p.ID, bot, webtest.Hash)
		s.Must(s.Store.Versions.StartStage(ctx, v.ID, "build"))
		s.Must(s.Store.Versions.FinishStage(ctx, v.ID, ladder.Stage{Name: "build", OK: true, Log: text, Summary: phrase.Plain(text)}))
		s.Ladder.MakeLive(v.ID, store.BuildInfo{Label: text, Hash: webtest.Hash, Language: text, Command: []string{text}})
		move := strings.NewReplacer("\n", "", "\r", "").Replace(text)
		s.Play("brisca", []int64{v.ID, random}, map[int64]webtest.Player{v.ID: webtest.Illegal(move, text)})
		_, err := s.Store.Versions.Suspend(ctx, v.ID, 0, phrase.Plain(text))
		s.Must(err)
		for _, path := range []string{"/bots", "/bots/" + bot, "/bots/" + bot + "/versions", "/bots/" + bot + "/versions/1", "/people/" + name, "/search?q=" + name, "/bots/" + bot + "/feed.atom", "/bots/" + bot + "/badge.svg"} {
			a := s.Get(own, path)
			if a.Status != 200 || len(a.Body) > 400<<10 {
				t.Errorf("%s: status %d, %d bytes", path, a.Status, len(a.Body))
			}
			forbidTexts(t, path, a.Body, "<script>", "<img src=x", "<b>W", "onmouseover='", "\u202e", "\u2066", "\x1b", "\x00", "\ufeff")
		}
	}
}
