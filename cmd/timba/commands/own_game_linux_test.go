package commands

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/binaries"
)

// TestYourOwnGame builds the program of docs/your-own-game.md from the lines on that page: timba with a game
// from another module. All parts of the program have the game.
func TestYourOwnGame(t *testing.T) {
	t.Parallel()
	binaries.Program(t, "timba") // so that the result depends on its sources
	page := string(kit.Get[[]byte](t)(os.ReadFile("../../../docs/your-own-game.md")))
	blocks := func(kind string) (list []string) {
		for _, m := range regexp.MustCompile("(?s)```"+kind+"\n(.*?)```").FindAllStringSubmatch(page, -1) {
			list = append(list, m[1])
		}
		return list
	}
	game := string(kit.Get[[]byte](t)(os.ReadFile("testdata/tictactoe/tictactoe.go")))
	if lines := fmt.Sprintf(" in %d lines", strings.Count(game, "\n")); !strings.Contains(page, lines) {
		t.Errorf("the page does not say that the game is written%s", lines)
	}
	lines := strings.NewReplacer(
		"../timba", kit.Get[string](t)(filepath.Abs("../../..")), "arena match ", "arena match --movetime 60000 ", "arena check ", "arena check --movetime 60000 --quick ",
	).Replace("set -e\n" + blocks("sh")[0] + "cat >main.go <<'end'\n" + blocks("go")[0] + "end\n" + strings.Join(blocks("sh")[1:], "") +
		"echo quit | ./arena play tictactoe --movetime 60000\n! ./arena play tictactoe --level 3\n")
	dir := t.TempDir()
	cmd := exec.Command("bash", "-c", lines)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=")
	said, err := cmd.CombinedOutput()
	for _, want := range []string{
		"ok  \texample.org/arena/tictactoe", "Three pieces of one colour", "200 games", "200 of 200 replays verified", "mybot passes all ",
		"seat 1: @random\n", "level: tictactoe has no levels: name bots, such as @random",
	} {
		if !strings.Contains(string(said), want) {
			t.Errorf("nothing says %q", want)
		}
	}
	if err != nil || t.Failed() {
		t.Fatalf("%v:\n%s", err, said)
	}

	a := newArena(t, "[limits]\ntime = \"168h\"\n"+strings.Replace(blocks("toml")[0], " 100}", " 60000, startup = 60000}", 1))
	a.program = filepath.Join(dir, "arena", "arena")
	s := a.serve(t, "--workers", "1")
	until(t, "a match is over", func() bool { return len(finishedIn(s.log())) > 0 })
	finished := regexp.MustCompile(`/games/\d+`).FindString(read(t, s.url+"/matches/1", "en"))
	for path, wants := range map[string][]string{
		"/":                     {">Tic-tac-toe</a></h2>"},
		"/ladders/tictactoe":    {"@random", "@first"},
		"/rules/tictactoe":      {`<div lang="en"><p>Two players put a piece`},
		"/play?game=tictactoe":  {`<option value="@random" selected>`},
		"/write?game=tictactoe": {`<option value="tictactoe" selected>Tic-tac-toe<`},
		finished:                {`"display":{"title":"Tic-tac-toe","board":{"pieces":"board","sides":"bw"}}`},
	} {
		for _, language := range []string{"ca", "es"} {
			text := read(t, s.url+path, language)
			for _, want := range wants {
				if !strings.Contains(text, want) {
					t.Errorf("%s in %s has no %s:\n%s", path, language, want, text)
				}
			}
			if strings.Contains(text, "play.games.") {
				t.Errorf("%s in %s shows the key of a text:\n%s", path, language, text)
			}
		}
	}
}

// read returns a page of a site in a language.
func read(t *testing.T, url, language string) string {
	t.Helper()
	r := kit.Get[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))
	r.Header.Set("Accept-Language", language)
	answer := kit.Get[*http.Response](t)(http.DefaultClient.Do(r))
	defer answer.Body.Close()
	return string(kit.Get[[]byte](t)(io.ReadAll(answer.Body)))
}
