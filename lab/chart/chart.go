// Package chart writes plots to files. Check comes before what takes long to compute, Save after it.
package chart

import (
	"fmt"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// Check refuses a file of another kind than Save can write; "" is no file.
func Check(file string) error {
	if file != "" && !slices.Contains([]string{".svg", ".png", ".pdf"}, filepath.Ext(file)) {
		return fmt.Errorf("bench: the plot %q is not .svg, .png or .pdf", file)
	}
	return nil
}

// Save writes a plot of 18 by 12 centimetres to a file that Check allows.
func Save(p *plot.Plot, file string) error { return p.Save(18*vg.Centimeter, 12*vg.Centimeter, file) }
