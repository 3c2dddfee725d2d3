package site_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/timba-arena/timba/web/webtest"
)

var screens = flag.String("screens", "", "a directory to write pictures of the pages to")

func TestMain(m *testing.M) { webtest.Main(m) }

// requireTexts fails the test unless page contains all texts; what names the page in errors.
func requireTexts(t testing.TB, what, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("%s lacks %q: %.20000s", what, text, page)
		}
	}
}

// forbidTexts fails the test if page contains one of the texts.
func forbidTexts(t testing.TB, what, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(page, text) {
			t.Errorf("%s has %q", what, text)
		}
	}
}
