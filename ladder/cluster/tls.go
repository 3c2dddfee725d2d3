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
)

// certificateName is the name in the certificate that the server creates for itself. It need not be the name of
// the host, because the credentials of workers contain the certificate.
const certificateName = "timba"

// certificateYears is how long a certificate is valid.
const certificateYears = 20

// openCertificate reads the server's own certificate and its key from the file at path. If the file does not exist,
// it creates the certificate, the key and the file.
func (k *Keys) openCertificate(path string) (c tls.Certificate, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if data, err = makeCertificate(); err != nil {
			return c, fmt.Errorf("fleet: %w", err)
		}
		err = k.writeSecret(path, data)
	} else if err != nil {
		err = keysError(err)
	}
	if err != nil {
		return c, err
	}
	if c, err = tls.X509KeyPair(data, data); err != nil {
		return c, fmt.Errorf("fleet: %s: %w: delete it, and give all workers new credentials", path, err)
	}
	return c, nil
}

// makeCertificate returns a self-signed certificate and its key, in PEM.
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

func certificatePEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// clientTLS returns the TLS configuration of a worker. The worker accepts a server whose certificate is in creds. It
// also accepts a server whose certificate is for the host name in its address, if a trusted authority has signed the
// certificate. Trusted are the authorities in creds and those that this machine trusts.
func clientTLS(creds []byte) *tls.Config {
	pinned := x509.NewCertPool()
	pinned.AppendCertsFromPEM(certificatesIn(creds))
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // VerifyConnection verifies instead
		VerifyConnection: func(c tls.ConnectionState) error {
			o := x509.VerifyOptions{Roots: pinned, DNSName: certificateName, Intermediates: x509.NewCertPool()}
			for _, intermediate := range c.PeerCertificates[1:] {
				o.Intermediates.AddCert(intermediate)
			}
			if _, err := c.PeerCertificates[0].Verify(o); err == nil {
				return nil
			}
			if o.DNSName = c.ServerName; o.DNSName == "" { // an IP address cannot be verified
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

// certificatesIn returns the certificates (PEM) at the end of a file of credentials, or nil if there are none.
func certificatesIn(creds []byte) []byte {
	i := bytes.Index(creds, []byte("-----BEGIN CERTIFICATE-----"))
	if i < 0 {
		return nil
	}
	return creds[i:]
}
