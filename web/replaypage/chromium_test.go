package replaypage

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browsers are the names under which Chromium is found.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}

// browser starts Chromium, once for a test and its parts.
func browser(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("short: a browser")
	}
	var path string
	for _, name := range browsers {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skipf("NO BROWSER: none of %s is in the path: Debian's package chromium has one", strings.Join(browsers, ", "))
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 900),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true),
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // before the allocator's directory goes
		if err := chromedp.Cancel(ctx); err != nil {
			t.Errorf("browser: %v", err)
		}
	})
	return ctx
}

// tab is a page in the browser, and all that it complained of or asked for.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string

	mu       sync.Mutex
	noise    []string
	requests []string
}

// open opens a game's page, or an empty page for nil.
func open(t *testing.T, in context.Context, g *Game) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(in)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 90*time.Second)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx, url: "about:blank"}
	if g != nil {
		b.url = pageFile(t, g)
	}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	call(b, network.Enable, network.EnableParams{})
	call(b, log.Enable, cdp.Empty{})
	b.run(chromedp.Navigate(b.url))
	if g != nil {
		b.wait(`.player[data-ply]`)
	}
	return b
}

// pageFile writes a page and gives its address.
func pageFile(t *testing.T, g *Game) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "game.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := g.WritePage(f); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.noise = append(b.noise, fmt.Sprintf("%s %v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	case *runtime.EventConsoleAPICalled:
		b.noise = append(b.noise, fmt.Sprintf("console.%s: %v", e.Type, e.Args))
	case *log.EventEntryAdded:
		b.noise = append(b.noise, fmt.Sprintf("%s: %s", e.Entry.Level, e.Entry.Text))
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

// quiet checks that the page said nothing in the console and asked for nothing
// but itself. Its icon is in it.
func (b *tab) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.noise) > 0 {
		b.t.Errorf("the console has %q", b.noise)
	}
	own := 0
	for _, url := range b.requests {
		switch {
		case strings.HasPrefix(url, b.url):
			own++
		case !strings.HasPrefix(url, "data:"):
			b.t.Errorf("the page asked for %s", url)
		}
	}
	if own == 0 {
		b.t.Errorf("no request for the page itself was seen, so none would have been: %q", b.requests)
	}
}

func (b *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatalf("browser: %v", err)
	}
}

// call runs a command of the protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	result, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.t.Fatalf("browser: %v", err)
	}
	return result
}

// eval returns the value of an expression.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("browser: %s: %v", expression, err)
	}
	return value
}

// press sends keys to the page.
func (b *tab) press(keys ...string) {
	b.t.Helper()
	for _, key := range keys {
		b.run(chromedp.KeyEvent(key))
	}
}

// click clicks on what a selector finds first.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.run(chromedp.Click(chromedp.CSS(selector)))
}

// wait waits until a selector finds something.
func (b *tab) wait(selector string) {
	b.t.Helper()
	found, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](fmt.Sprintf(`new Promise((resolve) => {
		const done = (found) => { watcher.disconnect(); clearTimeout(timer); resolve(found); };
		const look = () => { if (document.querySelector(%q)) done(true); };
		const watcher = new MutationObserver(look), timer = setTimeout(() => done(false), 30000);
		watcher.observe(document, { subtree: true, childList: true, attributes: true });
		look();
	})`, selector), chromedp.EvalAwaitPromise))
	if err != nil || !found {
		b.t.Fatalf("%s did not come (%v): the player has ply %s and view %s", selector, err, b.attribute(".player", "data-ply"), b.attribute(".player", "data-view"))
	}
}

// attribute returns an attribute of the first element that a selector matches, "" if there is none.
func (b *tab) attribute(selector, name string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf(`document.querySelector(%q)?.getAttribute(%q) ?? ''`, selector, name))
}

// attributes returns an attribute of all that a selector finds.
func (b *tab) attributes(selector, name string) []string {
	b.t.Helper()
	return eval[[]string](b, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => e.getAttribute(%q))`, selector, name))
}

// count returns how many elements a selector finds.
func (b *tab) count(selector string) int {
	b.t.Helper()
	return eval[int](b, fmt.Sprintf(`document.querySelectorAll(%q).length`, selector))
}

// text returns the text of what a selector finds first.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf(`document.querySelector(%q)?.textContent ?? ''`, selector))
}
