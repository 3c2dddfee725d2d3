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
)

// Packed is an archive to upload.
type Packed struct {
	Data []byte // .tar.gz
	Tree
}

// Pack makes an archive of a bot's folder, the same bytes from the same files. It
// leaves out what is never part of a bot and what IgnoreFile names, and refuses
// what would be refused after the upload.
func Pack(dir string, l Limits) (*Packed, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	if !info.IsDir() {
		return nil, invalid("name the folder that the bot is in", "%s is not a folder", quote(dir))
	}
	p := &packer{dir: dir, limits: l}
	if p.ignore, err = readIgnore(dir); err != nil {
		return nil, wrap(err)
	}
	if err := filepath.WalkDir(dir, p.see); err != nil {
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
	if n := int64(len(data)); n > l.Upload {
		return nil, tooLarge(p.leaveOut(), "%s is %s when it is packed: at most %s are allowed; the largest files are %s", dir, Size(n), Size(l.Upload), p.largest())
	}
	return &Packed{data, p.Tree}, nil
}

// packer looks through a folder.
type packer struct {
	Tree
	dir    string
	limits Limits
	ignore ignore
	paths  paths
	links  []string
	others []string // neither files nor folders nor links
}

// see takes a file or folder in, or leaves it out.
func (p *packer) see(path string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(p.dir, path)
	if err != nil || rel == "." {
		return err
	}
	rel = filepath.ToSlash(rel)
	if junk(rel, d.IsDir()) || p.ignore.leaves(rel, d.IsDir()) {
		p.Left = append(p.Left, rel)
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
		p.others = append(p.others, rel)
		return nil
	}
	if _, err := p.limits.clean(rel); err != nil {
		return err
	}
	if err := p.paths.add(rel, d.IsDir()); err != nil {
		return err
	}
	if d.IsDir() {
		p.Folders = append(p.Folders, rel)
		return nil
	}
	info, err := d.Info()
	if err != nil {
		return err
	}
	p.Files = append(p.Files, File{Path: rel, Size: info.Size(), Exec: info.Mode()&0o111 != 0})
	p.Bytes += info.Size()
	return nil
}

// check refuses what the server would.
func (p *packer) check() error {
	n := len(p.Files) + len(p.Folders)
	switch {
	case len(p.links) > 0:
		return invalid("put copies of what they lead to in their place (cp -L), or name them in "+IgnoreFile, "%s has links: %s", p.dir, some(p.links))
	case len(p.others) > 0:
		return invalid("name them in "+IgnoreFile, "%s has what is neither file nor folder: %s", p.dir, some(p.others))
	case len(p.Files) == 0:
		return invalid("name the folder that the bot is in", "%s has no files", p.dir)
	case n > p.limits.Files:
		return tooLarge(p.leaveOut(), "%s has %d files and folders: at most %d are allowed; most are in %s", p.dir, n, p.limits.Files, p.fullest())
	case p.Bytes > p.limits.Unpacked:
		return tooLarge(p.leaveOut(), "%s has %s: at most %s are allowed; the largest files are %s", p.dir, Size(p.Bytes), Size(p.limits.Unpacked), p.largest())
	}
	return nil
}

func (p *packer) leaveOut() string { return "name what the bot does not need in " + IgnoreFile }

// some is the beginning of a list of names.
func some(names []string) string {
	const most = 5
	var quoted []string
	for _, name := range names[:min(most, len(names))] {
		quoted = append(quoted, quote(name))
	}
	if n := len(names) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(quoted, ", "), n)
	}
	return strings.Join(quoted, ", ")
}

// largest names the largest files.
func (p *packer) largest() string {
	files := slices.Clone(p.Files)
	slices.SortStableFunc(files, func(a, b File) int { return cmp.Compare(b.Size, a.Size) })
	var names []string
	for _, f := range files[:min(5, len(files))] {
		names = append(names, fmt.Sprintf("%s (%s)", quote(f.Path), Size(f.Size)))
	}
	return strings.Join(names, ", ")
}

// fullest names the folders at the top with the most files.
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
		return "the folder itself"
	}
	return some(tops[:min(3, len(tops))])
}

// pack writes the archive. Times, users and the like are left out: they would make
// other bytes of the same files.
func (p *packer) pack() ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	for _, dir := range p.Folders {
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755}); err != nil {
			return nil, err
		}
	}
	for i := range p.Files {
		if err := p.packFile(t, &p.Files[i]); err != nil {
			return nil, err
		}
	}
	err = errors.Join(t.Close(), z.Close())
	return out.Bytes(), err
}

func (p *packer) packFile(t *tar.Writer, file *File) error {
	f, err := os.Open(filepath.Join(p.dir, filepath.FromSlash(file.Path)))
	if err != nil {
		return err
	}
	defer f.Close()
	if runtime.GOOS == "windows" { // where files say nothing of it
		head := make([]byte, 4)
		n, _ := f.ReadAt(head, 0)
		file.Exec = strings.HasPrefix(string(head[:n]), "#!") || string(head[:n]) == "\x7fELF"
	}
	mode := int64(0o644)
	if file.Exec {
		mode = 0o755
	}
	if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: file.Path, Mode: mode, Size: file.Size}); err != nil {
		return err
	}
	n, err := io.Copy(t, f)
	if errors.Is(err, tar.ErrWriteTooLong) || err == nil && n != file.Size {
		return invalid("try again", "%s was changed while it was packed", quote(file.Path))
	}
	return err
}
