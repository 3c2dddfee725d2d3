package board_test

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

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/web/board"
	"github.com/timba-arena/timba/web/webtest"
)

var screens = flag.String("screens", "", "a directory to write pictures of the pages to")

// The page of every game works: it steps, plays and jumps by keys and clicks, shows only what a seat sees,
// and makes no network request.
func TestReplaysPage(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	names := []string{"brisca", "tute", "podrida-fault", "tebes-fault", "teeko"}
	if kit.Soak {
		names = append(names, "tute-four", "podrida-twelve", "tebes")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := find(t, name)
			g := rebuilt(t, c, play(t, c))
			b := open(t, in, g)
			steps(b, g)
			jumps(b, g)
			playing(b, g)
			seatViews(b, g)
			marks(b, g)
			addresses(b)
			b.RequireQuiet()
		})
	}
}

// at checks the position of the player in all elements that show it.
func (b *tab) at(ply int, g *board.Recording) {
	b.T.Helper()
	b.Wait(fmt.Sprintf(`.player[data-ply="%d"]`, ply))
	if got, want := b.Text(".count"), fmt.Sprintf("%d / %d", ply, len(g.Moves)); got != want {
		b.T.Errorf("at ply %d the count is %q, want %q", ply, got, want)
	}
	current := b.Attributes(`button.move[aria-current="step"]`, "data-ply")
	if ply == 0 && len(current) > 0 || ply > 0 && !slices.Equal(current, []string{strconv.Itoa(ply)}) {
		b.T.Errorf("at ply %d the moves marked as made last are %q", ply, current)
	}
}

func steps(b *tab, g *board.Recording) {
	b.T.Helper()
	end := len(g.Moves)
	b.at(0, g)
	b.Press(kb.ArrowRight, kb.ArrowRight, kb.ArrowRight)
	b.at(3, g)
	b.Press(kb.ArrowLeft)
	b.at(2, g)
	b.Press(kb.End, kb.ArrowRight)
	b.at(end, g)
	b.Press(kb.Home, kb.ArrowLeft)
	b.at(0, g)
	for _, step := range []struct {
		do string
		at int
	}{{"forward", 1}, {"last", end}, {"back", end - 1}, {"first", 0}} {
		b.Click(fmt.Sprintf(`[data-do=%q]`, step.do))
		b.at(step.at, g)
	}
}

func jumps(b *tab, g *board.Recording) {
	b.T.Helper()
	end := len(g.Moves)
	b.Click(`button.move[data-ply="4"]`)
	b.at(4, g)
	webtest.Eval[chromedp.Void](b.Tab, fmt.Sprintf(`(() => { const s = document.querySelector('.slider'); s.value = %d; s.dispatchEvent(new Event('input')); })()`, end-1))
	b.at(end-1, g)
	// A click on the left end of the chart is ply 0.
	webtest.Eval[chromedp.Void](b.Tab, `(() => { const c = document.querySelector('.chart'), r = c.getBoundingClientRect();
		c.dispatchEvent(new MouseEvent('click', { clientX: r.left + 46, clientY: r.top + 40, bubbles: true })); })()`)
	b.at(0, g)
	if got, want := b.Attributes(".score", "data-seat"), scored(g); !slices.Equal(got, want) {
		b.T.Errorf("the chart has lines for the seats %q, want %q", got, want)
	}
}

// scored returns the seats whose bots gave scores.
func scored(g *board.Recording) (seats []string) {
	for seat := range g.Seats {
		if slices.ContainsFunc(g.Moves, func(m board.MoveStep) bool { return m.Seat == seat && len(m.Info) > 0 }) {
			seats = append(seats, strconv.Itoa(seat))
		}
	}
	return seats
}

// playing starts the playback, and pauses it with a key at ply 2.
func playing(b *tab, g *board.Recording) {
	b.T.Helper()
	webtest.Eval[chromedp.Void](b.Tab, `(() => {
		const s = document.querySelector('.speed'); s.value = '8'; s.dispatchEvent(new Event('change'));
		const player = document.querySelector('.player');
		new MutationObserver((_, observer) => {
			if (player.dataset.ply !== '2') return;
			observer.disconnect();
			player.dataset.was = player.dataset.playing + ' ' + (player.querySelector('[data-do="play"]').ariaLabel);
			document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: ' ', bubbles: true, cancelable: true }));
		}).observe(player, { attributes: true, attributeFilter: ['data-ply'] });
	})()`)
	b.Press(" ")
	b.Wait(`.player[data-was][data-playing="no"] [aria-label="Play"]`)
	b.at(2, g)
	if was := b.Attribute(".player", "data-was"); was != "yes Pause" {
		b.T.Errorf("while it plays the player has %q", was)
	}
	b.Click(fmt.Sprintf(`button.move[data-ply="%d"]`, len(g.Moves)-1))
	b.Click(`[data-do="play"]`)
	b.Wait(fmt.Sprintf(`.player[data-playing="no"][data-ply="%d"]`, len(g.Moves)))
}

