// Package clustertest runs NATS servers for tests in the way that docs/operating.md describes: each server is
// a process with the configuration of that page. Begin with Start.
package clustertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/timba-arena/timba/internal/kit"
)

// Mode is the name of the mode in which a test binary runs as a NATS server; see refereetest.Modes.
const Mode = "nats"

// Main runs a NATS server with a configuration file, until it is killed.
func Main(file string) error {
	o, err := natsserver.ProcessConfigFile(file)
	if err != nil {
		return err
	}
	o.NoSigs = true
	s, err := natsserver.NewServer(o)
	if err != nil {
		return err
	}
	s.ConfigureLogger()
	s.Start()
	s.WaitForShutdown()
	return nil
}

// Cluster is a running NATS server and the files of its operator.
type Cluster struct {
	URL       string
	Creds     string // file with the credentials of the server's user
	Key       string // file with the key of the account
	t         testing.TB
	conf      string
	cmd       *exec.Cmd
	forwardTo func(address string) // makes URL lead to address
}

// Start starts a NATS server, with or without TLS. page is the Markdown text that contains its configuration. The
// server keeps its URL after Kill and Run. It is killed at the end of the test.
func Start(t testing.TB, page string, tls bool) *Cluster {
	t.Helper()
	c := &Cluster{t: t}
	c.configure(page, tls)
	c.Run()
	t.Cleanup(c.Kill)
	return c
}

// Run starts the server again after Kill, and waits until it listens.
func (c *Cluster) Run() {
	c.t.Helper()
	c.cmd = exec.Command(os.Args[0], Mode, c.conf)
	c.cmd.Stderr = os.Stderr
	kit.Must(c.t, c.cmd.Start())
	var ports struct{ Nats []string }
	file := filepath.Join(filepath.Dir(c.conf), fmt.Sprintf("%s_%d.ports", filepath.Base(os.Args[0]), c.cmd.Process.Pid))
	kit.Until(c.t, "NATS listens", func() bool {
		data, err := os.ReadFile(file)
		return err == nil && json.Unmarshal(data, &ports) == nil
	})
	_, address, _ := strings.Cut(ports.Nats[0], "://")
	c.forwardTo(address)
}

// Kill kills the server with SIGKILL. It does nothing if the server does not run.
func (c *Cluster) Kill() {
	if c.cmd == nil {
		return
	}
	c.forwardTo("")
	c.cmd.Process.Kill()
	c.cmd.Wait()
	c.cmd = nil
}

// confBlock returns the code block in the Markdown text page that has the configuration of NATS.
func confBlock(t testing.TB, page string) string {
	t.Helper()
	data := kit.Get[[]byte](t)(os.ReadFile(page))
	_, conf, found := strings.Cut(string(data), "```conf\n")
	if !found {
		t.Fatalf("%s has no block conf", page)
	}
	conf, _, _ = strings.Cut(conf, "```")
	return conf
}

// configure writes the configuration in the Markdown text page to a file, with the paths and ports of this test. tls
// says whether the server uses TLS.
func (c *Cluster) configure(page string, tls bool) {
	c.t.Helper()
	dir := c.t.TempDir()
	conf := confBlock(c.t, page)
	var address string
	address, c.forwardTo = kit.Forward(c.t)
	_, port, err := net.SplitHostPort(address)
	kit.Must(c.t, err)
	conf = c.replace(conf, `listen: \S+`, "listen: 127.0.0.1:-1\nports_file_dir: "+strconv.Quote(dir))
	c.URL = "nats://localhost:" + port
	var authority []byte
	if tls {
		authority = c.certificate(dir)
		conf = c.replace(conf, `cert_file: \S+`, "cert_file: "+strconv.Quote(filepath.Join(dir, "server.pem")))
		conf = c.replace(conf, `key_file: \S+`, "key_file: "+strconv.Quote(filepath.Join(dir, "server-key.pem")))
		c.URL = "tls://localhost:" + port
	} else {
		conf = c.replace(conf, `(?s)\ntls \{.*?\n\}`, "")
	}
	c.conf = filepath.Join(dir, "nats.conf")
	c.write(c.conf, []byte(conf))
	c.accounts(dir, authority)
}

