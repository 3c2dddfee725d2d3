package remote_test

import (
	"os"
	"testing"

	"github.com/timba-arena/timba/internal/kit/proc"
)

func TestMain(m *testing.M) { os.Exit(proc.Clean(m).Run()) }
