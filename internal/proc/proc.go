// Package proc reads data about processes from /proc on Linux.
package proc

import "time"

// Tick is the unit of the times in /proc/stat and /proc/PID/stat. USER_HZ is 100 on all systems.
const Tick = time.Second / 100