func (c *Cluster) replace(text, pattern, replacement string) string {
	c.t.Helper()
	re := regexp.MustCompile(pattern)
	if !re.MatchString(text) {
		c.t.Fatalf("the configuration has no %s", pattern)
	}
	return re.ReplaceAllLiteralString(text, replacement)
}

func (c *Cluster) write(file string, data []byte) {
	c.t.Helper()
	kit.Must(c.t, os.WriteFile(file, data, 0o600))
}

// accounts creates what the nsc commands in the page create: the operator, the account, the server's user, and
// the file resolver.conf.
func (c *Cluster) accounts(dir string, authority []byte) {
	c.t.Helper()
	operator, operatorID := c.pair(nkeys.CreateOperator())
	_, systemID := c.pair(nkeys.CreateAccount())
	account, accountID := c.pair(nkeys.CreateAccount())
	user, userID := c.pair(nkeys.CreateUser())

	claims := jwt.NewOperatorClaims(operatorID)
	claims.SystemAccount = systemID
	operatorJWT := kit.Get[string](c.t)(claims.Encode(operator))
	systemJWT := kit.Get[string](c.t)(jwt.NewAccountClaims(systemID).Encode(operator))
	a := jwt.NewAccountClaims(accountID)
	a.Name = "TIMBA"
	accountJWT := kit.Get[string](c.t)(a.Encode(operator))
	u := jwt.NewUserClaims(userID)
	u.Name = "server"
	userJWT := kit.Get[string](c.t)(u.Encode(account))
	preload := kit.Get[[]byte](c.t)(json.Marshal(map[string]string{systemID: systemJWT, accountID: accountJWT}))
	c.write(filepath.Join(dir, "resolver.conf"), fmt.Appendf(nil, "operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: %s\n",
		operatorJWT, systemID, preload))
	seed := kit.Get[[]byte](c.t)(user.Seed())
	creds := kit.Get[[]byte](c.t)(jwt.FormatUserConfig(userJWT, seed))
	c.Creds = filepath.Join(dir, "server.creds")
	c.write(c.Creds, append(creds, authority...))
	key := kit.Get[[]byte](c.t)(account.Seed())
	c.Key = filepath.Join(dir, accountID+".nk")
	c.write(c.Key, key)
}

func (c *Cluster) pair(pair nkeys.KeyPair, err error) (nkeys.KeyPair, string) {
	c.t.Helper()
	kit.Must(c.t, err)
	public, err := pair.PublicKey()
	kit.Must(c.t, err)
	return pair, public
}

// certificate writes the certificate and the key of the server. It returns the certificate of the authority.
func (c *Cluster) certificate(dir string) (authority []byte) {
	c.t.Helper()
	made := func(t, parent *x509.Certificate, by *ecdsa.PrivateKey) ([]byte, *ecdsa.PrivateKey) {
		key := kit.Get[*ecdsa.PrivateKey](c.t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
		if by == nil {
			by = key
		}
		der := kit.Get[[]byte](c.t)(x509.CreateCertificate(rand.Reader, t, parent, key.Public(), by))
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), key
	}
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	root.Subject.CommonName = "authority of the test"
	authority, rootKey := made(root, root, nil)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: root.NotBefore, NotAfter: root.NotAfter, DNSNames: []string{"localhost"},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	leaf.Subject.CommonName = "localhost"
	certificate, key := made(leaf, root, rootKey)
	der := kit.Get[[]byte](c.t)(x509.MarshalPKCS8PrivateKey(key))
	c.write(filepath.Join(dir, "server.pem"), certificate)
	c.write(filepath.Join(dir, "server-key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	return authority
}
