package webtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/timba-arena/timba/internal/kit"
)

// browserNames are the program names of Chromium, in the order in which Start looks for them. The first one
// has no user interface and is twice as fast.
var browserNames = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}

// shared is the browser of all tests of a package.
var shared struct {
	sync.Mutex
	ctx  context.Context // nil before the first test that needs the browser
	stop func() error
}

// M runs the tests of a package, which share one browser. Tests is usually a *testing.M.
type M struct{ Tests interface{ Run() int } }

// Run runs the tests, closes the browser, and returns the exit code of the tests.
func (m M) Run() int {
	code := m.Tests.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.ctx == nil {
		return code
	}
	if err := shared.stop(); err != nil {
		fmt.Fprintf(os.Stderr, "browser: %v\n", err)
		return max(code, 1)
	}
	return code
}

// Start returns a browser context for t and its subtests, with cookies and storage of its own. The first call
// launches Chromium. If Chromium is not installed, Start skips the test.
func Start(t *testing.T) context.Context {
	t.Helper()
	kit.Slow(t)
	var path string
	for _, name := range browserNames {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skipf("NO BROWSER: none of %s is in the path: Debian's package chromium-headless-shell has one", strings.Join(browserNames, ", "))
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.ctx == nil {
		kit.Must(t, launch(path))
	}
	ctx, cancel := chromedp.NewContext(shared.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("browser: %v", err)
	}
	return ctx
}

func launch(path string) error {
	dir, err := os.MkdirTemp("", "timba-browser-")
	if err != nil {
		return err
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.UserDataDir(dir), chromedp.WindowSize(1280, 900),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true),
	}
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ := chromedp.NewContext(allocator)
	stop := func() error {
		err := chromedp.Cancel(ctx)
		cancel()
		return errors.Join(err, os.RemoveAll(dir))
	}
	if err := chromedp.Do(ctx); err != nil {
		return errors.Join(err, stop())
	}
	shared.ctx, shared.stop = ctx, stop
	return nil
}

// Tab is a tab of the browser. It records the console messages and the requests of its pages. If a method
// fails, it ends the test.
type Tab struct {
	T   *testing.T
	Ctx context.Context
	// Home is the prefix of the addresses that RequireQuiet permits: the address of the server or, for a page
	// in a file, the address of the page.
	Home string

	fail context.CancelCauseFunc // ends the test's waits with an error

	mu       sync.Mutex
	noise    []string
	requests []string
}

// Open opens an address in a new tab of browser, which is a context from Start. The tab's Home is the address
// of the server or, for a file, the address itself.
func Open(t *testing.T, browser context.Context, address string) *Tab {
	t.Helper()
	home := kit.Get[*url.URL](t)(url.Parse(address))
	if home.Host != "" {
		home = &url.URL{Scheme: home.Scheme, Host: home.Host}
	}
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, fail := context.WithCancelCause(ctx)
	if end, ok := t.Deadline(); ok {
		ctx, cancel = context.WithDeadline(ctx, end.Add(-10*time.Second)) // leaves time to report what is missing
		t.Cleanup(cancel)
	}
	b := &Tab{T: t, Ctx: ctx, Home: home.String(), fail: fail}
	kit.Must(t, chromedp.Listen(ctx, b.listen))
	Call(b, network.Enable, network.EnableParams{})
	Call(b, log.Enable, cdp.Empty{})
	b.Go(address)
	return b
}

// Browse starts a server and opens the page with this path in a new tab. toml has the configuration of the
// ladders. Browse does not wait for matches.
func Browse(t *testing.T, toml, path string) (*World, *Tab) {
	t.Helper()
	browser := Start(t)
	w := New(t, toml, 0)
	return w, Open(t, browser, w.URL+path)
}

func (b *Tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.noise = append(b.noise, fmt.Sprintf("%s %v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	case *runtime.EventConsoleAPICalled:
		b.noise = append(b.noise, fmt.Sprintf("console.%s: %v", e.Type, e.Args))
	case *log.EventEntryAdded:
		b.noise = append(b.noise, fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
	case *network.EventResponseReceived:
		if e.Type == network.ResourceTypeDocument && e.Response.Status == http.StatusInternalServerError {
			b.fail(fmt.Errorf("%s is a page of an error of the server", e.Response.URL))
		}
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

// RequireQuiet fails the test if the pages wrote anything to the console or made a request to a foreign address.
// Permitted are addresses that begin with Home, and data URLs.
func (b *Tab) RequireQuiet() {
	b.T.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.noise) > 0 {
		b.T.Errorf("the console has %q", b.noise)
	}
	own := 0
	for _, url := range b.requests {
		switch {
		case strings.HasPrefix(url, b.Home):
			own++
		case !strings.HasPrefix(url, "data:"):
			b.T.Errorf("the page asked for %s", url)
		}
	}
	if own == 0 {
		b.T.Errorf("no request for the page itself was seen, so none would have been: %q", b.requests)
	}
}

// ClearConsole discards the console messages up to now, such as a message about a status 404 that the test expects.
func (b *Tab) ClearConsole() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.noise = nil
}

// Requests returns the addresses that the pages of the tab have requested, in order.
func (b *Tab) Requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.requests...)
}

