//go:build !race || slowrace

package store

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

var generated = regexp.MustCompile("(?s)const \\w+ = `-- name: (\\w+) :\\w+\n(.*?)`")

func generatedStatements(t *testing.T) map[string]string {
	files := kit.Get[[]string](t)(filepath.Glob("queries/*.sql.go"))
	out := map[string]string{}
	for _, f := range files {
		text := kit.Get[[]byte](t)(os.ReadFile(f))
		for _, m := range generated.FindAllStringSubmatch(string(text), -1) {
			out[m[1]] = m[2]
		}
	}
	if len(out) < 50 {
		t.Fatalf("only %d statements are found", len(out))
	}
	return out
}

// fullScans lists the queries that may read a whole table, with the reason.
var fullScans = map[string]string{
	"People":           "an operator's list",
	"CountOtherAdmins": "once for a removal",
	"Announcement":     "one row",
	"Invites":          "an operator's list",
	"Ladders":          "a dozen rows",
	"PausedLadders":    "a dozen rows",
	"UpdateActive":     "once at the start of a server",
	"Bundles":          "for backup and verify",
	"Archives":         "for backup and verify",
	"ArchivedBytes":    "a row for some thousand matches, once a day",
	"SetNeeds":         "once for a build after a restore on another kind of machine",
	"UsageByGame":      "for timba admin storage: all results",
	"KeptBefore":       "for timba admin storage: what is not in the archive",
	"AddSettings":      "only while a reference is broken",
	"Opponents":        "the pairs of a bot's versions, of which it makes sums",
	"Formula":          "one row",
	"SetFormula":       "one row",
	"CountRated":       "the ratings of people, of which it makes sums",
	"PersonRecords":    "the games of a person, of which it makes sums",
}

// TestQueryPlans checks the query plan of every statement: only those in fullScans read a whole table, and
// pages are not sorted at query time.
func TestQueryPlans(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	all := generatedStatements(t)
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	var plans strings.Builder
	for _, name := range names {
		fmt.Fprintf(&plans, "%s\n", name)
		for _, line := range plan(t, c, all[name]) {
			fmt.Fprintf(&plans, "    %s\n", line)
			if strings.HasPrefix(line, "SCAN ") && !strings.Contains(line, "VIRTUAL TABLE") && !strings.HasPrefix(line, "SCAN CONSTANT") && fullScans[name] == "" {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
	kit.Golden(t, "plans.txt", plans.String())
}

func plan(t *testing.T, c *competition, sql string) (lines []string) {
	args := map[string]bool{} // ?1 may come twice, ? is another each time
	for i, arg := range regexp.MustCompile(`\?\d*`).FindAllString(sql, -1) {
		if arg == "?" {
			arg = fmt.Sprint("position ", i)
		}
		args[arg] = true
	}
	rows, err := c.writer.Query("EXPLAIN QUERY PLAN "+sql, make([]any, len(args))...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var detail string
		kit.Must(t, rows.Scan(&id, &parent, &unused, &detail))
		lines = append(lines, detail)
	}
	kit.Must(t, rows.Err())
	return lines
}
