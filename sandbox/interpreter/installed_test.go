package interpreter

import (
	"os/exec"
	"strings"
	"testing"
)

// TestVersions checks that the versions are those that the interpreters print.
func TestVersions(t *testing.T) {
	found := Versions()
	for _, name := range wellKnown {
		_, err := exec.LookPath(name)
		version, ok := found[name]
		if ok != (err == nil) {
			t.Errorf("%s: found %t, and looking for it says %v", name, ok, err)
		}
		if name != "python3" || err != nil {
			continue
		}
		out, err := exec.Command(name, "-c", "import platform; print(platform.python_version())").Output()
		if err != nil || strings.TrimSpace(string(out)) != version {
			t.Errorf("%s has version %q, and says %q, %v", name, version, out, err)
		}
	}
}
