package site_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/timba-arena/timba/web/webtest"
)

var screens = flag.String("screens", "", "a directory to write pictures of the pages to")

func TestMain(m *testing.M) { webtest.Main(m) }

// shows requires texts in a page; what is which.
func shows(t testing.TB, what, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("%s lacks %q: %.20000s", what, text, page)
		}
	}
}

// hides requires that texts are not in a page.
func hides(t testing.TB, what, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(page, text) {
			t.Errorf("%s has %q", what, text)
		}
	}
}
