package site

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
)

const feedEntries = 30 // matches and versions in a feed, at most so many of each

// atom is a feed as RFC 4287 has it.
type atom struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	Lang    string      `xml:"http://www.w3.org/XML/1998/namespace lang,attr"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Author  string      `xml:"author>name"`
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr,omitempty"`
	Type string `xml:"type,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Link    atomLink `xml:"link"`
	Summary string   `xml:"summary"`
	at      time.Time
}

// feed answers with the finished matches and the versions of a bot, the last ones first.
func (s *Site) feed(v *visit, b ladder.Bot) error {
	owner, err := s.ownerName(v, b)
	if err != nil {
		return err
	}
	matches, err := s.Store.Matches(v.ctx(), store.MatchFilter{Bot: b.Name, State: ladder.Finished, Limit: feedEntries})
	if err != nil {
		return err
	}
	versions, err := s.Store.VersionsBefore(v.ctx(), b.ID, 0, feedEntries)
	if err != nil {
		return err
	}
	data, err := v.feedOf(b, owner, matches, versions)
	if err != nil {
		return err
	}
	v.embedded("application/atom+xml; charset=utf-8", "Accept-Language, Cookie", data) // it is in the visitor's language
	return nil
}

func (v *visit) feedOf(b ladder.Bot, owner string, matches []ladder.Match, versions []ladder.Version) ([]byte, error) {
	links := v.links(b.Name)
	f := atom{
		Lang: v.words.Tag, ID: links.Feed, Title: v.t("feed.title", "Bot", b.Name), Author: cut(40, cmp.Or(owner, "timba")),
		Links: []atomLink{{"self", "application/atom+xml", links.Feed}, {"alternate", "text/html", links.Page}},
	}
	for _, m := range matches {
		f.Entries = append(f.Entries, v.matchEntry(b, m))
	}
	for _, x := range versions {
		if !x.Began.IsZero() { // what never went live is its owner's
			f.Entries = append(f.Entries, v.versionEntry(x))
		}
	}
	slices.SortStableFunc(f.Entries, func(a, b atomEntry) int { return b.at.Compare(a.at) })
	f.Entries = f.Entries[:min(feedEntries, len(f.Entries))]
	f.Updated = stampOf(b.Created)
	if len(f.Entries) > 0 {
		f.Updated = f.Entries[0].Updated
	}
	var out bytes.Buffer
	out.WriteString(xml.Header)
	err := xml.NewEncoder(&out).Encode(f)
	return out.Bytes(), err
}

func stampOf(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// matchEntry tells of a match with what it moved.
func (v *visit) matchEntry(b ladder.Bot, m ladder.Match) atomEntry {
	var names []string
	for _, name := range m.Bots {
		names = append(names, cut(40, name))
	}
	on := cmp.Or(m.Ladder, m.Game)
	address := fmt.Sprintf("%s/matches/%d", v.origin(), m.ID)
	e := atomEntry{
		ID: address + "#" + url.PathEscape(b.Name), Title: on + ": " + strings.Join(names, ", "), Updated: stampOf(m.Finished),
		Link: atomLink{Href: address}, Summary: v.t("feed.unrated"), at: m.Finished,
	}
	for slot, c := range m.Changes {
		if m.Bots[slot] == b.Name {
			e.Summary = v.t("feed.moved", "From", whole(c.Before), "To", whole(c.After))
		}
	}
	return e
}

func (v *visit) versionEntry(x ladder.Version) atomEntry {
	address := fmt.Sprintf("%s/versions/%d", v.links(x.Bot).Page, x.Number)
	return atomEntry{
		ID: address, Title: v.t("feed.version", "Bot", x.Bot, "Version", x.Number), Updated: stampOf(x.Began),
		Link: atomLink{Href: address}, Summary: cut(80, strings.TrimSpace(x.Label+" "+x.Language)), at: x.Began,
	}
}
