package fit

import (
	"fmt"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/features"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// ThirdsLayers are the layers of the study's nets that depend on the inputs: 1/2, 1/4 and 1/6 of them.
const ThirdsLayers = "thirds"

// StudyLayers are the layers of the study's other nets.
const StudyLayers = "50-25"

// LayersParam returns the setting of the layers of a net as in the study.
func LayersParam(to *string) run.Param {
	return run.Param{Name: "layers", Target: to, Help: "the units of the hidden `LAYERS`, or thirds: 1/2, 1/4 and 1/6 of the inputs"}
}

// ParseLayers returns the layers of a text as in 50-25, or of Thirds.
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
