package bench

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
)

// The printer writes one report as text, in Markdown and as JSON.
func TestReport(t *testing.T) {
	table := newTable("game|games/s|ratio")
	table.add("brisca", whole(1234.5), nil)
	table.add("tute", whole(7), hundredth(math.Inf(1)))
	r := &Report{Machine: "a machine", Tables: []Table{table}}
	for markdown, want := range map[bool]string{
		false: "a machine\n\ngame    games/s  ratio\nbrisca  1234     -\ntute    7        +Inf\n",
		true:  "a machine\n\n| game | games/s | ratio |\n| --- | --- | --- |\n| brisca | 1234 | - |\n| tute | 7 | +Inf |\n",
	} {
		var out strings.Builder
		r.Markdown = markdown
		r.Write(&out)
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Error(diff)
		}
	}
	want := `{"machine":"a machine","tables":[[{"game":"brisca","games/s":1234.5,"ratio":null},{"game":"tute","games/s":7,"ratio":null}]]}`
	if diff := cmp.Diff(want, string(kit.Get[[]byte](t)(json.Marshal(r)))); diff != "" {
		t.Error(diff)
	}
}
