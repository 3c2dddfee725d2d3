package webtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// AxeVersion is the version of axe-core that examines pages. script/interpreters installs it.
const AxeVersion = "4.14.1"

// axePath returns where script/interpreters keeps axe-core, outside of the tree.
func axePath() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "timba", "axe-core@"+AxeVersion, "node_modules", "axe-core", "axe.min.js"), err
}

// axe returns the source of axe-core.
func axe(t *testing.T) string {
	t.Helper()
	path, err := axePath()
	kit.Must(t, err)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("NO AXE-CORE: %v: script/interpreters installs it with npm", err)
	}
	return string(data)
}

// finding is a rule of axe-core that a page breaks.
type finding struct {
	ID     string
	Impact string
	Help   string
	Nodes  []struct {
		HTML           string
		FailureSummary string
	}
}

// Accessible has axe-core examine the page, by the rules for WCAG 2.2 AA and its best practices.
// What it finds serious, critical or moderate fails the test.
func (b *Tab) Accessible() {
	b.T.Helper()
	if !Eval[bool](b, "typeof axe === 'object'") {
		Eval[bool](b, axe(b.T)+"; true")
	}
	for _, f := range Eval[[]finding](b, `axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations.map((v) => (
		{ ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.map((n) => ({ HTML: n.html, FailureSummary: n.failureSummary })) })))`) {
		if f.Impact == "minor" {
			continue
		}
		var where strings.Builder
		for i, n := range f.Nodes {
			if i == 5 {
				fmt.Fprintf(&where, "\n  and %d more", len(f.Nodes)-i)
				break
			}
			fmt.Fprintf(&where, "\n  %s\n    %s", n.HTML, strings.ReplaceAll(n.FailureSummary, "\n", "\n    "))
		}
		b.T.Errorf("axe-core: %s: %s (%s): %s%s", Eval[string](b, "location.pathname"), f.ID, f.Impact, f.Help, where.String())
	}
}
