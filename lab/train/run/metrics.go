package run

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// Metric is one named value in a line of metrics.csv.
type Metric struct {
	Name  string
	Value float64
}

// metricsTable is an open metrics.csv: a line of column names, then a line of numbers for each reported step.
type metricsTable struct {
	file  *os.File
	size  int64
	names []string
}

// openMetrics opens or creates the metrics.csv at path. Before it adds a line, the caller must call truncate.
func openMetrics(path string) (*metricsTable, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	t := &metricsTable{file: file}
	t.size, err = file.Seek(0, io.SeekEnd)
	return t, err
}

func readMetrics(path string) ([][]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: there is no line", path)
	}
	return rows, nil
}

// truncate cuts the file to the given size in bytes, which must be the end of a line, and reads the names of the
// columns.
func (t *metricsTable) truncate(size int64) error {
	if size > t.size {
		return fmt.Errorf("%s has %d bytes, fewer than the %d of the checkpoint: the run is damaged", t.file.Name(), t.size, size)
	}
	if err := t.file.Truncate(size); err != nil {
		return err
	}
	t.size, t.names = size, nil
	if size > 0 {
		rows, err := readMetrics(t.file.Name())
		if err != nil {
			return err
		}
		t.names = rows[0]
	}
	_, err := t.file.Seek(size, io.SeekStart)
	return err
}

// AddMetrics adds a line to metrics.csv. The first column has the number of the step. Every call in a run must have
// values with the same names in the same order.
func (f *Folder) AddMetrics(step int, values ...Metric) error {
	names, cells := []string{"step"}, []string{strconv.Itoa(step)}
	for _, v := range values {
		names, cells = append(names, v.Name), append(cells, strconv.FormatFloat(v.Value, 'g', 8, 64))
	}
	t, text := f.metrics, ""
	switch {
	case t.names == nil:
		t.names, text = names, strings.Join(names, ",")+"\n"
	case !slices.Equal(names, t.names):
		return fmt.Errorf("%s has the columns %q, not %q", t.file.Name(), t.names, names)
	}
	n, err := t.file.WriteString(text + strings.Join(cells, ",") + "\n")
	t.size += int64(n)
	return err
}

// Plot draws the named columns of metrics.csv against the step, and saves the plot as name.svg. x and y are the
// labels of the axes.
func (f *Folder) Plot(name, title, x, y string, columns ...string) error {
	rows, err := readMetrics(f.path(MetricsFile))
	if err != nil {
		return err
	}
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Add(plotter.NewGrid())
	var lines []any // names and points in turn
	for _, column := range columns {
		at := slices.Index(rows[0], column)
		if at < 0 {
			return fmt.Errorf("%s: there is no column %q among %q", MetricsFile, column, rows[0])
		}
		var points plotter.XYs
		for _, row := range rows[1:] {
			step, stepErr := strconv.ParseFloat(row[0], 64)
			value, err := strconv.ParseFloat(row[at], 64)
			if stepErr == nil && err == nil && value-value == 0 {
				points = append(points, plotter.XY{X: step, Y: value})
			}
		}
		if len(points) > 0 {
			lines = append(lines, column, points)
		}
	}
	if err := plotutil.AddLinePoints(p, lines...); err != nil {
		return err
	}
	return p.Save(16*vg.Centimeter, 10*vg.Centimeter, f.path(name+".svg"))
}
