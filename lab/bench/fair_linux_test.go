package bench

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
)

// A server that does not answer as it should is stopped before its directory is removed.
func TestFairStops(t *testing.T) {
	site := httptest.NewServer(http.NotFoundHandler())
	defer site.Close()
	dir := kit.Files(t, t.TempDir(), map[string]string{"serve+x": fmt.Sprintf(`#!/bin/sh
echo $$ > "$(dirname "$0")/pid"
echo "timba on %s"
exec sleep 3600
`, site.URL)})
	program := filepath.Join(dir, "serve")
	b := Fair{Program: program, Window: time.Second, Rounds: 1}
	if _, err := b.Run(t.Context(), new(kit.Output)); err == nil {
		t.Error("a server without accounts is no error")
	}
	pid := kit.Get[int](t)(strconv.Atoi(strings.TrimSpace(string(kit.Get[[]byte](t)(os.ReadFile(filepath.Join(dir, "pid")))))))
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("process %d is left: %v", pid, err)
		syscall.Kill(pid, syscall.SIGKILL)
	}
}
