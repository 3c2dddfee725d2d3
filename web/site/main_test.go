package site_test

import (
	"flag"
	"testing"

	"github.com/timba-arena/timba/web/site/sitetest"
)

var screens = flag.String("screens", "", "a directory to write pictures of the pages to")

func TestMain(m *testing.M) { sitetest.Main(m) }
