package server

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/socket"
	"github.com/timba-arena/timba/web/wire"
)

const proxiedHost = "bots.example.org" // as docs/operating.md has it

// nginxPath returns the path of nginx, which script/interpreters unpacks if the machine has none.
func nginxPath(t *testing.T) string {
	cache, _ := os.UserCacheDir()
	for _, name := range []string{"nginx", "/usr/sbin/nginx", filepath.Join(cache, "timba/nginx/usr/sbin/nginx")} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	kit.Lacks(t, "nginx")
	return ""
}

// visitor is a browser that reaches a server through nginx.
type visitor struct {
	*http.Client
	t      *testing.T
	origin string // of the site
	roots  *x509.CertPool
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
}

// newVisitor starts nginx before the server at address, with the configuration that docs/operating.md prints, in which
// change replaces texts. The visitor comes from 127.0.0.2 and knows nginx by the name and the port in origin, whatever
// port nginx has; the port PORT in origin is nginx's own.
func newVisitor(t *testing.T, address, origin string, change *strings.Replacer) *visitor {
	t.Helper()
	path, dir := nginxPath(t), t.TempDir()
	page := string(kit.Get[[]byte](t)(os.ReadFile("../../docs/operating.md")))
	block := regexp.MustCompile("(?s)```nginx\n(.*?)```").FindStringSubmatch(page)
	if block == nil {
		t.Fatal("docs/operating.md has no configuration of nginx")
	}
	listener := kit.Get[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	file := kit.Get[*os.File](t)(listener.(*net.TCPListener).File())
	key := kit.Get[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	ours := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{proxiedHost}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der := kit.Get[[]byte](t)(x509.CreateCertificate(rand.Reader, ours, ours, key.Public(), key))
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: kit.Get[[]byte](t)(x509.MarshalPKCS8PrivateKey(key))})

	text := block[1]
	for from, to := range map[string]string{
		"listen 443 ssl;":               "listen " + listener.Addr().String() + " ssl;",
		"/etc/ssl/bots.example.org.pem": "pem", "/etc/ssl/bots.example.org.key": "key",
		"http://127.0.0.1:8080": address,
	} {
		if strings.Count(text, from) != 1 {
			t.Fatalf("the configuration in docs/operating.md has %q %d times", from, strings.Count(text, from))
		}
		text = strings.Replace(text, from, to, 1)
	}
	head := "daemon off; pid pid; error_log stderr; events {}\n"
	if os.Geteuid() == 0 {
		head += "user root;\n" // the directory is the test's own
	}
	kit.Files(t, dir, map[string]string{
		"pem": string(certificate), "key": string(private), "site": change.Replace(text),
		"conf": head + "http { access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s; include site; }\n",
	})
	cmd := exec.Command(path, "-p", dir+"/", "-c", filepath.Join(dir, "conf"))
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	cmd.ExtraFiles, cmd.Env = []*os.File{file}, []string{"NGINX=3;"} // it takes over the socket, as of an nginx before it
	kit.Must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		kit.Must(t, cmd.Wait())
	})
	nginx := listener.Addr().String()
	file.Close()
	listener.Close()

	v := &visitor{t: t, origin: strings.Replace(origin, "PORT", nginx[strings.LastIndex(nginx, ":")+1:], 1), roots: x509.NewCertPool()}
	v.roots.AppendCertsFromPEM(certificate)
	v.dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
		return from.DialContext(ctx, network, nginx)
	}
	v.Client = &http.Client{
		Jar: kit.Get[*cookiejar.Jar](t)(cookiejar.New(nil)), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: v.roots}, DialContext: v.dial, DisableKeepAlives: true},
	}
	return v
}

// send sends a request as a page of the site does, and returns the answer with its content.
func (v *visitor) send(method, path, kind string, body []byte, header ...string) (*http.Response, string) {
	v.t.Helper()
	r := kit.Get[*http.Request](v.t)(http.NewRequest(method, v.origin+path, bytes.NewReader(body)))
	if r.Header.Set("Origin", v.origin); kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp := kit.Get[*http.Response](v.t)(v.Do(r))
	defer resp.Body.Close()
	text := kit.Get[[]byte](v.t)(io.ReadAll(resp.Body))
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return resp, string(text)
}

