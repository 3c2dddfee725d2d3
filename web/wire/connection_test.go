package wire

import (
	"crypto/x509"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The description of a failed connection says what failed and what to try.
func TestConnectionFailure(t *testing.T) {
	t.Parallel()
	expired := x509.CertificateInvalidError{Reason: x509.Expired, Cert: &x509.Certificate{NotBefore: time.Unix(0, 0).UTC(), NotAfter: time.Unix(0, 0).UTC()}}
	for want, err := range map[string]error{
		`there is no address of the name "nobody": check the address`:                        &net.DNSError{Name: "nobody"},
		"connection refused: check the address":                                              syscall.ECONNREFUSED,
		"it does not answer: check the address":                                              &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded},
		"its certificate is not for localhost, but for a.example, b.example: give":           x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"a.example", "b.example"}}, Host: "localhost"},
		"its certificate is valid from 1970-01-01 to 1970-01-01: set the clock":              expired,
		"this machine does not trust whoever has signed its certificate: name the file with": x509.UnknownAuthorityError{},
		"else: check the address, and that the server runs":                                  errors.New("else"),
	} {
		if got := ConnectionFailure(err); !strings.HasPrefix(got, want) {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}
