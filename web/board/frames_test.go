package board_test

import (
	"encoding/json"
	"io"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/web/board"
)

// unfold returns the views by frame and seat, computed from the changes as the page does.
func unfold(g *board.Recording) (frames [][]map[string]string) {
	views := make([]map[string]string, len(g.Seats))
	for _, f := range g.Frames {
		next := make([]map[string]string, len(views))
		for seat := range views {
			next[seat] = maps.Clone(views[seat])
			if next[seat] == nil {
				next[seat] = map[string]string{}
			}
			maps.Copy(next[seat], f.Common)
			if f.PerSeat != nil {
				maps.Copy(next[seat], f.PerSeat[seat])
			}
		}
		views = next
		frames = append(frames, views)
	}
	return frames
}

// SPEC.md, "Replays": the frames are all positions as each seat sees them.
func TestReplaysFrames(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := samples[rapid.IntRange(0, len(samples)-1).Draw(rt, "sample")]
		c.match = rapid.Uint64().Draw(rt, "match")
		c.fault = nil
		r := play(t, c)
		if differences := r.Verify(c.game); len(differences) > 0 {
			rt.Fatal(differences)
		}
		g := rebuilt(t, c, r)
		frames := unfold(g)
		if len(frames) != len(r.Moves)+1 {
			rt.Fatalf("%d frames for %d moves", len(frames), len(r.Moves))
		}
		at := 0
		same := func(s rules.State) {
			for seat := range r.Seats {
				var tokens []string
				for _, key := range g.Keys {
					tokens = append(tokens, key+"="+frames[at][seat][key])
				}
				if want := string(s.View(nil, seat)); strings.Join(tokens, " ") != want {
					rt.Fatalf("frame %d, seat %d: got %q, want %q", at, seat, strings.Join(tokens, " "), want)
				}
			}
			if g.Frames[at].Turn != s.Turn() {
				rt.Fatalf("frame %d: the turn is %d, want %d", at, g.Frames[at].Turn, s.Turn())
			}
			at++
		}
		v := kit.Get[*rules.Variant](rt)(r.Resolve(c.game))
		for step, err := range r.Walk(v, nil) {
			kit.Must(rt, err)
			same(step.State)
		}
	})
}

// Moves on boards have the names of their squares.
func TestReplaysMoveNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ game, move, want string }{
		{"tebes", "19-14", "b3-c4"}, {"tebes", "30-35", "a1-f1"}, {"teeko", "0-12", "a5-c3"}, {"teeko-drop", "12", "c3"}, {"brisca", "12o", "12o"}, {"podrida", "bid:2", "bid:2"},
	} {
		f := find(t, c.game)
		g := kit.Get[*board.Recording](t)(board.NewRecording(play(t, f), f.game))
		if got := g.MoveName(c.move); got != c.want {
			t.Errorf("%s: the move %s is called %q, want %q", c.game, c.move, got, c.want)
		}
	}
}

// Events are those that the log gives to each seat, and all events for a viewer who sees all cards.
func TestReplaysFrameEvents(t *testing.T) {
	g := rebuilt(t, find(t, "brisca"), play(t, find(t, "brisca")))
	views := unfold(g)
	deal := g.Frames[0].Events
	for seat := range g.Seats {
		if len(deal.PerSeat[seat]) != 2 || !strings.HasPrefix(deal.PerSeat[seat][0], "deal ") {
			t.Errorf("seat %d was sent %q, want its deal and the trump card", seat, deal.PerSeat[seat])
		}
		for _, card := range strings.Split(views[0][seat]["hand"], ",") {
			if !strings.Contains(deal.PerSeat[seat][0], card) {
				t.Errorf("seat %d holds %s, and was sent %q", seat, card, deal.PerSeat[seat][0])
			}
		}
	}
	if len(deal.All) != 5 {
		t.Errorf("all were sent %q, want four hands and the trump card", deal.All)
	}
	var secret, shared int
	for i, f := range g.Frames[1:] {
		if f.Events.PerSeat == nil {
			shared++
			continue
		}
		for seat, seen := range f.Events.PerSeat {
			for _, e := range seen {
				words := strings.Fields(e)
				if words[0] != "draw" || words[1] == strconv.Itoa(seat) {
					continue
				}
				secret++
				if words[2] != "?" && words[2] != views[i][seat]["trump"] {
					t.Errorf("frame %d: seat %d was sent %q", i+1, seat, e)
				}
			}
		}
	}
	if secret == 0 || shared == 0 {
		t.Errorf("%d hidden draws and %d moves that all see alike, want some of both", secret, shared)
	}
}

func TestReplaysPageRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*referee.Replay)
		want  string
	}{
		"ranks":   {func(r *referee.Replay) { r.Ranks = r.Ranks[:1] }, "replay: 1 ranks and 4 points in a game for 4 players"},
		"points":  {func(r *referee.Replay) { r.Points = nil }, "replay: 4 ranks and 0 points in a game for 4 players"},
		"fault":   {func(r *referee.Replay) { r.Faults = []referee.Fault{{Seat: 9}} }, "replay: fault 0: seat 9 does not exist"},
		"illegal": {func(r *referee.Replay) { r.Moves[1].Move = r.Moves[0].Move }, "replay: move 1 of seat"},
		"seats":   {func(r *referee.Replay) { r.Seats = r.Seats[:3] }, "replay: 3 seats in a game for 4 players"},
		"option":  {func(r *referee.Replay) { r.Options["players"] = "7" }, `option players cannot be "7"`},
	} {
		t.Run(name, func(t *testing.T) {
			sample := find(t, "brisca")
			r := play(t, sample)
			c.spoil(r)
			_, err := board.NewRecording(r, sample.game)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("page: got %v, want %q", err, c.want)
			}
			err = board.WriteCSV(io.Discard, board.Rows(r, sample.game, "-"))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("rows: got %v, want %q", err, c.want)
			}
		})
	}
}

// Differences from the rules are shown on the page.
func TestReplaysPageDifferences(t *testing.T) {
	sample := find(t, "teeko")
	r := play(t, sample)
	r.Ranks = []int{1, 1}
	r.Points = []float64{7, 7}
	g := rebuilt(t, sample, r)
	if len(g.Differences) != 2 || !strings.HasPrefix(g.Differences[0], "ranks are [1 1]") {
		t.Errorf("differences are %q, want ranks and points", g.Differences)
	}
}

func TestReplaysPageIsOneSafeDocument(t *testing.T) {
	sample := find(t, "brisca")
	r := play(t, sample)
	r.Seats[0].Name = "</script><script>alert(1)</script><!--"
	var b strings.Builder
	kit.Must(t, rebuilt(t, sample, r).WritePage(&b))
	page := b.String()
	if n := strings.Count(page, "</script>"); n != 3 {
		t.Errorf("the page has %d ends of scripts, want 3: those of the data, the texts and the program", n)
	}
	for _, forbidden := range []string{"<!--", "ZgotmplZ", "@import", "src=", "unsafe-inline"} {
		if strings.Contains(page, forbidden) {
			t.Errorf("the page has %q", forbidden)
		}
	}
	_, data, _ := strings.Cut(page, `id="replay">`)
	data, _, _ = strings.Cut(data, "</script>")
	var g board.Recording
	kit.Must(t, json.Unmarshal([]byte(data), &g))
	if g.Seats[0].Name != r.Seats[0].Name {
		t.Errorf("the name is %q, want %q", g.Seats[0].Name, r.Seats[0].Name)
	}
	if diff := cmp.Diff(rebuilt(t, sample, r), &g); diff != "" {
		t.Errorf("the data of the page differ (-want +got)\n%s", diff)
	}
}

// No replay document makes the package panic.
func FuzzReplaysExport(f *testing.F) {
	for _, c := range samples {
		f.Add(play(f, c).Encode())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := referee.DecodeReplay(data)
		if err != nil {
			return
		}
		for _, c := range samples {
			if c.game.Name == r.Game {
				if g, err := board.NewRecording(r, c.game); err == nil {
					if _, err := json.Marshal(g); err != nil {
						t.Error(err)
					}
				}
				_ = board.WriteCSV(io.Discard, board.Rows(r, c.game, "-"))
				return
			}
		}
	})
}
