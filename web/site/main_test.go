package site_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/timba-arena/timba/web/webtest"
)

var screens = flag.String("screens", "", "a directory to write pictures of the pages to")

func TestMain(m *testing.M) { webtest.Main(m) }

// shows fails the test unless page contains all texts; what names the page in errors.
func shows(t testing.TB, what, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("%s lacks %q: %.20000s", what, text, page)
		}
	}
}

// hides fails the test if page contains one of the texts.
func hides(t testing.TB, what, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(page, text) {
			t.Errorf("%s has %q", what, text)
		}
	}
}
