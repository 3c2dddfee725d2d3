package runner

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timba-arena/timba/internal/kit"
)

// docs/operating.md, "Metrics": its table has every metric, with its labels.
func TestOperatingMetrics(t *testing.T) {
	t.Parallel()
	data := kit.Get[[]byte](t)(os.ReadFile("../../docs/operating.md"))
	told := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(timba_[a-z_]+)` \\| ([a-z, ]*)\\|").FindAllStringSubmatch(string(data), -1) {
		told[m[1]] = strings.ReplaceAll(strings.TrimSpace(m[2]), ", ", ",")
	}
	registry := prometheus.NewRegistry()
	newMetrics(registry)
	described := make(chan *prometheus.Desc, 1000)
	registry.Describe(described)
	close(described)
	form := regexp.MustCompile(`fqName: "([a-z_]+)".*variableLabels: \{([a-z,]*)\}`)
	n := 0
	for d := range described {
		m := form.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("%s has another form", d)
		}
		n++
		if labels, ok := told[m[1]]; !ok || labels != m[2] {
			t.Errorf("the table has %q with the labels %q, want %q", m[1], labels, m[2])
		}
	}
	if n < 10 {
		t.Errorf("there are only %d metrics", n)
	}
}
