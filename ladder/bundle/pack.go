package bundle

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/timba-arena/timba/internal/trees"
)

// Archive is a packed bot, ready to be uploaded.
type Archive struct {
	Data []byte // a .tar.gz
	Tree
}

// Pack returns an archive of the bot's directory dir. The same files always give the same bytes. It leaves out
// junk, such as .git, and what IgnoreFile lists. It returns an error if the server would not accept the
// archive under the limits l.
func Pack(dir string, l Limits) (*Archive, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	if !info.IsDir() {
		return nil, invalid("name the directory that the bot is in", "%s is not a directory", quote(dir))
	}
	p := &packer{dir: dir, limits: l}
	if p.ignore, err = readIgnore(dir); err != nil {
		return nil, wrap(err)
	}
	if err := filepath.WalkDir(dir, p.add); err != nil {
		return nil, wrap(err)
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	p.sort()
	data, err := p.pack()
	if err != nil {
		return nil, wrap(err)
	}
	if n := int64(len(data)); n > l.UploadSize {
		return nil, tooLarge(leaveOut, "%s is %s when it is packed: at most %s are allowed; the largest files are %s", dir, FormatSize(n), FormatSize(l.UploadSize), p.largest())
	}
	return &Archive{data, p.Tree}, nil
}

// packer collects the files of a directory and packs them.
type packer struct {
	Tree
	dir          string
	limits       Limits
	ignore       ignore
	paths        paths
	links        []string // symbolic links, which are not allowed
	specialFiles []string // such as devices, which are not allowed
}

// add adds a file or directory to p, or skips it if it is not to be uploaded. It is a fs.WalkDirFunc.
func (p *packer) add(path string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(p.dir, path)
	if err != nil || rel == "." {
		return err
	}
	rel = filepath.ToSlash(rel)
	if isJunk(rel, d.IsDir()) || p.ignore.excludes(rel, d.IsDir()) {
		p.SkippedPaths = append(p.SkippedPaths, rel)
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	switch {
	case d.Type()&fs.ModeSymlink != 0:
		p.links = append(p.links, rel)
		return nil
	case !d.IsDir() && !d.Type().IsRegular():
		p.specialFiles = append(p.specialFiles, rel)
		return nil
	}
	if _, err := p.limits.cleanName(rel); err != nil {
		return err
	}
	if err := p.paths.add(rel, d.IsDir()); err != nil {
		return err
	}
	if d.IsDir() {
		p.Dirs = append(p.Dirs, rel)
		return nil
	}
	info, err := d.Info()
	if err != nil {
		return err
	}
	exec, err := executable(path, info)
	if err != nil {
		return err
	}
	p.Files = append(p.Files, BotFile{Path: rel, Size: info.Size(), Exec: exec})
	p.Bytes += info.Size()
	return nil
}

// check returns an error if the server would not accept the collected files.
func (p *packer) check() error {
	n := len(p.Files) + len(p.Dirs)
	switch {
	case len(p.links) > 0:
		return invalid("replace them with copies of their targets (cp -L), or name them in "+IgnoreFile, "%s has links: %s", p.dir, listSome(p.links))
	case len(p.specialFiles) > 0:
		return invalid("name them in "+IgnoreFile, "%s has entries that are not files or directories: %s", p.dir, listSome(p.specialFiles))
	case len(p.Files) == 0:
		return invalid("name the directory that the bot is in", "%s has no files", p.dir)
	case n > p.limits.Files:
		return tooLarge(leaveOut, "%s has %d files and directories: at most %d are allowed; most are in %s", p.dir, n, p.limits.Files, p.fullest())
	case p.Bytes > p.limits.UnpackedSize:
		return tooLarge(leaveOut, "%s has %s: at most %s are allowed; the largest files are %s", p.dir, FormatSize(p.Bytes), FormatSize(p.limits.UnpackedSize), p.largest())
	}
	return nil
}

const leaveOut = "name what the bot does not need in " + IgnoreFile

func listSome(names []string) string {
	const maxNames = 5
	var quoted []string
	for _, name := range names[:min(maxNames, len(names))] {
		quoted = append(quoted, quote(name))
	}
	if n := len(names) - maxNames; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(quoted, ", "), n)
	}
	return strings.Join(quoted, ", ")
}

// largest returns the names and sizes of the largest files, for an error.
func (p *packer) largest() string {
	files := slices.Clone(p.Files)
	slices.SortStableFunc(files, func(a, b BotFile) int { return cmp.Compare(b.Size, a.Size) })
	var names []string
	for _, f := range files[:min(5, len(files))] {
		names = append(names, fmt.Sprintf("%s (%s)", quote(f.Path), FormatSize(f.Size)))
	}
	return strings.Join(names, ", ")
}

// fullest returns the names of the top-level directories with the most files, for an error message.
func (p *packer) fullest() string {
	count := map[string]int{}
	for _, f := range p.Files {
		if top, _, ok := strings.Cut(f.Path, "/"); ok {
			count[top]++
		}
	}
	var tops []string
	for top := range count {
		tops = append(tops, top)
	}
	slices.SortFunc(tops, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	if len(tops) == 0 {
		return "the directory itself"
	}
	return listSome(tops[:min(3, len(tops))])
}

// pack returns the archive of the collected files, in which the directories come first.
func (p *packer) pack() ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	var list []trees.File
	for _, dir := range p.Dirs {
		list = append(list, trees.File{Path: dir, Mode: fs.ModeDir | 0o755})
	}
	for _, f := range p.Files {
		list = append(list, trees.File{Path: f.Path, Mode: f.mode(), Size: f.Size})
	}
	err = errors.Join(trees.WriteTar(z, p.dir, list, tar.FormatUnknown), z.Close())
	if changed, ok := errors.AsType[*trees.ChangedError](err); ok {
		err = invalid("try again", "%s was changed while it was packed", quote(changed.Path))
	}
	return out.Bytes(), err
}

// executable reports whether a file must be executable in the archive. On Windows, where files have no executable
// bit, scripts and ELF files are executable.
func executable(path string, info fs.FileInfo) (bool, error) {
	if runtime.GOOS != "windows" {
		return info.Mode()&0o111 != 0, nil
	}
	f, err := os.Open(path) // without an executable bit, look at the content
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, 4)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return false, err
	}
	return isProgram(head[:n]), nil
}

// isProgram reports whether a file that begins with head is a script with #! or an ELF file.
func isProgram(head []byte) bool {
	return bytes.HasPrefix(head, []byte("#!")) || bytes.HasPrefix(head, []byte("\x7fELF"))
}
