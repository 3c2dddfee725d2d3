package replaypage

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var screens = flag.String("screens", "", "a folder to write pictures of the pages to")

// The page of every game works: it steps, plays and jumps, by keys and by
// clicks, shows what a seat sees and no more, and asks no network for anything.
func TestReplaysPage(t *testing.T) {
	in := browser(t)
	for _, c := range samples {
		t.Run(c.name, func(t *testing.T) {
			g := rebuilt(t, c, play(t, c))
			b := open(t, in, g)
			steps(b, g)
			jumps(b, g)
			playing(b, g)
			seatViews(b, g)
			marks(b, g)
			b.quiet()
		})
	}
}

// at checks where the player is, in all the places that say so.
func (b *tab) at(ply int, g *Game) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`.player[data-ply="%d"]`, ply))
	if got, want := b.text(".count"), fmt.Sprintf("%d / %d", ply, len(g.Moves)); got != want {
		b.t.Errorf("at ply %d the count is %q, want %q", ply, got, want)
	}
	current := b.attributes(`button.move[aria-current="step"]`, "data-ply")
	if ply == 0 && len(current) > 0 || ply > 0 && !slices.Equal(current, []string{strconv.Itoa(ply)}) {
		b.t.Errorf("at ply %d the moves marked as made last are %q", ply, current)
	}
}

func steps(b *tab, g *Game) {
	b.t.Helper()
	end := len(g.Moves)
	b.at(0, g)
	b.press(kb.ArrowRight, kb.ArrowRight, kb.ArrowRight)
	b.at(3, g)
	b.press(kb.ArrowLeft)
	b.at(2, g)
	b.press(kb.End)
	b.at(end, g)
	b.press(kb.ArrowRight)
	b.at(end, g)
	b.press(kb.Home, kb.ArrowLeft)
	b.at(0, g)
	b.click(`[data-do="forward"]`)
	b.at(1, g)
	b.click(`[data-do="last"]`)
	b.at(end, g)
	b.click(`[data-do="back"]`)
	b.at(end-1, g)
	b.click(`[data-do="first"]`)
	b.at(0, g)
}

func jumps(b *tab, g *Game) {
	b.t.Helper()
	end := len(g.Moves)
	b.click(`button.move[data-ply="4"]`)
	b.at(4, g)
	eval[chromedp.Void](b, fmt.Sprintf(`(() => { const s = document.querySelector('.slider'); s.value = %d; s.dispatchEvent(new Event('input')); })()`, end-1))
	b.at(end-1, g)
	// A click on the left end of the chart is ply 0.
	eval[chromedp.Void](b, `(() => { const c = document.querySelector('.chart'), r = c.getBoundingClientRect();
		c.dispatchEvent(new MouseEvent('click', { clientX: r.left + 46, clientY: r.top + 40, bubbles: true })); })()`)
	b.at(0, g)
	if got, want := b.attributes(".score", "data-seat"), scored(g); !slices.Equal(got, want) {
		b.t.Errorf("the chart has lines for the seats %q, want %q", got, want)
	}
}

// scored is the seats whose bots gave scores.
func scored(g *Game) (seats []string) {
	for seat := range g.Seats {
		if slices.ContainsFunc(g.Moves, func(m Move) bool { return m.Seat == seat && len(m.Info) > 0 }) {
			seats = append(seats, strconv.Itoa(seat))
		}
	}
	return seats
}

func playing(b *tab, g *Game) {
	b.t.Helper()
	eval[chromedp.Void](b, `(() => { const s = document.querySelector('.speed'); s.value = '8'; s.dispatchEvent(new Event('change')); })()`)
	b.press(" ")
	b.wait(`.player[data-playing="yes"] [aria-label="Pause"]`)
	b.wait(`.player[data-ply="2"], .player[data-ply="3"]`)
	b.press(" ")
	b.wait(`.player[data-playing="no"] [aria-label="Play"]`)
	b.click(fmt.Sprintf(`button.move[data-ply="%d"]`, len(g.Moves)-1))
	b.click(`[data-do="play"]`)
	b.wait(fmt.Sprintf(`.player[data-playing="no"][data-ply="%d"]`, len(g.Moves)))
}

