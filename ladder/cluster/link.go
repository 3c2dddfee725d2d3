package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"sync"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
)

// Link is a connection to NATS under a name. It connects again by itself as long as it is open.
type Link struct {
	*nats.Conn
	Name string // of the user: a machine's, or anything of a server

	mu        sync.Mutex
	connected context.Context // until the connection is lost that there is now
	lose      context.CancelFunc
	refused   context.Context // until NATS refuses the credentials; new when it takes them again
	refuse    context.CancelFunc
	missed    bool // it was logged that nobody answers, since there was a connection
}

// Dial connects to NATS with a file of credentials. Where nobody answers it tries again
// until the context ends.
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
	if certificates(creds) != nil { // else the URL tells whether there is TLS
		options = append(options, nats.Secure(clientTLS(creds)))
	}
	l, err := connect(url, claims.Name, log, options...)
	if err != nil {
		return nil, err
	}
	if err := l.wait(ctx, log); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// readCreds reads the JWT and the key in a file of credentials.
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

// How a link connects again.
const (
	reconnectWait = time.Second
	pingEvery     = 5 * time.Second // and the link is dead after two that are not answered
	// dialTime is how long a connection may take to begin: when a server starts, all workers come at
	// once, and those that give up too soon only make it later for all.
	dialTime = 10 * time.Second
)

// connect connects under a name.
func connect(url, name string, log *slog.Logger, options ...nats.Option) (l *Link, err error) {
	l = &Link{Name: name}
	l.connected, l.lose = context.WithCancel(context.Background())
	l.refused, l.refuse = context.WithCancel(context.Background())
	options = append(options,
		nats.Name(name), nats.CustomInboxPrefix(inboxPrefix(name)),
		nats.Timeout(dialTime), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait), nats.IgnoreAuthErrorAbort(),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2),
		nats.ReconnectBufSize(-1), // what cannot be sent now is sent again by who wants it
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			l.lost()
			if err != nil {
				log.Warn("the connection to NATS is lost", "err", err)
			}
		}),
		nats.ReconnectHandler(func(c *nats.Conn) {
			l.taken()
			log.Info("connected to NATS again", "url", c.ConnectedUrl())
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) {
			if !l.refusedBy(err, log) {
				l.missedBy(err, url, log)
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if !l.refusedBy(err, log) {
				log.Warn("NATS reports an error", "err", err)
			}
		}),
	)
	if l.Conn, err = nats.Connect(url, options...); err != nil {
		return nil, fmt.Errorf("nats: %q is not the address of a NATS server: try one such as nats://arena.example.org:4222", url)
	}
	return l, nil
}

// refusal matches what NATS says to credentials that are not, or no longer, valid.
var refusal = regexp.MustCompile(`(?i)authorization violation|authentication (expired|revoked)`)

var errRefused = errors.New("NATS refuses the credentials: they were removed, or are of another server: stop this program, " +
	"or start it again with new ones; timba admin worker add on the server makes those of a worker")

// refusal returns a context that ends when NATS refuses the credentials.
func (l *Link) refusal() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused
}

// refusedBy reports whether an error says that NATS refuses the credentials. It logs the first that does.
func (l *Link) refusedBy(err error, log *slog.Logger) bool {
	if !refusal.MatchString(err.Error()) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused.Err() == nil {
		log.Error(errRefused.Error(), "name", l.Name, "err", err)
	}
	l.refuse()
	return true
}

// missedBy logs the first error of a connection that cannot be made.
func (l *Link) missedBy(err error, url string, log *slog.Logger) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.missed {
		log.Warn("nobody answers as NATS: trying again until somebody does", "url", url, "err", err)
	}
	l.missed = true
}

// taken notes that NATS has taken the credentials.
func (l *Link) taken() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.missed = false
	if l.refused.Err() != nil {
		l.refused, l.refuse = context.WithCancel(context.Background())
	}
}

// lost ends what waits for an answer on a connection that is lost.
func (l *Link) lost() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lose()
	l.connected, l.lose = context.WithCancel(context.Background())
}

// ask sends a request and returns the answer. It waits for PartTime at most, and no longer than the connection
// lasts.
func (l *Link) ask(ctx context.Context, subject string, data []byte) ([]byte, error) {
	within, cancel := context.WithTimeout(ctx, PartTime)
	defer cancel()
	l.mu.Lock()
	connected := l.connected
	l.mu.Unlock()
	defer context.AfterFunc(connected, cancel)()
	msg, err := l.RequestWithContext(within, subject, data)
	switch {
	case err == nil:
		return msg.Data, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case l.refusal().Err() != nil:
		return nil, errRefused
	case connected.Err() != nil, errors.Is(err, nats.ErrReconnectBufExceeded): // nothing is kept for the next connection
		return nil, nats.ErrDisconnected
	}
	return nil, err
}

// wait waits for the first connection. Before it NATS tells no handler that the credentials are refused.
func (l *Link) wait(ctx context.Context, log *slog.Logger) error {
	for status := l.StatusChanged(nats.CONNECTED, nats.CLOSED, nats.RECONNECTING); ; {
		if err := l.LastError(); err != nil {
			l.refusedBy(err, log)
		}
		switch l.Status() {
		case nats.CONNECTED:
			l.taken()
			return nil
		case nats.CLOSED:
			return fmt.Errorf("nats: %w", errors.Join(nats.ErrConnectionClosed, l.LastError()))
		}
		select {
		case <-status:
		case <-ctx.Done():
			if l.refusal().Err() != nil {
				return fmt.Errorf("worker %q: %w", l.Name, errRefused)
			}
			return fmt.Errorf("nats: nobody answers: %w", errors.Join(ctx.Err(), l.LastError()))
		}
	}
}
