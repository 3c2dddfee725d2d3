package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/referee/match"
)

// DispatcherOptions are the options of a Dispatcher.
type DispatcherOptions struct {
	Dir string // directory for the keys and the packed bots
	// Listen is the address on which the NATS server in this process accepts workers. If it is empty, no
	// worker can connect. Port 0 means any free port.
	Listen string
	// Certificate is the TLS certificate for Listen. If it is nil, the server creates a certificate and
	// includes it in the credentials of workers.
	Certificate *tls.Certificate
	// URL is the address of an existing NATS cluster. If it is set, the dispatcher uses that cluster and starts
	// no server in this process. Creds is the path of the file with the credentials for the cluster.
	URL, Creds string
	// BuildDir returns the directory with the built files of a bot. It builds the bot again if necessary.
	BuildDir func(context.Context, attempt.Entrant) (dir string, err error)
	// Sandbox confines all bots except those that are part of timba. A machine whose sandbox has a lower level than
	// Sandbox.Level is refused. If Sandbox is nil, bots run without a sandbox.
	Sandbox    *match.Sandbox
	Registerer prometheus.Registerer // registers the metrics; if it is nil, they are not published
	Log        *slog.Logger          // if it is nil, nothing is logged
	// AckTime is how long a match may be missing from the heartbeats of its machine before it counts as lost. If it
	// is 0, the constant AckTime applies.
	AckTime time.Duration
}

// Dispatcher lets other machines play matches for a server: it sends jobs to them and waits for their results. It
// implements runner.Fleet. Its methods are safe for concurrent use.
type Dispatcher struct {
	DispatcherOptions
	embeddedServer *embeddedServer // nil if DispatcherOptions.URL is set
	link           *Link
	builds         *builds
	metrics        *dispatcherMetrics
	checks         *checkSlots
	changes        chan struct{}

	ending  context.Context
	end     context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex
	machines map[string]*machine
	attempts awaitedAttempts
}

