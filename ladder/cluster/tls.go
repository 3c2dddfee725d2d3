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
	"math/big"
	"os"
	"time"
)

// certificateName is the name in the certificates that the server makes itself. Workers know
// the authority behind it from their credentials, so that it need not be the host's.
const certificateName = "timba"

const authorityYears = 20

// authority signs the server's certificate where the operator gives none.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// openAuthority reads an authority, or makes it.
func openAuthority(path string) (authority, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeAuthority(path)
	}
	if err != nil {
		return authority{}, fmt.Errorf("fleet: %w", err)
	}
	pair, err := tls.X509KeyPair(data, data)
	if err != nil {
		return authority{}, fmt.Errorf("fleet: %s: %w: delete it, and give all workers new credentials", path, err)
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return authority{}, fmt.Errorf("fleet: %s has no ECDSA key: delete it, and give all workers new credentials", path)
	}
	return authority{pair.Leaf, key}, nil
}

func makeAuthority(path string) (authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return authority{}, fmt.Errorf("fleet: %w", err)
	}
	template := template()
	template.Subject.CommonName = "timba authority"
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return authority{}, fmt.Errorf("fleet: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return authority{}, fmt.Errorf("fleet: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return authority{}, fmt.Errorf("fleet: %w", err)
	}
	a := authority{certificate, key}
	file := append(a.certificatePEM(), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...)
	return a, writeSecret(path, file)
}

// template returns what the certificates have in common. They are valid from a day ago: clocks
// differ.
func template() *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{Organization: []string{"timba"}},
		NotBefore:    now.AddDate(0, 0, -1),
		NotAfter:     now.AddDate(authorityYears, 0, 0),
	}
}

// certificatePEM returns what a worker knows the server by.
func (a authority) certificatePEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// serverTLS returns the configuration of a server with a certificate of the authority. It is
// made at each start, and its key is never written.
func (a authority) serverTLS() (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	template := template()
	template.DNSNames = []string{certificateName}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		MinVersion:   tls.VersionTLS13,
	}, nil
}

// clientTLS returns the configuration of a worker: the server's certificate is of the authority in
// the credentials or, for the name that the worker dials, of one that this machine trusts.
func clientTLS(creds []byte) *tls.Config {
	pinned := x509.NewCertPool()
	pinned.AppendCertsFromPEM(certificates(creds))
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

// certificates returns the certificates in a file of credentials, from the first on.
func certificates(creds []byte) []byte {
	i := bytes.Index(creds, []byte("-----BEGIN CERTIFICATE-----"))
	if i < 0 {
		return nil
	}
	return creds[i:]
}
