package middleware

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/service"
)

// newProxied returns a Middleware that trusts the proxies 127.0.0.1 and 10.0.0.0/8, for the site https://arena.example,
// and its log.
func newProxied() (*Middleware, *bytes.Buffer) {
	log := new(bytes.Buffer)
	c := new(config.Config)
	c.Site.URL = "https://arena.example"
	return &Middleware{Options: Options{
		Service: &service.Service{Options: service.Options{Config: c}},
		Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.0/8")},
		Log:     slog.New(slog.NewTextHandler(log, nil)),
	}}, log
}

// The address of a client is read in all forms that proxies send. A hostile client, which writes the beginning of the
// header, cannot choose its address.
func TestAddressOf(t *testing.T) {
	for _, c := range []struct {
		header, want string
		isReported   bool
	}{
		{"203.0.113.7", "203.0.113.7", false},
		{"203.0.113.7:54321", "203.0.113.7", false},
		{"2001:db8:1:2:3::4", "2001:db8:1:2::", false},
		{"[2001:db8:1:2:3::4]", "2001:db8:1:2::", false},
		{"[2001:db8:1:2:3::4]:54321", "2001:db8:1:2::", false},
		{`"[2001:db8:1:2:3::4]:54321"`, "2001:db8:1:2::", false},
		{`"203.0.113.7:1"`, "203.0.113.7", false},
		{"::ffff:203.0.113.7", "203.0.113.7", false},
		{"[::ffff:203.0.113.7]:80", "203.0.113.7", false},
		{"fe80::1%eth0", "fe80::", false},
		{"[fe80::1%eth0]:80", "fe80::", false},
		{" 203.0.113.7 ,\t10.1.2.3 , 127.0.0.1:80", "203.0.113.7", false},
		{"203.0.113.7,,", "203.0.113.7", false},
		{"10.1.2.3, 10.1.2.4", "10.1.2.3", false},
		{"198.51.100.1, 203.0.113.7", "203.0.113.7", false}, // the client wrote the first one
		{"127.0.0.1, 203.0.113.7", "203.0.113.7", false},
		{"hostile, 203.0.113.7", "203.0.113.7", false},
		{"203.0.113.7, unknown", "127.0.0.1", true},
		{"unknown, 10.1.2.3", "10.1.2.3", true},
		{"_hidden", "127.0.0.1", true},
		{"203.0.113.7:port", "127.0.0.1", true},
		{"203.0.113", "127.0.0.1", true},
		{"[203.0.113.7", "127.0.0.1", true},
		{`"`, "127.0.0.1", true},
		{"[]", "127.0.0.1", true},
		{strings.Repeat("x", 9000), "127.0.0.1", true},
		{"", "127.0.0.1", true},
		{" , ", "127.0.0.1", true},
	} {
		m, log := newProxied()
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = "127.0.0.1:40000"
		r.Header.Set("User-Agent", "Mozilla/5.0")
		r.Header.Set("X-Forwarded-For", c.header)
		for range 2 {
			if got := m.addressOf(r).String(); got != c.want {
				t.Errorf("%.60q is read as %s, want %s", c.header, got, c.want)
			}
		}
		if n := strings.Count(log.String(), "sends no address"); n > 1 || n == 1 != c.isReported || log.Len() > 1000 {
			t.Errorf("%.60q: the log says it %d times: %.1000s", c.header, n, log)
		}
	}
	m, log := newProxied()
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "127.0.0.1:40000"
	r.Header.Set("User-Agent", "timba/devel")
	if m.addressOf(r); log.Len() > 0 {
		t.Errorf("a command of timba on the machine of the proxy: %s", log)
	}
	r.RemoteAddr = "203.0.113.9:1"
	r.Header.Set("X-Forwarded-For", "198.51.100.1")
	if got := m.addressOf(r).String(); got != "203.0.113.9" {
		t.Errorf("a client that is no proxy chooses the address %s", got)
	}
}

// A page of this site is recognized behind proxies that replace Host or add a port to it, and no other page is.
func TestReadOrigin(t *testing.T) {
	for _, c := range []struct {
		from, host, forwarded, origin string
		isOurs                        bool
	}{
		{"203.0.113.9:1", "x", "", "https://x", true},
		{"203.0.113.9:1", "x:443", "", "https://x", true},
		{"203.0.113.9:1", "x:80", "", "http://x", true},
		{"203.0.113.9:1", "X", "", "https://x", true},
		{"203.0.113.9:1", "x:8443", "", "https://x:8443", true},
		{"127.0.0.1:1", "127.0.0.1:8080", "", "https://arena.example", true}, // site.url
		{"127.0.0.1:1", "127.0.0.1:8080", "x", "https://x", true},
		{"127.0.0.1:1", "127.0.0.1:8080", "x:443", "https://x", true},
		{"203.0.113.9:1", "127.0.0.1:8080", "x", "https://x", false}, // it is no trusted proxy
		{"203.0.113.9:1", "x:8443", "", "https://x", false},
		{"203.0.113.9:1", "x", "", "https://y", false},
		{"203.0.113.9:1", "x", "", "https://x.y", false},
		{"203.0.113.9:1", "x", "", "null", false},
		{"127.0.0.1:1", "127.0.0.1:8080", "", "http://arena.example", false},
		{"127.0.0.1:1", "127.0.0.1:8080", "", "https://arena.example.org", false},
	} {
		m, _ := newProxied()
		r := httptest.NewRequest("POST", "/", nil)
		r.RemoteAddr, r.Host = c.from, c.host
		r.Header.Set("Origin", c.origin)
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-Host", c.forwarded)
		}
		if got := http.NewCrossOriginProtection().Check(m.ReadOrigin(r)) == nil; got != c.isOurs {
			t.Errorf("%+v: it is of this site: %t", c, got)
		}
	}
}
