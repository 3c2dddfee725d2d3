package site

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/timba-arena/timba/web/messages"
)

// sparkWidth and sparkHeight are the size of a sparkline in units of its view box.
const sparkWidth, sparkHeight = 96, 24

// sparkline draws values as a small line, in SVG. The title of the drawing names the first and the last value, for
// people who cannot see it. For fewer than two values it returns "".
func sparkline(l *messages.Language, values []float64) template.HTML {
	if len(values) < 2 {
		return ""
	}
	low, high := valueRange(values)
	var b strings.Builder
	title := template.HTMLEscapeString(l.Text("site.trend", "From", wholeNumber(values[0]), "To", wholeNumber(values[len(values)-1])))
	fmt.Fprintf(&b, `<svg class="spark" viewBox="0 0 %d %d" role="img" aria-label="%s"><title>%s</title><polyline points="`, sparkWidth, sparkHeight, title, title)
	for i, y := range values {
		fmt.Fprintf(&b, "%.1f,%.1f ", 2+float64(i)/float64(len(values)-1)*(sparkWidth-4), 2+(high-y)/(high-low)*(sparkHeight-4))
	}
	b.WriteString(`"/></svg>`)
	return template.HTML(b.String())
}

// valueRange returns the smallest and the largest value. If they differ by less than 1, it returns a wider range
// around them.
func valueRange(values []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, y := range values {
		low, high = min(low, y), max(high, y)
	}
	if high-low < 1 {
		low, high = low-1, high+1
	}
	return low, high
}

// point is a value in a chart. Label is shown when a pointer or the keyboard selects it.
type point struct {
	X, Y  float64
	Label string
	Err   float64 // half the width of the interval of Y; only in a chart with Bars
}

// mark is a vertical line in a chart, with a text at its top.
type mark struct {
	X    float64
	Text string
}

// chart is a line chart that the server draws as SVG. The template "chart" shows it with a table of the
// values below. Points must be sorted by X, and all values must be finite.
type chart struct {
	Title  string // what the chart shows
	XTitle string // what X counts
	Points []point
	Marks  []mark
	Bars   bool // draws each value with its interval above its name, instead of a line
}

// chartHeight is the height of a chart in pixels. Values are drawn between chartTop and chartBaseline; the label of
// the selected point is above chartTop. A chart is as wide as the page allows.
const chartHeight, chartTop, chartBaseline = 260, 42, 226

// maxNamed is the largest number of bars in a chart that all have names below them. If there are more bars, only
// every second one has a name.
const maxNamed = 6

// Empty reports whether there are too few values to draw.
func (c chart) Empty() bool { return len(c.Points) < 2 }

// chartText returns text for a chart, truncated and escaped.
func chartText(text string) string { return template.HTMLEscapeString(truncate(120, text)) }

// scale converts values to positions in a chart.
type scale struct {
	low, high, step float64 // the range of Y and the step of its grid lines
	first, last     float64 // the range of X
}

func (c chart) scale() scale {
	var values []float64
	for _, p := range c.Points {
		values = append(values, p.Y-p.Err, p.Y+p.Err)
	}
	low, high := valueRange(values)
	step := tickStep(high - low)
	s := scale{math.Floor(low/step) * step, math.Ceil(high/step) * step, step, c.Points[0].X, c.Points[len(c.Points)-1].X}
	if c.Bars {
		s.first, s.last = s.first-0.5, s.last+0.5
	}
	return s
}

func (s scale) x(value float64) float64 { return (value - s.first) / max(s.last-s.first, 1e-9) * 100 }

func (s scale) y(value float64) float64 {
	return chartTop + (s.high-value)/(s.high-s.low)*(chartBaseline-chartTop)
}

