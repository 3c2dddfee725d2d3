package site

import (
	"bytes"
	"fmt"
	"html"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/klauspost/compress/zstd"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/podrida"
	"github.com/timba-arena/timba/rules/tebes"
	"github.com/timba-arena/timba/rules/teeko"
)

// sampleGames has the games for the tests of pages: the largest game of each kind of drawing.
var sampleGames = []struct {
	name    string
	game    *rules.Game
	options map[string]string
}{
	{"podrida-12", podrida.Game, map[string]string{"players": "12"}},
	{"tebes", tebes.Game, map[string]string{"size": "6"}},
	{"teeko", teeko.Game, nil},
}

// replayOf plays a game at random and returns its replay.
func replayOf(t testing.TB, at int) *referee.Replay {
	t.Helper()
	p := sampleGames[at]
	for name, value := range p.options {
		known := false
		for _, o := range p.game.Options {
			known = known || o.Name == name
		}
		if !known {
			t.Fatalf("%s has no option %q=%q", p.name, name, value)
		}
	}
	return refereetest.Replay(t, p.game, p.options, 1, nil)
}

// gameHTML renders the page of a replay as the server does, without a store.
func gameHTML(t testing.TB, v *visit, data []byte) ([]byte, error) {
	t.Helper()
	r, g, err := decodeReplay(1, data)
	if err != nil {
		return nil, err
	}
	view, err := newGameView(1, r, g)
	if err != nil {
		return nil, err
	}
	page := gamePage{
		gameView: view, FinishedGame: ladder.FinishedGame{ID: 1, MatchID: 1, Plies: len(view.BoardGame.Moves), Took: time.Second},
		Full: "http://127.0.0.1/games/1", Embed: "http://127.0.0.1/games/1/embed",
	}
	for i, seat := range view.BoardGame.Seats {
		page.Match.Bots, page.Match.Numbers = append(page.Match.Bots, seat.Name), append(page.Match.Numbers, 1)
		page.Seats = append(page.Seats, ladder.GameSeat{Seat: i, Slot: i, Rank: seat.Rank, Points: seat.Points})
	}
	var b bytes.Buffer
	err = v.site.pages.templates["en/game"]().ExecuteTemplate(&b, "layout", frame{v, "game", page})
	return b.Bytes(), err
}

// newGameVisit returns a visit to a page of a game.
func newGameVisit(t testing.TB) *visit {
	v := newStrangerVisit(t)
	v.site.Config = &config.Config{}
	v.site.Config.Site.Embed = true
	return v
}

// The first load of a game's page, with everything that it needs, is smaller than 150 KB.
func TestGamePageWeight(t *testing.T) {
	v := newGameVisit(t)
	encoder := kit.Get[*zstd.Encoder](t)(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest)))
	defer encoder.Close()
	for i, p := range sampleGames {
		html := kit.Get[[]byte](t)(gameHTML(t, v, replayOf(t, i).Encode()))
		sum := len(encoder.EncodeAll(html, nil))
		own, count := sum, 0
		for _, name := range append(v.site.assets.modules["game/game.js"], "game/game.js", "layout/site.css", "board/tokens.css", "layout/icon.svg", "board/board.css", "board/table.css", "board/player.css") {
			if !strings.Contains(string(html), name) {
				t.Errorf("%s: the page does not link %s", p.name, name)
			}
			sum += len(v.site.assets.files[name].zstd)
			count++
		}
		if sum > 150_000 {
			t.Errorf("%s: the first load has %d bytes", p.name, sum)
		}
		t.Logf("%s: page %d bytes, %d compressed; with %d files %d", p.name, len(html), own, count, sum)
	}
}

// The page of a game has the game as a line of text, from which "timba match --openings" can start.
func TestGameNotation(t *testing.T) {
	v := newGameVisit(t)
	for i, p := range sampleGames {
		r := replayOf(t, i)
		page := string(kit.Get[[]byte](t)(gameHTML(t, v, r.Encode())))
		_, rest, _ := strings.Cut(page, `<textarea id="notation"`)
		_, rest, _ = strings.Cut(rest, ">")
		line, _, _ := strings.Cut(rest, "</textarea>")
		n, err := referee.ParseNotation(html.UnescapeString(line))
		if kit.Must(t, err); n.Game != r.Game || n.Seed == nil || len(n.Moves) != len(r.Moves) {
			t.Errorf("%s: the line is %q", p.name, line)
		}
	}
}

