package site

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/timba-arena/timba"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/board"
	"github.com/timba-arena/timba/web/middleware"
)

//go:embed pages
var pageFiles embed.FS

// assetsPath is the path of the files that pages use: assetsPath + HASH + "/" + NAME. The hash is of all
// files together, so that modules can import each other by relative names, such as '../board/scene.js'.
const assetsPath = "/assets/"

// assetTypes has the media types of the files that browsers fetch, by extension. All other files are templates.
var assetTypes = map[string]string{
	".css":   "text/css; charset=utf-8",
	".js":    "text/javascript; charset=utf-8",
	".png":   "image/png",
	".svg":   "image/svg+xml",
	".txt":   "text/plain; charset=utf-8",
	".woff2": "font/woff2",
}

// asset is a file with its compressed forms.
type asset struct {
	contentType       string
	plain, gzip, zstd []byte
}

// assets has all files that pages use, by name. The name is DIR/NAME for a file in a directory below pages,
// board/NAME for a file of package board, and the path in timba.Documents for a picture in a document.
type assets struct {
	hash    string
	files   map[string]asset
	modules map[string][]string // for each module, the sorted names of those that it imports, directly or not
}

// newAssets returns all files that pages use. The first call compresses them; later calls return the same value.
var newAssets = sync.OnceValues(packAssets)

func packAssets() (*assets, error) {
	a := &assets{files: map[string]asset{}}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(assetWindow))
	if err != nil {
		return nil, fmt.Errorf("site: %w", err)
	}
	defer e.Close()
	z, err := gzip.NewWriterLevel(nil, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("site: %w", err)
	}
	own, err := fs.Sub(pageFiles, "pages")
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	for _, tree := range []struct {
		dir   string
		files fs.FS
	}{{"", own}, {"board", board.Files}, {"", timba.Documents}} {
		err := fs.WalkDir(tree.files, ".", func(name string, d fs.DirEntry, err error) error {
			kind := assetTypes[path.Ext(name)]
			if err != nil || d.IsDir() || kind == "" {
				return err
			}
			data, err := fs.ReadFile(tree.files, name)
			if err != nil {
				return err
			}
			name = path.Join(tree.dir, name)
			fmt.Fprintf(sum, "%s %d\n%s", name, len(data), data)
			a.files[name], err = newAsset(kind, data, z, e)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("site: %w", err)
		}
	}
	a.modules = map[string][]string{}
	for name := range a.files {
		if path.Ext(name) == ".js" {
			a.modules[name] = a.closure(name)
		}
	}
	a.hash = hex.EncodeToString(sum.Sum(nil)[:8])
	return a, nil
}

// assetWindow is the window of the zstd compression in bytes. It is larger than every file, so that
// compression finds repetitions across a whole file.
const assetWindow = 1 << 19

func newAsset(kind string, data []byte, z *gzip.Writer, e *zstd.Encoder) (asset, error) {
	a := asset{contentType: kind, plain: data}
	var b bytes.Buffer
	z.Reset(&b)
	if _, err := z.Write(data); err != nil {
		return a, err
	}
	if err := z.Close(); err != nil {
		return a, err
	}
	a.gzip = b.Bytes()
	a.zstd = e.EncodeAll(data, nil)
	return a, nil
}

// importPattern matches an import of a module by a relative name.
var importPattern = regexp.MustCompile(`(?m)^import [^;]*?'(\.\.?/[^']+)';`)

// closure returns the sorted names of all modules that the module called name imports, directly or not.
func (a *assets) closure(name string) []string {
	seen := map[string]bool{}
	var follow func(name string)
	follow = func(name string) {
		for _, m := range importPattern.FindAllSubmatch(a.files[name].plain, -1) {
			if other := path.Join(path.Dir(name), string(m[1])); !seen[other] {
				seen[other] = true
				follow(other)
			}
		}
	}
	follow(name)
	return slices.Sorted(maps.Keys(seen))
}

// importURLs returns the addresses of all modules that the module called name imports, directly or not.
func (a *assets) importURLs(name string) (urls []string) {
	for _, other := range a.modules[name] {
		urls = append(urls, assetsPath+a.hash+"/"+other)
	}
	return urls
}

// drawsGames reports whether the module with this name draws games or cards. It does if the module, or a module that
// it imports, uses the board; the board may also be loaded later, by a call of import().
func (a *assets) drawsGames(name string) bool {
	return slices.Contains(a.modules[name], "board/scene.js") || slices.ContainsFunc(append(slices.Clone(a.modules[name]), name), func(module string) bool {
		return bytes.Contains(a.files[module].plain, []byte("import('../board/"))
	})
}

func (a *assets) has(name string) bool { _, ok := a.files[name]; return ok }

func (a *assets) url(name string) (string, error) {
	if !a.has(name) {
		return "", fmt.Errorf("site: file %q does not exist in pages or in web/board", name)
	}
	return assetsPath + a.hash + "/" + name, nil
}

// serveAsset serves a file. Browsers may cache it forever, because a change of any file changes its address.
func (s *Site) serveAsset(w http.ResponseWriter, r *http.Request, name string) {
	h := w.Header()
	if err := s.Middleware.Assets.Admit(w, middleware.RequestOf(r).Address); err != nil {
		p := s.Middleware.Problem(r, err)
		h.Set("Retry-After", middleware.Seconds(middleware.RetryAfter(err, p.Status)))
		http.Error(w, p.Error(), p.Status)
		return
	}
	name, current := strings.CutPrefix(name, s.assets.hash+"/")
	a, ok := s.assets.files[name]
	switch {
	case !ok || !current:
		err := ladder.Errorf(ladder.NotFound, "load the page again", "%q does not exist", ladder.Clip(r.URL.Path))
		p := s.Middleware.Problem(r, err)
		http.Error(w, p.Error(), p.Status)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "try GET", http.StatusMethodNotAllowed)
		return
	}
	h.Set("Content-Type", a.contentType)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	data := a.plain
	switch encodings := r.Header.Get("Accept-Encoding"); {
	case acceptsEncoding(encodings, "zstd"):
		data = a.zstd
		h.Set("Content-Encoding", "zstd")
	case acceptsEncoding(encodings, "gzip"):
		data = a.gzip
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	if r.Method != http.MethodHead {
		w.Write(data)
	}
}

// acceptsEncoding reports whether header, the Accept-Encoding header of a request, allows the given encoding.
func acceptsEncoding(header, encoding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, params, err := mime.ParseMediaType(part)
		if err == nil && name == encoding {
			q, err := strconv.ParseFloat(params["q"], 64)
			return err != nil || q > 0
		}
	}
	return false
}
