// Package proc reads data about processes from /proc on Linux.
package proc

import "time"

// Tick is the unit of the times in /proc/stat and /proc/PID/stat. On all systems it is a hundredth of a second
// (USER_HZ is 100).
const Tick = time.Second / 100
