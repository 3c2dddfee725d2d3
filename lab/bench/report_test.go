package bench

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
)

func TestReport(t *testing.T) {
	table := newTable("game|games/s|ratio")
	table.add("brisca", noDecimals(1234.5), nil)
	table.add("tute", noDecimals(7), twoDecimals(math.Inf(1)))
	r := &Report{Machine: "a machine", Tables: []Table{table}}
	var out strings.Builder
	r.Write(&out)
	if diff := cmp.Diff("a machine\n\ngame    games/s  ratio\nbrisca  1234     -\ntute    7        +Inf\n", out.String()); diff != "" {
		t.Error(diff)
	}
	want := `{"machine":"a machine","tables":[[{"game":"brisca","games/s":1234.5,"ratio":null},{"game":"tute","games/s":7,"ratio":null}]]}`
	if diff := cmp.Diff(want, string(kit.Get[[]byte](t)(json.Marshal(r)))); diff != "" {
		t.Error(diff)
	}
}
