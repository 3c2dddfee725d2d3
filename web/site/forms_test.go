package site_test

import (
	"archive/zip"
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/sample-bots/starters"
	"github.com/timba-arena/timba/web/client"
	"github.com/timba-arena/timba/web/site"
	"github.com/timba-arena/timba/web/webtest"
	"github.com/timba-arena/timba/web/wire"
)

// starter writes the starter bot of a language and returns its directory.
func starter(t *testing.T, language string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mybot")
	l := kit.Get[starters.Language](t)(starters.Find(language))
	if _, err := l.Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// multipartForm returns a multipart form as a browser sends it, with a file and with fields, which are pairs of a
// name and a value.
func multipartForm(t *testing.T, file []byte, fields ...string) (kind, body string) {
	t.Helper()
	return multipartFormNamed(t, "mybot.tar.gz", file, fields...)
}

// multipartFormNamed is multi with another name for the file.
func multipartFormNamed(t *testing.T, name string, file []byte, fields ...string) (kind, body string) {
	t.Helper()
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	for i := 0; i+1 < len(fields); i += 2 {
		kit.Must(t, m.WriteField(fields[i], fields[i+1]))
	}
	if file != nil {
		part, err := m.CreateFormFile("archive", name)
		kit.Must(t, err)
		part.Write(file) // into memory
	}
	kit.Must(t, m.Close())
	return m.FormDataContentType(), b.String()
}

func submitBot(w *webtest.World, c *http.Client, name string, archive []byte) string {
	w.T.Helper()
	kind, body := multipartForm(w.T.(*testing.T), archive, "bot", name)
	a := w.Post(c, "/submit", body, "Content-Type", kind)
	id, ok := strings.CutPrefix(a.Header.Get("Location"), "/submissions/")
	if a.Status != http.StatusSeeOther || !ok {
		w.T.Fatalf("submit answers %d: %s", a.Status, a.Body)
	}
	return id
}

var parameters = regexp.MustCompile(`{[^}]*}`)

// Every address that changes something refuses forms of other sites. Those for members also refuse visitors.
func TestFormsRefused(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, webtest.Calm, 0)
	member, visitor := w.Client(), w.Client()
	w.SignIn(member, w.Token)
	posts := 0
	for pattern, only := range site.Patterns() {
		address, ok := strings.CutPrefix(pattern, "POST ")
		if !ok {
			continue
		}
		posts++
		address = parameters.ReplaceAllString(address, "1")
		for _, x := range []struct {
			name    string
			headers []string
		}{
			{"another origin", []string{"Origin", "https://evil.example"}},
			{"no origin", []string{"Origin", "null"}},
			{"another host", []string{"Origin", strings.Replace(w.URL, "127.0.0.1", "localhost", 1)}},
			{"another site", []string{"Sec-Fetch-Site", "cross-site"}},
			{"the same site", []string{"Sec-Fetch-Site", "same-site"}},
			{"nothing that tells its page", []string{"Origin", ""}},
			{"a foreign page alone", []string{"Origin", "", "Referer", "https://evil.example/" + w.URL}},
			{"a file of another origin", []string{"Origin", "https://evil.example", "Content-Type", "multipart/form-data; boundary=x"}},
		} {
			if a := w.Post(member, address, "", x.headers...); a.Status != http.StatusForbidden || !strings.Contains(a.Body, "another site") {
				t.Errorf("POST %s with %s: status %d", address, x.name, a.Status)
			}
		}
		for _, page := range [][]string{nil, {"Origin", "", "Referer", w.URL + "/account"}, {"Origin", "", "Sec-Fetch-Site", "same-origin"}} {
			if a := w.Post(visitor, address, "", page...); only && a.Status != http.StatusUnauthorized || strings.Contains(a.Body, "another site") {
				t.Errorf("POST %s of nobody from %q: status %d", address, page, a.Status)
			}
		}
	}
	if posts < 9 {
		t.Errorf("only %d addresses are seen", posts)
	}
	if page := w.Get(member, "/").Body; !strings.Contains(page, `<a href="/account">admin</a>`) {
		t.Error("a foreign form has signed the member out")
	}
}

