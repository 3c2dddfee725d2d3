package remote_test

import (
	"os"
	"testing"

	"github.com/timba-arena/timba/internal/kit/binaries"
)

func TestMain(m *testing.M) { os.Exit(binaries.Clean(m).Run()) }
