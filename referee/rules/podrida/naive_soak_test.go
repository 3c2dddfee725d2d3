//go:build soak

package podrida

import "testing"

func TestPodridaAgainstNaiveLong(t *testing.T) { podridaAgainstNaive(t, 50) }

func TestPodridaRedealIsEvenLong(t *testing.T) { redealIsEven(t, 12) }
