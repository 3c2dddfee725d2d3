package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/source"
)

// TestParts checks that a part has the tests that use kit.Soak, directly or not.
func TestParts(t *testing.T) {
	const head, asks = "package p\nimport \"github.com/timba-arena/timba/internal/kit\"\n", "if kit.Soak { more() }"
	for _, c := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"a_test.go": "package p\nfunc TestA() {}"}, ""},
		{map[string]string{"a_linux_soak_test.go": "//go:build soak && linux\n\npackage p\nfunc TestA() {}\nfunc BenchmarkB() {}"}, "d/a ./d ^(TestA)$ ^(BenchmarkB)$"},
		{map[string]string{"a_test.go": head + "func TestA() {" + asks + "}\nfunc TestB() {}\nfunc BenchmarkC() {" + asks + "}"}, "d/a ./d ^(TestA)$ ^()$"},
		{map[string]string{
			"a_test.go": head + "var most = map[bool]int{}[kit.Soak]\nfunc (w *world) games() int { return most }",
			"b_test.go": "package p_test\nfunc TestB() { w.games() }\nfunc TestC() {}",
		}, "d/b ./d ^(TestB)$ ^()$"},
		{map[string]string{"a_test.go": head + "func TestMain() {" + asks + "}\nfunc TestA() {}", "b_soak_test.go": "//go:build soak\n\npackage p\nfunc TestB() {}"},
			"d ./d ^(TestA)$ ^()$,d/b ./d ^(TestB)$ ^()$"},
	} {
		p := &source.Package{Dir: "d"}
		for name, text := range c.files {
			p.Files = append(p.Files, kit.Get[*source.File](t)(source.Parse("d/"+name, text)))
		}
		var got []string
		for _, part := range parts(p) {
			got = append(got, strings.ReplaceAll(fmt.Sprint(part), "\t", " "))
		}
		if strings.Join(got, ",") != c.want {
			t.Errorf("%v: %q, want %q", c.files, got, c.want)
		}
	}
}
