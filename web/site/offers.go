package site

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
)

// offeredFile is a file of the operator's directory that visitors can download.
type offeredFile struct {
	Name, Size, SHA256 string
}

// maxOffers is the largest number of files that the page lists.
const maxOffers = 200

// offeredName matches the names of the files that visitors can download. Hidden files, and names that a header or a
// link would have to quote, do not match.
var offeredName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+~-]{0,199}$`)

// checksums has the SHA-256 of files, so that a file is read again only after a change.
type checksums struct {
	mu    sync.Mutex // held while a file is read
	files map[string]checksum
}

type checksum struct {
	size       int64
	modifiedAt time.Time
	text       string
}

// find returns the SHA-256 of the file called name in root.
func (c *checksums) find(root *os.Root, name string, info fs.FileInfo) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.files[name]; ok && known.size == info.Size() && known.modifiedAt.Equal(info.ModTime()) {
		return known.text, nil
	}
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	text := hex.EncodeToString(h.Sum(nil))
	c.files[name] = checksum{info.Size(), info.ModTime(), text}
	return text, nil
}

// offeredFiles returns the files that the operator offers, in the order of their names. If the directory is not there,
// there are none.
func (s *Site) offeredFiles() (files []offeredFile, err error) {
	if s.Config.Site.Downloads == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(s.Config.Site.Downloads)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		if err != nil || len(files) == maxOffers {
			break
		}
		if !e.Type().IsRegular() || !offeredName.MatchString(e.Name()) {
			continue
		}
		info, missing := e.Info()
		if missing != nil {
			continue // removed since the directory was read
		}
		file := offeredFile{Name: e.Name(), Size: bundle.FormatSize(info.Size())}
		file.SHA256, err = s.checksums.find(root, e.Name(), info)
		files = append(files, file)
	}
	return files, err
}

// getOffer sends a file of the operator's directory. Symbolic links are not followed.
func (s *Site) getOffer(v *visit) error {
	name := v.r.PathValue("file")
	missing := ladder.Errorf(ladder.NotFound, "/download lists them", "file %q does not exist", ladder.Clip(name))
	if s.Config.Site.Downloads == "" || !offeredName.MatchString(name) {
		return missing
	}
	root, err := os.OpenRoot(s.Config.Site.Downloads)
	if err != nil {
		return missing
	}
	defer root.Close()
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return missing
	}
	f, err := root.Open(name)
	if err != nil {
		return missing
	}
	defer f.Close()
	leave, err := s.Middleware.StartStream(v.r)
	if err != nil {
		return err
	}
	defer leave()
	v.setDownloadHeader("application/octet-stream", name)
	http.ServeContent(v.w, v.r, "", info.ModTime(), f)
	return nil
}