// Pages for members redirect visitors to the sign-in form, and nobody can change what belongs to others.
func TestOthersRefused(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, webtest.Calm, 0)
	admin, anna, bert := w.Client(), w.Client(), w.Client()
	w.SignIn(admin, w.Token)
	w.SignIn(anna, register(t, w, "anna"))
	bertToken := register(t, w, "bert")
	w.SignIn(bert, bertToken)
	// The trial would go on; the first stage fails.
	id := submitBot(w, anna, "secret-bot", w.Archive(brokenBot(t)))
	if a := w.Post(anna, "/account/tokens", "label=second&scope=all"); a.Status != http.StatusSeeOther { // the last token has no form to revoke it
		t.Fatalf("a second token: status %d: %s", a.Status, a.Body)
	}
	token := w.Get(anna, "/account/tokens").Body
	tokenID := regexp.MustCompile(`name="id" value="(\d+)"`).FindStringSubmatch(token)[1]
	for _, x := range []struct {
		c            *http.Client
		method, path string
		form         string
		status       int
	}{
		{anna, "GET", "/submissions/" + id, "", 200},
		{admin, "GET", "/submissions/" + id, "", 200},
		{bert, "GET", "/submissions/" + id, "", 403},
		{bert, "GET", "/submissions/" + id + "/progress", "", 403},
		{bert, "POST", "/submissions/" + id + "/cancel", "", 403},
		{bert, "GET", "/submissions/999999", "", 404},
		{bert, "GET", "/submissions/-1", "", 404},
		{bert, "GET", "/submissions/1%27", "", 404},
		{bert, "GET", "/submissions/99999999999999999999", "", 404},
		{bert, "POST", "/account/tokens/revoke", "id=" + tokenID, 404},
		{bert, "POST", "/account/tokens/revoke", "id=x", 400},
		{bert, "GET", "/account/invites", "", 403},
		{bert, "POST", "/account/invites", "days=7", 403},
		{bert, "POST", "/account/invites/revoke", "id=1", 403},
		{bert, "GET", "/account/people", "", 403},
		{bert, "POST", "/account/people/block", "name=anna", 403},
		{bert, "POST", "/account/people/unblock", "name=anna", 403},
		{bert, "POST", "/account/people/reset", "name=anna", 403},
		{bert, "GET", "/account/operation", "", 403},
		{bert, "POST", "/account/operation/announcement", "text=x", 403},
		{admin, "POST", "/account/operation/announcement", "text=" + strings.Repeat("%C3%B1", 501), 400},
		{admin, "POST", "/account/operation/announcement", "text=a%00b", 400},
		{bert, "GET", "/people/anna/remove", "", 403},
		{bert, "POST", "/people/anna/remove", "", 403},
		{admin, "POST", "/people/nobody/remove", "", 404},
		{admin, "POST", "/people/admin/remove", "", 409}, // the last admin
		{bert, "POST", "/ladders/tebes-4/pause", "", 403},
		{bert, "POST", "/ladders/tebes-4/resume", "", 403},
		{admin, "POST", "/ladders/chess/pause", "", 404},
		{bert, "POST", "/bots/@random/ban", "reason=x", 403},
		{bert, "POST", "/bots/@random/unban", "", 403},
		{admin, "POST", "/bots/@random/ban", "reason=x", 403}, // a house bot
		{admin, "POST", "/account/people/reset", "name=admin", 409},
		{admin, "POST", "/account/people/reset", "name=nobody", 404},
		{admin, "POST", "/account/people/promote", "name=anna", 404},
		{admin, "POST", "/account/people/block", "name=admin", 409},
		{w.Client(), "GET", "/submissions/" + id, "", 303},
		{w.Client(), "GET", "/submissions/" + id + "/progress", "", 401},
		{w.Client(), "GET", "/account", "", 303},
		{w.Client(), "GET", "/account/people", "", 303},
	} {
		a := w.Get(x.c, x.path)
		if x.method == http.MethodPost {
			a = w.Post(x.c, x.path, x.form)
		}
		if a.Status != x.status {
			t.Errorf("%s %s: status %d, want %d: %.300s", x.method, x.path, a.Status, x.status, a.Body)
		}
		if x.c == bert && strings.Contains(a.Body, "secret-bot") {
			t.Errorf("%s %s tells of a bot of somebody else", x.method, x.path)
		}
		if x.status == 303 && !strings.HasPrefix(a.Header.Get("Location"), "/sign-in?next=") {
			t.Errorf("%s leads to %q", x.path, a.Header.Get("Location"))
		}
	}
	if a := w.Get(anna, "/account"); !strings.Contains(a.Body, "secret-bot") || strings.Contains(w.Get(bert, "/account").Body, "secret-bot") {
		t.Error("the accounts show other bots than their own")
	}
	// A person who has lost their token gets a new one, and their old tokens and sessions end at once.
	reset := w.Post(admin, "/account/people/reset", "name=bert")
	a := w.Get(admin, "/account/people")
	key := regexp.MustCompile(`value="(timba_\w+)"`).FindStringSubmatch(a.Body)
	if reset.Status != http.StatusSeeOther || key == nil || a.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("reset answers %d, and then the page has %v: %s", reset.Status, a.Header, a.Body)
	}
	if a := w.Get(bert, "/account"); a.Status != http.StatusSeeOther {
		t.Errorf("the old session answers %d", a.Status)
	}
	if a := w.Post(w.Client(), "/sign-in", "token="+bertToken); a.Status != http.StatusUnauthorized {
		t.Errorf("the old token answers %d", a.Status)
	}
	w.SignIn(bert, key[1])
	// A blocked person's session ends at once.
	if a := w.Post(admin, "/account/people/block", "name=anna"); a.Status != http.StatusSeeOther {
		t.Fatalf("block answers %d: %s", a.Status, a.Body)
	}
	if a := w.Get(anna, "/account"); a.Status != http.StatusSeeOther {
		t.Errorf("the account of a blocked person answers %d", a.Status)
	}
}

