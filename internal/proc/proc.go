// Package proc reads what Linux tells of processes in /proc.
package proc

import "time"

// Tick is the unit of the times in /proc/stat and /proc/PID/stat: USER_HZ is 100 everywhere.
const Tick = time.Second / 100
