package match

import (
	"fmt"
	"sync"
	"time"

	"github.com/timba-arena/timba/referee"
)

// Observer has functions that are called during a match. Each may be nil.
type Observer struct {
	// Trace receives every line. It is called from all workers.
	Trace func(referee.Traffic)
	// Watch receives each game when it has begun, after each move, and when it has ended. It is called from
	// all workers, while no clock runs, and the game waits until it returns.
	Watch func(*referee.Game)
	// Trouble receives a *VoidError or a *BusyError. Its calls overlap neither each other nor those with
	// finished games.
	Trouble func(error)
}

// VoidError reports a game that will be played again: the referee failed in it, or the machine was too busy
// (Err is a *StarvedError).
type VoidError struct {
	Deal, Rotation int
	Err            error
}

func (v *VoidError) Error() string {
	return fmt.Sprintf("deal %d, rotation %d is void and will be played again: %v", v.Deal, v.Rotation, v.Err)
}

// Unwrap returns why the game is void.
func (v *VoidError) Unwrap() error { return v.Err }

// BusyError reports that other programs use the cores of the bots. A match reports it at most once a minute.
type BusyError struct {
	OthersCPU time.Duration // time that other programs used of each second of the cores
}

func (b *BusyError) Error() string {
	return fmt.Sprintf("the machine is busy: other programs used %d of 1,000 ms", b.OthersCPU.Milliseconds())
}

// busyInterval is the shortest time between two reports that the machine is busy.
const busyInterval = time.Minute

// reports passes on finished games and troubles, one at a time.
type reports struct {
	onGame    func(*referee.GameResult) error
	onTrouble func(error)

	mu                  sync.Mutex
	othersCPU, coreTime time.Duration // in the turns with credit since the last *BusyError; see fairclock.Monitor.Busy
	last                time.Time     // time of the last *BusyError
}

func (r *reports) finish(game *referee.GameResult) error {
	if r.onGame == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.onGame(game)
}

func (r *reports) void(v *VoidError) {
	if r.onTrouble == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.onTrouble(v)
}

// busy adds the results of fairclock.Monitor.Busy, and reports the sum at most once in busyInterval.
func (r *reports) busy(othersCPU, coreTime time.Duration) {
	if r.onTrouble == nil || coreTime == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.othersCPU, r.coreTime = r.othersCPU+othersCPU, r.coreTime+coreTime
	if now := time.Now(); now.Sub(r.last) >= busyInterval {
		r.onTrouble(&BusyError{time.Duration(float64(r.othersCPU) / float64(r.coreTime) * float64(time.Second))})
		r.last, r.othersCPU, r.coreTime = now, 0, 0
	}
}