// seatViews goes through some positions and every view of them.
func seatViews(b *tab, g *Game) {
	b.t.Helper()
	frames := unfold(g)
	end := len(g.Moves)
	for _, ply := range []int{0, end / 3, end / 2, end - 1} {
		b.press(kb.Home)
		if ply > 0 {
			b.click(fmt.Sprintf(`button.move[data-ply="%d"]`, ply))
		}
		b.press("o")
		b.wait(`.player[data-view="open"] [data-view="open"][aria-pressed="true"]`)
		openCards(b, frames[ply])
		for seat := range min(len(g.Seats), 4) {
			b.press(strconv.Itoa(seat))
			b.wait(fmt.Sprintf(`.player[data-view="%d"] [data-view="%d"][aria-pressed="true"]`, seat, seat))
			view := frames[ply][seat]
			ownCards(b, view, seat)
			shownPieces(b, view)
			if got, want := b.text(".viewline"), "view "; !strings.HasPrefix(got, want) || len(strings.Fields(got)) != len(view)+1 {
				b.t.Errorf("ply %d, seat %d: the view line is %q", ply, seat, got)
			}
			wantEvents(b, g.Frames[ply].Events, seat)
		}
	}
	b.press("o")
}

// openCards checks that every hand is shown when all cards are open.
func openCards(b *tab, views []map[string]string) {
	b.t.Helper()
	for seat, view := range views {
		hand, ok := view["hand"]
		if !ok {
			return
		}
		if got := b.attributes(fmt.Sprintf(`[data-hand="%d"] [data-card]`, seat), "data-card"); strings.Join(got, ",") != strings.Trim(hand, "-") {
			b.t.Errorf("all open: seat %d shows %q, and holds %s", seat, got, hand)
		}
	}
}

// ownCards checks that a seat's own hand is all that is shown of the cards that
// its view does not name.
func ownCards(b *tab, view map[string]string, seat int) {
	b.t.Helper()
	hand, ok := view["hand"]
	if !ok {
		return
	}
	if got := b.attributes(fmt.Sprintf(`[data-hand="%d"] [data-card]`, seat), "data-card"); strings.Join(got, ",") != strings.Trim(hand, "-") {
		b.t.Errorf("seat %d: its hand shows %q, and is %s", seat, got, hand)
	}
	may := map[string]bool{"?": true}
	for _, key := range []string{"hand", "trump", "trick", "played", "known"} {
		for _, card := range strings.FieldsFunc(view[key], func(r rune) bool { return r == ',' || r == '/' }) {
			may[card] = true
		}
	}
	ended := b.count(".trick.ended") > 0 // a trick of the round before is in no view
	for _, card := range b.attributes(`.drawing .seat [data-card]`, "data-card") {
		if !may[card] {
			b.t.Errorf("seat %d: %s is shown in a hand, and is not in its view %v", seat, card, view)
		}
	}
	for _, card := range b.attributes(`.drawing [data-card]`, "data-card") {
		if !may[card] && !ended {
			b.t.Errorf("seat %d: %s is shown, and is not in its view %v", seat, card, view)
		}
	}
	if got := b.attribute(".stock", "data-trump"); got != view["trump"] {
		b.t.Errorf("seat %d: the trump card is %q, want %q", seat, got, view["trump"])
	}
}

// shownPieces checks a board against the view's string of pieces.
func shownPieces(b *tab, view map[string]string) {
	b.t.Helper()
	want := view["pieces"] + view["board"]
	if want == "" {
		return
	}
	got := []byte(strings.Repeat(".", len(want)))
	squares, pieces := b.attributes("[data-piece]", "data-square"), b.attributes("[data-piece]", "data-piece")
	for i, square := range squares {
		n, err := strconv.Atoi(square)
		if err != nil || n >= len(got) {
			b.t.Fatalf("there is a piece on %q", square)
		}
		got[n] = pieces[i][0]
	}
	if string(got) != want {
		b.t.Errorf("the board shows %s, want %s", got, want)
	}
}

