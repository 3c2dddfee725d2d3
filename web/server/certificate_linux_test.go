package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"io/fs"
	"log"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"github.com/miekg/dns"

	"github.com/timba-arena/timba/internal/kit"
)

const domain = "arena.example"

// authority is Pebble, the ACME test server by Let's Encrypt. It asks a name server of the test for the
// address of a domain, and validates the domain there.
type authority struct {
	*httptest.Server
	root  []byte // of the certificates that it gives, in PEM
	names string // the address of the name server
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	t.Setenv("PEBBLE_VA_NOSLEEP", "1") // it would wait before it validates
	listener := kit.Get[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	names := &dns.Server{Listener: listener, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, question *dns.Msg) {
		answer := new(dns.Msg).SetReply(question)
		if q := question.Question[0]; q.Qtype == dns.TypeA && q.Name == domain+"." {
			answer.Answer = append(answer.Answer, &dns.A{Hdr: dns.RR_Header{Name: q.Name, Rrtype: dns.TypeA, Class: dns.ClassINET}, A: net.IPv4(127, 0, 0, 1)})
		}
		w.WriteMsg(answer)
	})}
	go names.ActivateAndServe()
	t.Cleanup(func() { names.Shutdown() })
	a := &authority{names: listener.Addr().String(), Server: httptest.NewUnstartedServer(nil)}
	a.StartTLS()
	t.Cleanup(a.Close)
	return a
}

// file writes the certificate of the authority itself to a file.
func (a *authority) file(t *testing.T) (path string) {
	path = filepath.Join(t.TempDir(), "root.pem")
	kit.Must(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Certificate().Raw}), 0o600))
	return path
}

// begin starts the authority, which validates domains on two ports.
func (a *authority) begin(t *testing.T, http, https int) {
	said, store := log.New(t.Output(), "pebble: ", 0), db.NewMemoryStore()
	issuer := ca.New(said, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {}})
	a.root = issuer.GetRootCert(0).PEM()
	front := wfe.New(said, store, va.New(said, http, https, true, a.names, store), issuer, []string{"pebble.example"}, true, false, 0, 0)
	a.Config.Handler = front.Handler()
}

// newCertified opens a server for the domain, with certificates of an authority.
func newCertified(t *testing.T, a *authority) *running {
	return newRunning(t, func(o *Options) {
		o.HTTP.Domain = domain
		o.Config.Certificate.Directory, o.Config.Certificate.Root, o.Config.Certificate.HTTP = a.URL+wfe.DirectoryPath, a.file(t), "127.0.0.1:0"
	})
}

func port(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

// browser returns a client that resolves the domain and trusts an authority.
func (s *running) browser(a *authority) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.root)
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true, DisableKeepAlives: true,
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, s.listener.Addr().String())
			},
		},
	}
}

// A server obtains the certificate of its domain from an ACME server that validates it on either port. The
// server serves HTTP/2 with the certificate, stores it where only its owner can read it, and redirects
// visitors of the other port.
func TestCertificate(t *testing.T) {
	for _, c := range []struct {
		name  string
		https func(*running) int // where the authority asks
	}{
		{"by TLS-ALPN-01", func(s *running) int { return port(s.listener) }},
		{"by HTTP-01", func(s *running) int { return port(s.httpListener) }}, // which speaks no TLS
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newAuthority(t)
			s := newCertified(t, a)
			a.begin(t, port(s.httpListener), c.https(s))
			s.begin()
			answer := kit.Get[*http.Response](t)(s.browser(a).Get(s.URL() + "/ladders"))
			answer.Body.Close()
			if !strings.HasPrefix(s.URL(), "https://"+domain+":") || answer.StatusCode != 200 || answer.ProtoMajor != 2 || answer.Header.Get("Strict-Transport-Security") == "" {
				t.Errorf("%s: %s by %s, %v", s.URL(), answer.Status, answer.Proto, answer.Header)
			}
			if leaf := answer.TLS.PeerCertificates[0]; !slices.Equal(leaf.DNSNames, []string{domain}) {
				t.Errorf("the certificate is for %v", leaf.DNSNames)
			}
			dir := s.Dir.Certificates()
			kit.Must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				info := kit.Get[os.FileInfo](t)(d.Info())
				if mode := info.Mode().Perm(); mode != 0o600 && path != dir || path == dir && mode != 0o700 {
					t.Errorf("%s has the mode %s", path, mode)
				}
				return err
			}))
			plain, one := "http://"+s.httpListener.Addr().String(), http.Client{CheckRedirect: s.browser(a).CheckRedirect}
			moved := kit.Get[*http.Response](t)(one.Get(plain + "/bots?page=2"))
			moved.Body.Close()
			if got := moved.Header.Get("Location"); moved.StatusCode != http.StatusMovedPermanently || got != s.URL()+"/bots?page=2" {
				t.Errorf("without TLS: %s to %q", moved.Status, got)
			}
			posted := kit.Get[*http.Response](t)(one.Post(plain+"/api/v1/tokens", "application/json", strings.NewReader("{}")))
			posted.Body.Close()
			if posted.StatusCode != http.StatusBadRequest {
				t.Errorf("a token asked for without TLS: %s", posted.Status)
			}
		})
	}
}

