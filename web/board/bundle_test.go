package board_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/web/board"
)

// bundle returns the module or style sheet at a path together with all its imports. A module becomes a
// classic script.
func bundle(name, text string) (string, error) {
	dir, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		return "", err
	}
	o := api.BuildOptions{
		Stdin:  &api.StdinOptions{Contents: text, Loader: api.LoaderCSS, Sourcefile: "bundled " + name, ResolveDir: dir},
		Bundle: true, Charset: api.CharsetUTF8, Target: api.ES2022, LegalComments: api.LegalCommentsNone,
		MinifyWhitespace: true, MinifySyntax: true, MinifyIdentifiers: true,
	}
	if filepath.Ext(name) == ".js" {
		o.Stdin.Loader, o.Format = api.LoaderJS, api.FormatIIFE
	}
	result := api.Build(o)
	if len(result.Errors) > 0 {
		return "", errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), "\n"))
	}
	return string(result.OutputFiles[0].Contents), nil
}

// The committed bundle is that of its source.
func TestBundlesAreFresh(t *testing.T) {
	for name, committed := range map[string]string{"page/page.js": board.Script, "page/page.css": board.Style} {
		source := kit.Get[[]byte](t)(os.ReadFile(name))
		text := kit.Get[string](t)(bundle(name, string(source)))
		if strings.Contains(text, "</s") {
			t.Errorf("the bundle of %s would end its own element in a page", name)
		}
		if kit.Updating() {
			ext := filepath.Ext(name)
			kit.Must(t, os.WriteFile(strings.TrimSuffix(name, ext)+".min"+ext, []byte(text), 0o644))
		} else if text != committed {
			t.Errorf("the bundle of %s is an old one: run go test ./web/board -run TestBundlesAreFresh -update", name)
		}
	}
}
