package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
)

// Link is a connection to NATS. After an interruption it reconnects by itself, until it is closed.
type Link struct {
	*nats.Conn
	Name string // name of the NATS user, which for a worker is the name of the machine
	url  string
	log  *slog.Logger

	mu          sync.Mutex
	state       linkState
	stateChange chan struct{} // closed when the state changes
}

// linkState is the state of a Link. The handlers of the NATS client change it.
type linkState int

const (
	stateConnecting  linkState = iota // not connected yet, or the connection was lost
	stateUnreachable                  // the same after a failed attempt to connect, which is logged
	stateConnected
	stateRefused // NATS refuses the credentials; the client tries again
)

// Dial connects to NATS at url with the credentials in file. If no server answers, it tries again until ctx ends.
func Dial(ctx context.Context, url, file string, log *slog.Logger) (*Link, error) {
	creds, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("credentials: %w: timba admin worker add prints such a file", err)
	}
	claims, auth, err := readCreds(file, creds)
	if err != nil {
		return nil, err
	}
	options := []nats.Option{auth, nats.RetryOnFailedConnect(true)}
	if certificatesIn(creds) != nil { // otherwise the scheme of the URL decides about TLS
		options = append(options, nats.Secure(clientTLS(creds)))
	}
	l, err := connect(url, claims.Name, log, options...)
	if err != nil { // the URL is not an address; after other errors it tries again
		return nil, fmt.Errorf("nats: %q is not the address of a NATS server: try one such as nats://arena.example.org:4222", url)
	}
	if err := l.wait(ctx); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// readCreds parses NATS credentials. creds is the content of the credentials file, and file its name for
