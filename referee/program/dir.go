package program

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/sandbox"
)

func (r Resolver) resolveDir(ctx context.Context, source string) (Program, error) {
	source, err := filepath.Abs(source)
	if err != nil {
		return Program{}, fmt.Errorf("bot: %w", err)
	}
	m, err := ReadManifest(source)
	if err != nil {
		return Program{}, fmt.Errorf("bot: %w", err)
	}
	hash, err := HashDir(source)
	if err != nil {
		return Program{}, fmt.Errorf("bot: %s: %w", source, err)
	}
	dir := source
	if len(m.Build) > 0 {
		if dir, err = r.buildOnce(ctx, source, hash, m.Build); err != nil {
			return Program{}, err
		}
	}
	command, err := m.Command(dir)
	if err != nil {
		return Program{}, fmt.Errorf("bot: %s: %w", source, err)
	}
	bot := match.Bot{Name: printable(m.Name), Version: printable(m.Version), Command: command, Dir: dir, Hash: hash, Language: m.language}
	bot.Language = Language(bot)
	return Program{Bot: bot, Games: m.Games, Source: source, Own: m.Match, place: source}, nil
}

// ignored are directories that are not part of a bot: those of Git and Python.
var ignored = []string{".git", "__pycache__"}

// walk visits the directories and files of a bot by their relative path. It follows
// links and skips broken ones.
func walk(source string, visit func(rel string, info fs.FileInfo) error) error {
	return filepath.WalkDir(source, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains(ignored, d.Name()) && path != source {
			return fs.SkipDir
		}
		info, err := os.Stat(path)
		if err != nil {
			if d.Type()&fs.ModeSymlink != 0 { // such as an editor's lock
				return nil
			}
			return err
		}
		rel, err := filepath.Rel(source, path)
		if err != nil || !d.IsDir() && !info.Mode().IsRegular() {
			return err
		}
		return visit(rel, info)
	})
}

// HashDir returns a hash of all files of a directory: their paths, whether they are
// executable, and their content. A bot's Hash is that of its directory before the build.
func HashDir(source string) (string, error) {
	h := sha256.New()
	err := walk(source, func(rel string, info fs.FileInfo) error {
		if info.IsDir() {
			return nil
		}
		fmt.Fprintf(h, "%q %t %d\n", filepath.ToSlash(rel), info.Mode()&0o111 != 0, info.Size())
		return hashFile(h, filepath.Join(source, rel))
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// copyDir copies a bot's directory; executable files stay executable.
func copyDir(to, source string) error {
	return walk(source, func(rel string, info fs.FileInfo) error {
		path := filepath.Join(to, rel)
		if info.IsDir() {
			return os.MkdirAll(path, 0o755)
		}
		mode := fs.FileMode(0o644)
		if info.Mode()&0o111 != 0 {
			mode = 0o755
		}
		data, err := os.ReadFile(filepath.Join(source, rel))
		if err != nil {
			return err
		}
		return os.WriteFile(path, data, mode)
	})
}

// buildOnce returns a directory with a bot of this content, built with this command. The
// output of the build goes to r.Log, or into the error.
func (r Resolver) buildOnce(ctx context.Context, source, hash string, build []string) (string, error) {
	cache, err := r.cache()
	if err != nil {
		return "", err
	}
	done := filepath.Join(cache, hashWords(append([]string{hash}, build...)...))
	if used(done) {
		return done, nil
	}
	Prune(cache)
	fmt.Fprintf(r.Log, "building %s: %s\n", source, strings.Join(build, " "))
	work, err := os.MkdirTemp(cache, "tmp-")
	if err != nil {
		return "", fmt.Errorf("bot: making a directory to build %s in: %w", source, err)
	}
	sandbox.RemoveAtEnd(work)
	defer func() {
		os.RemoveAll(work)
		sandbox.Forget(work)
	}()
	dir := filepath.Join(work, "bot")
	if err := copyDir(dir, source); err != nil {
		return "", fmt.Errorf("bot: copying %s to build it: %w", source, err)
	}
	out, err := Build(ctx, dir, build, r.Level, sandbox.BuildLimit)
	if err != nil {
		said := Said(out)
		if said != "" {
			said = fmt.Sprintf("; it says %q", said)
		}
		return "", fmt.Errorf("bot: building %s with %q: %w%s\n%s", source, strings.Join(build, " "), err, said, strings.TrimSpace(string(out)))
	}
	r.Log.Write(out)
	if err := os.Rename(dir, done); err != nil {
		if _, other := os.Stat(done); other == nil { // another process built it at the same time
			return done, nil
		}
		return "", fmt.Errorf("bot: keeping the build of %s: %w", source, err)
	}
	return done, nil
}

// cache returns the directory that keeps what is built.
func (r Resolver) cache() (string, error) {
	if r.Cache != "" {
		return r.Cache, nil
	}
	return CacheDir("builds")
}

// used reports whether the cache has a directory, and marks that as used, for Prune.
func used(dir string) bool {
	now := time.Now()
	os.Chtimes(dir, now, now) // an error: it is not there, or it is another user's
	_, err := os.Stat(dir)
	return err == nil
}

// keepUnused is how long the cache keeps what is not used.
const keepUnused = 30 * 24 * time.Hour

// Prune removes what has not been used for long from a directory of the cache. It ignores
// errors.
func Prune(cache string) {
	entries, _ := os.ReadDir(cache)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > keepUnused {
			os.RemoveAll(filepath.Join(cache, e.Name()))
		}
	}
}

// CacheDir returns timba's directory in the user's cache.
func CacheDir(name string) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	dir := filepath.Join(base, "timba", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("cache: %w: set XDG_CACHE_HOME to a writable directory", err)
	}
	return dir, nil
}