// OpenDispatcher returns a Dispatcher that runs a NATS server in this process or, if o.URL is set, uses the
// NATS cluster there. The caller must call Close.
func OpenDispatcher(ctx context.Context, o DispatcherOptions) (*Dispatcher, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.AckTime == 0 {
		o.AckTime = AckTime
	}
	h := &Dispatcher{
		DispatcherOptions: o, metrics: newDispatcherMetrics(o.Registerer),
		changes: make(chan struct{}, 1), checks: newCheckSlots(runtime.GOMAXPROCS(0)),
		machines: map[string]*machine{}, attempts: newAwaitedSet(),
	}
	h.ending, h.end = context.WithCancel(context.WithoutCancel(ctx))
	if err := h.open(ctx); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

func (h *Dispatcher) open(ctx context.Context) error {
	if h.URL != "" && h.Listen != "" {
		return errors.New("fleet: --cluster opens this server's own NATS: leave out --nats, or --cluster")
	}
	if err := h.connect(ctx); err != nil {
		return err
	}
	var err error
	if h.builds, err = openBuilds(filepath.Join(h.Dir, "bots"), h.Log); err != nil {
		return err
	}
	h.attempts.adoptionEnd = time.Now().Add(h.AckTime)
	for subject, handle := range map[string]nats.MsgHandler{
		machinesSubject("*"): h.handleHeartbeat, resultsSubject("*"): h.handleResult, filesSubject("*"): h.handleFile,
	} {
		if _, err := h.link.Subscribe(subject, handle); err != nil {
			return fmt.Errorf("nats: %w", err)
		}
	}
	h.running.Go(h.monitor)
	return nil
}

func (h *Dispatcher) connect(ctx context.Context) (err error) {
	if h.URL != "" {
		if err := checkServer(h.Creds); err != nil {
			return err
		}
		if h.link, err = Dial(ctx, h.URL, h.Creds, h.Log); err != nil {
			return err
		}
		if maxPayload := h.link.MaxPayload(); maxPayload < MaxMessage {
			return fmt.Errorf("fleet: the NATS at %s has a max_payload of %d bytes: allow %d", h.link.ConnectedUrlRedacted(), maxPayload, MaxMessage)
		}
		return nil
	}
	keys, err := OpenKeys(h.Dir)
	if err != nil {
		return err
	}
	h.embeddedServer, err = startEmbedded(keys, h.Listen, h.Certificate, h.Log)
	if err != nil {
		h.embeddedServer = nil // it is not open
		return err
	}
	if h.link, err = h.embeddedServer.link("server", serverPermissions(), h.Log); err == nil {
		h.registerWire()
	}
	return err
}

// checkServer returns an error if file has the credentials of a worker instead of a server. A file that cannot
// be read is no error here, because Dial reports it.
func checkServer(file string) error {
	creds, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	claims, _, err := readCreds(file, creds)
	if err == nil && claims.Pub.Allow.Contains(resultsSubject(claims.Name)) {
		return fmt.Errorf("fleet: %q has the credentials of the worker %q: give the server those of a user of its own", file, claims.Name)
	}
	return nil
}

// Address returns the address to which workers connect, as host:port. It is empty if no worker can connect, or
// if the dispatcher uses an existing NATS cluster.
func (h *Dispatcher) Address() string {
	if h.embeddedServer == nil || h.Listen == "" {
		return ""
	}
	return h.embeddedServer.Addr().String()
}

// Close stops the dispatcher. Matches on other machines go on, and the machines retain the results for the next
// dispatcher.
func (h *Dispatcher) Close() {
	h.mu.Lock() // handleFile reads nothing more
	h.end()
	h.mu.Unlock()
	h.running.Wait()
	if h.link != nil {
		h.link.Close()
	}
	if h.embeddedServer != nil {
		h.embeddedServer.close()
	}
}

// Machines returns the connected machines, sorted by name.
func (h *Dispatcher) Machines() []attempt.WorkerInfo {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := []attempt.WorkerInfo{}
	for _, m := range h.machines {
		if m.session != "" {
			c := m.WorkerInfo
			c.Attempts = slices.Clone(c.Attempts)
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b attempt.WorkerInfo) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Changes returns a channel that receives a value after machines have connected, disconnected or changed.
func (h *Dispatcher) Changes() <-chan struct{} { return h.changes }

func (h *Dispatcher) notifyChanged() {
	select {
	case h.changes <- struct{}{}:
	default: // a signal is pending
	}
}

// monitor runs until Close. It detects lost matches and machines, disconnects removed workers, and monitors the
// connection to NATS.
func (h *Dispatcher) monitor() {
	heartbeats, list := time.Tick(HeartbeatTime), time.Tick(listEvery)
	connected := h.link.StatusChanged(nats.CONNECTED)
	defer h.link.RemoveStatusListener(connected)
	last, reachable := time.Now(), true
	for {
		select {
		case <-h.ending.Done():
			return
		case <-list:
			if h.embeddedServer != nil {
				h.embeddedServer.reload()
			}
		case <-connected: // no heartbeat could arrive before
			h.renewTimes()
			reachable = h.checkConnection(reachable)
		case <-heartbeats:
			// While this process was stopped or cut off no heartbeat could arrive.
			reachable = h.checkConnection(reachable)
			if !reachable || time.Since(last) > h.AckTime/2 {
				h.renewTimes()
			}
			last = time.Now()
			h.expire(last)
		}
	}
}

// listEvery is how often the dispatcher checks whether the file with the list of workers has changed. The
// command timba admin worker changes that file from another process, which cannot notify the dispatcher.
const listEvery = 500 * time.Millisecond

// Err returns an error if NATS cannot be reached, so that no job can be sent.
func (h *Dispatcher) Err() error {
	if status := h.link.Status(); status != nats.CONNECTED {
		return fmt.Errorf("nats: the server cannot be reached (%s)", status)
	}
	return nil
}

// checkConnection reports whether NATS can be reached. before is the result of the previous call. If the result has
// changed, checkConnection logs that.
func (h *Dispatcher) checkConnection(before bool) (reachable bool) {
	err := h.Err()
	switch {
	case err != nil && before:
		h.metrics.down.Set(1)
		h.Log.Error("the fleet cannot go on: machines keep their results", "err", err)
	case err == nil && !before:
		h.metrics.down.Set(0)
		h.Log.Info("the fleet goes on")
	}
	return err == nil
}
