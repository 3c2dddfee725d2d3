// Typecheck reports the errors of types in the module's packages and tests as they are built for other operating
// systems:
//
//	typecheck darwin windows
//
// Unlike go vet it compiles nothing: it reads the standard library and the modules from source, without the
// bodies of their functions.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	module, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := 0
	for _, system := range os.Args[1:] {
		errs, err := check(module, system)
		if err != nil {
			errs = append(errs, err.Error())
		}
		for _, text := range errs {
			fmt.Fprintf(os.Stderr, "%s: %s\n", system, text)
			status = 1
		}
	}
	os.Exit(status)
}

// check returns the type errors in the packages of a module, built for an operating system. module is the directory
// of the module, and system is a value of GOOS.
func check(module, system string) ([]string, error) {
	isOurs := func(file string) bool { return strings.HasPrefix(file, module+string(filepath.Separator)) }
	loaded, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax,
		Dir:   module,
		Env:   append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system),
		Tests: true,
		ParseFile: func(set *token.FileSet, name string, text []byte) (*ast.File, error) {
			file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
			if file != nil && !isOurs(name) {
				for _, d := range file.Decls {
					if f, ok := d.(*ast.FuncDecl); ok {
						f.Body = nil
					}
				}
			}
			return file, err
		},
	}, "./...")
	if err != nil {
		return nil, err
	}
	var errs []string
	reported := map[string]bool{} // a file is in a package and in its test variant
	for p := range packages.Postorder(loaded) {
		if len(p.CompiledGoFiles) > 0 && !isOurs(p.CompiledGoFiles[0]) {
			continue // without bodies, imports seem unused
		}
		for _, e := range p.Errors {
			if text := e.Error(); !reported[text] {
				reported[text] = true
				errs = append(errs, text)
			}
		}
	}
	return errs, nil
}
