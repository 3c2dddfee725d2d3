package site

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/live"
	"github.com/timba-arena/timba/web/messages"
	"github.com/timba-arena/timba/web/play"
)

type livePage struct{ Games []live.ListedGame }

// getLive lists all matches in progress and all games of people that can be watched.
func (s *Site) getLive(v *visit) error {
	page := livePage{s.Live.Games()}
	for i, g := range page.Games {
		if t := s.Play.Table(strings.TrimPrefix(g.URL, "/play/")); t != nil {
			page.Games[i].Bots = sideNames(v, t)
		}
	}
	return v.showPage(http.StatusOK, "live", page)
}

// sideNames returns the names of the players at a table, by side (team). The names of partners are joined by "+".
func sideNames(v *visit, t *play.Table) []string {
	list := make([]string, t.Variant.Sides)
	for seat, name := range v.site.seatNames(v.language, t.SeatViews()) {
		side := t.Variant.Side(seat)
		if list[side] != "" {
			list[side] += " + "
		}
		list[side] += name
	}
	return list
}

// isLive reports whether the match with this ID can be watched now. Only matches that are in progress on the
// server's own machine can be watched.
func (s *Site) isLive(match int64) bool {
	return slices.ContainsFunc(s.Live.Games(), func(g live.ListedGame) bool { return g.ID == match })
}

// getWatchSocket opens the WebSocket through which a page watches games and gets updates.
func (s *Site) getWatchSocket(v *visit) error {
	return s.Live.Serve(v.Visitor(), v.upgrade)
}

// liveParts renders the parts of a page that live updates replace; see live.Hub.Render. topic names the page, such as
// "bot/lola", and lang is the tag of its language. In a template, the attribute data-part marks a part.
func (s *Site) liveParts(ctx context.Context, topic, lang string) (live.Parts, error) {
	p := live.Parts{HTML: map[string]string{}}
	if !slices.Contains(messages.Languages, lang) {
		return p, fmt.Errorf("site: language %q does not exist", lang)
	}
	var failed error
	part := func(page, name, key string, data any) {
		var b bytes.Buffer
		failed = cmp.Or(failed, s.pages.templates[lang+"/"+page]().ExecuteTemplate(&b, name, data))
		p.HTML[key] = b.String()
	}
	kind, name, _ := strings.Cut(topic, "/")
	switch kind {
	case "home":
		data, err := s.homeData(ctx)
		if err != nil {
			return p, err
		}
		for _, g := range data.Games {
			part("home", "home-game", "game-"+g.Name, g)
		}
		part("home", "home-finished", "finished", data)
		part("home", "home-bots", "bots", data)
	case "ladder":
		list, err := s.Store.Ladders.Standings(ctx, name)
		if err != nil {
			return p, err
		}
		rows, err := s.withTrends(ctx, name, list[:min(len(list), standingsRows)])
		if err != nil {
			return p, err
		}
		for _, row := range rows {
			key := fmt.Sprintf("v%d", row.VersionID)
			p.Order = append(p.Order, key)
			part("standings", "standings-row", key, row)
		}
	case "bot":
		data, err := s.botParts(ctx, name)
		if err != nil {
			return p, err
		}
		part("bot", "bot-places", "places", data)
		part("bot", "bot-matches", "matches", data)
	case "play":
		s.playParts(name, part)
	case lobbyTopic:
		part("play", "lobby", "lobby", s.lobby(s.pages.languages[slices.Index(messages.Languages, lang)]))
	default:
		return p, fmt.Errorf("site: topic %q does not exist", ladder.Clip(topic))
	}
	return p, failed
}