// errors. claims are the claims of the user. A connection with the option auth uses the credentials.
func readCreds(file string, creds []byte) (claims *jwt.UserClaims, auth nats.Option, err error) {
	bad := func(error) (*jwt.UserClaims, nats.Option, error) {
		return nil, nil, fmt.Errorf("credentials: %q is not a file of credentials: timba admin worker add prints one", file)
	}
	token, err := jwt.ParseDecoratedJWT(creds)
	if err != nil {
		return bad(err)
	}
	claims, err = jwt.DecodeUserClaims(token)
	if err != nil {
		return bad(err)
	}
	pair, err := jwt.ParseDecoratedUserNKey(creds)
	if err != nil {
		return bad(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		return bad(err)
	}
	return claims, nats.UserJWTAndSeed(token, string(seed)), nil
}

// Intervals and timeouts of a Link.
const (
	// authTime is how long the server waits for the credentials of a new connection.
	authTime = 15 * time.Second
	// serverPing is how often the server pings a client. It is longer than authTime, because a client that still
	// waits for the answer to its credentials takes a ping for an error.
	serverPing    = 20 * time.Second
	reconnectWait = time.Second
	clientPing    = 5 * time.Second // two unanswered pings end the connection
	// dialTime is the timeout for opening a connection. It is long because all workers connect at once when a
	// server starts, and connections that are given up and tried again would delay all others.
	dialTime = 10 * time.Second
)

func newLink(url, name string, log *slog.Logger) *Link {
	return &Link{Name: name, url: url, log: log, stateChange: make(chan struct{})}
}

// connect opens a connection called name to NATS at url. options are applied after the options that all connections
// have.
func connect(url, name string, log *slog.Logger, options ...nats.Option) (l *Link, err error) {
	l = newLink(url, name, log)
	options = append([]nats.Option{
		nats.Name(name), nats.CustomInboxPrefix(inboxPrefix(name)),
		nats.Timeout(dialTime), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait), nats.IgnoreAuthErrorAbort(),
		nats.PingInterval(clientPing), nats.MaxPingsOutstanding(2),
		nats.ReconnectBufSize(-1), // the callers send again what cannot be sent now
		nats.ConnectHandler(func(*nats.Conn) { l.handleConnected() }),
		nats.ReconnectHandler(func(c *nats.Conn) {
			l.handleConnected()
			log.Info("connected to NATS again", "url", c.ConnectedUrl())
		}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { l.handleLost(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) {
			if !l.handleRefused(err) {
				l.handleUnreachable(err)
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if !l.handleRefused(err) {
				log.Warn("NATS reports an error", "err", err)
			}
		}),
	}, options...)
	l.Conn, err = nats.Connect(url, options...)
	return l, err
}

func (l *Link) current() (linkState, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state, l.stateChange
}

// await waits until the link has the given state. If ctx ends first, it returns an error.
func (l *Link) await(ctx context.Context, wanted linkState) error {
	for {
		state, changed := l.current()
		if state == wanted {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// enter sets the state of the link to state, but only if its current state is one of the values in the argument from.
// It reports whether it has set the state.
func (l *Link) enter(state linkState, from ...linkState) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(from, l.state) {
		return false
	}
	l.state = state
	close(l.stateChange)
	l.stateChange = make(chan struct{})
	return true
}

func (l *Link) handleConnected() {
	l.enter(stateConnected, stateConnecting, stateUnreachable, stateRefused)
}

func (l *Link) handleLost(err error) {
	l.enter(stateConnecting, stateConnected)
	if err != nil {
		l.log.Warn("the connection to NATS is lost", "err", err)
	}
}

func (l *Link) handleUnreachable(err error) {
	if l.enter(stateUnreachable, stateConnecting) {
		l.log.Warn("nobody answers as NATS: trying again until somebody does", "url", l.url, "err", err)
	}
}

// refusals lists the errors of the NATS client that mean that NATS refuses the credentials.
var refusals = []error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired}

var errRefused = errors.New("NATS refuses the credentials: they were removed, or are of another server: stop this program, " +
	"or start it again with new ones; timba admin worker add on the server makes those of a worker")

// handleRefused reports whether err means that NATS refuses the credentials. If so, it sets the state of the link
// to stateRefused.
func (l *Link) handleRefused(err error) bool {
	if !slices.ContainsFunc(refusals, func(refusal error) bool { return errors.Is(err, refusal) }) {
		return false
	}
	if l.enter(stateRefused, stateConnecting, stateUnreachable, stateConnected) {
		l.log.Error(errRefused.Error(), "name", l.Name, "err", err)
	}
	return true
}

// ask sends data as a request on a NATS subject and returns the answer. If there is no answer within PartTime, or if
// the connection is lost, it returns an error.
func (l *Link) ask(ctx context.Context, subject string, data []byte) ([]byte, error) {
	state, changed := l.current()
	switch state {
	case stateConnected:
	case stateRefused:
		return nil, errRefused
	default:
		return nil, nats.ErrDisconnected
	}
	limited, cancel := context.WithTimeout(ctx, PartTime)
	defer cancel()
	go func() {
		select {
		case <-changed:
			cancel()
		case <-limited.Done():
		}
	}()
	msg, err := l.RequestWithContext(limited, subject, data)
	switch {
	case err == nil:
		return msg.Data, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, nats.ErrReconnectBufExceeded): // the connection is lost, and requests are not buffered
		return nil, nats.ErrDisconnected
	}
	select {
	case <-changed:
		if state, _ := l.current(); state == stateRefused {
			return nil, errRefused
		}
		return nil, nats.ErrDisconnected
	default:
		return nil, err
	}
}

// wait waits for the first connection. It detects refused credentials itself, because the NATS client does not
// call its handlers before the first connection.
func (l *Link) wait(ctx context.Context) error {
	for status := l.StatusChanged(nats.CONNECTED, nats.CLOSED, nats.RECONNECTING); ; {
		if err := l.LastError(); err != nil {
			l.handleRefused(err)
		}
		switch l.Status() {
		case nats.CONNECTED:
			l.handleConnected()
			return nil
		case nats.CLOSED:
			return fmt.Errorf("nats: %w", errors.Join(nats.ErrConnectionClosed, l.LastError()))
		}
		select {
		case <-status:
		case <-ctx.Done():
			if state, _ := l.current(); state == stateRefused {
				return fmt.Errorf("worker %q: %w", l.Name, errRefused)
			}
			return fmt.Errorf("nats: nobody answers: %w", errors.Join(ctx.Err(), l.LastError()))
		}
	}
}
