package playback

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Files returns the paths of replays. Each of paths is a replay or a directory. A directory stands for all replays
// in its subdirectory "games" or, if it has none, in the directory itself, in the order of their games.
func Files(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			files = append(files, path) // errors are reported when it is read
			continue
		}
		in, err := filesIn(path)
		if err != nil {
			return nil, err
		}
		files = append(files, in...)
	}
	return files, nil
}

func filesIn(dir string) ([]string, error) {
	games := filepath.Join(dir, "games")
	if _, err := os.Stat(games); err != nil {
		games = dir
	}
	entries, err := os.ReadDir(games)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	var files []string
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".json") && !strings.HasPrefix(name, ".") && !e.IsDir() {
			files = append(files, filepath.Join(games, name))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("replay: %s has no games: name a replay, or a directory that timba match --out or timba replays --out wrote", dir)
	}
	// Numbers have no leading zeros: game-9.json comes before game-10.json.
	slices.SortFunc(files, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	return files, nil
}
