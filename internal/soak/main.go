// Soak prints the parts of `make soak`, for script/soak. Each part is a line for one file with tests that
// need the tag soak: the name of the part, the package, and patterns that match its tests and benchmarks.
//
// Tests and benchmarks need the tag if they are in files that are built only with it, or if they use
// kit.Soak, directly or through functions that they call. Therefore none can be forgotten.
package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/timba-arena/timba/internal/kit/source"
)

// Mark is the full name of a constant. A test that uses it runs more cases when it is built with the tag soak.
const Mark = "github.com/timba-arena/timba/internal/kit.Soak"

func main() {
	packages, err := source.Load(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, p := range packages {
		for _, part := range parts(p) {
			fmt.Println(part)
		}
	}
}

// part has the names of tests and benchmarks in one file: those that run only in `make soak`.
type part struct {
	name, dir         string
	tests, benchmarks []string
}

func (p part) String() string {
	pattern := func(names []string) string { return "^(" + strings.Join(names, "|") + ")$" }
	return strings.Join([]string{p.name, "./" + p.dir, pattern(p.tests), pattern(p.benchmarks)}, "\t")
}

// parts returns the tests and benchmarks of a package that run only in `make soak`, in a part for each file. There is
// one exception: if code that runs before all tests uses kit.Soak, all tests of the package run only in `make soak`.
// The tests in files without the build tag soak then form one part, which is named after the directory.
func parts(p *source.Package) []part {
	more, every := p.Reaching(Mark), false
	for d := range more {
		every = every || d.Name == "TestMain" || d.Name == "init" || d.Name == "_"
	}
	by := map[string]*part{}
	for _, f := range p.Files {
		for _, d := range f.Decls {
			name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(f.Path, "_test.go"), "_soak"), "_linux")
			test := f.Test && strings.HasPrefix(d.Name, "Test") && d.Name != "TestMain"
			benchmark := f.Soak && strings.HasPrefix(d.Name, "Benchmark")
			switch {
			case !test && !benchmark || !f.Soak && !more[d] && !every:
				continue
			case !f.Soak && every:
				name = p.Dir
			}
			if by[name] == nil {
				by[name] = &part{name: name, dir: p.Dir}
			}
			if test {
				by[name].tests = append(by[name].tests, d.Name)
			} else {
				by[name].benchmarks = append(by[name].benchmarks, d.Name)
			}
		}
	}
	var all []part
	for _, name := range slices.Sorted(maps.Keys(by)) {
		all = append(all, *by[name])
	}
	return all
}
