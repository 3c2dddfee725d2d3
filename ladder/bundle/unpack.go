package bundle

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/timba-arena/timba/ladder"
)

// Unpack unpacks an archive into a new directory: a .zip, .tar.gz, .tar.zst or .tar,
// recognized by its content. The directory must not exist before, and does not
// exist after an error. Files have the mode 0644 or 0755 and belong to the caller; a
// single top directory, as in archives of GitHub, is stripped.
//
// The archive is read twice. The first pass checks all of it, so that nothing is
// written of an invalid archive.
//
// An error of the archive is a *ladder.Error; others are internal.
func Unpack(file, into string, l Limits) (Tree, error) {
	f, err := os.Open(file)
	if err != nil {
		return Tree{}, fmt.Errorf("bundle: %w", err)
	}
	defer f.Close()
	tree, err := List(f, l)
	if err != nil {
		return Tree{}, err
	}
	if err := os.Mkdir(into, 0o755); err != nil {
		return Tree{}, fmt.Errorf("bundle: %w", err)
	}
	if err := write(f, into, tree, l); err != nil {
		os.RemoveAll(into)
		return Tree{}, wrap(err)
	}
	return tree, nil
}

// wrap adds the package's name to an internal error.
func wrap(err error) error {
	if ladder.CodeOf(err) != "" {
		return err
	}
	return fmt.Errorf("bundle: %w", err)
}

// List checks an archive and returns its tree, as Unpack does.
func List(f *os.File, l Limits) (Tree, error) {
	r := &reader{limits: l}
	var t Tree
	err := r.each(f, func(e entry, content io.Reader) error {
		if e.dir {
			return nil
		}
		t.Files = append(t.Files, File{e.path, e.size, e.exec})
		t.Bytes += e.size
		_, err := io.Copy(io.Discard, content)
		return err
	})
	if err != nil {
		return t, wrap(err)
	}
	if len(t.Files) == 0 {
		return t, invalid("pack the directory that the bot is in", "it has no files")
	}
	if n := len(r.paths.at); n > l.Files { // including directories that are only named in paths
		return t, tooLarge("leave out what the bot does not need", "it has %d files and directories: at most %d are allowed", n, l.Files)
	}
	for _, p := range r.paths.at {
		if p.dir {
			t.Dirs = append(t.Dirs, p.path)
		}
	}
	t.Left = r.left
	t.strip()
	t.sort()
	return t, nil
}

func (t *Tree) sort() {
	slices.SortFunc(t.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(t.Dirs)
	slices.Sort(t.Left)
}

// strip removes the top directory from all paths, if everything is in a single one.
func (t *Tree) strip() {
	top, _, ok := strings.Cut(t.Files[0].Path, "/")
	if !ok {
		return
	}
	outside := func(p string) bool { return p != top && !strings.HasPrefix(p, top+"/") }
	if slices.ContainsFunc(t.Files, func(f File) bool { return outside(f.Path) }) || slices.ContainsFunc(t.Dirs, outside) {
		return
	}
	t.Top = top
	for i, f := range t.Files {
		t.Files[i].Path = t.inside(f.Path)
	}
	t.Dirs = slices.DeleteFunc(t.Dirs, func(p string) bool { return p == top })
	for i, p := range t.Dirs {
		t.Dirs[i] = t.inside(p)
	}
}

// inside returns a path without the top directory.
func (t *Tree) inside(p string) string {
	if t.Top == "" {
		return p
	}
	return strings.TrimPrefix(p, t.Top+"/")
}

// write unpacks an archive that List has checked into an empty directory. os.Root
// keeps all writes inside of it.
func write(f *os.File, into string, t Tree, l Limits) (err error) {
	root, err := os.OpenRoot(into)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for _, dir := range append([]string{"."}, t.Dirs...) { // parents come first
		if dir != "." {
			if err := root.Mkdir(dir, 0o755); err != nil {
				return err
			}
		}
		if err := root.Chmod(dir, 0o755); err != nil { // whatever the umask is
			return err
		}
	}
	return (&reader{limits: l}).each(f, func(e entry, content io.Reader) error {
		if e.dir {
			return nil
		}
		return writeFile(root, t.inside(e.path), e, content)
	})
}

func writeFile(root *os.Root, name string, e entry, content io.Reader) error {
	mode := fs.FileMode(0o644)
	if e.exec {
		mode = 0o755
	}
	out, err := root.OpenFile(path.Clean(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, content)
	if err == nil {
		err = out.Chmod(mode)
	}
	return errors.Join(err, out.Close())
}
