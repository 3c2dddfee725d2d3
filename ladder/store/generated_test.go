//go:build !race || slowrace

package store

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// TestGeneratedCodeIsFresh checks that the generated code is that of the queries and the schema, by the hash in
// testdata. `go generate` updates both.
func TestGeneratedCodeIsFresh(t *testing.T) {
	t.Parallel()
	h := sha256.New()
	for _, pattern := range []string{"sqlc.yaml", "schema.sql", "queries/*.sql", "queries/*.go"} {
		files := kit.Get[[]string](t)(filepath.Glob(pattern))
		slices.Sort(files)
		for _, f := range files {
			data := kit.Get[[]byte](t)(os.ReadFile(f))
			fmt.Fprintf(h, "%s %d\n%s", filepath.ToSlash(f), len(data), data)
		}
	}
	kit.Golden(t, "generated.sha256", fmt.Sprintf("%x\n", h.Sum(nil))) // else run go generate ./ladder/store
}
