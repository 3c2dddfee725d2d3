package bundle

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/ladder"
)

// Unpack extracts the archive file into the directory target, which must not exist. file is the path of a .zip,
// .tar.gz, .tar.zst or .tar, recognized by its content. The extracted files get the mode 0644 or 0755 and belong to
// the caller. If everything in the archive is in one top directory, as in archives of GitHub, that directory is left
// out. After an error, the directory target does not exist.
//
// Unpack reads the archive twice. The first pass checks all of it, so that no file of an invalid archive is written.
//
// An error that the archive causes is a *ladder.Error; any other error is internal.
func Unpack(file, target string, l Limits) (Tree, error) {
	f, err := os.Open(file)
	if err != nil {
		return Tree{}, fmt.Errorf("bundle: %w", err)
	}
	defer f.Close()
	tree, err := List(f, l)
	if err != nil {
		return Tree{}, err
	}
	err = trees.Write(target, func(w *trees.Writer) error { return extract(f, w, tree, l) })
	if err != nil {
		return Tree{}, wrap(err)
	}
	return tree, nil
}

func wrap(err error) error {
	if ladder.CodeOf(err) != "" {
		return err
	}
	return fmt.Errorf("bundle: %w", err)
}

// List checks an archive and returns its file tree. It returns the same errors as Unpack for an invalid archive.
func List(f *os.File, l Limits) (Tree, error) {
	r := &reader{limits: l}
	var t Tree
	err := r.visitAll(f, func(e entry, content io.Reader) error {
		if e.dir {
			return nil
		}
		t.Files = append(t.Files, BotFile{e.path, e.size, e.exec})
		t.Bytes += e.size
		_, err := io.Copy(io.Discard, content)
		return err
	})
	if err != nil {
		return t, wrap(err)
	}
	if len(t.Files) == 0 {
		return t, invalid("pack the directory that the bot is in", "the archive has no files")
	}
	if n := len(r.paths.entries); n > l.Files { // including directories that are only named in paths
		return t, tooLarge("leave out what the bot does not need", "the archive has %d files and directories: at most %d are allowed", n, l.Files)
	}
	for _, p := range r.paths.entries {
		if p.dir {
			t.Dirs = append(t.Dirs, p.path)
		}
	}
	t.SkippedPaths = r.skippedPaths
	t.strip()
	t.sort()
	return t, nil
}

func (t *Tree) sort() {
	slices.SortFunc(t.Files, func(a, b BotFile) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(t.Dirs)
	slices.Sort(t.SkippedPaths)
}

// strip removes the top directory from all paths of t if everything is in that directory.
func (t *Tree) strip() {
	top, _, ok := strings.Cut(t.Files[0].Path, "/")
	if !ok {
		return
	}
	outside := func(p string) bool { return p != top && !strings.HasPrefix(p, top+"/") }
	if slices.ContainsFunc(t.Files, func(f BotFile) bool { return outside(f.Path) }) || slices.ContainsFunc(t.Dirs, outside) {
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

func (t *Tree) inside(p string) string {
	if t.Top == "" {
		return p
	}
	return strings.TrimPrefix(p, t.Top+"/")
}

// extract writes the directories and files of the archive f with w. t is the result of List for f.
func extract(f *os.File, w *trees.Writer, t Tree, l Limits) error {
	for _, dir := range t.Dirs { // parents come first
		if err := w.Add(trees.File{Path: dir, Mode: fs.ModeDir | 0o755}, nil); err != nil {
			return err
		}
	}
	return (&reader{limits: l}).visitAll(f, func(e entry, content io.Reader) error {
		if e.dir {
			return nil
		}
		mode := BotFile{Exec: e.exec}.mode()
		return w.Add(trees.File{Path: t.inside(e.path), Mode: mode}, content)
	})
}
