package fit

import (
	"fmt"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/features"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// ThirdsLayers is a text for ParseLayers. It stands for three hidden layers whose units are 1/2, 1/4 and 1/6
// of the inputs, rounded down, as in some nets of the program of R. Arjonilla's bachelor's thesis (UOC, 2024).
const ThirdsLayers = "thirds"

// StudyLayers is a text for ParseLayers. It stands for layers of 50 and 25 units, as in other nets of R.
// Arjonilla's thesis.
const StudyLayers = "50-25"

// LayersParam returns the setting for the hidden layers. Its text, which ParseLayers reads, is stored in *to.
func LayersParam(to *string) run.Param {
	return run.Param{Name: "layers", Target: to, Help: "the units of the hidden `LAYERS`, or thirds: 1/2, 1/4 and 1/6 of the inputs"}
}

// ParseLayers returns the numbers of units of the hidden layers for a text such as "50-25" or ThirdsLayers. For
// ThirdsLayers they depend on the number of inputs, which follows from m (a game with its number of players) and
// the encoding.
func ParseLayers(text string, m cards.Mode, encoding string) (layers []int, err error) {
	if text == ThirdsLayers {
		e, err := features.NewEncoder(m, encoding)
		if err != nil {
			return nil, err
		}
		n := e.Inputs()
		return []int{n / 2, n / 4, n / 6}, nil
	}
	if layers, err = net.ParseSizes(text); err != nil {
		return nil, fmt.Errorf("%w, or %s", err, ThirdsLayers)
	}
	return layers, nil
}
