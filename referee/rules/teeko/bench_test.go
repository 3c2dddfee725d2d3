package teeko

import (
	"testing"

	"github.com/timba-arena/timba/referee/rules/rulestest"
)

func BenchmarkGame(b *testing.B) {
	rulestest.BenchmarkGame(b, Variant{Rules{Limit: defaultLimit}}, Variant{Rules{Drop: true, Limit: defaultLimit}})
}

func BenchmarkFromView(b *testing.B) {
	rulestest.BenchmarkFromView(b, Variant{Rules{Limit: defaultLimit}}, 20)
}
