package tournament

import (
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/referee/cores"
)

func TestWorkers(t *testing.T) {
	all := cores.All()
	for _, c := range []struct {
		n        int
		affinity string
		want     []int
		err      string
	}{
		{0, "off", slices.Repeat([]int{cores.Any}, max(1, len(all))), ""},
		{3, "off", slices.Repeat([]int{cores.Any}, 3), ""},
		{len(all) + 1, "auto", slices.Repeat([]int{cores.Any}, len(all)+1), ""},
		{0, "maybe", nil, `affinity cannot be "maybe": try auto, on or off`},
	} {
		got, err := Workers(c.n, c.affinity)
		if c.err == "" && (err != nil || !slices.Equal(got, c.want)) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%d workers, affinity %s: %v, %v, want %v, %q", c.n, c.affinity, got, err, c.want, c.err)
		}
	}
	if len(all) == 0 {
		if _, err := Workers(1, "on"); err == nil {
			t.Error("workers are bound where there are no cores to bind to")
		}
		return
	}
	if got, err := Workers(0, "auto"); err != nil || !slices.Equal(got, all) {
		t.Errorf("all workers are on cores %v, %v, want %v", got, err, all)
	}
	if got, err := Workers(2*len(all), "on"); err != nil || !slices.Equal(got, append(slices.Clone(all), all...)) {
		t.Errorf("twice as many workers as cores are on cores %v, %v", got, err)
	}
}
