package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/cluster"
	"github.com/timba-arena/timba/ladder/submission"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/sandbox/interpreter"
)

func (s *Server) pipeline() *submission.Pipeline {
	p := submission.New(s.Store, s.Config)
	p.Log = s.Log
	p.Room, p.Level = s.room, s.Level
	if now := s.Database.Now; now != nil {
		p.Now = now
	}
	return p
}

// Cluster says how workers on other machines reach the server through the message system NATS. If it is zero,
// no other machine can play matches.
type Cluster struct {
	Listen           string // the address on which the server runs NATS itself; "" means that it does not
	Certificate, Key string // names of PEM files for that address; if "", the server creates a certificate
	URL, Creds       string // the address and the credentials file of an existing NATS cluster to use instead
}

// openDispatcher connects to NATS and returns the dispatcher that gives matches to other machines. If s.Cluster is
// zero, it returns nil. p provides the built bots for the other machines.
func (s *Server) openDispatcher(ctx context.Context, registry *prometheus.Registry, p *submission.Pipeline) (*cluster.Dispatcher, error) {
	if s.Cluster.Listen == "" && s.Cluster.URL == "" {
		return nil, nil
	}
	var certificate *tls.Certificate
	if c := s.Cluster; c.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(c.Certificate, c.Key)
		if err != nil {
			return nil, fmt.Errorf("cluster: the certificate in %s and the key in %s cannot be used: %w", c.Certificate, c.Key, err)
		}
		certificate = &pair
	}
	bots := p.Sandbox()
	if bots != nil {
		bots.Level = s.Config.Sandbox // other machines must have this level
	}
	dispatcher, err := cluster.OpenDispatcher(ctx, cluster.DispatcherOptions{
		Dir:    s.Dir.Fleet(),
		Listen: s.Cluster.Listen, Certificate: certificate,
		URL: s.Cluster.URL, Creds: s.Cluster.Creds,
		Sandbox:    bots,
		Registerer: registry,
		Log:        s.Log,
		BuildDir: func(ctx context.Context, b attempt.Entrant) (dir string, err error) {
			v, err := s.Store.Versions.Find(ctx, b.Version)
			if err == nil {
				err = p.Restore(ctx, v)
			}
			return s.Dir.Bot(v.Hash), err
		},
	})
	if err == nil && s.Cluster.Listen != "" {
		s.Log.Info("workers can connect", "address", dispatcher.Address())
	}
	return dispatcher, err
}

func (s *Server) localMachine() attempt.WorkerInfo {
	return attempt.WorkerInfo{
		Version: s.Version, Protocol: cluster.Protocol, Arch: runtime.GOARCH, OS: runtime.GOOS,
		Sandbox: sandbox.Probe().Level.String(), Cores: s.Cores, Memory: s.room.Total,
	}
}

// host answers questions of the runner about the machine on which the server runs.
type host struct {
	dir          string              // for temporary files
	sandbox      *match.Sandbox      // the sandbox of bots; nil if they run without one
	dispatcher   *cluster.Dispatcher // for other machines; nil if there are none
	interpreters map[string]bool
}

// Interpreters returns the version of each interpreter, by name, on this machine.
func (h *host) Interpreters() map[string]string { return interpreter.Versions() }

// HasInterpreter reports whether the interpreter called name is installed on this machine. It caches the
// answer and must not be called concurrently.
func (h *host) HasInterpreter(name string) bool {
	found, known := h.interpreters[name]
	if !known {
		_, err := interpreter.Find(name, "")
		found, h.interpreters[name] = err == nil, err == nil
	}
	return found
}

// Check returns an error if this machine cannot play (see CheckMachine), or if the connection to NATS, over which
// other machines get matches, has failed.
func (h *host) Check(ctx context.Context) error {
	if h.dispatcher != nil && h.dispatcher.Err() != nil {
		return h.dispatcher.Err()
	}
	return CheckMachine(ctx, h.dir, h.sandbox)
}
