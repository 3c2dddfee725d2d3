package site_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/sample-bots/starters"
	"github.com/timba-arena/timba/web/admission"
	"github.com/timba-arena/timba/web/site"
	"github.com/timba-arena/timba/web/webtest"
)

// The running program can be downloaded, as a whole or in ranges, and the page names its platform.
// Simultaneous downloads are limited.
func TestDownloadProgram(t *testing.T) {
	t.Parallel()
	var streams *admission.Places
	s := webtest.NewStaticWorld(t, func(o *site.Options) {
		o.Version = "1.2.3"
		streams = admission.NewPlaces(admission.Limits{Person: 1, Address: 1, Total: 1, Subject: phrase.Plain("downloads")})
		o.Middleware.Streams = streams
	})
	c := s.Client()
	page := s.Get(c, "/download").Body
	requireTexts(t, "the page", page, "1.2.3", "Linux, ", "MiB", `href="/download/timba"`)
	own := kit.Get[[]byte](t)(os.ReadFile(kit.Get[string](t)(os.Executable())))
	if a := s.Get(c, "/download/timba"); a.Status != http.StatusOK || a.Body != string(own) || a.Header.Get("Content-Disposition") != `attachment; filename="timba"` {
		t.Errorf("the program: status %d, %d bytes of %d, %v", a.Status, len(a.Body), len(own), a.Header)
	}
	if a := s.Get(c, "/download/timba", "Range", "bytes=1-3"); a.Status != http.StatusPartialContent || a.Body != "ELF" {
		t.Errorf("a part of it: status %d, %q", a.Status, a.Body)
	}
	leave := kit.Get[func()](t)(streams.Enter(admission.Visitor{}))
	if a := s.Get(c, "/download/timba"); a.Status != http.StatusTooManyRequests {
		t.Errorf("beside another download: status %d", a.Status)
	}
	leave()
}

// The starter of every language can be downloaded, and the archive is accepted as an upload.
func TestDownloadStarters(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, webtest.Calm, 0)
	c := w.Client()
	w.SignIn(c, w.Token)
	page := w.Get(c, "/download").Body
	for _, l := range starters.Languages {
		path := "/download/starters/" + l.Name + ".zip"
		a := w.Get(c, path)
		z, err := zip.NewReader(strings.NewReader(a.Body), int64(len(a.Body)))
		if err != nil || !strings.Contains(page, path) {
			t.Errorf("%s: status %d, %v", l.Name, a.Status, err)
			continue
		}
		var names []string
		for _, f := range z.File {
			names = append(names, strings.TrimPrefix(f.Name, "my-"+l.Name+"-bot/"))
		}
		if want := "README.md " + l.Source + " timba.toml"; strings.Join(names, " ") != want && len(names) != 3 {
			t.Errorf("%s: %q, want %s", l.Name, names, want)
		}
	}
	for _, path := range []string{"/download/starters/py.zip", "/download/starters/python", "/download/starters/cobol.zip"} {
		if a := w.Get(c, path); a.Status != http.StatusNotFound || !strings.Contains(a.Body, "/download lists them") {
			t.Errorf("%s: status %d", path, a.Status)
		}
	}
	a := w.Get(c, "/download/starters/python.zip")
	kind, body := multipartFormNamed(t, "python.zip", bytes.Clone([]byte(a.Body)))
	if a := w.Post(c, "/submit", body, "Content-Type", kind); a.Status != http.StatusSeeOther {
		t.Errorf("the starter is refused: %d: %.2000s", a.Status, a.Body)
	}
	if a := w.Get(c, "/bots/my-python-bot"); a.Status != http.StatusOK {
		t.Errorf("its bot: %d", a.Status)
	}
}

// The page offers the files of the operator's directory: no hidden ones, no symbolic links, no directories, and no more
// than the limit.
func TestDownloadOffers(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	write := func(name, text string) { kit.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)) }
	kit.Must(t, os.WriteFile(outside, []byte("secret"), 0o644))
	write("timba_1.0_amd64.deb", "<script>")
	write(".hidden", "x")
	write("two words", "x")
	kit.Must(t, os.Mkdir(filepath.Join(dir, "folder"), 0o755))
	kit.Must(t, os.Symlink(outside, filepath.Join(dir, "link")))
	s := webtest.NewStaticWorld(t, func(o *site.Options) { o.Middleware.Service.Config.Site.Downloads = dir })
	c := s.Client()
	sum := func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
	page := s.Get(c, "/download").Body
	requireTexts(t, "the page", page, `href="/download/files/timba_1.0_amd64.deb"`, sum("<script>"))
	for _, name := range []string{".hidden", "two words", "folder", "link", "..%2Fsecret", "none"} {
		if a := s.Get(c, "/download/files/"+strings.ReplaceAll(name, " ", "%20")); a.Status != http.StatusNotFound || strings.Contains(page, ">"+name+"<") {
			t.Errorf("%s: status %d, or it is listed", name, a.Status)
		}
	}
	a := s.Get(c, "/download/files/timba_1.0_amd64.deb")
	h := a.Header
	if a.Body != "<script>" || h.Get("Content-Type") != "application/octet-stream" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Disposition") != `attachment; filename="timba_1.0_amd64.deb"` {
		t.Errorf("the file: %q, %v", a.Body, h)
	}
	write("timba_1.0_amd64.deb", "another")
	for i := range 300 {
		write(fmt.Sprintf("z%03d", i), "")
	}
	page = s.Get(c, "/download").Body
	requireTexts(t, "the page after a change", page, sum("another"))
	if n := strings.Count(page, "/download/files/"); n != 200 {
		t.Errorf("%d files are listed", n)
	}
}

// Editors get the schemas of the configuration files.
func TestSchemas(t *testing.T) {
	t.Parallel()
	s := webtest.NewStaticWorld(t, nil)
	c := s.Client()
	for name, want := range map[string][]byte{"bot.schema.json": program.BotSchema, "server.schema.json": config.ServerSchema} {
		if a := s.Get(c, "/schemas/"+name); a.Body != string(want) || a.Header.Get("Content-Type") != "application/schema+json" {
			t.Errorf("%s: status %d, %v", name, a.Status, a.Header)
		}
	}
	if a := s.Get(c, "/schemas/other.json"); a.Status != http.StatusNotFound || !strings.Contains(a.Body, "try bot.schema.json or server.schema.json") {
		t.Errorf("another one: status %d", a.Status)
	}
}