// wantEvents checks that the raw events of a position are those that the seat
// was told.
func wantEvents(b *tab, e Events, seat int) {
	b.t.Helper()
	want := e.All
	if e.Seen != nil {
		want = e.Seen[seat]
	}
	got := eval[[]string](b, `[...document.querySelectorAll('.events code')].map((c) => c.textContent)`)
	if !slices.Equal(got, want) {
		b.t.Errorf("seat %d was told %q, the page has %q", seat, want, got)
	}
}

// marks checks the last position: result, faults, moves of the stand-in.
func marks(b *tab, g *Game) {
	b.t.Helper()
	b.press(kb.End, "o")
	b.at(len(g.Moves), g)
	for seat, s := range g.Seats {
		row := b.text(fmt.Sprintf(`.seats tr[data-seat="%d"]`, seat))
		points := strconv.FormatFloat(s.Points, 'f', -1, 64)
		if !strings.HasSuffix(row, points+strconv.Itoa(s.Rank)) || !strings.Contains(row, s.Name) {
			b.t.Errorf("seat %d: the table of seats has %q, want %s with %s points and rank %d", seat, row, s.Name, points, s.Rank)
		}
	}
	if got := b.count("button.fault"); got != len(g.Faults) {
		b.t.Errorf("%d faults are marked, want %d", got, len(g.Faults))
	}
	standIns := 0
	for _, m := range g.Moves {
		if m.StandIn {
			standIns++
		}
	}
	if got := b.count("button.move.standin"); got != standIns {
		b.t.Errorf("%d moves of the stand-in are marked, want %d", got, standIns)
	}
	if len(g.Faults) > 0 {
		b.click("button.fault")
		b.at(g.Faults[0].Ply, g)
		if got := b.text(".events"); !strings.Contains(got, g.Faults[0].Text) {
			b.t.Errorf("the fault is not told: %q", got)
		}
		b.press(strconv.Itoa((g.Faults[0].Seat + 1) % len(g.Seats)))
		if got := b.text(".events"); strings.Contains(got, g.Faults[0].Text) {
			b.t.Errorf("another seat is told the fault in full: %q", got)
		}
	}
}

// What bots say is text, whatever they say.
func TestReplaysPageHostile(t *testing.T) {
	in := browser(t)
	c := find(t, "podrida-fault")
	r := play(t, c)
	hostile := []string{
		"</script><script>window.pwned=1</script>", `"><img src=x onerror="window.pwned=1">`, "<svg onload=window.pwned=1>",
		"__proto__", "javascript:window.pwned=1//\u2028\u2029<!--",
	}
	for seat := range r.Seats {
		r.Seats[seat].Name, r.Seats[seat].Version = hostile[seat], "<b>"+hostile[seat]
	}
	for i := range r.Moves {
		if !r.Moves[i].StandIn {
			r.Moves[i].Info = []string{"score=1 pv=<i>x</i> __proto__=1 constructor=<img/src=x/onerror=alert(1)> " + hostile[i%3], "score=1e999", "score=NaN", "score=", "=", ""}
		}
	}
	r.Faults[0].Text = hostile[1]
	g := rebuilt(t, c, r)
	b := open(t, in, g)
	for seat, want := range hostile {
		if got := b.text(fmt.Sprintf(`.seats tr[data-seat="%d"] .botname`, seat)); got != want {
			t.Errorf("seat %d is called %q, want %q", seat, got, want)
		}
	}
	b.press(kb.ArrowRight)
	b.at(1, g)
	if got := b.text(`.pair[data-key="pv"]`); got != "pv <i>x</i>" {
		t.Errorf("the thought is %q", got)
	}
	b.click("button.fault")
	b.at(g.Faults[0].Ply, g)
	if got := b.text(".faulttext"); got != hostile[1] {
		t.Errorf("the fault is %q", got)
	}
	b.press(kb.End, "1", "o", kb.Home)
	b.at(0, g)
	if n := b.count("img, #player script, #player i, #player svg[onload], #player [onerror]"); n > 0 {
		t.Errorf("%d elements were made of text", n)
	}
	if eval[bool](b, `'pwned' in window`) {
		t.Error("a script of a bot has run")
	}
	b.quiet()
}

