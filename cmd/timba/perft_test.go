package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// timba runs a command that must succeed, and returns what it prints.
func timba(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if status := run(args, strings.NewReader(""), &stdout, &stderr); status != exitGood || stderr.Len() > 0 {
		t.Fatalf("timba %q: exit status %d\n%s", args, status, stderr.String())
	}
	return stdout.String()
}

// The counts come from a second implementation of each game's rules, which plays all sequences
// from the start, with strings and slices.
func TestPerft(t *testing.T) {
	const all = "exchange=yes last10=yes blackhand=yes hunt3=yes"
	for _, c := range []struct {
		game, options string
		seed          string
		counts        []int // of depth 1, 2, ...
	}{
		{"brisca", "", "0", []int{3, 9, 27, 81, 243, 729, 2187}},
		{"brisca", all, "0", []int{3, 9, 27, 108, 353, 1134}},
		{"brisca", all, "42", []int{4, 12, 42, 126, 414, 1242}},
		{"brisca", "players=4 teams=yes exchange=yes blackhand=yes", "43", []int{3, 12, 36, 117, 363, 1129}},
		{"brisca", "players=3", "7", []int{3, 9, 27, 81, 243, 729, 2187}},
		{"tute", "", "0", []int{8, 11, 88, 150, 1200, 1896}},
		{"tute", all, "7", []int{8, 20, 160, 308, 2464, 4968}},
		{"tute", "players=3", "7", []int{8, 12, 29, 232, 411, 579}},
		{"tute", "players=4 teams=yes exchange=yes", "0", []int{8, 21, 47, 113, 594, 1506}},
		{"tute", "players=4 teams=yes exchange=yes", "31", []int{9, 21, 37, 138, 984, 3465}},
		{"podrida", "", "0", []int{2, 4, 8, 16, 16, 16, 16, 16, 48, 144, 432, 1296, 2592, 3888}},
		{"podrida", "players=3 deck=40 rounds=updown", "7", []int{2, 4, 8, 8, 8, 8, 24, 72, 216, 432, 432, 864, 864, 864}},
		{"podrida", "players=12 rounds=updown", "7", []int{2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 4096, 4096}},
		{"tebes", "", "0", []int{15, 247, 5340, 121187}},
		{"tebes", "board=random", "0", []int{21, 407, 10510, 263604}},
		{"tebes", "size=4", "0", []int{9, 85, 1036, 12787, 172164}},
		{"tebes", "opening=4", "0", []int{26, 546, 13883}},
		{"tebes", "size=4 board=random opening=3", "0", []int{10, 160, 2060, 30167}},
		{"teeko", "start=drop opening=3", "0", []int{22, 462}},
		{"tebes", "size=4 limit=3", "0", []int{9, 85, 1036, 0}},
		{"teeko", "", "0", []int{17, 201, 3407, 44036}},
		{"teeko", "squares=advanced", "7", []int{18, 321, 5597, 97865}},
		{"teeko", "start=drop", "0", []int{25, 600, 13800, 303600}},
		{"teeko", "limit=3", "7", []int{18, 321, 5597, 0}},
	} {
		args := []string{"perft", c.game, "--seed", c.seed, "--depth", fmt.Sprint(len(c.counts)), "--divide"}
		for _, o := range strings.Fields(c.options) {
			args = append(args, "--set", o)
		}
		lines := strings.Split(strings.TrimSpace(timba(t, args...)), "\n")
		divided, sum := lines[2:len(lines)-len(c.counts)-1], 0
		for _, line := range divided {
			var move string
			var n int
			if _, err := fmt.Sscanf(line, "%s %d", &move, &n); err != nil {
				t.Fatalf("%s %s: %q: %v", c.game, c.options, line, err)
			}
			sum += n
		}
		want := []string{"perft 0: 1"}
		for i, n := range c.counts {
			want = append(want, fmt.Sprintf("perft %d: %d", i+1, n))
		}
		for i, line := range lines[len(lines)-len(want):] {
			if line, _, _ = strings.Cut(line, " ("); line != want[i] { // a slow count has its seconds behind it
				t.Errorf("%s %s: %q, want %q", c.game, c.options, line, want[i])
			}
		}
		if last := c.counts[len(c.counts)-1]; sum != last || len(divided) != c.counts[0] {
			t.Errorf("%s %s: %d first moves have %d sequences, want %d and %d", c.game, c.options, len(divided), sum, c.counts[0], last)
		}
	}
}
