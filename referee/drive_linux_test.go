package referee

import (
	"runtime"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
)

// A bot that has ended in time has, however long its sandbox needs for a core to end after it.
func TestEndOfSandbox(t *testing.T) {
	for _, h := range holds(t, false) {
		if h.sandbox == nil {
			kit.Lacks(t, "a sandbox")
		}
		t.Run(h.name, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			p, err := Start(t.Context(), Bot{Name: "reader", Command: []string{"sh", "-c", "echo ready; read line"}, Dir: builds, Sandbox: h.sandbox})
			kit.Must(t, err)
			defer p.Close()
			bot := p.driven.(*process)
			limit := p.Limit(time.Now(), time.Hour, 0)
			if _, _, _, err := p.Answer(limit); err != nil {
				t.Fatal(err)
			}
			if bot.over() {
				t.Error("it has ended before its input does")
			}
			kit.Must(t, p.Send([]byte("line\n"), limit))
			until(t, "it has ended", bot.over)
			if end, ok := p.Wait(time.Now()); !ok || !end.Clean() {
				t.Errorf("it has ended as %+v, %v", end, ok)
			}
		})
	}
}
