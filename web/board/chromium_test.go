package board_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/web/board"
	"github.com/timba-arena/timba/web/webtest"
)

func TestMain(m *testing.M) { os.Exit(webtest.M{Tests: m}.Run()) }

// tab is a page of a game in the browser.
type tab struct{ *webtest.Tab }

// open opens the page of a game, or an empty page if the game is nil.
func open(t *testing.T, in context.Context, g *board.Recording) *tab {
	t.Helper()
	url := "about:blank"
	if g != nil {
		url = pageFile(t, g)
	}
	b := &tab{webtest.Open(t, in, url)}
	if g != nil {
		b.Wait(`.player[data-ply]`)
		b.Look(1280, 900, false)
	}
	return b
}

// pageFile writes a page to a file and returns its address.
func pageFile(t *testing.T, g *board.Recording) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "game.html")
	f := kit.Get[*os.File](t)(os.Create(path))
	defer f.Close()
	kit.Must(t, g.WritePage(f))
	return "file://" + path
}