// post sends a form and requires a redirection to an address that begins with to, which it returns.
func (v *visitor) post(path, to string, fields ...string) string {
	v.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	resp, text := v.send("POST", path, "application/x-www-form-urlencoded", []byte(form.Encode()))
	if location := resp.Header.Get("Location"); resp.StatusCode == http.StatusSeeOther && strings.HasPrefix(location, to) {
		return location
	}
	v.t.Fatalf("%s from %s: %s, %.2000s", path, v.origin, resp.Status, text)
	return ""
}

// playTurn opens a table, and plays until the first turn over its WebSocket.
func (v *visitor) playTurn() {
	v.t.Helper()
	table := v.post("/play", "/play/", "game", "teeko", "bot", "@random", "seat", "0")
	d := websocket.Dialer{Jar: v.Jar, NetDialContext: v.dial, TLSClientConfig: &tls.Config{RootCAs: v.roots}}
	ws, resp, err := d.Dial("wss"+strings.TrimPrefix(v.origin, "https")+"/ws"+table, http.Header{"Origin": {v.origin}})
	if err != nil {
		v.t.Fatalf("the WebSocket of a table: %v, %+v", err, resp)
	}
	defer ws.Close()
	ws.WriteJSON(socket.Frame{Lines: []string{"ready"}})
	for {
		var f socket.Frame
		kit.Must(v.t, ws.ReadJSON(&f))
		if strings.Contains("\n"+strings.Join(f.Lines, "\n"), "\nturn ") {
			return
		}
	}
}

// upload submits a bot in an archive of n bytes, a multiple of 512, by the form of the site.
func (v *visitor) upload(n int) (*http.Response, string) {
	v.t.Helper()
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	kit.Must(v.t, m.WriteField("bot", "mybot"))
	archive := tar.NewWriter(kit.Get[io.Writer](v.t)(m.CreateFormFile("archive", "mybot.tar")))
	for name, content := range map[string][]byte{"main.py": make([]byte, 512), "data": make([]byte, n-2560)} { // 512 bytes for each header, 1024 for the end
		kit.Must(v.t, archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}))
		archive.Write(content) // into memory
	}
	kit.Must(v.t, archive.Close())
	kit.Must(v.t, m.Close())
	return v.send("POST", "/submit", m.FormDataContentType(), b.Bytes())
}