// Go opens an address and waits until it is loaded.
func (b *Tab) Go(url string) {
	b.T.Helper()
	b.Run(chromedp.Navigate(url))
}

// Back goes to the previous entry of the tab's history, and does not wait until its page is loaded.
func (b *Tab) Back() {
	b.T.Helper()
	history := Call(b, page.GetNavigationHistory, cdp.Empty{})
	if history.CurrentIndex == 0 {
		b.T.Fatal("browser: there is no page to go back to")
	}
	Call(b, page.NavigateToHistoryEntry, page.NavigateToHistoryEntryParams{EntryID: history.Entries[history.CurrentIndex-1].ID})
}

// Run runs actions of chromedp.
func (b *Tab) Run(actions ...chromedp.Action[chromedp.Void]) {
	b.T.Helper()
	if err := chromedp.Do(b.Ctx, actions...); err != nil {
		b.T.Fatalf("browser: %v", err)
	}
}

// Call runs a command of the DevTools protocol with params in tab b, and returns its result.
func Call[P, R any](b *Tab, command cdp.Command[P, R], params P) R {
	b.T.Helper()
	result, err := chromedp.Call(b.Ctx, command, params)
	if err != nil {
		b.T.Fatalf("browser: %v", err)
	}
	return result
}

// Eval returns the value of a JavaScript expression in the page. If it is a promise, Eval waits for its result.
func Eval[T any](b *Tab, expression string) T {
	b.T.Helper()
	value, err := chromedp.Run(b.Ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.T.Fatalf("browser: %s: %v", expression, err)
	}
	return value
}

// Press sends keys to the page, one after the other, as the keyboard does.
func (b *Tab) Press(keys ...string) {
	b.T.Helper()
	for _, key := range keys {
		b.Run(chromedp.KeyEvent(key))
	}
}

// Click waits until the first element that a CSS selector matches is visible and not covered, and clicks on its
// middle. Finding and clicking are one step in the browser, so that the page cannot move the element in between.
func (b *Tab) Click(selector string) {
	b.T.Helper()
	kit.Until(b.T, selector+" can be clicked", func() bool {
		clicked, err := chromedp.Run(b.Ctx, chromedp.Evaluate[bool](fmt.Sprintf(`(() => {
			const wanted = document.querySelector(%q);
			if (!wanted) return false;
			wanted.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
			const box = wanted.getClientRects()[0];
			if (!box) return false;
			const x = box.left + box.width / 2, y = box.top + box.height / 2;
			return (%s)(wanted, x, y);
		})()`, selector, ClickAt), func(p *runtime.EvaluateParams) { p.UserGesture = new(true) }))
		return err == nil && clicked || b.Ctx.Err() != nil // on other errors the page has been replaced: try again
	})
	if err := b.Ctx.Err(); err != nil {
		b.T.Fatalf("clicking on %s: %v", selector, err)
	}
}

// ClickAt is a JavaScript function that clicks at a point of the window as a mouse does: the element at that
// point gets the focus and the click. If the point is not in the element wanted or in its label, the function
// returns false and does nothing.
const ClickAt = `(wanted, x, y) => {
	const e = document.elementFromPoint(x, y);
	if (!wanted.contains(e) && e?.closest('label')?.control !== wanted) return false;
	document.activeElement?.blur();
	e.closest('a[href], button, input, select, textarea, summary, [tabindex]')?.focus({ preventScroll: true });
	e.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, composed: true, detail: 1, view: window, clientX: x, clientY: y }));
	return true;
}`

