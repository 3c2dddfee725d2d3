//go:build soak && linux

package commands

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/kit"
)

// network connects the places in which the programs of a fleet run. If the test has the rights, each place is
// a network namespace, connected by a bridge. Otherwise all places are on the loopback, with a relay between
// each worker and the server.
type network struct {
	bridge *os.File // namespace of the bridge; nil: relays
	places []*place // the server's is the first
}

// place is where the programs of one machine run.
type place struct {
	number  int
	space   *os.File // its network namespace; nil: the test's own
	address string   // of the server, as this place sees it
	relay   *relay
	core    int // that its programs use
}

// clusterPort is the port of the server's NATS in its namespace.
const clusterPort = 4222

// newNetwork makes a place for a server and places for workers, and logs of which kind they are.
func newNetwork(t *testing.T, workers int) *network {
	t.Helper()
	n := &network{}
	t.Cleanup(n.close)
	cores := affinity(t)
	for i := range 1 + workers {
		n.places = append(n.places, &place{number: i, core: cores[i%len(cores)]})
	}
	if err := n.makeSpaces(); err == nil {
		t.Log("each machine has its own network namespace, process and directory")
		return n
	} else {
		n.close()
		t.Logf("each machine has its own process and directory, and relays are between them, not network namespaces: %v", err)
	}
	for _, p := range n.places[1:] {
		r := kit.Get[*relay](t)(newRelay())
		p.relay, p.address = r, r.listener.Addr().String()
	}
	return n
}

// affinity returns the cores that the test may use.
func affinity(t *testing.T) (cores []int) {
	t.Helper()
	var set unix.CPUSet
	kit.Must(t, unix.SchedGetaffinity(0, &set))
	for c := range len(set) * 64 {
		if set.IsSet(c) {
			cores = append(cores, c)
		}
	}
	return cores
}

// makeSpaces makes the namespaces. They have no names, so each disappears with the last program that uses it,
// however that program ends.
func (n *network) makeSpaces() (err error) {
	if n.bridge, err = newSpace(); err != nil {
		return err
	}
	if err := ip(n.bridge, "link add bridge type bridge", "link set bridge up"); err != nil {
		return err
	}
	for _, p := range n.places {
		if p.space, err = newSpace(); err != nil {
			return err
		}
		p.address = fmt.Sprintf("10.0.0.1:%d", clusterPort)
		there := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), p.space.Fd())
		err = errors.Join(
			ip(n.bridge, fmt.Sprintf("link add %s type veth peer name eth0 netns %s", p.port(), there)),
			ip(p.space, "link set lo up", fmt.Sprintf("addr add 10.0.0.%d/24 dev eth0", 1+p.number), "link set eth0 up"),
			ip(n.bridge, fmt.Sprintf("link set %s master bridge up", p.port())))
		if err != nil {
			return err
		}
	}
	return nil
}

// close ends the relays and releases the namespaces.
func (n *network) close() {
	if n.bridge != nil {
		n.bridge.Close()
		n.bridge = nil
	}
	for _, p := range n.places {
		if p.space != nil {
			p.space.Close()
			p.space = nil
		}
		if p.relay != nil {
			p.relay.close()
		}
	}
}

// port returns the name of a place's interface at the bridge.
func (p *place) port() string { return fmt.Sprintf("port%d", p.number) }

// listen returns the address on which the server must listen for workers.
func (n *network) listen() string {
	if n.bridge == nil {
		return "127.0.0.1:0"
	}
	return n.places[0].address
}

// server sets the address to which the relays connect.
func (n *network) server(address string) {
	for _, p := range n.places[1:] {
		if p.relay != nil {
			p.relay.to(address)
		}
	}
}

// cut drops all packets from and to a place silently, until heal is called.
func (n *network) cut(t *testing.T, p *place)  { t.Helper(); n.pass(t, p, false) }
func (n *network) heal(t *testing.T, p *place) { t.Helper(); n.pass(t, p, true) }

func (n *network) pass(t *testing.T, p *place, passes bool) {
	t.Helper()
	if p.relay != nil {
		p.relay.pass(passes)
		return
	}
	master := "nomaster" // its end leaves the bridge, and the line stays up
	if passes {
		master = "master bridge"
	}
	kit.Must(t, ip(n.bridge, fmt.Sprintf("link set %s %s", p.port(), master)))
}

// start starts a program in a place, on its core.
func (p *place) start(cmd *exec.Cmd) error {
	return apart(func() error {
		var set unix.CPUSet
		set.Set(p.core)
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			return err
		}
		if p.space != nil {
			if err := unix.Setns(int(p.space.Fd()), unix.CLONE_NEWNET); err != nil {
				return err
			}
		}
		return cmd.Start()
	})
}

// apart calls a function on a thread of its own, which ends afterwards. So changes to the thread affect only
// the programs that it starts.
func apart(do func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		done <- do()
	}()
	return <-done
}

// newSpace makes a network namespace.
func newSpace() (space *os.File, err error) {
	err = apart(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("unshare: %w", err)
		}
		space, err = os.Open("/proc/thread-self/ns/net")
		return err
	})
	return space, err
}

// ip runs commands of ip in a namespace.
func ip(space *os.File, commands ...string) error {
	cmd := exec.Command("ip", "-batch", "-")
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := apart(func() error {
		if err := unix.Setns(int(space.Fd()), unix.CLONE_NEWNET); err != nil {
			return err
		}
		return cmd.Run()
	})
	if err != nil {
		return fmt.Errorf("ip %q: %w: %s", commands, err, out.Bytes())
	}
	return nil
}

// relay forwards connections, or holds back their data while it is cut.
type relay struct {
	listener net.Listener
	mu       sync.Mutex
	changed  *sync.Cond
	target   string // "": nobody listens
	cut      bool
	closed   bool
	open     map[net.Conn]struct{}
}

func newRelay() (*relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{listener: l, open: map[net.Conn]struct{}{}}
	r.changed = sync.NewCond(&r.mu)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go r.serve(c)
		}
	}()
	return r, nil
}

func (r *relay) set(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
	r.changed.Broadcast()
}

func (r *relay) to(address string) { r.set(func() { r.target = address }) }
func (r *relay) pass(passes bool)  { r.set(func() { r.cut = !passes }) }

func (r *relay) close() {
	r.listener.Close()
	r.set(func() {
		r.closed = true
		for c := range r.open {
			c.Close()
		}
	})
}

// whole waits until the relay is not cut, and returns its target.
func (r *relay) whole() (target string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.cut && !r.closed {
		r.changed.Wait()
	}
	return r.target
}

// serve forwards one connection.
func (r *relay) serve(near net.Conn) {
	defer near.Close()
	far, err := net.Dial("tcp", r.whole())
	if err != nil {
		return
	}
	defer far.Close()
	r.set(func() { r.open[near], r.open[far] = struct{}{}, struct{}{} })
	defer r.set(func() { delete(r.open, near); delete(r.open, far) })
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
		both.Go(func() {
			io.Copy(holding{way[1], r}, way[0])
			r.whole() // the end of a connection is not seen either
			near.Close()
			far.Close()
		})
	}
	both.Wait()
}

// holding writes once the relay is not cut.
type holding struct {
	io.Writer
	relay *relay
}

func (h holding) Write(p []byte) (int, error) {
	h.relay.whole()
	return h.Writer.Write(p)
}