// A person who opens an account is led back to the page of this site from which they came.
func TestJoinLeadsBack(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, webtest.Calm, 0)
	c := kit.Get[*client.Client](t)(client.New(w.URL, w.Token))
	for i, x := range []struct{ next, field, leads string }{
		{"/play/abc?a=b", "/play/abc?a=b", "/play/abc?a=b"}, {"", "", "/submit"}, {"/", "", "/submit"}, {"//evil.example", "", "/submit"},
	} {
		guest, q := w.Client(), url.Values{"next": {x.next}}
		if body := w.Get(guest, "/sign-in?"+q.Encode()).Body; x.field != "" && !strings.Contains(body, `href="/join?next=`+strings.ToLower(url.QueryEscape(x.field))+`"`) {
			t.Errorf("%q: the page to sign in is %s", x.next, body)
		}
		if body := w.Get(guest, "/join?"+q.Encode()).Body; !strings.Contains(body, `name="next" value="`+x.field+`"`) {
			t.Errorf("%q: the form is %s", x.next, body)
		}
		q.Set("name", "anna"+strconv.Itoa(i))
		q.Set("code", kit.Get[wire.MadeInvite](t)(c.AddInvite(t.Context(), wire.NewInvite{})).Code)
		w.Post(guest, "/join", q.Encode())
		if a := w.Get(guest, "/join?"+url.Values{"next": {x.next}}.Encode()); a.Status != http.StatusOK || !strings.Contains(a.Body, `name="next" value="`+x.leads+`"`) || strings.Contains(a.Body, "upload a bot") == (x.field != "") {
			t.Errorf("%q: the account is opened with %d: %s", x.next, a.Status, a.Body)
		}
	}
}

