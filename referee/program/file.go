package program

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/sample-bots/house"
)

// fileName matches file names, without extension, that all compilers and interpreters accept.
var fileName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// SingleFileManifest returns the manifest of a bot that consists of one file. The extension of the file's name
// decides how the bot is built and run. The bot's name is that of the file without its extension, unless that is
// "bot", "main" or "model". For an unknown extension SingleFileManifest returns an error that lists the possible names.
func SingleFileManifest(name string) (Manifest, error) {
	var known []string
	for _, f := range mainFiles {
		known = append(known, f.name)
		ext := filepath.Ext(f.name)
		base, ok := strings.CutSuffix(name, ext)
		if !ok {
			continue
		}
		if !fileName.MatchString(base) {
			return Manifest{}, phrase.Errorf("file %q: the name of a bot that is one file has letters, digits, - and _ before %s: rename it, as in %s", name, ext, f.name)
		}
		usual := strings.TrimSuffix(f.name, ext)
		rename := func(words []string) (renamed []string) {
			for _, w := range words {
				switch w {
				case f.name:
					w = name
				case usual:
					w = base
				case "./" + usual:
					w = "./" + base
				}
				renamed = append(renamed, w)
			}
			return renamed
		}
		m := Manifest{Build: rename(f.build), Run: rename(f.run), language: f.language}
		if !strings.EqualFold(base, usual) && !strings.EqualFold(base, "main") {
			m.Name = base
		}
		return m, nil
	}
	return Manifest{}, phrase.Errorf("file %q: its name tells no language: try %s, or other letters, digits, - and _ before the dot, or an archive of a directory with a %s",
		name, strings.Join(known, ", "), ManifestFile)
}

// isModelPath reports whether bot, the text by which a user names a bot, is the path of an existing file whose name
// ends like that of a trained model (house.ModelExt).
func isModelPath(bot string) bool {
	info, err := os.Stat(bot)
	return strings.HasSuffix(bot, house.ModelExt) && err == nil && info.Mode().IsRegular()
}

// resolveModel returns the program that plays the model file at path. It is the running timba program with the
// arguments "bot" and the path of the file. Its games are those for which the model was trained. resolveModel returns
// an error if it cannot read the file, or if the file is not a model.
func resolveModel(path string) (Program, error) {
	m := Manifest{}
	if err := m.readModel(path); err != nil {
		return Program{}, fmt.Errorf("bot: %w", err)
	}
	place, err := filepath.Abs(path)
	if err != nil {
		return Program{}, fmt.Errorf("bot: %w", err)
	}
	executable, hash, err := thisProgram()
	if err != nil {
		return Program{}, fmt.Errorf("bot: %q: %w", path, err)
	}
	own, err := trees.HashFile(place)
	if err != nil {
		return Program{}, fmt.Errorf("bot: %w", err)
	}
	return Program{Contestant: match.Contestant{
		Name: printable(filepath.Base(path)), Command: []string{executable, "bot", place}, Show: []string{executable},
		Hash: hashWords(hash, own), Language: languageOf([]string{path}),
	}, Games: m.Games, place: place}, nil
}

// WriteFile creates the directory dir of a bot that consists of one file. It writes the file, with the given name and
// content, and its manifest. games are the games that the bot plays; nil means all.
func WriteFile(dir, name string, content []byte, games []string) error {
	m, err := SingleFileManifest(name)
	if err != nil {
		return err
	}
	keys := map[string]any{"run": m.Run}
	if m.Name != "" {
		keys["name"] = m.Name
	}
	if m.Build != nil {
		keys["build"] = m.Build
	}
	if games != nil {
		keys["games"] = games
	}
	manifest, err := toml.Marshal(keys)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, ManifestFile), manifest, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), content, 0o644)
}

// isFile reports whether bot, as the user writes it, is the path of a single source file that must be compiled. It
// also returns the manifest of such a bot. ok is false for a file that needs no compilation, which is started as a
// command.
func isFile(bot string) (m Manifest, ok bool) {
	if info, err := os.Stat(bot); err != nil || !info.Mode().IsRegular() {
		return m, false
	}
	m, err := SingleFileManifest(filepath.Base(bot))
	return m, err == nil && m.Build != nil
}

// resolveFile returns the program of a bot that is a single source file. It builds the file in a directory of the
// cache.
func (r Resolver) resolveFile(ctx context.Context, file string) (Program, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return Program{}, fmt.Errorf("bot: %w", err)
	}
	place, err := filepath.Abs(file)
	if err != nil {
		return Program{}, fmt.Errorf("bot: %w", err)
	}
	name := filepath.Base(file)
	dir, err := r.cachedDir(ctx, "file-"+hashWords(name, string(content)), func(_ context.Context, dir string) error {
		return WriteFile(dir, name, content, nil)
	})
	if err != nil {
		return Program{}, fmt.Errorf("bot: %q: %w", file, err)
	}
	p, err := r.resolveDir(ctx, dir)
	p.Name, p.Source, p.place = printable(name), "", place
	return p, err
}
