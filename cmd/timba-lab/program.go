package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"
)

// programFlag adds a flag with the path of timba, for measurements of a real server.
func programFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "timba", "", "the program timba that is measured, a `FILE` (default: the one beside this program, or on the PATH)")
}

// findTimba returns the program timba: the one that is named, or the one beside this program, or on
// the PATH.
func findTimba(named string) (string, error) {
	if named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			return "", fmt.Errorf("--timba: program %q is neither a file that can be run nor on the PATH", named)
		}
		return filepath.Abs(path)
	}
	if self, err := os.Executable(); err == nil {
		name := "timba"
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		beside := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	path, err := exec.LookPath("timba")
	if err != nil {
		return "", errors.New("bench: the program timba is neither beside timba-lab nor on the PATH: build it, or name it with --timba")
	}
	return filepath.Abs(path)
}
