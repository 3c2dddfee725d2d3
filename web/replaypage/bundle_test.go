package replaypage_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/web/replaypage"
)

// bundle returns a module or a style sheet with all that it imports from package board. A module
// becomes a classic script.
func bundle(name, text string) (string, error) {
	board, err := filepath.Abs("../board")
	if err != nil {
		return "", err
	}
	o := api.BuildOptions{
		Stdin:  &api.StdinOptions{Contents: text, Loader: api.LoaderCSS, Sourcefile: "bundled " + name, ResolveDir: board},
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

// What is committed is the bundle of its source.
func TestBundlesAreFresh(t *testing.T) {
	for name, committed := range map[string]string{"page.js": replaypage.Script, "page.css": replaypage.Style} {
		source := kit.Get[[]byte](t)(os.ReadFile(name))
		text := kit.Get[string](t)(bundle(name, string(source)))
		if strings.Contains(text, "</s") {
			t.Errorf("the bundle of %s would end its own element in a page", name)
		}
		if kit.Updating() {
			ext := filepath.Ext(name)
			kit.Must(t, os.WriteFile(strings.TrimSuffix(name, ext)+".min"+ext, []byte(text), 0o644))
		} else if text != committed {
			t.Errorf("the bundle of %s is an old one: run go test ./web/replaypage -run TestBundlesAreFresh -update", name)
		}
	}
}
