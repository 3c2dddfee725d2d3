//go:build soak

package tebes

import "testing"

func TestTebesOpeningsLong(t *testing.T) { tebesOpenings(t, 12) }

func TestTebesNaiveLong(t *testing.T) { tebesNaive(t, 24) }
