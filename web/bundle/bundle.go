// Package bundle bundles a module or style sheet with all its imports from package board, for
// self-contained pages. It needs esbuild, a large dependency: only generators and tests import it.
package bundle

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/timba-arena/timba/web/board"
)

// File returns the bundle of a .js or .css file, whose imports are names in board.Files.
func File(name string) (string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("bundle: %w", err)
	}
	return Text(filepath.Base(name), string(data))
}

// Text returns the bundle of the content of a file with that name. A module becomes a classic
// script.
func Text(name, text string) (string, error) {
	result := api.Build(api.BuildOptions{
		Stdin:             &api.StdinOptions{Contents: text, Loader: loader(name), Sourcefile: name},
		Format:            format(name),
		Bundle:            true,
		Charset:           api.CharsetUTF8,
		Target:            api.ES2022,
		LogLevel:          api.LogLevelSilent,
		LegalComments:     api.LegalCommentsNone,
		MinifyWhitespace:  true,
		MinifySyntax:      true,
		MinifyIdentifiers: true,
		Plugins:           []api.Plugin{{Name: "embedded", Setup: embedded}},
	})
	if len(result.Errors) > 0 {
		lines := api.FormatMessages(result.Errors, api.FormatMessagesOptions{})
		return "", fmt.Errorf("bundle: %s: %s", name, strings.TrimSpace(strings.Join(lines, "\n")))
	}
	return string(result.OutputFiles[0].Contents), nil
}

// Output returns the name of the bundle of a file: page.min.js for page.js.
func Output(name string) string {
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + ".min" + ext
}

func loader(name string) api.Loader {
	if path.Ext(name) == ".css" {
		return api.LoaderCSS
	}
	return api.LoaderJS
}

func format(name string) api.Format {
	if path.Ext(name) == ".css" {
		return api.FormatDefault
	}
	return api.FormatIIFE
}

// embedded resolves every import in board.Files. No other file is read.
func embedded(b api.PluginBuild) {
	b.OnResolve(api.OnResolveOptions{Filter: `.*`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		return api.OnResolveResult{Path: path.Clean(a.Path), Namespace: "board"}, nil
	})
	b.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: "board"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		data, err := fs.ReadFile(board.Files, a.Path)
		if err != nil {
			return api.OnLoadResult{}, fmt.Errorf("%q is not among the files of package board", a.Path)
		}
		text := string(data)
		return api.OnLoadResult{Contents: &text, Loader: loader(a.Path)}, nil
	})
}
