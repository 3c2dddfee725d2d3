package startbot

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// Each signal that ends a command also ends a house bot, with the status of an interrupted command.
func TestSignals(t *testing.T) {
	for _, s := range EndSignals() {
		cmd := exec.Command(kit.Get[string](t)(os.Executable()), "bot", "@first")
		in, out := kit.Get[io.WriteCloser](t)(cmd.StdinPipe()), kit.Get[io.ReadCloser](t)(cmd.StdoutPipe())
		kit.Must(t, cmd.Start())
		fmt.Fprintln(in, "timba 1")
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready first 3\n" {
			t.Errorf("it answers %q, %v", line, err)
		}
		kit.Must(t, cmd.Process.Signal(s))
		if cmd.Wait(); cmd.ProcessState.ExitCode() != ExitNoVerdict {
			t.Errorf("after %v it ends with %v", s, cmd.ProcessState)
		}
	}
}
