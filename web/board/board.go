// Package board is how games are drawn in a browser: JavaScript modules and
// style sheets, embedded as they are. The drawing takes what a seat may know,
// in the words of SPEC.md's view lines, and so serves a replay as well as a
// game that is still being played.
package board

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// Files is the modules and style sheets, for a server that hands them out one
// by one.
//
//go:embed *.js *.css
var Files embed.FS

// Bundle makes one classic script of a module and all that it imports from
// Files: for a page that must stand alone.
func Bundle(module string) (string, error) {
	return build(api.BuildOptions{
		Stdin:  &api.StdinOptions{Contents: module, Loader: api.LoaderJS, Sourcefile: "page.js"},
		Format: api.FormatIIFE,
	})
}

// Style makes one style sheet of those named.
func Style(names ...string) (string, error) {
	var imports strings.Builder
	for _, name := range names {
		fmt.Fprintf(&imports, "@import %q;\n", "./"+name)
	}
	return build(api.BuildOptions{
		Stdin: &api.StdinOptions{Contents: imports.String(), Loader: api.LoaderCSS, Sourcefile: "page.css"},
	})
}

func build(o api.BuildOptions) (string, error) {
	o.Bundle = true
	o.Charset = api.CharsetUTF8
	o.Target = api.ES2022
	o.LogLevel = api.LogLevelSilent
	o.LegalComments = api.LegalCommentsNone
	o.MinifyWhitespace, o.MinifySyntax, o.MinifyIdentifiers = true, true, true
	o.Plugins = []api.Plugin{{Name: "embedded", Setup: embedded}}
	result := api.Build(o)
	if len(result.Errors) > 0 {
		lines := api.FormatMessages(result.Errors, api.FormatMessagesOptions{})
		return "", fmt.Errorf("board: cannot bundle: %s", strings.TrimSpace(strings.Join(lines, "\n")))
	}
	return string(result.OutputFiles[0].Contents), nil
}

// embedded resolves every import within Files, so that nothing is read from the
// disk of whoever runs the program.
func embedded(b api.PluginBuild) {
	b.OnResolve(api.OnResolveOptions{Filter: `.*`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		return api.OnResolveResult{Path: path.Clean(a.Path), Namespace: "board"}, nil
	})
	b.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: "board"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		data, err := fs.ReadFile(Files, a.Path)
		if err != nil {
			return api.OnLoadResult{}, fmt.Errorf("%q is not among the files of package board", a.Path)
		}
		text := string(data)
		loader := api.LoaderJS
		if path.Ext(a.Path) == ".css" {
			loader = api.LoaderCSS
		}
		return api.OnLoadResult{Contents: &text, Loader: loader}, nil
	})
}