// Wait waits until a CSS selector matches an element, also if another page replaces the current one. It ends
// the test after an error of the server or at the deadline of the tests.
func (b *Tab) Wait(selector string) {
	b.T.Helper()
	var found bool
	var err error
	wait := func() bool {
		found, err = b.await(selector)
		return err == nil || b.Ctx.Err() != nil // on other errors the page has been replaced: try again
	}
	kit.Until(b.T, selector+" comes", wait)
	if err != nil || !found {
		b.T.Fatalf("%s did not come (%v)", selector, cmp.Or(context.Cause(b.Ctx), err))
	}
}

func (b *Tab) await(selector string) (bool, error) {
	return chromedp.Run(b.Ctx, chromedp.Evaluate[bool](fmt.Sprintf(`new Promise((resolve) => {
		const look = () => {
			if (!document.querySelector(%q)) return;
			watcher.disconnect();
			resolve(true);
		};
		const watcher = new MutationObserver(look);
		watcher.observe(document, { subtree: true, childList: true, attributes: true });
		look();
	})`, selector), chromedp.EvalAwaitPromise))
}

// Attribute returns the value of the attribute called name of the first element that a selector matches, or
// "" if there is none.
func (b *Tab) Attribute(selector, name string) string {
	b.T.Helper()
	return Eval[string](b, fmt.Sprintf(`document.querySelector(%q)?.getAttribute(%q) ?? ''`, selector, name))
}

// Attributes returns the values of the attribute called name of all elements that a selector matches.
func (b *Tab) Attributes(selector, name string) []string {
	b.T.Helper()
	return Eval[[]string](b, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => e.getAttribute(%q))`, selector, name))
}

// Count returns the number of elements that a selector matches.
func (b *Tab) Count(selector string) int {
	b.T.Helper()
	return Eval[int](b, fmt.Sprintf(`document.querySelectorAll(%q).length`, selector))
}

// Text returns the text of the first element that a selector matches.
func (b *Tab) Text(selector string) string {
	b.T.Helper()
	return Eval[string](b, fmt.Sprintf(`document.querySelector(%q)?.textContent ?? ''`, selector))
}

// Look sets the size of the window in pixels and whether the system prefers dark colors. It disables
// animations, so that a page can be examined right after a change.
func (b *Tab) Look(width, height int64, dark bool) {
	b.T.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	Call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
	Call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// Picture writes a screenshot of the whole page into the directory dir. If dir is "", it does nothing.
func (b *Tab) Picture(dir, name string) {
	b.T.Helper()
	if dir == "" {
		return
	}
	shot := Call(b, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: "png", CaptureBeyondViewport: new(true)})
	kit.Must(b.T, os.MkdirAll(dir, 0o755))
	kit.Must(b.T, os.WriteFile(filepath.Join(dir, name+".png"), shot.Data, 0o644))
}

// AxeVersion is the version of axe-core that examines pages. script/interpreters installs it.
const AxeVersion = "4.14.1"

// axe returns the source of axe-core, the accessibility checker that script/interpreters stores in the user's
// cache directory.
func axe(t *testing.T) string {
	t.Helper()
	cache := kit.Get[string](t)(os.UserCacheDir())
	dir := filepath.Join(cache, "timba", "axe-core@"+AxeVersion)
	data, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatalf("NO AXE-CORE: %v: script/interpreters installs it with npm", err)
	}
	return string(data)
}

// finding is a rule of axe-core that a page breaks.
type finding struct {
	ID     string
	Impact string
	Help   string
	Nodes  []struct {
		HTML           string
		FailureSummary string
	}
}

// RequireAccessible examines the page with the accessibility checker axe-core, by the rules of WCAG 2.2 AA
// and its best practices. The test fails if a finding is moderate, serious or critical.
func (b *Tab) RequireAccessible() {
	b.T.Helper()
	if !Eval[bool](b, "typeof axe === 'object'") {
		Eval[bool](b, axe(b.T)+"; true")
	}
	for _, f := range Eval[[]finding](b, `axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations.map((v) => (
		{ ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.map((n) => ({ HTML: n.html, FailureSummary: n.failureSummary })) })))`) {
		if f.Impact == "minor" {
			continue
		}
		var where strings.Builder
		for i, n := range f.Nodes {
			if i == 5 {
				fmt.Fprintf(&where, "\n  and %d more", len(f.Nodes)-i)
				break
			}
			fmt.Fprintf(&where, "\n  %s\n    %s", n.HTML, strings.ReplaceAll(n.FailureSummary, "\n", "\n    "))
		}
		b.T.Errorf("axe-core: %s: %s (%s): %s%s", Eval[string](b, "location.pathname"), f.ID, f.Impact, f.Help, where.String())
	}
}