func register(t *testing.T, w *webtest.World, name string) string {
	t.Helper()
	c := kit.Get[*client.Client](t)(client.New(w.URL, w.Token))
	invite := kit.Get[wire.MadeInvite](t)(c.AddInvite(t.Context(), wire.NewInvite{}))
	c.Token = ""
	made := kit.Get[wire.Registered](t)(c.Register(t.Context(), name, invite.Code))
	return made.Key
}

// brokenBot returns the directory of a bot whose build fails.
func brokenBot(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "broken")
	kit.Must(t, os.Mkdir(dir, 0o755))
	kit.Must(t, os.WriteFile(filepath.Join(dir, "timba.toml"), []byte("rum = 1\n"), 0o644))
	return dir
}

// The site and the API accept a single file as a bot: they make an archive of it, with a manifest for the
// language that its name implies. Files of other types are refused with a list of the accepted names. An archive is known
// by its content, whatever its name.
func TestSingleFiles(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, webtest.Calm, 0)
	c := w.Client()
	w.SignIn(c, w.Token)
	source := kit.Get[[]byte](t)(os.ReadFile(filepath.Join(starter(t, "python"), "bot.py")))
	for _, x := range []struct {
		file, bot string
		content   []byte
		text      string // the text of the refusal; "" if the file is accepted
	}{
		{"bot.py", "by-form", source, ""},
		{"named-by-file.py", "", source, ""},
		{"bot.py", "", source, "the bot has no name"},
		{"bot.py", "x", nil, "is empty"},
		{"my bot.py", "x", source, "rename it"},
		{"notes.txt", "x", source, "file &#34;notes.txt&#34;: its name tells no language: try bot.py, bot.js"},
		{"program", "x", []byte("\x7fELF"), "the format of the archive is &#34;Linux program&#34;"},
		{"packed.py", "x", []byte("7z\xbc\xaf"), "the format of the archive is &#34;7z&#34;"},
		{"broken.zip", "x", []byte("<!doctype html>"), "file &#34;broken.zip&#34; is no archive: it begins with &#34;&lt;!doctyp&#34;"},
		{"nothing.zip", "x", nil, "file &#34;nothing.zip&#34; is empty"},
		{"mine.zip", "gz-as-zip", packed(t, true), ""},
		{"mine.py", "zip-as-py", packed(t, false), ""},
	} {
		kind, body := multipartFormNamed(t, x.file, append([]byte{}, x.content...), "bot", x.bot)
		a := w.Post(c, "/submit", body, "Content-Type", kind)
		if taken := a.Status == http.StatusSeeOther; taken != (x.text == "") || !strings.Contains(a.Body, x.text) {
			t.Errorf("%s as %q: status %d, want %q: %.3000s", x.file, x.bot, a.Status, x.text, a.Body)
		}
	}
	api := kit.Get[*client.Client](t)(client.New(w.URL, w.Token))
	s := kit.Get[wire.Submission](t)(api.Submit(t.Context(), "by-api", "mine.py", client.Body(source)))
	for s = range api.Follow(t.Context(), s.ID) {
	}
	if s.Version.State != "live" || s.Version.Language != "Python" {
		t.Errorf("the bot of a single file is %+v", s)
	}
	if a := w.Get(c, "/bots/named-by-file"); a.Status != http.StatusOK {
		t.Errorf("a bot that its file names: %d", a.Status)
	}
	upload := kit.Get[client.ArchiveDownload](t)(api.Upload(t.Context(), "by-api", 1))
	defer upload.Body.Close()
	path := filepath.Join(t.TempDir(), "upload")
	kit.Must(t, os.WriteFile(path, kit.Get[[]byte](t)(io.ReadAll(upload.Body)), 0o600))
	tree := kit.Get[bundle.Tree](t)(bundle.Unpack(path, path+"-dir", bundle.Default))
	if len(tree.Files) != 2 || tree.Files[0].Path != "mine.py" || tree.Files[1].Path != "timba.toml" {
		t.Errorf("the upload has %+v", tree.Files)
	}
}

