package run

import (
	"fmt"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// values has a field for each type of setting.
type values struct {
	on    bool
	n     int
	x     float64
	seed  uint64
	word  string
	list  []string
	parts []string
}

func (v *values) params() []Param {
	return []Param{
		{Name: "on", Target: &v.on}, {Name: "n", Target: &v.n, Min: 1, Max: 1_000_000}, {Name: "x", Target: &v.x, Max: 1, ExcludeMin: true},
		{Name: "seed", Target: &v.seed}, ChoiceParam("word", &v.word, []string{"a", "b"}, "a word"), {Name: "list", Target: &v.list},
		{Name: "parts", Target: &v.parts, Repeated: true},
	}
}

func TestParams(t *testing.T) {
	v := values{x: 0.5, word: "a"}
	params := v.params()
	texts := []string{"true", "1000000", "0.25", "0x10", "b", "p,q", "p,q"}
	for i := range params {
		kit.Must(t, params[i].Set(texts[i]))
	}
	kit.Must(t, params[6].Set("r"))
	if got := fmt.Sprint(v); got != "{true 1000000 0.25 16 b [p q] [p,q r]}" {
		t.Error(got)
	}
	if got := fmt.Sprintf("%q %q %q", params[1].Texts(), params[5].Texts(), params[6].Texts()); got != `["1000000"] ["p,q"] ["p,q" "r"]` {
		t.Error(got)
	}
	other := values{n: 7, x: 0.75}
	ApplyDefaults(params, other.params(), func(name string) bool { return name == "x" })
	if v.n != 7 || v.x != 0.25 || v.list != nil {
		t.Errorf("%+v", v)
	}
}

func TestParamErrors(t *testing.T) {
	for i, bad := range [][]string{{"maybe"}, {"0", "1000001", "x", "1.5"}, {"0", "1.1", "NaN", "x"}, {"-1"}, {"", "c"}} {
		for _, text := range bad {
			v := values{}
			if p := v.params()[i]; p.Set(text) == nil {
				t.Errorf("%s can be %q", p.Name, text)
			}
		}
	}
}
