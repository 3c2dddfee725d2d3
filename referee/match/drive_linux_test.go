package match

import (
	"runtime"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
)

// A bot that ends in time has ended in time, even if its sandbox waits for a core before it ends.
func TestEndOfSandbox(t *testing.T) {
	for _, h := range holds(t, false) {
		if h.sandbox == nil {
			kit.Lacks(t, "a sandbox")
		}
		t.Run(h.name, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			bot := Contestant{Name: "reader", Command: []string{"sh", "-c", "echo ready; read line; read line"}, Dir: builds, Sandbox: h.sandbox}
			p := kit.Get[*BotProcess](t)(Start(t.Context(), bot, referee.Clock{Startup: time.Hour}, nil))
			defer p.Close()
			process := p.processConn.(*process)
			kit.Get[string](t)(p.Greet())
			if process.hasEnded() {
				t.Error("it has ended before its input does")
			}
			kit.Get[int](t)(p.Send([]byte("line\n"), time.Now().Add(time.Hour)))
			until(t, "it has ended", process.hasEnded)
			if end, ok := p.Wait(time.Now()); !ok || !end.IsClean() {
				t.Errorf("it has ended as %+v, %v", end, ok)
			}
		})
	}
}
