package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestDefects(t *testing.T) {
	known := []Defect{{"a", ""}, {"b", ""}, {"c", ""}}
	for want, given := range map[string][]string{"[]": nil, "[a b c]": {AllDefects}, "[a c]": {"c", "a"}} {
		if got, err := SelectDefects(given, known); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: %v, %v", given, got, err)
		}
	}
	if _, err := SelectDefects([]string{"a", "d"}, known); err == nil || !strings.Contains(err.Error(), `"d"`) {
		t.Error(err)
	}
}

// TestInOrder checks that pieces are accepted in ascending order with any number of workers, and that an
// error stops the rest.
func TestInOrder(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		var got []int
		build := func(_, piece int) (int, error) { return piece * piece, nil }
		take := func(piece, made int) error {
			if made != piece*piece {
				t.Errorf("piece %d is %d", piece, made)
			}
			got = append(got, piece)
			return nil
		}
		if err := BuildInOrder(t.Context(), workers, 3, 40, build, take); err != nil || len(got) != 37 || got[0] != 3 || !slices.IsSorted(got) {
			t.Errorf("%d workers: %v, %v", workers, got, err)
		}
		failed := errors.New("failed")
		got = nil
		err := BuildInOrder(t.Context(), workers, 0, 1000, func(_, piece int) (int, error) {
			if piece == 20 {
				return 0, failed
			}
			return piece * piece, nil
		}, take)
		if !errors.Is(err, failed) || len(got) > 20 {
			t.Errorf("%d workers: %d pieces taken, %v", workers, len(got), err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		got = nil
		err = BuildInOrder(ctx, workers, 0, 1000, build, func(piece, made int) error {
			if piece == 5 {
				cancel()
			}
			return take(piece, made)
		})
		if !errors.Is(err, context.Canceled) || len(got) < 6 || len(got) == 1000 {
			t.Errorf("%d workers: %d pieces taken, %v", workers, len(got), err)
		}
	}
}

func TestDerive(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(3) {
		for _, name := range []string{"a", "b"} {
			for number := range 3 {
				seen[DeriveSeed(seed, name, number)] = true
			}
		}
	}
	if len(seen) != 18 {
		t.Errorf("%d seeds", len(seen))
	}
}