// hostile has texts that bots could write.
var hostile = []string{
	"</script><script>window.pwned=1</script>", `"><img src=x onerror="window.pwned=1">`, "<svg onload=window.pwned=1>",
	"\u202egnirts\u2066 \u200f", "{{.}}", "javascript:alert(1)//\u2028\u2029<!--", strings.Repeat("<b>", 1<<14),
}

// withHostileTexts puts text in every place of a replay that comes from a bot or its author.
func withHostileTexts(r *referee.Replay, text string) *referee.Replay {
	for i := range r.Seats {
		r.Seats[i].Name, r.Seats[i].Version = text, text
	}
	for i := range r.Moves {
		r.Moves[i].Info = []string{text, "score=1 " + text[:min(len(text), 4000)]}
	}
	r.Faults = append(r.Faults, referee.Fault{Seat: 0, Ply: len(r.Moves), Code: "illegal", Text: text})
	return r
}

// checkSafePage checks that a page of a game has only its own scripts, nothing else that runs, no text in another
// direction, and a limited size.
func checkSafePage(t *testing.T, html []byte, moves int) {
	t.Helper()
	elements, texts := shape(html)
	if n := strings.Count(elements, "StartTag<script"); n != 4 {
		t.Errorf("the page has %d scripts, want 4", n)
	}
	for line := range strings.Lines(elements) {
		for _, attribute := range strings.Fields(line)[1:] {
			if strings.HasPrefix(attribute, "on") || strings.HasPrefix(attribute, "style") {
				t.Errorf("the page has an element %s", line)
			}
		}
	}
	for _, r := range texts {
		if unicode.Is(unicode.Bidi_Control, r) {
			t.Errorf("the page has the control character %U", r)
			break
		}
	}
	if most := 200_000 + moves*12*maxInfo*maxInfoLines; len(html) > most {
		t.Errorf("the page has %d bytes, more than %d", len(html), most)
	}
}

// What bots write appears as truncated plain text on the page of a game.
func TestGamePageHostile(t *testing.T) {
	v := newGameVisit(t)
	for i, text := range hostile {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			r := replayOf(t, 2)
			html := kit.Get[[]byte](t)(gameHTML(t, v, withHostileTexts(r, text).Encode()))
			checkSafePage(t, html, len(r.Moves))
		})
	}
}

// For any replay, the server makes a page or an error, but never a panic, a foreign script, or an unlimited page.
func FuzzGamePage(f *testing.F) {
	for i := range sampleGames[1:] {
		f.Add(replayOf(f, i+1).Encode())
	}
	f.Add(withHostileTexts(replayOf(f, 2), hostile[0]).Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		v := newGameVisit(t)
		html, err := gameHTML(t, v, data)
		if err != nil {
			return
		}
		r, err := referee.DecodeReplay(data)
		kit.Must(t, err)
		checkSafePage(t, html, len(r.Moves)+len(data))
	})
}

func BenchmarkGamePage(b *testing.B) {
	v := newGameVisit(b)
	for i, p := range sampleGames {
		data := replayOf(b, i).Encode()
		b.Run(p.name, func(b *testing.B) {
			for b.Loop() {
				html := kit.Get[[]byte](b)(gameHTML(b, v, data))
				w := &countingWriter{header: http.Header{}}
				v.r.Header.Set("Accept-Encoding", "zstd")
				v.site.pages.compress(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
					rw.Header().Set("Content-Type", "text/html; charset=utf-8")
					rw.Write(html)
				}))(w, v.r)
				b.ReportMetric(float64(w.n), "bytes")
			}
		})
	}
}

// countingWriter is a writer that only counts the bytes.
type countingWriter struct {
	header http.Header
	n      int
}

func (d *countingWriter) Header() http.Header         { return d.header }
func (d *countingWriter) WriteHeader(int)             {}
func (d *countingWriter) Write(p []byte) (int, error) { d.n += len(p); return len(p), nil }
