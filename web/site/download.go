package site

import (
	"archive/zip"
	"bytes"
	"cmp"
	"maps"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/sample-bots/starters"
)

type downloadPage struct {
	programInfo
	Languages []starters.Language
	Offers    []offeredFile
}

// programInfo describes the running program, which visitors can download.
type programInfo struct {
	Platform string // the system and the processor for which it is built
	Version  string
	Size     string
	File     string // the name of the downloaded file
}

// platforms maps Go's names of systems and processors to the names that people know.
var platforms = map[string]string{
	"linux": "Linux", "darwin": "macOS", "windows": "Windows", "freebsd": "FreeBSD",
	"amd64": "x86-64 (Intel, AMD)", "arm64": "ARM64 (aarch64)",
}

// openProgram opens the file of the running program. On Linux this works even if a newer program has replaced
// the file.
func openProgram() (*os.File, error) {
	if f, err := os.Open("/proc/self/exe"); err == nil {
		return f, nil
	}
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

func (s *Site) programInfo() programInfo {
	system := cmp.Or(platforms[runtime.GOOS], runtime.GOOS)
	processor := cmp.Or(platforms[runtime.GOARCH], runtime.GOARCH)
	p := programInfo{Platform: system + ", " + processor, Version: s.Version, File: "timba"}
	if runtime.GOOS == "windows" {
		p.File += ".exe"
	}
	if f, err := openProgram(); err == nil {
		defer f.Close()
		if info, err := f.Stat(); err == nil {
			p.Size = bundle.FormatSize(info.Size())
		}
	}
	return p
}

func (s *Site) getDownload(v *visit) error {
	offers, err := s.offeredFiles()
	if err != nil {
		return err
	}
	return v.showPage(http.StatusOK, "download", downloadPage{s.programInfo(), starters.Languages, offers})
}

func (s *Site) getProgram(v *visit) error {
	f, err := openProgram()
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	leave, err := s.Middleware.StartStream(v.r)
	if err != nil {
		return err
	}
	defer leave()
	v.setDownloadHeader("application/octet-stream", s.programInfo().File)
	http.ServeContent(v.w, v.r, "", info.ModTime(), f)
	return nil
}

// getStarterArchive sends the starter bot of a language as an archive. The directory in it has the name of the bot.
func (s *Site) getStarterArchive(v *visit) error {
	word, ok := strings.CutSuffix(v.r.PathValue("file"), ".zip")
	l, err := starters.Find(word)
	if err != nil || !ok || l.Name != word {
		return ladder.Errorf(ladder.NotFound, "/download lists them", "starter %q does not exist", ladder.Clip(v.r.PathValue("file")))
	}
	name := "my-" + l.Name + "-bot"
	files, err := l.Files(name)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(name + "/" + file)
		if err != nil {
			return err
		}
		if _, err := w.Write([]byte(files[file])); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return v.sendFile("application/zip", name+".zip", b.Bytes())
}

// schemas has the JSON schemas of the configuration files, for editors, by the name of their file.
var schemas = map[string][]byte{"bot.schema.json": program.BotSchema, "server.schema.json": config.ServerSchema}

// getSchema sends the schema of a configuration file. Pages of other sites, such as editors in browsers, may read it.
func (s *Site) getSchema(v *visit) error {
	data, ok := schemas[v.r.PathValue("file")]
	if !ok {
		return ladder.Errorf(ladder.NotFound, "try bot.schema.json or server.schema.json", "schema %q does not exist", ladder.Clip(v.r.PathValue("file")))
	}
	v.w.Header().Set("Content-Type", "application/schema+json")
	v.w.Header().Set("Access-Control-Allow-Origin", "*")
	v.w.Write(data) // after an error the client is gone
	return nil
}
