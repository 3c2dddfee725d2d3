package bench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/match"

	"github.com/timba-arena/timba/protocol"
)

// floorTime returns the mean time of a turn without a referee. It is the minimum with which the time of the referee
// is compared. floorTime starts a process of b for each seat on the given core. It writes the recorded lines in
// script to the processes and reads a line for each turn, without clocks, rules or checks. It repeats the script
// until the given number of games is played.
func floorTime(b match.Contestant, core int, script []referee.Traffic, games int) (time.Duration, error) {
	type result struct {
		turn time.Duration
		err  error
	}
	c := make(chan result)
	go func() {
		runtime.LockOSThread() // never unlocked, so the thread ends with the goroutine
		if err := cores.Bind(core); err != nil {
			c <- result{0, err}
			return
		}
		turn, err := measureFloor(b, script, games)
		c <- result{turn, err}
	}()
	r := <-c
	return r.turn, r.err
}

func measureFloor(b match.Contestant, script []referee.Traffic, games int) (time.Duration, error) {
	bots := make([]*bareBot, 0, 2)
	defer func() {
		for _, p := range bots {
			p.close()
		}
	}()
	last := 0
	for _, t := range script {
		for len(bots) <= t.Seat {
			p, err := startBare(b)
			if err != nil {
				return 0, err
			}
			bots = append(bots, p)
		}
		last = max(last, t.Deal)
	}
	// The greetings are exchanged here, before the measurement.
	var blocks []referee.Traffic
	for _, t := range script {
		if bytes.Equal(t.Lines, protocol.AppendGreeting(nil)) {
			if err := bots[t.Seat].exchange(t.Lines, true); err != nil {
				return 0, err
			}
		} else {
			blocks = append(blocks, t)
		}
	}
	asks := make([]bool, len(blocks))
	turns := 0
	for i, t := range blocks {
		asks[i] = bytes.Contains(t.Lines, []byte("\nturn ")) || bytes.HasPrefix(t.Lines, []byte("turn "))
		if asks[i] {
			turns++
		}
	}
	rounds := max(1, games/(last+1))
	began := time.Now()
	for range rounds {
		for i, t := range blocks {
			if err := bots[t.Seat].exchange(t.Lines, asks[i]); err != nil {
				return 0, err
			}
		}
	}
	return time.Since(began) / time.Duration(rounds*turns), nil
}

// bareBot is the process of a bot with the file descriptors of its pipes.
type bareBot struct {
	process       *os.Process
	stdin, stdout int
	buf           [protocol.MaxLine]byte
}

func startBare(b match.Contestant) (*bareBot, error) {
	var in, out [2]int
	if err := syscall.Pipe2(in[:], syscall.O_CLOEXEC); err != nil {
		return nil, err
	}
	if err := syscall.Pipe2(out[:], syscall.O_CLOEXEC); err != nil {
		return nil, err
	}
	stdin, stdout := os.NewFile(uintptr(in[0]), "stdin"), os.NewFile(uintptr(out[1]), "stdout")
	defer stdin.Close()
	defer stdout.Close()
	p, err := os.StartProcess(b.Command[0], b.Command, &os.ProcAttr{Dir: b.Dir, Files: []*os.File{stdin, stdout, os.Stderr}})
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", b.Name, err)
	}
	return &bareBot{process: p, stdin: in[1], stdout: out[0]}, nil
}

func (p *bareBot) exchange(lines []byte, answer bool) error {
	if _, err := syscall.Write(p.stdin, lines); err != nil {
		return err
	}
	if !answer {
		return nil
	}
	for n := 0; ; {
		m, err := syscall.Read(p.stdout, p.buf[n:])
		if err != nil {
			return fmt.Errorf("the bot does not answer: %w", err)
		}
		if m == 0 {
			return errors.New("the bot has ended without an answer")
		}
		if n += m; slices.Contains(p.buf[n-m:n], '\n') {
			return nil
		}
	}
}

func (p *bareBot) close() {
	p.process.Kill()
	p.process.Wait()
	syscall.Close(p.stdin)
	syscall.Close(p.stdout)
}
