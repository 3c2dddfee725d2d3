package api

import (
	"archive/zip"
	"bufio"
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/web/middleware"
)

// Uploads that are slow to unpack do not wait for each other. They count until the end, for each person and
// not for an address that several share.
func TestUploadsTogether(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, nil)
		unpacking, release := make(chan string), make(chan struct{})
		w.api.Service.Unpack = func(file, into string, l bundle.Limits) (bundle.Tree, error) {
			unpacking <- file
			<-release
			return bundle.Unpack(file, into, l)
		}
		var names atomic.Int32
		send := func(who string) *httptest.ResponseRecorder {
			manifest := fmt.Sprintf("name = \"slow%d\"\nrun = [\"./bot\"]", names.Add(1))
			return w.ask(call{method: "POST", path: "/api/v1/submissions", who: who, kind: "application/gzip", body: archive(t, "timba.toml", manifest)})
		}
		all := 3 * middleware.UploadLimits.Person
		answers := make(chan *httptest.ResponseRecorder, all)
		begin := func(who string) {
			for range middleware.UploadLimits.Person {
				go func() { answers <- send(who) }()
			}
			for range middleware.UploadLimits.Person {
				<-unpacking // though others are unpacked
			}
		}
		refused := func(who, why string) {
			t.Helper()
			if rec := send(who); rec.Code != 429 || rec.Header().Get("Retry-After") == "" || !strings.Contains(rec.Body.String(), why) {
				t.Errorf("one more of %s: %d %s", who, rec.Code, rec.Body)
			}
		}
		begin("ada submit")
		refused("ada submit", "the limit for one person is 2 uploads at the same time")
		begin("bob submit")
		begin("root submit")
		refused("root submit", "the limit for one person is 2 uploads at the same time")
		close(release)
		for range all {
			if rec := <-answers; rec.Code != 202 {
				t.Errorf("%d %s", rec.Code, rec.Body)
			}
		}
		go func() { <-unpacking }()
		if rec := send("root submit"); rec.Code != 202 {
			t.Errorf("when the others are through: %d %s", rec.Code, rec.Body)
		}
		for dir, want := range map[string]int{w.Store.Dir().Bundles(): all + 1, w.Store.Dir().Temp(): 0} {
			if left, err := os.ReadDir(dir); err != nil || len(left) != want {
				t.Errorf("%s has %d files, want %d; %v", dir, len(left), want, err)
			}
		}
	})
}

// An upload or a document that ends before its announced length is refused as cut off, wherever it ends, and
// stores nothing.
func TestUploadsCutOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	server := httptest.NewServer(w.api.apiHandler(w.api.routes()))
	defer server.Close()
	random := make([]byte, 4096)
	kit.Get[int](t)(rand.Read(random))
	data := archive(t, "bot.py", string(random))
	for _, c := range []struct{ name, path, kind, body, says string }{
		{"an archive, at once", "submissions?bot=cut", "application/gzip", "", "cut off"},
		{"an archive, soon", "submissions?bot=cut", "application/gzip", data[:100], "cut off"},
		{"an archive, late", "submissions?bot=cut", "application/gzip", data[:2000], "cut off"},
		{"a file, at once", "submissions?bot=cut&file=bot.py", "text/plain", "", "cut off"},
		{"a file, soon", "submissions?bot=cut&file=bot.py", "text/plain", "print(", "cut off"},
		{"a file, late", "submissions?bot=cut&file=bot.py", "text/plain", strings.Repeat("#\n", 1000), "cut off"},
		{"a document, in it", "people", "application/json", `{"name":"eve`, "ends too early"},
		{"a document, behind it", "people", "application/json", `{"name":"eve"}`, "ends too early"},
	} {
		conn := kit.Get[net.Conn](t)(net.Dial("tcp", server.Listener.Addr().String()))
		fmt.Fprintf(conn, "POST /api/v1/%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
			c.path, w.keys["ada submit"], c.kind, len(c.body)+10, c.body)
		kit.Must(t, conn.(*net.TCPConn).CloseWrite())
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		kit.Must(t, err)
		text := kit.Get[[]byte](t)(io.ReadAll(resp.Body))
		if resp.StatusCode != 400 || !strings.Contains(string(text), c.says) {
			t.Errorf("%s: %s %s", c.name, resp.Status, text)
		}
		conn.Close()
	}
	if left := kit.Tree(t, string(w.Store.Dir().Bundles())); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// An upload with the files of the live version gets no new number, even in another archive format.
func TestSameFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	dir := kit.Files(t, t.TempDir(), map[string]string{"bot.py": "pass"})
	hash, err := trees.HashSource(dir)
	kit.Must(t, err)
	v := w.version("same")
	w.MakeLive(v.ID, store.BuildInfo{Hash: hash, Command: []string{"./bot.py"}})
	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	f, err := z.Create("bot.py")
	kit.Must(t, err)
	_, err = f.Write([]byte("pass"))
	kit.Must(t, err)
	kit.Must(t, z.Close())
	for format, data := range map[string]string{"application/gzip": archive(t, "bot.py", "pass"), "application/zip": zipped.String()} {
		rec := w.ask(call{method: "POST", path: "/api/v1/submissions?bot=same", who: "ada submit", kind: format, body: data})
		if rec.Code != 409 || !strings.Contains(rec.Body.String(), "version 1, which is live, has the same files and stays live") {
			t.Errorf("%s: %d %s", format, rec.Code, rec.Body)
		}
	}
	rec := w.ask(call{method: "POST", path: "/api/v1/submissions?bot=same", who: "ada submit", kind: "application/gzip", body: archive(t, "bot.py", "pass # 2")})
	if rec.Code != 202 || !strings.Contains(rec.Body.String(), `"version":2`) {
		t.Errorf("the next version: %d %s", rec.Code, rec.Body)
	}
}
