// Package train lists the methods by which bots for Brisca and Tute can be trained.
package train

import (
	"fmt"
	"strings"

	"github.com/timba-arena/timba/lab/train/dataset"
	"github.com/timba-arena/timba/lab/train/ga"
	"github.com/timba-arena/timba/lab/train/rl"
	"github.com/timba-arena/timba/lab/train/rollout"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/lab/train/sl"
)

// Methods lists all training methods.
var Methods = []*run.Method{&dataset.Method, &sl.Method, &rl.Method, &ga.Method, &rollout.Method}

// Find returns the method with the given name. The error for an unknown name lists the known ones.
func Find(name string) (*run.Method, error) {
	var names []string
	for _, m := range Methods {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return nil, fmt.Errorf("method %q does not exist: try %s", name, strings.Join(names, ", "))
}
