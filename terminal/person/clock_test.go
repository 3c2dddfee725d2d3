package person

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hinshun/vt10x"
	"golang.org/x/term"

	"github.com/timba-arena/timba/internal/kit"
)

// TestCountDown checks that the clock counts down in its place and keeps what is typed. When the time is up, what
// was typed must stay on the screen.
func TestCountDown(t *testing.T) {
	none, err := os.Open(os.DevNull) // it has no width
	kit.Must(t, err)
	defer none.Close()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
		defer cancel()
		keys, typed := io.Pipe()
		screen := vt10x.New(vt10x.WithSize(40, 5))
		e := &editor{input: &pump{source: keys, chunks: make(chan chunk, 1), ctx: ctx}, screen: none}
		e.terminal = term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{e.input, screen}, "")
		q := Question{Text: "your move: ", Until: time.Now().Add(9 * time.Second)}
		e.terminal.SetPrompt(q.prompt(time.Now()))
		stop, ended := e.countDown(q), make(chan error)
		go func() {
			_, err := e.terminal.ReadLine()
			ended <- err
		}()
		shows := func(want string) {
			t.Helper()
			synctest.Wait()
			if got := strings.TrimSpace(screen.String()); got != want {
				t.Errorf("the screen shows %q, want %q", got, want)
			}
		}
		shows("[0:09] your move:")
		io.WriteString(typed, "11-")
		shows("[0:09] your move: 11-")
		time.Sleep(clockTick)
		for _, left := range "87654321" { // it is rounded up, and looked at five times a second
			time.Sleep(time.Second)
			shows("[0:0" + string(left) + "] your move: 11-")
		}
		if err := <-ended; err != context.DeadlineExceeded {
			t.Errorf("the question ends with %v", err)
		}
		if got := screen.String(); !strings.Contains(got, "] your move: 11-") {
			t.Errorf("in the end the screen shows %q", got)
		}
		stop()
		typed.Close()
	})
}
