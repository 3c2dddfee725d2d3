package tournament

import (
	"cmp"
	"fmt"
	"runtime"

	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/rules/text"
)

// Workers returns the core of each of n worker threads, in the form that Play expects: the number of a core, or
// cores.Any. n = 0 means one worker for each core of the machine. affinity "on" binds each worker to a core, "off"
// binds none, and "auto" binds them if there are at least n cores. Workers returns an error for any other affinity,
// or if it is "on" and this system cannot bind threads.
func Workers(n int, affinity string) ([]int, error) {
	all := cores.All()
	n = cmp.Or(n, len(all), 1)
	bind := n <= len(all)
	switch affinity {
	case "auto":
	case "on":
		if len(all) == 0 {
			return nil, fmt.Errorf("affinity cannot be on: this system does not bind processes to cores")
		}
		bind = true
	case "off":
		bind = false
	default:
		return nil, fmt.Errorf("affinity cannot be %q: try auto, on or off", affinity)
	}
	workers := make([]int, n)
	for i := range workers {
		workers[i] = cores.Any
		if bind {
			workers[i] = all[i%len(all)]
		}
	}
	return workers, nil
}

// CrowdingNotice returns a warning for the user if n, the number of games at the same time, is larger than the number
// of cores. Otherwise it returns "".
func CrowdingNotice(n int) string {
	have := cmp.Or(len(cores.All()), runtime.NumCPU())
	if n <= have {
		return ""
	}
	return fmt.Sprintf("--concurrency %d is more than the %s of this machine: bots wait for one another, for which they get credit, and nothing is faster; choose --concurrency %d or leave it out",
		n, text.Count(have, "core"), have)
}
