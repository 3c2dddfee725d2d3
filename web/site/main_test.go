package site_test

import (
	"flag"
	"testing"

	"github.com/timba-arena/timba/web/webtest"
)

var screens = flag.String("screens", "", "a directory to write pictures of the pages to")

func TestMain(m *testing.M) { webtest.Main(m) }
