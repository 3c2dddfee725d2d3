package cluster

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	renameio "github.com/google/renameio/v2/maybe"
)

// certificateName is the name in the certificate that the server makes itself. Workers know
// the certificate from their credentials, so that it need not be the host's.
const certificateName = "timba"

// certificateYears is for how long they are valid.
const certificateYears = 20

// openCertificate reads the server's own certificate with its key, or makes it.
func openCertificate(path string) (c tls.Certificate, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if data, err = makeCertificate(); err == nil {
			err = renameio.WriteFile(path, data, 0o600)
		}
	}
	if err != nil {
		return c, fmt.Errorf("fleet: %w", err)
	}
	if c, err = tls.X509KeyPair(data, data); err != nil {
		return c, fmt.Errorf("fleet: %s: %w: delete it, and give all workers new credentials", path, err)
	}
	return c, nil
}

// makeCertificate returns a certificate that is signed by itself, and its key, in PEM.
func makeCertificate() (file []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		Subject:     pkix.Name{Organization: []string{"timba"}},
		DNSNames:    []string{certificateName},
		NotBefore:   now.AddDate(0, 0, -1), // clocks differ
		NotAfter:    now.AddDate(certificateYears, 0, 0),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return append(certificatePEM(der), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...), err
}

// certificatePEM returns a certificate as workers have it in their credentials.
func certificatePEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// clientTLS returns the configuration of a worker: the server's certificate is the one in
// the credentials, of an authority there or, for the name that the worker dials, of one that this machine trusts.
func clientTLS(creds []byte) *tls.Config {
	pinned := x509.NewCertPool()
	pinned.AppendCertsFromPEM(certificatesIn(creds))
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // VerifyConnection does it
		VerifyConnection: func(c tls.ConnectionState) error {
			o := x509.VerifyOptions{Roots: pinned, DNSName: certificateName, Intermediates: x509.NewCertPool()}
			for _, between := range c.PeerCertificates[1:] {
				o.Intermediates.AddCert(between)
			}
			if _, err := c.PeerCertificates[0].Verify(o); err == nil {
				return nil
			}
			if o.DNSName = c.ServerName; o.DNSName == "" { // an address has no name that could be checked
				return errors.New("the certificate is not that of the server in the credentials: connect by the name of the server")
			}
			if _, err := c.PeerCertificates[0].Verify(o); err == nil { // of a cluster with an authority of its own
				return nil
			}
			o.Roots = nil
			_, err := c.PeerCertificates[0].Verify(o)
			return err
		},
	}
}

// certificatesIn returns the certificates in a file of credentials, from the first on.
func certificatesIn(creds []byte) []byte {
	i := bytes.Index(creds, []byte("-----BEGIN CERTIFICATE-----"))
	if i < 0 {
		return nil
	}
	return creds[i:]
}