// The policy of the page is in force, so that even a mistake asks no network.
func TestReplaysPagePolicy(t *testing.T) {
	in := browser(t)
	c := find(t, "teeko")
	b := open(t, in, rebuilt(t, c, play(t, c)))
	b.quiet()
	eval[chromedp.Void](b, `(() => {
		window.blocked = [];
		document.addEventListener('securitypolicyviolation', (e) => { blocked.push(e.effectiveDirective); document.body.dataset.blocked = blocked.length; });
		const script = document.createElement('script'); script.textContent = 'window.pwned = 1'; document.body.append(script);
		const image = document.createElement('img'); image.src = 'http://127.0.0.1:9/x.png'; document.body.append(image);
		document.body.setAttribute('style', 'color: red');
		fetch('http://127.0.0.1:9/').catch(() => {});
	})()`)
	b.wait(`body[data-blocked="4"]`)
	got := eval[[]string](b, `blocked.sort()`)
	if want := []string{"connect-src", "img-src", "script-src-elem", "style-src-attr"}; !slices.Equal(got, want) {
		t.Errorf("blocked were %q, want %q", got, want)
	}
	if eval[bool](b, `'pwned' in window`) {
		t.Error("a script that the policy does not name has run")
	}
}

// The page fits phones and desktops, and honours what the reader prefers.
func TestReplaysPageFits(t *testing.T) {
	in := browser(t)
	for _, c := range samples {
		t.Run(c.name, func(t *testing.T) {
			g := rebuilt(t, c, play(t, c))
			b := open(t, in, g)
			b.click(fmt.Sprintf(`button.move[data-ply="%d"]`, len(g.Moves)/2))
			for _, width := range []int64{320, 390, 768, 1280, 1920} {
				b.run(chromedp.EmulateViewport(width, 900))
				fitted(b, width)
				picture(b, fmt.Sprintf("%s-%d-light", c.name, width))
			}
			call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: "dark"}, {Name: "prefers-reduced-motion", Value: "reduce"},
			}})
			for _, width := range []int64{390, 1280} {
				b.run(chromedp.EmulateViewport(width, 900))
				fitted(b, width)
				picture(b, fmt.Sprintf("%s-%d-dark", c.name, width))
			}
			if light := eval[int](b, `Number(getComputedStyle(document.body).backgroundColor.match(/\d+/)[0])`); light > 60 {
				t.Errorf("in the dark the page has a red of %d", light)
			}
			b.press(kb.ArrowRight)
			if moving := eval[bool](b, `[...document.querySelectorAll('.lift')].some((e) => getComputedStyle(e).animationName !== 'none')`); moving {
				t.Error("something moves for a reader who wants no motion")
			}
			b.quiet()
		})
	}
}

// fitted checks that the page has been laid out for the width, which comes a
// frame after the width itself, and that its cards are on the table.
func fitted(b *tab, width int64) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Poll[bool](
		`Number(document.querySelector('.player').dataset.width) === document.querySelector('.drawing').clientWidth`)); err != nil {
		b.t.Fatalf("at a width of %d the drawing was not made anew: %v", width, err)
	}
	if over := eval[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		b.t.Errorf("at a width of %d the page is %d pixels too wide", width, over)
	}
	outside := eval[[]string](b, `(() => {
		const box = document.querySelector('.drawing > svg').getBoundingClientRect();
		return [...document.querySelectorAll('.drawing .card .edge, .drawing .plate, .drawing .badge, .drawing .piece')].filter((e) => {
			const r = e.getBoundingClientRect();
			return r.left < box.left || r.right > box.right || r.top < box.top || r.bottom > box.bottom;
		}).map((e) => e.getAttribute('class') + ' ' + (e.closest('[data-card]')?.dataset.card ?? e.textContent));
	})()`)
	if len(outside) > 0 {
		b.t.Errorf("at a width of %d these are off the table: %q", width, outside)
	}
}

// picture writes what there is to see, where the flag -screens says so.
func picture(b *tab, name string) {
	b.t.Helper()
	if *screens == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(*screens, name+".png"), png, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

