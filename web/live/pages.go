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

// Parts are the parts of a page that move, as HTML.
type Parts struct {
	Order []string          // the keys of those that are a list, in their order; may be empty
	HTML  map[string]string // by key
}

// partsDoc is a message about a page: its parts, and the order of its list.
type partsDoc struct {
	Topic string            `json:"topic"`
	Parts map[string]string `json:"parts"`
	Order []string          `json:"order"`
}

// gamesDoc is the message about topicGames.
type gamesDoc struct {
	Topic   string       `json:"topic"`
	Matches []ListedGame `json:"matches"`
}

// refusedDoc tells a socket that a page is not shown to it, as too many are watched. It may ask again.
type refusedDoc struct {
	Topic  string `json:"topic"`
	Reason string `json:"refused"`
}

// pageKey is a page in a language.
type pageKey struct{ topic, lang string }

// page is a page that somebody watches.
type page struct {
	owner    *subscriber // one of the watchers, for whose address the page counts
	watchers map[*subscriber]struct{}
	stale    bool            // something has happened since it was rendered
	message  *socket.Message // what is shown; nil: not rendered yet
}

// pages renders the pages that are watched and have moved, one after the other.
type pages struct {
	hub  *Hub
	wake chan struct{}
	mu   sync.Mutex
	all  map[pageKey]*page
}

// maxLang is the length of the longest tag of a language.
const maxLang = 5

// addressShare is the part of Limits.Pages that may count for one address, as 1/addressShare.
const addressShare = 4

// refusal returns why an address cannot begin to watch another page, "" if it can, under the lock.
func (p *pages) refusal(address netip.Addr) string {
	most, all, own := p.hub.Limits.Pages, 0, 0
	for key, pg := range p.all {
		if key.topic == topicGames {
			continue // which is one for all
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

// watch begins to watch a page. Where too many are watched it refuses that page; the socket stays.
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

// markByEvent marks the pages that an event moves.
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

// markStale marks the pages of a topic as moved.
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

// Refresh has the page of a topic rendered anew for those who watch it.
func (h *Hub) Refresh(topic string) { h.pages.markStale(topic) }

// run renders until the context ends.
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

// next returns a page to render, the list of games before others.
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

// render renders a page, and sends it if it is another one.
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

// document returns what is shown of a page.
func (p *pages) document(ctx context.Context, key pageKey) any {
	if key.topic == topicGames {
		return gamesDoc{key.topic, p.hub.Games()}
	}
	parts, err := p.hub.Render(ctx, key.topic, key.lang)
	if err != nil {
		p.hub.Log.Debug("live: a page cannot be rendered", "topic", key.topic, "err", err)
		parts = Parts{} // such as one that does not exist
	}
	return partsDoc{key.topic, parts.HTML, parts.Order}
}
