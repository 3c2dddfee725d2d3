package learned

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/sample-bots/learned/features"
	"github.com/timba-arena/timba/sample-bots/learned/model"
)

// TestReadKind checks that a model of another kind is an error.
func TestReadKind(t *testing.T) {
	var b bytes.Buffer
	kit.Must(t, model.Write(&b, model.Header{Kind: model.GA, Mode: "brisca2"}, func(io.Writer) error { return nil }))
	if _, err := Read(&b, model.SL, false); err == nil || err.Error() != `model: kind "ga" is not "sl": try @ga` {
		t.Error(err)
	}
}

// TestRank checks that actions are compared by class before probability.
func TestRank(t *testing.T) {
	a := &SL{Header: model.Header{Labels: []int{-10, 0, 20}}}
	low, high := a.rank([]float32{0.1, 0.9, 0}, false), a.rank([]float32{0.3, 0.3, 0.4}, false)
	if !high.isAbove(low) || low.isAbove(high) || high.value != 20 {
		t.Errorf("%+v, %+v", low, high)
	}
	if sure := a.rank([]float32{0, 0.2, 0.8}, false); !sure.isAbove(high) {
		t.Errorf("%+v is not above %+v", sure, high)
	}
	if mean := a.rank([]float32{0.5, 0.25, 0.25}, true); mean.value != 0 {
		t.Errorf("mean: %+v", mean)
	}
	a.Header.Labels = []int{} // as a header may have them
	if chance := a.rank([]float32{0.75}, false); chance.value != 0.75 {
		t.Errorf("without labels: %+v", chance)
	}
}

// TestReadSLErrors checks that a model whose layers do not fit its mode is an error.
func TestReadSLErrors(t *testing.T) {
	h := model.Header{Kind: model.SL, Mode: "brisca2", Encoding: features.Scaled, Layers: []int{56, 3}, Output: "softmax", Labels: []int{1, 2, 3}}
	for _, test := range []struct {
		change func(*model.Header)
		want   string
	}{
		{func(*model.Header) {}, ""},
		{func(h *model.Header) { h.Mode = "brisca3" }, "do not fit 62 inputs"},
		{func(h *model.Header) { h.Encoding = "x" }, `"x"`},
		{func(h *model.Header) { h.Labels = nil }, "0 outputs"},
		{func(h *model.Header) { h.Layers = []int{56} }, "1 to 8 layers"},
		{func(h *model.Header) { h.Layers = []int{56, 1 << 30, 3} }, "units"},
	} {
		bad := h
		test.change(&bad)
		var b bytes.Buffer
		kit.Must(t, model.Write(&b, bad, func(w io.Writer) error { return model.WriteFloats(w, make([]float32, 57*3)) }))
		got, body, err := model.Read(&b)
		if err == nil {
			_, err = ReadSL(got, body)
		}
		if err == nil != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v", test.want, err)
		}
	}
}

// TestReadNetErrors checks that a net for other inputs is an error.
func TestReadNetErrors(t *testing.T) {
	for want, h := range map[string]model.Header{
		`encoding "unscaled"`: {Kind: model.Net, Mode: "brisca2", Encoding: "unscaled", Output: "linear"},
		`output "softmax"`:    {Kind: model.Net, Mode: "brisca2", Encoding: "complete", Output: "softmax"},
		"layers 3-41":         {Kind: model.Net, Mode: "brisca2", Encoding: "complete", Layers: []int{3, 41}, Output: "linear"},
	} {
		if _, err := ReadNet(h, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