// shown is what the page shows of a position.
type shown struct {
	View   string              `json:"view"`
	Hands  map[string][]string `json:"hands"` // by seat, "?" for a card face down
	Cards  []string            `json:"cards"` // everywhere in the drawing
	Ended  bool                `json:"ended"` // the trick shown is over
	Trick  string              `json:"trick"`
	Trump  string              `json:"trump"`
	Pieces [][2]string         `json:"pieces"` // square and colour
	Line   string              `json:"line"`
	Events []string            `json:"events"`
}

const show = `(() => {
	const all = (selector, of) => [...document.querySelectorAll(selector)].map(of);
	const trick = document.querySelector('.trick');
	return {
		view: all('[data-view][aria-pressed="true"]', (e) => e.dataset.view).join(' '),
		hands: Object.fromEntries(all('[data-hand]', (e) => [e.dataset.hand, [...e.querySelectorAll('[data-card]')].map((c) => c.dataset.card)])),
		cards: all('.drawing [data-card]', (e) => e.dataset.card),
		ended: trick?.classList.contains('ended') ?? false,
		trick: trick?.dataset.trick ?? '',
		trump: document.querySelector('.stock')?.dataset.trump ?? '',
		pieces: all('[data-piece]', (e) => [e.dataset.square, e.dataset.piece]),
		line: document.querySelector('.viewline').textContent,
		events: all('.events code', (e) => e.textContent),
	};
})()`

// visit opens a position and a view by the address. Seat -1 shows all cards.
func (b *tab) visit(ply, seat int) shown {
	b.T.Helper()
	hash, view := fmt.Sprintf("ply=%d", ply), "open"
	if seat >= 0 {
		hash, view = fmt.Sprintf("ply=%d&seat=%d", ply, seat), strconv.Itoa(seat)
	}
	// The page writes its address late, so it may still have this one, which would be no change. Only then another
	// one comes first: Chromium ignores changes of the address above 200 in ten seconds.
	webtest.Eval[chromedp.Void](b.Tab, fmt.Sprintf("if (location.hash === '#%s') location.hash = ''; location.hash = %[1]q", hash))
	b.Wait(fmt.Sprintf(`.player[data-ply="%d"][data-view="%s"]`, ply, view))
	s := webtest.Eval[shown](b.Tab, show)
	if s.View != view {
		b.T.Errorf("the view chosen is %q, want %q", s.View, view)
	}
	return s
}

// seatViews checks some positions in the views of some seats.
func seatViews(b *tab, g *board.Recording) {
	b.T.Helper()
	b.Press("1")
	b.Wait(`.player[data-view="1"]`)
	b.Press("o")
	b.Wait(`.player[data-view="open"]`)
	frames := unfold(g)
	end := len(g.Moves)
	for _, ply := range []int{0, end / 3, end - 1} {
		open := b.visit(ply, -1)
		for seat, view := range frames[ply] {
			if hand, ok := view["hand"]; ok && strings.Join(open.Hands[strconv.Itoa(seat)], ",") != strings.Trim(hand, "-") {
				b.T.Errorf("ply %d, all open: seat %d shows %q, and holds %s", ply, seat, open.Hands[strconv.Itoa(seat)], hand)
			}
		}
		for seat := range min(len(g.Seats), 3) {
			s := b.visit(ply, seat)
			view := frames[ply][seat]
			if err := s.check(g.Display, view, seat); err != nil {
				b.T.Errorf("ply %d, seat %d: %v", ply, seat, err)
			}
			want := g.Frames[ply].Events.All
			if g.Frames[ply].Events.PerSeat != nil {
				want = g.Frames[ply].Events.PerSeat[seat]
			}
			if !slices.Equal(s.Events, want) {
				b.T.Errorf("ply %d: seat %d was sent %q, the page has %q", ply, seat, want, s.Events)
			}
		}
	}
}

