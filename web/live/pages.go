package live

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"golang.org/x/time/rate"

	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/web/socket"
)

// Parts are the parts of a page that may change while the page is open, as HTML.
type Parts struct {
	Order []string          // keys in HTML of the parts that are rows of a list, in the order of the rows; may be empty
	HTML  map[string]string // the parts by the values of the attribute data-part
}

type partsDoc struct {
	Topic string            `json:"topic"`
	Parts map[string]string `json:"parts"`
	Order []string          `json:"order"`
}

type gamesDoc struct {
	Topic   string       `json:"topic"`
	Matches []ListedGame `json:"matches"`
}

// refusedDoc is the message that a socket cannot watch a page, because too many pages are being watched. The client
// may try again later.
type refusedDoc struct {
	Topic  string `json:"topic"`
	Reason string `json:"refused"`
}

type pageKey struct{ topic, lang string }

// page is a page of the site that at least one socket watches.
type page struct {
	owner    *subscriber // one of watchers; the page counts against the limit of its address
	watchers map[*subscriber]struct{}
	stale    bool              // something has happened since the page was rendered
	message  *socket.Broadcast // what was rendered last; nil before that
}

// pages is the list of watched pages. It renders changed pages again, one after the other.
type pages struct {
	hub  *Hub
	wake chan struct{}
	mu   sync.Mutex
	all  map[pageKey]*page
}

const maxLang = 5

// addressShare limits the pages that all sockets of one network address together may watch, to
// Limits.Pages/addressShare, but at least 1.
const addressShare = 4

// refusal returns the reason why clients at a network address cannot watch another page, or "" if they can. The
// caller holds p.mu.
func (p *pages) refusal(address netip.Addr) string {
	most, all, own := p.hub.Limits.Pages, 0, 0
	for key, pg := range p.all {
		if key.topic == topicGames {
			continue // all share this page
		}
		if all++; pg.owner.address == address {
			own++
		}
	}
	switch {
	case all >= most:
		return "too many pages are watched"
	case own >= max(1, most/addressShare):
		return "too many pages are watched from this address"
	}
	return ""
}

// watch adds w to the sockets that watch a page, and sends the latest content of the page to w. topic names the page,
// and lang its language. The caller must call leave at the end. If too many pages are watched, watch sends a
// refusedDoc to w and returns no error. It returns an error if the request is invalid.
func (p *pages) watch(w *subscriber, topic, lang string) (leave func(), err error) {
	if len(lang) > maxLang || topic == topicGames && lang != "" {
		return nil, errMessage
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := pageKey{topic, lang}
	pg := p.all[key]
	if pg == nil {
		if why := p.refusal(w.address); why != "" && topic != topicGames {
			m, err := socket.Encode(refusedDoc{topic, why})
			if err == nil {
				w.Put(m)
			}
			return func() {}, err
		}
		pg = &page{owner: w, watchers: map[*subscriber]struct{}{}, stale: true}
		p.all[key] = pg
		p.wakeRenderer()
	}
	pg.watchers[w] = struct{}{}
	if pg.message != nil {
		w.Put(pg.message)
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(pg.watchers, w)
		if pg.owner == w {
			for pg.owner = range pg.watchers {
				break
			}
		}
		if len(pg.watchers) == 0 && p.all[key] == pg {
			delete(p.all, key)
		}
	}, nil
}

func (p *pages) wakeRenderer() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// markByEvent marks the pages that event e may have changed. Marked pages are rendered again.
func (p *pages) markByEvent(ctx context.Context, e events.Event) {
	switch e.Kind {
	case events.SubmissionChanged, events.QueueChanged, events.AccessEnded:
		return
	}
	p.mu.Lock()
	bots := slices.ContainsFunc(slices.Collect(maps.Keys(p.all)), func(k pageKey) bool { return strings.HasPrefix(k.topic, "bot/") })
	p.mu.Unlock()
	all := e.MissedEvents > 0 || e.Kind == events.VersionChanged
	moved := map[string]bool{"home": true, "ladder/" + e.Ladder: e.Kind != events.MatchStarted}
	if bots && e.Match != 0 {
		if m, err := p.hub.Store.Matches.Find(ctx, e.Match); err == nil {
			for _, name := range m.Bots {
				moved["bot/"+name] = true
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, pg := range p.all {
		if all || moved[key.topic] || e.Kind == events.FitSaved && strings.HasPrefix(key.topic, "bot/") {
			pg.stale = true
			p.wakeRenderer()
		}
	}
}

// markStale records that the page named topic must be rendered again, in each language in which it is watched.
func (p *pages) markStale(topic string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, pg := range p.all {
		if key.topic == topic {
			pg.stale = true
			p.wakeRenderer()
		}
	}
}

// Refresh makes the page named topic be rendered again. If its content has changed, it is sent to all sockets that
// watch the page. Refresh does not wait for that.
func (h *Hub) Refresh(topic string) { h.pages.markStale(topic) }

func (p *pages) run(ctx context.Context) {
	pace := rate.NewLimiter(rate.Limit(p.hub.Limits.Renders), 1)
	for {
		key, ok := p.next()
		if !ok {
			select {
			case <-ctx.Done():
				return
			case <-p.wake:
			}
			continue
		}
		if pace.Wait(ctx) != nil {
			return
		}
		p.render(ctx, key)
	}
}

// next returns a page that has to be rendered again. The list of games has priority over other pages. If no page has
// to be rendered, ok is false.
func (p *pages) next() (key pageKey, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, pg := range p.all {
		if pg.stale && key.topic != topicGames {
			key, ok = k, true
		}
	}
	return key, ok
}

// render renders a page. If the content has changed, it sends the content to the page's watchers.
func (p *pages) render(ctx context.Context, key pageKey) {
	p.mu.Lock()
	pg := p.all[key]
	if pg != nil {
		pg.stale = false
	}
	p.mu.Unlock()
	if pg == nil {
		return
	}
	whole, err := socket.Encode(p.document(ctx, key))
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if whole.Same(pg.message) {
		return
	}
	pg.message = whole
	for w := range pg.watchers {
		w.Put(whole)
	}
}

// document returns the message with the current content of a page.
func (p *pages) document(ctx context.Context, key pageKey) any {
	if key.topic == topicGames {
		return gamesDoc{key.topic, p.hub.Games()}
	}
	parts, err := p.hub.Render(ctx, key.topic, key.lang)
	if err != nil {
		p.hub.Log.Debug("live: a page cannot be rendered", "topic", key.topic, "err", err)
		parts = Parts{} // for example, the page does not exist
	}
	return partsDoc{key.topic, parts.HTML, parts.Order}
}
