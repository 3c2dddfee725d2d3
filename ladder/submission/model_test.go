package submission

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/sample-bots/learned/model"
)

// builtInModel returns the model file of a mode of Brisca that is part of timba.
func builtInModel(t *testing.T, mode string) []byte {
	return kit.Get[[]byte](t)(os.ReadFile("../../sample-bots/house/models/sl/" + mode + ".timba"))
}

// A model file is a bot: it goes through all stages in the sandbox, plays the games of its mode, and has the record of
// its training.
func TestModelGoesLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := fileTree(t, map[string]string{"model.timba": string(builtInModel(t, "brisca2"))})
	v, stages := w.runStages(w.add("trained", dir))
	if v.State != ladder.Live || v.Language != "timba model" || !slices.Equal(v.Games, []string{"brisca players=2"}) || !v.Needs.Equal(ladder.Needs{}) {
		t.Fatalf("it is %+v\n%s", v, joinLogs(stages))
	}
	var record struct{ Train, Mode string }
	if err := json.Unmarshal([]byte(v.Training), &record); err != nil || record.Train != "sl" || record.Mode != "brisca2" {
		t.Errorf("the record is %q, %v", v.Training, err)
	}
	w.checkClean()
}

// Damaged and hostile model files fail with the reason, in the build if the header shows it and otherwise in the check.
func TestHostileModels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good := builtInModel(t, "brisca2")
	made := func(h model.Header, weights ...float32) []byte {
		var b bytes.Buffer
		kit.Must(t, model.Write(&b, h, func(w io.Writer) error { return model.WriteFloats(w, weights) }))
		return b.Bytes()
	}
	net := func(layers ...int) model.Header {
		return model.Header{Kind: model.Net, Mode: "brisca2", Encoding: "complete", Output: "linear", Layers: layers}
	}
	notNumbers := slices.Repeat([]float32{float32(math.NaN())}, 299*41)
	for _, c := range []struct {
		name, stage, want string
		data              []byte
	}{
		{"no model", Build, `the first line is "#!/bin/sh"`, []byte("#!/bin/sh\nexit 0\n")},
		{"wrong checksum", Build, "does not have its checksum", bytes.Replace(good, []byte(`"seed":1`), []byte(`"seed":2`), 1)},
		{"truncated", Check, "the body is damaged: unexpected EOF", good[:len(good)/2]},
		{"huge", Check, "weights and biases, and at most", made(net(298, 4096, 4096, 4096, 41))},
		{"not numbers", Check, "NaN is not a weight", made(net(298, 41), notNumbers...)},
		{"other inputs", Check, "do not fit", made(net(3, 41))},
	} {
		v, stages := w.runStages(w.add("hostile-"+strings.ReplaceAll(c.name, " ", "-"), fileTree(t, map[string]string{"model.timba": string(c.data)})))
		last := stages[len(stages)-1]
		if v.State != ladder.Failed || last.Name != c.stage || !strings.Contains(last.Log, c.want) {
			t.Errorf("%s: it is %s after the stage %s:\n%s", c.name, v.State, last.Name, joinLogs(stages))
		}
	}
}
