package site_test

import (
	"testing"

	"github.com/timba-arena/timba/web/browsertest"
	"github.com/timba-arena/timba/web/site/sitetest"
)

const liveLadders = `
[limits]
anonymous = 100000
requests = 100000
[[ladder]]
name = "long"
title = "Brisca, many deals"
game = "brisca"
deals = 1000
clock = {movetime = 10000, startup = 60000}
`

func TestLivePage(t *testing.T) {
	in := browsertest.Start(t)
	w := sitetest.New(t, liveLadders, 0)
	b := browsertest.Open(t, in, w.URL+"/live")
	b.Home = w.URL
	b.Wait(`#games [data-match] .stage[data-ply] svg`)
	b.Picture(*screens, "live")
	id := b.Attribute(`#games [data-match]`, "data-match")
	b.Go(w.URL + "/live/" + id)
	b.Wait(`#stage[data-ply="4"]`)
	b.Picture(*screens, "watch")
	b.Quiet()
}
