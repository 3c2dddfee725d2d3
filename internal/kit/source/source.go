// Package source parses the Go files of a module, for the rules about tests in internal/kit and for script/soak.
package source

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"path/filepath"
	"strconv"
	"strings"
)

// Package has the Go files of one directory. It includes files for all operating systems and test files of package
// NAME_test.
type Package struct {
	Dir   string // path below the root, with slashes
	Files []*File
}

// File is a parsed Go file.
type File struct {
	*ast.File
	Path  string // path below the root, with slashes
	Test  bool   // the name ends in _test.go, or the file is from Parse
	Soak  bool   // built only with the tag soak
	Quick bool   // built only without the tag soak
	// Imports maps the names by which the file refers to packages to their import paths. If an import has no explicit
	// name, the last element of its path is used as the name, even if the package is called differently, as for
	// math/rand/v2.
	Imports map[string]string
	Decls   []*Decl
	set     *token.FileSet
}

// Decl is a top-level declaration: a function, a method, a type, or one variable or constant.
type Decl struct {
	Name     string // for a method with a dot before it
	Receiver string // receiver type of a method
	File     *File
	Node     ast.Node // for a variable or constant the whole line, which may declare several
	// Mentions has the identifiers in the declaration. An identifier of an imported package has the form
	// "os/exec.Command"; a field or method has the form ".Name".
	Mentions map[string]bool
}

// Line returns the line number of a node.
func (f *File) Line(n ast.Node) int { return f.set.Position(n.Pos()).Line }

// Load parses all Go packages in root and its subdirectories, except directories named testdata and hidden ones. It
// returns an error if a file cannot be read or parsed.
func Load(root string) (all []*Package, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		f := &File{Path: filepath.ToSlash(text), Test: strings.HasSuffix(path, "_test.go"), set: token.NewFileSet()}
		if f.File, err = parser.ParseFile(f.set, path, nil, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			return err
		}
		f.analyze()
		dir := filepath.ToSlash(filepath.Dir(text))
		if len(all) == 0 || all[len(all)-1].Dir != dir {
			all = append(all, &Package{Dir: dir})
		}
		p := all[len(all)-1]
		p.Files = append(p.Files, f)
		return nil
	})
	return join(all), err
}

// join merges the packages that have the same directory into one. Load finds several because it visits some files of
// a directory before its subdirectories and others after them.
func join(all []*Package) (joined []*Package) {
	by := map[string]*Package{}
	for _, p := range all {
		if first := by[p.Dir]; first != nil {
			first.Files = append(first.Files, p.Files...)
			continue
		}
		by[p.Dir] = p
		joined = append(joined, p)
	}
	return joined
}

// Parse parses text as a Go test file. path is only stored in File.Path; its name need not end in _test.go.
func Parse(path, text string) (*File, error) {
	f := &File{Path: path, Test: true, set: token.NewFileSet()}
	var err error
	if f.File, err = parser.ParseFile(f.set, path, text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		return nil, err
	}
	f.analyze()
	return f, nil
}

// analyze sets Imports, Decls, Soak and Quick of a file that has been parsed.
func (f *File) analyze() {
	f.Imports = map[string]string{}
	for _, i := range f.File.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		name := path[strings.LastIndex(path, "/")+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		f.Imports[name] = path
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			x, err := constraint.Parse(c.Text)
			if err != nil || c.Pos() > f.Package {
				continue
			}
			built := func(soak bool) bool {
				with := func(others bool) bool {
					return x.Eval(func(tag string) bool { return tag == "soak" && soak || tag != "soak" && others })
				}
				return with(true) || with(false)
			}
			f.Soak, f.Quick = built(true) && !built(false), built(false) && !built(true)
		}
	}
	for _, d := range f.File.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			if fn.Recv == nil {
				f.declare(fn.Name.Name, "", fn)
				continue
			}
			receiver := ""
			ast.Inspect(fn.Recv.List[0].Type, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && receiver == "" {
					receiver = id.Name
				}
				return true
			})
			f.declare("."+fn.Name.Name, receiver, fn)
			continue
		}
		for _, s := range d.(*ast.GenDecl).Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				f.declare(s.Name.Name, "", s)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					f.declare(n.Name, "", s)
				}
			}
		}
	}
}

func (f *File) declare(name, receiver string, n ast.Node) {
	d := &Decl{Name: name, Receiver: receiver, File: f, Node: n, Mentions: map[string]bool{}}
	var see func(n ast.Node) bool
	see = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if q := f.QualifiedName(n); q != "" {
				d.Mentions[q] = true
				return false
			}
			d.Mentions["."+n.Sel.Name] = true
			ast.Inspect(n.X, see)
			return false
		case *ast.Ident:
			d.Mentions[n.Name] = true
		}
		return true
	}
	ast.Inspect(n, see)
	f.Decls = append(f.Decls, d)
}

// QualifiedName returns the import path and the name of an expression of the form package.Name, such as
// "os/exec.Command". For any other expression it returns "".
func (f *File) QualifiedName(e ast.Expr) string {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	id, ok := s.X.(*ast.Ident)
	if !ok || f.Imports[id.Name] == "" {
		return ""
	}
	return f.Imports[id.Name] + "." + s.Sel.Name
}

// Reaching returns the declarations in test files that mention one of the names, either directly or through other
// declarations in test files. Names have the form of Decl.Mentions. They are compared as text, so that a method or a
// local variable with the same name counts, too.
func (p *Package) Reaching(names ...string) map[*Decl]bool {
	reach, want := map[*Decl]bool{}, map[string]bool{}
	for _, n := range names {
		want[n] = true
	}
	for more := true; more; {
		more = false
		for d := range p.tests() {
			if reach[d] {
				continue
			}
			for n := range d.Mentions {
				if want[n] && n != d.Name {
					reach[d], want[d.Name], more = true, true, true
					break
				}
			}
		}
	}
	return reach
}

// tests yields the declarations in test files.
func (p *Package) tests() iter.Seq[*Decl] {
	return func(yield func(*Decl) bool) {
		for _, f := range p.Files {
			for _, d := range f.Decls {
				if f.Test && !yield(d) {
					return
				}
			}
		}
	}
}