// check compares the page with the view of a seat: its hand, and no other cards than those that the view names.
func (s shown) check(d rules.Display, view map[string]string, seat int) error {
	if n := len(strings.Fields(s.Line)); !strings.HasPrefix(s.Line, "view ") || n != len(view)+1 {
		return fmt.Errorf("the view line is %q", s.Line)
	}
	if d.Board != nil {
		want := view[d.Board.Pieces]
		got := []byte(strings.Repeat(".", len(want)))
		for _, p := range s.Pieces {
			if n, err := strconv.Atoi(p[0]); err == nil && n < len(got) {
				got[n] = p[1][0]
			}
		}
		if string(got) != want {
			return fmt.Errorf("the board shows %s, want %s", got, want)
		}
		return nil
	}
	if got, want := strings.Join(s.Hands[strconv.Itoa(seat)], ","), strings.Trim(view[d.Cards.Hand], "-"); got != want {
		return fmt.Errorf("its hand shows %s, want %s", got, want)
	}
	if s.Trump != view["trump"] || !s.Ended && s.Trick != strings.Trim(view[d.Cards.Trick], "-") {
		return fmt.Errorf("trump card %s and trick %s are shown, the view is %v", s.Trump, s.Trick, view)
	}
	may := map[string]bool{"?": true}
	for _, list := range []string{view[d.Cards.Hand], view["trump"], view[d.Cards.Trick], view["known"]} {
		for _, card := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '/' }) {
			may[card] = true
		}
	}
	for other, hand := range s.Hands {
		for _, card := range hand {
			if !may[card] {
				return fmt.Errorf("%s is shown in the hand of seat %s, and is not in the view %v", card, other, view)
			}
		}
	}
	if s.Ended { // all have seen that trick, though no view may have it any more
		for _, card := range strings.Split(s.Trick, ",") {
			may[card] = true
		}
	}
	for _, card := range s.Cards {
		if !may[card] {
			return fmt.Errorf("%s is shown, and is not in the view %v", card, view)
		}
	}
	return nil
}

// addresses changes the view and changes it back, faster than the page updates its address. The address must
// never show the view in between.
func addresses(b *tab) {
	b.T.Helper()
	hash := webtest.Eval[string](b.Tab, `new Promise((resolve) => {
		for (const key of ['0', '1', '0']) document.dispatchEvent(new KeyboardEvent('keydown', { key }));
		setTimeout(() => resolve(location.hash), 400);
	})`)
	if view := b.Attribute(".player", "data-view"); view != "0" || !strings.HasSuffix(hash, "&seat=0") {
		b.T.Errorf("the view is %s, and the address has %q", view, hash)
	}
}

// marks checks what the last position shows: the result, faults and moves of the stand-in.
func marks(b *tab, g *board.Recording) {
	b.T.Helper()
	b.Press(kb.End, "o")
	b.at(len(g.Moves), g)
	for seat, s := range g.Seats {
		row := b.Text(fmt.Sprintf(`.seats tr[data-seat="%d"]`, seat))
		points := strconv.FormatFloat(s.Points, 'f', -1, 64)
		if !strings.HasSuffix(row, points+strconv.Itoa(s.Rank)) || !strings.Contains(row, s.Name) {
			b.T.Errorf("seat %d: the table of seats has %q, want %s with %s points and rank %d", seat, row, s.Name, points, s.Rank)
		}
	}
	if got := b.Count("button.fault"); got != len(g.Faults) {
		b.T.Errorf("%d faults are marked, want %d", got, len(g.Faults))
	}
	standIns := 0
	for _, m := range g.Moves {
		if m.StandIn {
			standIns++
		}
	}
	if got := b.Count("button.move.standin"); got != standIns {
		b.T.Errorf("%d moves of the stand-in are marked, want %d", got, standIns)
	}
	if len(g.Faults) > 0 {
		b.Click("button.fault")
		b.at(g.Faults[0].Ply, g)
		if got := b.Text(".events"); !strings.Contains(got, g.Faults[0].Text) {
			b.T.Errorf("the fault is not shown: %q", got)
		}
		b.Press(strconv.Itoa((g.Faults[0].Seat + 1) % len(g.Seats)))
		if got := b.Text(".events"); strings.Contains(got, g.Faults[0].Text) {
			b.T.Errorf("another seat sees the fault in full: %q", got)
		}
	}
}

// The page shows what bots say as text and never as HTML.
func TestReplaysPageHostile(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
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
		if got := b.Text(fmt.Sprintf(`.seats tr[data-seat="%d"] .botname`, seat)); got != want {
			t.Errorf("seat %d is called %q, want %q", seat, got, want)
		}
	}
	b.Press(kb.ArrowRight)
	b.at(1, g)
	if got := b.Text(`.pair[data-key="pv"]`); got != "pv <i>x</i>" {
		t.Errorf("the thought is %q", got)
	}
	b.Click("button.fault")
	b.at(g.Faults[0].Ply, g)
	if got := b.Text(".faulttext"); got != hostile[1] {
		t.Errorf("the fault is %q", got)
	}
	b.Press(kb.End, "1", "o", kb.Home)
	b.at(0, g)
	if n := b.Count("img, #player script, #player i, #player svg[onload], #player [onerror]"); n > 0 {
		t.Errorf("%d elements were made of text", n)
	}
	if webtest.Eval[bool](b.Tab, `'pwned' in window`) {
		t.Error("a script of a bot has run")
	}
	b.RequireQuiet()
}