// SVG draws the chart. A point shows its label when the pointer is over it or it has the focus. The Tab key
// reaches only the last point; the module layout/chart.js lets arrow keys move from there.
func (c chart) SVG() template.HTML {
	if c.Empty() {
		return ""
	}
	s := c.scale()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="linechart" height="%d" role="group" aria-label="%s">`, chartHeight, chartText(c.Title))
	c.writeAxes(&b, s)
	if c.Bars {
		for _, p := range c.Points {
			fmt.Fprintf(&b, `<line class="bar" x1="%.2f%%" x2="%.2f%%" y1="%.1f" y2="%.1f"/><circle class="value" cx="%.2f%%" cy="%.1f" r="5"/>`,
				s.x(p.X), s.x(p.X), s.y(p.Y-p.Err), s.y(p.Y+p.Err), s.x(p.X), s.y(p.Y))
		}
	} else { // a polyline cannot have percentages, so its SVG is stretched
		fmt.Fprintf(&b, `<svg width="100%%" height="%d" viewBox="0 0 100 %[1]d" preserveAspectRatio="none"><polyline points="`, chartHeight)
		for _, p := range c.Points {
			fmt.Fprintf(&b, "%.2f,%.1f ", s.x(p.X), s.y(p.Y))
		}
		b.WriteString(`"/></svg>`)
	}
	for i := range c.Points {
		c.writePoint(&b, s, i)
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

func (c chart) writeAxes(b *strings.Builder, s scale) {
	for y := s.low; y <= s.high+s.step/2; y += s.step {
		fmt.Fprintf(b, `<line class="grid" x1="0" x2="100%%" y1="%.1f" y2="%.1f"/><text class="tick" x="-8" y="%.1f" text-anchor="end">%s</text>`,
			s.y(y), s.y(y), s.y(y)+4, wholeNumber(y))
	}
	const below = chartHeight - 10
	if c.Bars {
		for i, p := range c.Points {
			if left := len(c.Points) - 1 - i; len(c.Points) <= maxNamed || left%2 == 0 {
				fmt.Fprintf(b, `<text class="tick" x="%.2f%%" y="%d" text-anchor="middle">@%s</text>`, s.x(p.X), below, wholeNumber(p.X))
			}
		}
		return
	}
	fmt.Fprintf(b, `<text class="tick" x="0" y="%d">%s</text><text class="tick" x="100%%" y="%d" text-anchor="end">%s</text>`,
		below, wholeNumber(s.first), below, wholeNumber(s.last))
	fmt.Fprintf(b, `<text class="tick" x="50%%" y="%d" text-anchor="middle">%s</text>`, below, chartText(c.XTitle))
	for _, m := range c.Marks {
		fmt.Fprintf(b, `<line class="mark" x1="%.2f%%" x2="%.2f%%" y1="%d" y2="%d"/><text class="tick" x="%.2f%%" dx="4" y="%d">%s</text>`,
			s.x(m.X), s.x(m.X), chartTop, chartBaseline, s.x(m.X), chartBaseline-5, chartText(m.Text))
	}
}

// writePoint draws the i-th point and the area in which a pointer selects it. The part of its label after the
// first comma is on a second line.
func (c chart) writePoint(b *strings.Builder, s scale, i int) {
	p, from, to := c.Points[i], 0.0, 100.0
	if i > 0 {
		from = (s.x(c.Points[i-1].X) + s.x(p.X)) / 2
	}
	focus := 0
	if i < len(c.Points)-1 {
		to, focus = (s.x(p.X)+s.x(c.Points[i+1].X))/2, -1
	}
	value, about, _ := strings.Cut(p.Label, ", ")
	fmt.Fprintf(b, `<g class="point" tabindex="%d" role="img" aria-label="%s"><rect x="%.2f%%" y="%d" width="%.2f%%" height="%d"/><circle cx="%.2f%%" cy="%.1f" r="4"/>`,
		focus, chartText(p.Label), from, chartTop, max(to-from, 0), chartBaseline-chartTop, s.x(p.X), s.y(p.Y))
	fmt.Fprintf(b, `<text class="tip" y="14" aria-hidden="true">%s<tspan x="0" dy="17">%s</tspan></text></g>`, chartText(value), chartText(about))
}

// tickStep returns a round number that divides a range of length span into at most five parts.
func tickStep(span float64) float64 {
	step := math.Pow(10, math.Floor(math.Log10(span/4)))
	for _, factor := range []float64{1, 2, 5, 10} {
		if span/(step*factor) <= 5 {
			return step * factor
		}
	}
	return step * 10
}
