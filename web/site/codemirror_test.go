package site

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/timba-arena/timba/internal/kit"
)

// The committed editor is what esbuild makes of its source and of the packages in its lock file, which
// script/interpreters installs outside of the tree. It is small.
func TestCodeMirrorIsFresh(t *testing.T) {
	lock := kit.Get[[]byte](t)(os.ReadFile("codemirror/package-lock.json"))
	cache := kit.Get[string](t)(os.UserCacheDir())
	packages := filepath.Join(cache, "timba", fmt.Sprintf("codemirror-%x", sha256.Sum256(lock))[:27], "node_modules")
	if _, err := os.Stat(packages); err != nil {
		t.Fatalf("NO CODEMIRROR: %v: script/interpreters installs it with npm", err)
	}
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{"codemirror/codemirror.js"}, NodePaths: []string{packages}, Bundle: true, Format: api.FormatESModule,
		Charset: api.CharsetUTF8, Target: api.ES2022, LegalComments: api.LegalCommentsNone,
		MinifyWhitespace: true, MinifySyntax: true, MinifyIdentifiers: true,
		Plugins: []api.Plugin{usedLanguages},
		Banner:  map[string]string{"js": "/* CodeMirror: MIT licence, see codemirror.txt */"},
	})
	for _, e := range result.Errors {
		t.Fatalf("%s: %+v", e.Text, e.Location)
	}
	text := result.OutputFiles[0].Contents
	if len(text) > 400_000 {
		t.Errorf("the editor has %d bytes", len(text))
	}
	const name = "pages/write/codemirror.js"
	if kit.Updating() {
		kit.Must(t, os.WriteFile(name, text, 0o644))
	} else if committed, err := os.ReadFile(name); err != nil || string(committed) != string(text) {
		t.Errorf("%s is an old one, %v: run go test ./web/site -run TestCodeMirrorIsFresh -update", name, err)
	}
}

// usedLanguages is an esbuild plugin that removes the editor's modes of languages without a starter. Without
// it, esbuild keeps them, because it cannot know that calls without the pure comment have no effect.
var usedLanguages = api.Plugin{Name: "used languages", Setup: func(build api.PluginBuild) {
	build.OnLoad(api.OnLoadOptions{Filter: `/legacy-modes/mode/.*\.js$`}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
		text, err := os.ReadFile(args.Path)
		marked := pureCalls.ReplaceAllString(string(text), "/* @__PURE__ */ $0")
		return api.OnLoadResult{Contents: &marked, Loader: api.LoaderJS}, err
	})
}}

var pureCalls = regexp.MustCompile(`\b(clike|words|tokenNestedComment|tokenKotlinString|mk\w+)\(`)
