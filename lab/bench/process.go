package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// startTime is how long a process may take until it serves.
const startTime = 5 * time.Minute

// process is a program that serves its metrics, in a process of its own.
type process struct {
	url  string
	stop func() error // interrupts it, and waits for its end
}

// startProcess starts a program and waits until it serves. look gets each line of its output and
// returns the URL where the line tells it, else "". Its stdin has no end as long as this process lives.
func startProcess(ctx context.Context, cmd *exec.Cmd, log io.Writer, look func(line string) (url string)) (*process, error) {
	cmd.Stderr = log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	urls, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if url := look(lines.Text()); url != "" && len(urls) == 0 {
				urls <- url
			}
		}
	}()
	p := &process{stop: sync.OnceValue(func() error {
		cmd.Process.Signal(os.Interrupt) // an error: it has ended
		<-ended
		return cmd.Wait()
	})}
	select {
	case p.url = <-urls:
		return p, nil
	case <-ended:
		err = errors.New("the server does not start")
	case <-time.After(startTime):
		cmd.Process.Kill()
		err = fmt.Errorf("the server has not started in %s", startTime)
	}
	err = errors.Join(err, p.stop())
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return nil, err
}

// get returns what the process answers at a path.
func (p *process) get(ctx context.Context, path string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("the server answers %s with %s", path, resp.Status)
	}
	return resp.Body, nil
}

// metrics are those of a process, by name with labels.
type metrics map[string]float64

// The names of metrics; docs/operating.md has those of a server, collectors.NewProcessCollector the others.
const (
	metricCPU      = "process_cpu_seconds_total"
	metricMemory   = "process_resident_memory_bytes"
	metricIn       = `timba_fleet_wire_bytes_total{direction="in"}`
	metricOut      = `timba_fleet_wire_bytes_total{direction="out"}`
	metricMachines = `timba_machines{state="ready"}`
	metricFinished = "timba_matches_finished_total{"
)

// finished returns how many rated matches a server has finished.
func (m metrics) finished() (n float64) {
	for name, value := range m {
		if strings.HasPrefix(name, metricFinished) && !strings.Contains(name, `"unrated"`) {
			n += value
		}
	}
	return n
}

// metrics reads the metrics of the process.
func (p *process) metrics(ctx context.Context) (metrics, error) {
	body, err := p.get(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	defer body.Close()
	m := metrics{}
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		i := strings.LastIndexByte(lines.Text(), ' ')
		if i < 0 || lines.Text()[0] == '#' {
			continue
		}
		if value, err := strconv.ParseFloat(lines.Text()[i+1:], 64); err == nil {
			m[lines.Text()[:i]] = value
		}
	}
	return m, lines.Err()
}

// pause waits, or until the context ends, whose cause it returns.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// findTimba returns the program timba: the one that is named, or the one beside this program, or on
// the PATH.
func findTimba(named string) (string, error) {
	if named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			return "", fmt.Errorf("--timba: program %q is neither a file that can be run nor on the PATH", named)
		}
		return filepath.Abs(path)
	}
	if self, err := os.Executable(); err == nil {
		name := "timba"
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		beside := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	path, err := exec.LookPath("timba")
	if err != nil {
		return "", errors.New("bench: the program timba is neither beside timba-lab nor on the PATH: build it, or name it with --timba")
	}
	return filepath.Abs(path)
}