// newProxied starts a server that trusts a proxy on its machine, as the unit in docs/operating.md does. log gets the
// requests.
func newProxied(t *testing.T, siteURL string) (s *running, token string, log *kit.Output) {
	log = new(kit.Output)
	s = newRunning(t, func(o *Options) {
		o.HTTP.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		o.Config.Site.URL = siteURL
		o.Log = slog.New(slog.NewTextHandler(io.MultiWriter(log, t.Output()), &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	token, _, err := s.Store.Sessions.AddToken(t.Context(), s.person.ID, "browser", ladder.ScopeAll, time.Time{})
	kit.Must(t, err)
	s.begin()
	return s, token, log
}

// With the configuration that docs/operating.md prints, forms, sessions, WebSockets, uploads up to the limit and the
// addresses of clients work behind nginx.
func TestNginx(t *testing.T) {
	// limit: limits.upload
	nginxPath(t)
	s, token, log := newProxied(t, "")
	v := newVisitor(t, s.URL(), "https://"+proxiedHost, strings.NewReplacer())

	if resp, _ := v.send("GET", "/", "", nil, "X-Forwarded-For", "203.0.113.7"); resp.StatusCode != http.StatusOK {
		t.Errorf("the home page: %s", resp.Status)
	}
	kit.Until(t, "the request is logged", func() bool { return strings.Contains(log.String(), "path=/ ") })
	if text := log.String(); !strings.Contains(text, "address=127.0.0.2 ") || strings.Contains(text, "address=127.0.0.1 ") || strings.Contains(text, "203.0.113.7") {
		t.Errorf("the addresses of clients: %s", text)
	}
	if resp, _ := v.send("GET", "/metrics", "", nil); resp.StatusCode != http.StatusForbidden {
		t.Errorf("the metrics: %s", resp.Status)
	}
	v.post("/sign-in", "/bots", "token", token, "next", "/bots")
	for _, c := range v.Jar.Cookies(kit.Get[*url.URL](t)(url.Parse("http://" + proxiedHost))) {
		t.Errorf("the cookie %s is sent without https", c.Name)
	}
	v.post("/account/tokens", "/account/tokens", "label", "second", "scope", "read")
	if resp, text := v.send("POST", "/account/tokens", "application/x-www-form-urlencoded", nil, "Origin", "https://elsewhere.example"); resp.StatusCode != http.StatusForbidden {
		t.Errorf("a form of another site: %s, %.1000s", resp.Status, text)
	}
	v.playTurn()

	const limit = 16 << 20
	if resp, text := v.upload(limit + 512); resp.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(text, "16 MiB") {
		t.Errorf("an upload above the server's limit: %s, %.6000s", resp.Status, text)
	}
	if resp, text := v.upload(limit); !strings.HasPrefix(resp.Header.Get("Location"), "/submissions/") {
		t.Errorf("an upload of the largest size: %s, %.6000s", resp.Status, text)
	}
	resp, _ := v.send("POST", "/api/v1/submissions", "application/zip", make([]byte, 32<<20+1), "Authorization", "Bearer "+token)
	if p := wire.ReadProblem(resp); !strings.Contains(p.Error(), "client_max_body_size") {
		t.Errorf("a body above the proxy's limit: %v", p)
	}
}

// Forms, sessions and WebSockets also work behind proxies that change Host, as docs/operating.md says.
func TestNginxHost(t *testing.T) {
	nginxPath(t)
	const host = "proxy_set_header Host $host;"
	for name, c := range map[string]struct{ siteURL, origin, host string }{
		"a default port":                    {"", "https://" + proxiedHost, "proxy_set_header Host $host:443;"},
		"another port":                      {"", "https://" + proxiedHost + ":PORT", "proxy_set_header Host $host:$server_port;"},
		"no Host, site.url":                 {"https://" + proxiedHost, "https://" + proxiedHost, ""},
		"no Host, X-Forwarded-Host":         {"", "https://" + proxiedHost, "proxy_set_header X-Forwarded-Host $host;"},
		"no Host, X-Forwarded-Host, a port": {"", "https://" + proxiedHost, "proxy_set_header X-Forwarded-Host $host:443;"},
	} {
		t.Run(name, func(t *testing.T) {
			s, token, _ := newProxied(t, c.siteURL)
			v := newVisitor(t, s.URL(), c.origin, strings.NewReplacer(host, c.host))
			v.post("/sign-in", "/bots", "token", token, "next", "/bots")
			v.post("/account/tokens", "/account/tokens", "label", "second", "scope", "read")
			v.playTurn()
		})
	}
}

// Where the proxy and the server do not fit each other, the answers say what to change.
func TestNginxErrors(t *testing.T) {
	nginxPath(t)
	s, token, _ := newProxied(t, "")
	v := newVisitor(t, s.URL(), "https://"+proxiedHost, strings.NewReplacer("proxy_set_header Host $host;", ""))
	if resp, text := v.send("POST", "/sign-in", "application/x-www-form-urlencoded", []byte("token="+token)); resp.StatusCode != http.StatusForbidden || !strings.Contains(text, "its proxy must pass the header Host") {
		t.Errorf("a form without Host: %s, %.3000s", resp.Status, text)
	}
	dead := kit.Get[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	dead.Close()
	for address, want := range map[string]string{
		"http://" + dead.Addr().String():                         "the timba server behind it does not answer",
		s.URL() + "; return 301 https://new.example$request_uri": "give the address https://new.example instead",
	} {
		v := newVisitor(t, address, "https://"+proxiedHost, strings.NewReplacer())
		resp, _ := v.send("GET", "/api/v1/ladders", "", nil)
		if p := wire.ReadProblem(resp); !strings.Contains(fmt.Sprint(p), want) {
			t.Errorf("%s: %v", address, p)
		}
	}
}
