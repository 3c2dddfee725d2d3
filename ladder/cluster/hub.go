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

// HubOptions are the options of a Hub.
type HubOptions struct {
	Dir string // of the keys and the packed bots
	// Listen is the address where the NATS server in this process is open to workers; "" for
	// none, port 0 for a free one.
	Listen string
	// Certificate is that of the address; nil: one that the server makes, which workers know
	// from their credentials.
	Certificate *tls.Certificate
	// URL and Creds are those of a NATS cluster that exists, instead of a server in this process.
	URL, Creds string
	// BuildDir returns the directory with the built files of a bot; it makes them again if need be.
	BuildDir func(context.Context, attempt.Bot) (dir string, err error)
	// Sandbox is that of all but house bots, on every machine, with the lowest level that a machine may
	// have; nil: none.
	Sandbox    *match.Sandbox
	Registerer prometheus.Registerer // nil: nobody sees the metrics
	Log        *slog.Logger          // nil: none
	// AckTime is how long a machine may not name an attempt before that is lost; 0: AckTime.
	AckTime time.Duration
}

// Hub is the server's side: it hands jobs to machines and waits for their results. It implements runner.Fleet.
type Hub struct {
	HubOptions
	embedded *embeddedServer // nil with a cluster that exists
	link     *Link
	builds   *builds
	metrics  *hubMetrics
	checks   *checkSlots
	changes  chan struct{}

	ending  context.Context
	end     context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex
	machines map[string]*machine
	attempts awaitedAttempts
}

// OpenHub starts the NATS server in this process, or connects to the one that there is.
func OpenHub(ctx context.Context, o HubOptions) (*Hub, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.AckTime == 0 {
		o.AckTime = AckTime
	}
	h := &Hub{
		HubOptions: o, metrics: newHubMetrics(o.Registerer),
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

func (h *Hub) open(ctx context.Context) error {
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
	for subject, take := range map[string]nats.MsgHandler{
		machinesSubject("*"): h.handleHeartbeat, resultsSubject("*"): h.handleResult, filesSubject("*"): h.handleFile,
	} {
		if _, err := h.link.Subscribe(subject, take); err != nil {
			return fmt.Errorf("nats: %w", err)
		}
	}
	h.running.Go(h.monitor)
	return nil
}

func (h *Hub) connect(ctx context.Context) (err error) {
	if h.URL != "" {
		if err := checkServer(h.Creds); err != nil {
			return err
		}
		if h.link, err = Dial(ctx, h.URL, h.Creds, h.Log); err != nil {
			return err
		}
		if most := h.link.MaxPayload(); most < MaxMessage {
			return fmt.Errorf("fleet: the NATS at %s has a max_payload of %d bytes: allow %d", h.link.ConnectedUrlRedacted(), most, MaxMessage)
		}
		return nil
	}
	keys, err := OpenKeys(h.Dir)
	if err != nil {
		return err
	}
	h.embedded, err = startEmbedded(keys, h.Listen, h.Certificate, h.Log)
	if err != nil {
		h.embedded = nil // not what is half open
		return err
	}
	if h.link, err = h.embedded.link("server", serverPermissions(), h.Log); err == nil {
		h.registerWire()
	}
	return err
}

// checkServer returns an error if a file of credentials is that of a worker. A file that cannot be read is
// left to Dial.
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

// Address returns where workers connect, as host:port; "" if they cannot.
func (h *Hub) Address() string {
	if h.embedded == nil || h.Listen == "" {
		return ""
	}
	return h.embedded.Addr().String()
}

// Close ends the hub. What is handed out stays with the machines, which keep its results for the next hub.
func (h *Hub) Close() {
	h.mu.Lock() // nothing is read for a machine from now on
	h.end()
	h.mu.Unlock()
	h.running.Wait()
	if h.link != nil {
		h.link.Close()
	}
	if h.embedded != nil && h.embedded.Server != nil {
		h.embedded.Shutdown()
		h.embedded.WaitForShutdown()
	}
}

// Machines returns the machines that are there, by name.
func (h *Hub) Machines() []attempt.Machine {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := []attempt.Machine{}
	for _, m := range h.machines {
		if m.session != "" {
			c := m.Machine
			c.Attempts = slices.Clone(c.Attempts)
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b attempt.Machine) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Changes receives after machines came, left or changed.
func (h *Hub) Changes() <-chan struct{} { return h.changes }

func (h *Hub) notifyChanged() {
	select {
	case h.changes <- struct{}{}:
	default: // it will be looked anyway
	}
}

// monitor looks for attempts that are lost, machines that are gone, workers that were removed, and the connection
// to NATS.
func (h *Hub) monitor() {
	heartbeats, list := time.Tick(HeartbeatTime), time.Tick(listEvery)
	connected := h.link.StatusChanged(nats.CONNECTED)
	defer h.link.RemoveStatusListener(connected)
	last, reachable := time.Now(), true
	for {
		select {
		case <-h.ending.Done():
			return
		case <-list:
			if h.embedded == nil {
				continue
			}
			if err := h.embedded.reload(); err != nil {
				h.Log.Warn("the list of workers cannot be read", "err", err)
			}
		case <-connected: // nobody was heard meanwhile
			h.renewTimes()
			reachable = h.checkConnection(reachable)
		case <-heartbeats:
			// Who was stopped or cut off has heard of nobody.
			reachable = h.checkConnection(reachable)
			if !reachable || time.Since(last) > h.AckTime/2 {
				h.renewTimes()
			}
			last = time.Now()
			h.expire(last)
		}
	}
}

// listEvery is how often the hub reads the list of workers again if its file has changed. The command timba admin
// worker changes the file from another process, which has no connection to the hub.
const listEvery = 500 * time.Millisecond

// Err returns why nothing can be handed out; nil while all is well.
func (h *Hub) Err() error {
	if status := h.link.Status(); status != nats.CONNECTED {
		return fmt.Errorf("nats: the server cannot be reached (%s)", status)
	}
	return nil
}

// checkConnection returns whether NATS can be reached, and reports it unless it was so before.
func (h *Hub) checkConnection(before bool) (reachable bool) {
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
