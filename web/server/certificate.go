package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
	"golang.org/x/net/idna"

	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/web/middleware"
)

// CheckDomain returns an error unless name is a domain name for which a server can obtain a certificate: in
// lower case ASCII, with a dot, and not an IP address.
func CheckDomain(name string) error {
	ascii, err := idna.Lookup.ToASCII(name)
	if err != nil || ascii != name || !strings.Contains(name, ".") || strings.HasSuffix(name, ".") || net.ParseIP(name) != nil {
		return fmt.Errorf("domain cannot be %q: try a name that leads to this machine, in lower case and without https://, such as arena.example.org", name)
	}
	return nil
}

// openDomain creates the manager that obtains the certificate. It also starts to listen on the address for plain
// HTTP, where visitors are redirected to https.
func (s *Server) openDomain() error {
	c := s.Config.Certificate
	var err error
	if s.manager, err = certificateManager(c, s.HTTP.Domain, s.Dir.Certificates()); err != nil {
		return err
	}
	if s.httpListener, err = net.Listen("tcp", c.HTTP); err != nil {
		return listenError(c.HTTP, "the key certificate.http", err)
	}
	return nil
}

// enableTLS makes the server web use https. It returns the server for plain HTTP, which redirects visitors to https
// and answers the challenges of the ACME server.
func (s *Server) enableTLS(web *http.Server) (plain *http.Server) {
	web.TLSConfig = s.manager.TLSConfig()
	return middleware.NewServer(s.manager.HTTPHandler(http.HandlerFunc(s.redirectToHTTPS)), s.Log)
}

// certificateManager returns a manager that obtains the certificate of domain from the ACME server in c,
// stores it in the directory dir, and renews it when a third of its time is left.
func certificateManager(c config.Certificate, domain, dir string) (*autocert.Manager, error) {
	client := &acme.Client{DirectoryURL: c.Directory}
	if c.Root != "" {
		pem, err := os.ReadFile(c.Root)
		if err != nil {
			return nil, fmt.Errorf("certificate.root: %w", err)
		}
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool()}
		if !transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("certificate.root: %q has no certificate: name a file with one in PEM", c.Root)
		}
		client.HTTPClient = &http.Client{Transport: transport}
	}
	own := func(_ context.Context, host string) error {
		if name, _, _ := strings.Cut(host, ":"); name != domain {
			return fmt.Errorf("this is the server of %s alone", domain)
		}
		return nil
	}
	return &autocert.Manager{Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(dir), HostPolicy: own, Client: client}, nil
}

// redirectToHTTPS redirects visitors to the same page by https. It refuses methods other than GET and HEAD,
// because the body of such a request may contain a secret.
func (s *Server) redirectToHTTPS(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "use "+s.URL(), http.StatusBadRequest)
		return
	}
	http.Redirect(w, r, s.URL()+r.URL.RequestURI(), http.StatusMovedPermanently)
}

// These are the intervals between two checks of the certificate, and between attempts to obtain a new one after a
// failure. ACME servers allow few attempts in an hour.
const (
	certificateInterval = time.Hour
	certificateRetry    = 15 * time.Minute
)

// monitorCertificate obtains the certificate before the first visitor needs it. Until ctx ends, it logs each
// new certificate, and logs an error if the certificate is not renewed in time. If ctx ends during an attempt
// to obtain a certificate, it returns after the attempt.
func (s *Server) monitorCertificate(ctx context.Context) {
	hello := &tls.ClientHelloInfo{ServerName: s.HTTP.Domain, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}}
	var last *x509.Certificate
	for {
		wait := certificateInterval
		c, err := s.manager.GetCertificate(hello)
		switch {
		case err != nil:
			s.Log.Error("there is no certificate: the name must lead to this machine, and its ports 80 and 443 must be open to the ACME server",
				"domain", s.HTTP.Domain, "directory", s.Config.Certificate.Directory, "err", err)
			wait = certificateRetry
		case last == nil || !last.Equal(c.Leaf):
			last = c.Leaf
			s.Log.Info("a certificate is used", "domain", s.HTTP.Domain, "expires", last.NotAfter)
		case time.Until(last.NotAfter) < last.NotAfter.Sub(last.NotBefore)/4:
			s.Log.Error("the certificate is not renewed", "domain", s.HTTP.Domain, "expires", last.NotAfter)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

func loopbackOnly(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil || !net.ParseIP(host).IsLoopback() {
			http.Error(w, "the metrics are for this machine alone", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}