// The content security policy of the page is in force, so that even a mistake cannot make a network request.
func TestReplaysPagePolicy(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	c := find(t, "teeko")
	b := open(t, in, rebuilt(t, c, play(t, c)))
	b.RequireQuiet()
	webtest.Eval[chromedp.Void](b.Tab, `(() => {
		window.blocked = [];
		document.addEventListener('securitypolicyviolation', (e) => { blocked.push(e.effectiveDirective); document.body.dataset.blocked = blocked.length; });
		const script = document.createElement('script'); script.textContent = 'window.pwned = 1'; document.body.append(script);
		const image = document.createElement('img'); image.src = 'http://127.0.0.1:9/x.png'; document.body.append(image);
		document.body.setAttribute('style', 'color: red');
		fetch('http://127.0.0.1:9/').catch(() => {});
	})()`)
	b.Wait(`body[data-blocked="4"]`)
	got := webtest.Eval[[]string](b.Tab, `blocked.sort()`)
	if want := []string{"connect-src", "img-src", "script-src-elem", "style-src-attr"}; !slices.Equal(got, want) {
		t.Errorf("blocked were %q, want %q", got, want)
	}
	if webtest.Eval[bool](b.Tab, `'pwned' in window`) {
		t.Error("a script that the policy does not name has run")
	}
}

// The page fits phones and desktops, and respects the reader's preferences.
func TestReplaysPageFits(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	names := []string{"brisca-three", "podrida-twelve", "teeko-drop"}
	if kit.Soak {
		names = append(names, "tute-four", "podrida", "tebes")
	}
	for _, c := range samples {
		if *screens == "" && !slices.Contains(names, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := rebuilt(t, c, play(t, c))
			b := open(t, in, g)
			b.Click(fmt.Sprintf(`button.move[data-ply="%d"]`, len(g.Moves)/2))
			for _, width := range []int64{320, 390, 768, 1280} {
				b.Run(chromedp.EmulateViewport(width, 900))
				fitted(b, width)
				picture(b, fmt.Sprintf("%s-%d-light", c.name, width))
			}
			webtest.Call(b.Tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: "dark"}, {Name: "prefers-reduced-motion", Value: "reduce"},
			}})
			for _, width := range []int64{390, 1280} {
				b.Run(chromedp.EmulateViewport(width, 900))
				fitted(b, width)
				picture(b, fmt.Sprintf("%s-%d-dark", c.name, width))
			}
			if light := webtest.Eval[int](b.Tab, `Number(getComputedStyle(document.body).backgroundColor.match(/\d+/)[0])`); light > 60 {
				t.Errorf("in the dark the page has a red of %d", light)
			}
			b.Press(kb.ArrowRight)
			if moving := webtest.Eval[bool](b.Tab, `[...document.querySelectorAll('.lift')].some((e) => getComputedStyle(e).animationName !== 'none')`); moving {
				t.Error("something moves for a reader who wants no motion")
			}
			b.RequireQuiet()
		})
	}
}

// fitted checks that the page has been laid out for its width, one frame after the width has changed, and
// that its cards are on the table.
func fitted(b *tab, width int64) {
	b.T.Helper()
	if _, err := chromedp.Run(b.Ctx, chromedp.Poll[bool](
		`Number(document.querySelector('.player').dataset.width) === document.querySelector('.drawing').clientWidth`)); err != nil {
		b.T.Fatalf("at a width of %d the drawing was not redrawn: %v", width, err)
	}
	if over := webtest.Eval[int](b.Tab, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		b.T.Errorf("at a width of %d the page is %d pixels too wide", width, over)
	}
	outside := webtest.Eval[[]string](b.Tab, `(() => {
		const box = document.querySelector('.drawing > svg').getBoundingClientRect();
		return [...document.querySelectorAll('.drawing .card .edge, .drawing .plate, .drawing .badge, .drawing .piece')].filter((e) => {
			const r = e.getBoundingClientRect();
			return r.left < box.left || r.right > box.right || r.top < box.top || r.bottom > box.bottom;
		}).map((e) => e.getAttribute('class') + ' ' + (e.closest('[data-card]')?.dataset.card ?? e.textContent));
	})()`)
	if len(outside) > 0 {
		b.T.Errorf("at a width of %d these are off the table: %q", width, outside)
	}
}

// picture writes a screenshot if the flag -screens is set.
func picture(b *tab, name string) {
	b.T.Helper()
	if *screens == "" {
		return
	}
	png, err := chromedp.Run(b.Ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(*screens, name+".png"), png, 0o644)
	}
	kit.Must(b.T, err)
}
