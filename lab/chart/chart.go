// Package chart writes plots to files. Check comes before what takes long to compute, Save after it.
package chart

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// Check refuses a file of another kind than Save can write; "" is no file.
func Check(file string) error {
	if file != "" && !slices.Contains([]string{"svg", "png", "pdf"}, kind(file)) {
		return fmt.Errorf("bench: the plot %q is not .svg, .png or .pdf", file)
	}
	return nil
}

func kind(file string) string { return strings.TrimPrefix(filepath.Ext(file), ".") }

// Save writes a plot of 18 by 12 centimetres to a file that Check allows.
func Save(p *plot.Plot, file string) error {
	canvas, err := p.WriterTo(18*vg.Centimeter, 12*vg.Centimeter, kind(file))
	if err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err := canvas.WriteTo(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
