package wire

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// ConnectionFailure returns a description for users of why a connection to a server failed with err, and what to try.
func ConnectionFailure(err error) string {
	const check = ": check the address, and that the server runs"
	var name *net.DNSError
	var number syscall.Errno
	var slow net.Error
	var host x509.HostnameError
	var issuer x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		return fmt.Sprintf("there is no address of the name %q", name.Name) + check
	case errors.Is(err, http.ErrSchemeMismatch):
		return "it has no https: begin the address with http://"
	case errors.As(err, &host) && len(host.Certificate.DNSNames) > 0:
		return fmt.Sprintf("its certificate is not for %s, but for %s: give the address with that name", host.Host, strings.Join(host.Certificate.DNSNames, ", "))
	case errors.As(err, &issuer):
		return "this machine does not trust whoever has signed its certificate: name the file with the certificate of the signer in SSL_CERT_FILE"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("its certificate is valid from %s to %s: set the clock of this machine, or ask the operator of the server for a new certificate", invalid.Cert.NotBefore.Format("2006-01-02"), invalid.Cert.NotAfter.Format("2006-01-02"))
	case errors.As(err, &slow) && slow.Timeout():
		return "it does not answer" + check
	case errors.As(err, &number):
		return number.Error() + check
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it closed the connection" + check
	}
	return err.Error() + check
}
