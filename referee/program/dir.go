package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/timba-arena/timba/internal/trees"
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
	hash, err := trees.HashSource(source)
	if err != nil {
		return Program{}, fmt.Errorf("bot: %s: %w", source, err)
	}
	dir := source
	if len(m.Build) > 0 {
		if dir, err = r.builtDir(ctx, source, hash, m.Build); err != nil {
			return Program{}, err
		}
	}
	bot, err := m.Contestant(dir)
	if err != nil {
		return Program{}, fmt.Errorf("bot: %s: %w", source, err)
	}
	bot.Name, bot.Version, bot.Hash, bot.Language = printable(m.Name), printable(m.Version), hash, m.language
	bot.Language = Language(bot)
	return Program{Contestant: bot, Games: m.Games, Source: source, Overrides: m.Match, place: source}, nil
}

// builtDir returns a directory in the cache that has the bot of the directory source, built by the command build.
// hash is the hash of the source. The directory exists at least until ctx ends. The output of the build is written to
// r.Log or, if the build fails, is part of the error.
func (r Resolver) builtDir(ctx context.Context, source, hash string, build []string) (string, error) {
	return r.cachedDir(ctx, hashWords(append([]string{hash}, build...)...), func(ctx context.Context, dir string) error {
		fmt.Fprintf(r.Log, "building %s: %s\n", source, strings.Join(build, " "))
		work := filepath.Dir(dir)
		sandbox.RemoveAtEnd(work)
		defer sandbox.CancelRemoveAtEnd(work)
		if err := trees.CopySource(dir, source); err != nil {
			return fmt.Errorf("bot: copying %s to build it: %w", source, err)
		}
		out, err := Build(ctx, dir, build, r.Level, sandbox.BuildLimit)
		if err != nil {
			said := BuildErrorLine(out)
			if said != "" {
				said = fmt.Sprintf("; it says %q", said)
			}
			return fmt.Errorf("bot: building %s with %q: %w%s\n%s", source, strings.Join(build, " "), err, said, strings.TrimSpace(string(out)))
		}
		r.Log.Write(out)
		return nil
	})
}

// cachedDir returns the directory in the cache for key. If there is none, it calls add to make one at the path dir.
// The directory exists until ctx ends; afterwards the cache may remove it.
func (r Resolver) cachedDir(ctx context.Context, key string, add func(ctx context.Context, dir string) error) (string, error) {
	cache := r.Cache
	if cache == "" {
		var err error
		if cache, err = CacheDir("builds"); err != nil {
			return "", err
		}
	}
	s := trees.NewStore(cache, trees.Options{Limits: trees.Limits{Bytes: MaxCache, Age: maxUnused}})
	h, err := s.Add(ctx, key, add)
	if errors.Is(err, trees.ErrReadOnly) {
		err = writeError(err)
	}
	if err != nil {
		return "", err
	}
	context.AfterFunc(ctx, h.Release)
	return h.Path, nil
}

// writeError returns err, an error of writing to the cache, with advice for the user.
func writeError(err error) error {
	return fmt.Errorf("cache: %w: set XDG_CACHE_HOME to a writable directory", err)
}

// MaxCache is the largest size of the user's cache in bytes. If the cache becomes larger, built bots that are not in
// use are removed from it.
const MaxCache = 4 << 30

// maxUnused is how long a cache retains a directory that is not used.
const maxUnused = 30 * 24 * time.Hour

// Prune removes from a cache everything that was not used for 30 days. cache is the directory of the cache. Prune
// ignores errors.
func Prune(cache string) {
	trees.NewStore(cache, trees.Options{}).Evict(trees.Limits{Age: maxUnused}, nil)
}

// CacheDir returns the path of the directory called name below timba's directory in the user's cache, and creates the
// directory if necessary. If the user has no home directory, or may not write there, CacheDir returns a directory for
// temporary files that belongs to this user alone. If the variable XDG_CACHE_HOME is set, CacheDir uses only the
// cache that it names.
func CacheDir(name string) (string, error) {
	base, err := os.UserCacheDir()
	dir := filepath.Join(base, "timba", name)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil && os.Getenv("XDG_CACHE_HOME") == "" {
		own := filepath.Join(os.TempDir(), fmt.Sprintf("timba-%d", os.Getuid()))
		dir = filepath.Join(own, name)
		if err = os.MkdirAll(dir, 0o755); err == nil {
			err = os.Chmod(own, 0o755) // fails if another user has made it
		}
	}
	if err != nil {
		return "", writeError(err)
	}
	return dir, nil
}
