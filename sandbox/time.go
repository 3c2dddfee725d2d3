package sandbox

import "time"

// Tick is the unit of the times in /proc/stat and /proc/PID/stat: USER_HZ is 100 everywhere.
const Tick = time.Second / 100

// Time is what the processes of a program have had of the processors so far.
type Time struct {
	CPU    time.Duration // of all threads, also of those that have ended
	Alive  time.Duration // of the threads that still run
	Waited time.Duration // how long those that still run were ready to run, and did not, until they last ran
}

// add adds the time of other processes.
func (t *Time) add(o Time) {
	t.CPU += o.CPU
	t.Alive += o.Alive
	t.Waited += o.Waited
}

// Ended returns the CPU time of the threads that have ended.
func (t Time) Ended() time.Duration { return max(0, t.CPU-t.Alive) }
