package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// process is a running process of a measurement, the server or the process of all workers.
type process struct {
	address  string       // of its HTTP server
	nats     string       // address at which workers connect to the server
	shutDown func() error // stops the process and waits for its end
}

// start starts the process that p describes, and waits until its metrics can be requested. The process runs until
// shutDown is called or ctx ends. Its error output is written to log.
func (p fleetChild) start(ctx context.Context, log io.Writer) (*process, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, exe, "bench", "fleet")
	cmd.Env = append(os.Environ(), FleetEnv+"="+string(text))
	cmd.Stderr = log
	cmd.WaitDelay = 10 * time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	cmd.Cancel = in.Close
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	started, serving, ended := new(process), make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			var l struct{ Level, Msg, Listen, Address string }
			if json.Unmarshal(lines.Bytes(), &l) != nil || l.Level != "INFO" {
				fmt.Fprintln(log, lines.Text())
			}
			switch l.Msg {
			case "workers can connect": // is logged before "serving"
				started.nats = l.Address
			case "serving":
				serving <- l.Listen
			}
		}
		if err := lines.Err(); err != nil {
			fmt.Fprintln(log, "the server's log cannot be read on:", err)
			io.Copy(io.Discard, out) // a full pipe would block the server
		}
	}()
	started.shutDown = sync.OnceValue(func() error {
		in.Close() // an error means that the process has ended
		<-ended
		return cmd.Wait()
	})
	select {
	case started.address = <-serving:
		return started, nil
	case <-ended:
		return nil, errors.Join(errors.New("the server does not start"), started.shutDown())
	}
}

// get sends a GET request to the process and returns the body of the response. Any status but 200 is an error.
func (p *process) get(ctx context.Context, path string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("the server answers %s with %s", path, resp.Status)
	}
	return data, err
}

// metrics has the values of the Prometheus metrics of a process, by name. A name includes the labels.
type metrics map[string]float64

// The names of metrics. The first two are those of collectors.NewProcessCollector.
const (
	metricCPU      = "process_cpu_seconds_total"
	metricMemory   = "process_resident_memory_bytes"
	metricIn       = `timba_fleet_wire_bytes_total{direction="in"}`
	metricOut      = `timba_fleet_wire_bytes_total{direction="out"}`
	metricMachines = `timba_machines{state="ready"}`
	metricFinished = "timba_matches_finished_total{"
)

func (m metrics) finishedMatches() (n float64) {
	for name, value := range m {
		if strings.HasPrefix(name, metricFinished) {
			n += value
		}
	}
	return n
}

func (p *process) metrics(ctx context.Context) (metrics, error) {
	text, err := p.get(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	m := metrics{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		i := strings.LastIndexByte(line, ' ')
		if value, err := strconv.ParseFloat(line[i+1:], 64); err == nil && i > 0 {
			m[line[:i]] = value
		}
	}
	return m, nil
}

// pause waits for the duration d and returns nil. If ctx ends first, it returns the error of ctx.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
