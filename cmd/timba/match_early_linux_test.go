package main

import (
	"slices"
	"testing"
)

// The command that resumes a match has all flags that were given and that the plan does not keep.
func TestResumeLineHasEveryFlag(t *testing.T) {
	t.Parallel()
	want := slices.Sorted(slices.Values(append([]string{"out", "resume"}, shownFlags...)))
	if !slices.Equal(want, unplanned) {
		t.Errorf("the flags of a match that its plan does not keep are %q, and the command that resumes it knows %q", unplanned, want)
	}
}
