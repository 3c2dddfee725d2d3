//go:build soak

package env

import (
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

func TestExample(t *testing.T) {
	c := newClient(t)
	lines := strings.Split(strings.TrimSpace(c.run(t, "", "example_brisca.py", "--games", "1600", "--tests", "600")), "\n")
	score := func(line string) float64 {
		fields := strings.Fields(line)
		return kit.Get[float64](t)(strconv.ParseFloat(strings.TrimSuffix(fields[1], "%"), 64))
	}
	if first, last := score(lines[1]), score(lines[len(lines)-1]); len(lines) != 7 || first > 65 || last < first+15 {
		t.Errorf("the agent has not learned:\n%s", strings.Join(lines, "\n"))
	}
}