// A server that finds a certificate in its directory serves with it, and replaces it while it runs when less than
// a third of its time is left.
func TestCertificateRenewed(t *testing.T) {
	a := newAuthority(t)
	s := newCertified(t, a)
	said := new(kit.Output)
	s.Log = slog.New(slog.NewTextHandler(io.MultiWriter(said, t.Output()), nil))
	a.begin(t, port(s.httpListener), port(s.listener))
	key := kit.Get[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	old := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{domain}, NotBefore: time.Now().AddDate(0, 0, -80), NotAfter: time.Now().AddDate(0, 0, 10).UTC().Truncate(time.Second)}
	der := kit.Get[[]byte](t)(x509.CreateCertificate(rand.Reader, old, old, key.Public(), key))
	private := kit.Get[[]byte](t)(x509.MarshalECPrivateKey(key))
	kit.Must(t, os.Mkdir(s.Dir.Certificates(), 0o700))
	kit.Must(t, os.WriteFile(filepath.Join(s.Dir.Certificates(), domain), append(
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...), 0o600))
	s.begin()
	kit.Until(t, "a certificate of the authority is used", func() bool {
		answer, err := s.browser(a).Get(s.URL() + "/healthz") // an error while the old one is used
		if err == nil {
			answer.Body.Close()
		}
		return err == nil
	})
	if text := said.String(); !strings.Contains(text, "expires="+old.NotAfter.Format("2006-01-02T15:04:05")) {
		t.Errorf("the server did not serve with the certificate in its directory, which expires at %v: %s", old.NotAfter, text)
	}
}

// CheckDomain rejects names for which no certificate can be obtained.
func TestCertificateErrors(t *testing.T) {
	for _, name := range []string{"", "arena", "https://arena.example", "arena.example:443", "Arena.example", "127.0.0.1", "arena.example.", "a b.example"} {
		if err := CheckDomain(name); err == nil || !strings.HasPrefix(err.Error(), "domain cannot be "+strconv.Quote(name)) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := CheckDomain(domain); err != nil {
		t.Error(err)
	}
}

// If a server has no proxy, only its own machine may see the metrics.
func TestOwnMachine(t *testing.T) {
	h := loopbackOnly(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for address, want := range map[string]int{"127.0.0.1:1234": 200, "[::1]:1234": 200, "192.0.2.1:1234": 403, "": 403} {
		r, w := httptest.NewRequest(http.MethodGet, "/metrics", nil), httptest.NewRecorder()
		r.RemoteAddr = address
		if h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%q gets %d", address, w.Code)
		}
	}
}

// The printed address is one that other machines can reach. Without TLS there is a warning.
func TestAddresses(t *testing.T) {
	t.Parallel()
	out := reachableIP(net.IPv6unspecified)
	if out.IsUnspecified() {
		t.Errorf("the machine's own address is %v", out)
	}
	for _, c := range []struct {
		listen, url, local string
		unencrypted        bool
	}{
		{"127.0.0.1:0", "http://127.0.0.1:", "http://127.0.0.1:", false},
		{"0.0.0.0:0", "http://" + out.String() + ":", "http://127.0.0.1:", true},
		{"[::]:0", "http://" + out.String() + ":", "http://127.0.0.1:", true},
	} {
		l := kit.Get[net.Listener](t)(net.Listen("tcp", c.listen))
		s := &Server{listener: l}
		if !strings.HasPrefix(s.URL(), c.url) || !strings.HasPrefix(s.LocalURL(), c.local) || s.IsUnencrypted() != c.unencrypted {
			t.Errorf("%s: %s, on its machine %s, unencrypted: %t", c.listen, s.URL(), s.LocalURL(), s.IsUnencrypted())
		}
		kit.Must(t, l.Close())
	}
}
