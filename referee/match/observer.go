package match

import (
	"fmt"
	"sync"
	"time"

	"github.com/timba-arena/timba/referee"
)

// Observer contains functions that a Match calls while it is played. Each may be nil.
type Observer struct {
	// Trace receives all lines to and from the bots. Several workers may call it at the same time.
	Trace func(referee.Traffic)
	// Watch receives each game when it has begun, after each move, and when it has ended. Several workers may call it
	// at the same time. No bot's clock runs during the call, and the game waits until Watch returns.
	Watch func(*referee.Game)
	// Trouble receives a *VoidError or a *BusyError. No two calls of it happen at the same time, nor a call of it and
	// of the function that receives finished games.
	Trouble func(error)
}

// VoidError reports a game that does not count and will be played again. If Err is a *StarvedError, other programs
// kept the machine too busy. Otherwise Err is a failure of the referee.
type VoidError struct {
	Deal, Rotation int
	Err            error
}

func (v *VoidError) Error() string {
	return fmt.Sprintf("deal %d, rotation %d is void and will be played again: %v", v.Deal, v.Rotation, v.Err)
}

func (v *VoidError) Unwrap() error { return v.Err }

// BusyError reports that other programs use the cores on which the bots run. A match reports it at most once a
// minute.
type BusyError struct {
	OthersCPU time.Duration // time that other programs used of each second of the cores
}

func (b *BusyError) Error() string {
	return fmt.Sprintf("the machine is busy: other programs used %d of 1,000 ms", b.OthersCPU.Milliseconds())
}

// busyInterval is the shortest time between two reports that the machine is busy.
const busyInterval = time.Minute

// reports calls the functions that receive the finished games and the problems of a match. It never makes two of
// these calls at the same time.
type reports struct {
	onGame    func(*referee.GameResult) error
	onTrouble func(error)

	mu                  sync.Mutex
	othersCPU, coreTime time.Duration // in the turns with credit since the last *BusyError; see fairclock.Monitor.Busy
	last                time.Time     // time of the last *BusyError
}

func (r *reports) reportGame(game *referee.GameResult) error {
	if r.onGame == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.onGame(game)
}

func (r *reports) reportVoid(v *VoidError) {
	if r.onTrouble == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.onTrouble(v)
}

// reportBusy adds to the sums of CPU time used by other programs and of the total time of the cores, which
// fairclock.Monitor.Busy returns. At most once in busyInterval it reports these sums as a *BusyError.
func (r *reports) reportBusy(othersCPU, coreTime time.Duration) {
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