// packed returns an archive of a bot, a .tar.gz or a .zip.
func packed(t *testing.T, tarred bool) []byte {
	t.Helper()
	if tarred {
		return kit.Get[*bundle.Archive](t)(bundle.Pack(starter(t, "python"), bundle.Default)).Data
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	kit.Must(t, z.AddFS(os.DirFS(starter(t, "python"))))
	kit.Must(t, z.Close())
	return b.Bytes()
}

// A form counts as one request in the metrics.
func TestFormsCountOnce(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, webtest.Calm, 0)
	c := w.Client()
	w.SignIn(c, w.Token)
	requests := func() (sum float64) {
		for line := range strings.Lines(w.Get(c, "/metrics").Body) {
			if strings.HasPrefix(line, "timba_http_requests_total{") {
				sum += kit.Get[float64](t)(strconv.ParseFloat(strings.Fields(line)[len(strings.Fields(line))-1], 64))
			}
		}
		return sum
	}
	before := requests()
	if a := w.Post(c, "/account/tokens", "label=x&scope=read&days="); a.Status != http.StatusSeeOther {
		t.Fatalf("it answers %d: %s", a.Status, a.Body)
	}
	if more := requests() - before; more != 2 { // the form, and the first request for the metrics
		t.Errorf("a form and a look at the metrics count as %v requests", more)
	}
}

// An upload that the API refuses is refused by the form with the same text.
func TestUploadsRefused(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, strings.Replace(webtest.Ladders, "[limits]", "[limits]\nupload = \"1m\"", 1), 0)
	c := w.Client()
	w.SignIn(c, w.Token)
	archive := w.Archive(brokenBot(t))
	for _, x := range []struct {
		name   string
		file   []byte
		fields []string
		status int
		text   string
	}{
		{"no file", nil, []string{"bot", "x"}, 400, "the form has no file"},
		{"no archive", []byte("hello"), []string{"bot", "x"}, 400, "archive"},
		{"a bad name", archive, []string{"bot", "<script>"}, 400, "the name of a bot cannot be &#34;&lt;script&gt;&#34;"},
		{"a name of the house", archive, []string{"bot", "@random"}, 400, "the name of a bot cannot be"},
		{"a long name", archive, []string{"bot", strings.Repeat("x", 2000)}, 413, "is larger than"},
		{"no name", archive, nil, 400, "the bot has no name"},
		{"too large", slices.Concat(archive, make([]byte, 1<<20)), []string{"bot", "x"}, 413, "1 MiB"},
		{"far too large", slices.Concat(archive, make([]byte, 4<<20)), []string{"bot", "x"}, 413, ""},
	} {
		kind, body := multipartForm(t, x.file, x.fields...)
		a := w.Post(c, "/submit", body, "Content-Type", kind)
		if a.Status != x.status || !strings.Contains(a.Body, x.text) {
			t.Errorf("%s: status %d, want %d with %q: %.2000s", x.name, a.Status, x.status, x.text, a.Body)
		}
	}
	if a := w.Get(c, "/submit"); !strings.Contains(a.Body, "1 MiB") {
		t.Error("the page does not tell the limit")
	}
	list := url.Values{"bot": {"@random"}, "ladder": {"brisca"}}
	if a := w.Post(c, "/matches/new", list.Encode()); a.Status != 400 || !strings.Contains(a.Body, "notice") {
		t.Errorf("a match of one bot: status %d", a.Status)
	}
	list["bot"] = []string{"@random", "@greedy", ""}
	if a := w.Post(c, "/matches/new", list.Encode()); a.Status != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/matches/") {
		t.Errorf("a match of two bots: status %d: %s", a.Status, a.Body)
	}
}
