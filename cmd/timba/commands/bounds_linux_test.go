package commands

import (
	"bytes"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/sandbox"
)

// A local match says so when its bots can use more memory than there is, and plays.
func TestNoticeMemory(t *testing.T) {
	h := &match.Sandbox{Level: sandbox.Full, Limit: sandbox.Limit{Memory: 512 << 20}}
	v, err := resolveGame("podrida", []string{"players=12"}, 12)
	kit.Must(t, err)
	bots := make([]match.Bot, 12)
	for i := range 9 {
		bots[i].Sandbox = h
	}
	for _, c := range []struct {
		machine int64
		want    string
	}{
		{54 << 30, ""}, {0, ""},
		{54<<30 - 1, "notice: 108 processes of bots can use 55296 MiB at once, 512 MiB each, and this machine has 55295 MiB: try a smaller --memory\n"},
	} {
		var b bytes.Buffer
		if noticeMemory(&b, v.Players, bots, c.machine); b.String() != c.want {
			t.Errorf("%d: %q, want %q", c.machine, b.String(), c.want)
		}
	}
}
