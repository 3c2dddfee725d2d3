package site

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// The size of a sparkline in units of its view box.
const sparkWidth, sparkHeight = 96, 24

// sparkline returns values as a small line in SVG, with its ends as text for those who cannot
// see it; "" for fewer than two.
func (l *language) sparkline(values []float64) template.HTML {
	if len(values) < 2 {
		return ""
	}
	low, high := bounds(values)
	var b strings.Builder
	title := template.HTMLEscapeString(l.text("site.trend", "From", whole(values[0]), "To", whole(values[len(values)-1])))
	fmt.Fprintf(&b, `<svg class="spark" viewBox="0 0 %d %d" role="img" aria-label="%s"><title>%s</title><polyline points="`, sparkWidth, sparkHeight, title, title)
	for i, y := range values {
		fmt.Fprintf(&b, "%.1f,%.1f ", 2+float64(i)/float64(len(values)-1)*(sparkWidth-4), 2+(high-y)/(high-low)*(sparkHeight-4))
	}
	b.WriteString(`"/></svg>`)
	return template.HTML(b.String())
}

// bounds returns the least and the largest value, which are never equal.
func bounds(values []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, y := range values {
		low, high = min(low, y), max(high, y)
	}
	if high-low < 1 {
		low, high = low-1, high+1
	}
	return low, high
}

// point is a value of a chart. Label is what a pointer or the keyboard reads at it.
type point struct {
	X, Y  float64
	Label string
}

// chart is values as a line in SVG, drawn on the server. Template "chart" writes it, with the
// values as a table below. Points must be sorted by X and finite.
type chart struct {
	Title  string // what it shows
	XTitle string // what X counts
	Points []point
}

// The size of a chart in units of its view box, and the space around its area.
const (
	chartWidth, chartHeight                        = 640, 240
	chartLeft, chartRight, chartTop, chartBaseline = 48, 12, 12, 212
)

// Empty reports whether there are too few values for a line.
func (c chart) Empty() bool { return len(c.Points) < 2 }

// SVG draws the chart. Each point has its label as title, and can be reached by the keyboard.
func (c chart) SVG() template.HTML {
	if c.Empty() {
		return ""
	}
	var values []float64
	for _, p := range c.Points {
		values = append(values, p.Y)
	}
	low, high := bounds(values)
	step := ticks(high - low)
	low, high = math.Floor(low/step)*step, math.Ceil(high/step)*step
	first, last := c.Points[0].X, c.Points[len(c.Points)-1].X
	x := func(at float64) float64 {
		return chartLeft + (at-first)/max(last-first, 1e-9)*(chartWidth-chartLeft-chartRight)
	}
	y := func(at float64) float64 {
		return chartTop + (high-at)/(high-low)*(chartBaseline-chartTop)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="linechart" viewBox="0 0 %d %d" role="group" aria-label="%s">`, chartWidth, chartHeight, template.HTMLEscapeString(c.Title))
	for at := low; at <= high+step/2; at += step {
		fmt.Fprintf(&b, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text class="tick" x="%d" y="%.1f" text-anchor="end">%s</text>`,
			chartLeft, chartWidth-chartRight, y(at), y(at), chartLeft-6, y(at)+4, whole(at))
	}
	fmt.Fprintf(&b, `<text class="tick" x="%d" y="%d">%s</text><text class="tick" x="%d" y="%d" text-anchor="end">%s</text>`,
		chartLeft, chartHeight-8, whole(first), chartWidth-chartRight, chartHeight-8, whole(last))
	fmt.Fprintf(&b, `<text class="tick" x="%d" y="%d" text-anchor="middle">%s</text><polyline points="`, (chartLeft+chartWidth)/2, chartHeight-8, template.HTMLEscapeString(c.XTitle))
	for _, p := range c.Points {
		fmt.Fprintf(&b, "%.1f,%.1f ", x(p.X), y(p.Y))
	}
	b.WriteString(`"/>`)
	for _, p := range c.Points {
		label := template.HTMLEscapeString(p.Label)
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="4" tabindex="0" role="img" aria-label="%s"><title>%s</title></circle>`, x(p.X), y(p.Y), label, label)
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

// ticks returns the step between about four round values in a range.
func ticks(span float64) float64 {
	step := math.Pow(10, math.Floor(math.Log10(span/4)))
	for _, factor := range []float64{1, 2, 5, 10} {
		if span/(step*factor) <= 5 {
			return step * factor
		}
	}
	return step * 10
}
