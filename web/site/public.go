package site

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
)

// links are absolute addresses about a bot, for use on other sites: its page, its badge and its feed.
type links struct{ Page, Badge, Feed string }

func (v *visit) publicLinks(bot string) links {
	page := v.origin() + "/bots/" + url.PathEscape(bot)
	return links{page, page + "/badge.svg", page + "/feed.atom"}
}

// origin returns the public address of this server: the configured address or, if there is none, the address that the
// visitor used.
func (v *visit) origin() string {
	if configured := v.site.Config.Site.URL; configured != "" {
		return configured
	}
	u := url.URL{Scheme: "http", Host: truncate(maxHost, v.r.Host)}
	if v.Secure {
		u.Scheme = "https"
	}
	return u.String()
}

// badgeAge is how long caches may keep badges and feeds.
const badgeAge = 5 * time.Minute

// sendEmbedded answers with a document of media type kind that other sites show. Caches may keep the answer
// for badgeAge and use it for all visitors. vary has the names of the request headers on which the document
// depends, or is "".
func (v *visit) sendEmbedded(kind, vary string, data []byte) {
	sum := sha256.Sum256(data)
	h := v.w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", fmt.Sprintf("public, max-age=%d", int(badgeAge.Seconds())))
	h.Del("Set-Cookie") // such as the one that deletes the cookie of an ended session
	h.Del("Vary")
	if vary != "" {
		h.Set("Vary", vary)
	}
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("ETag", `"`+hex.EncodeToString(sum[:16])+`"`)
	http.ServeContent(v.w, v.r, "", time.Time{}, bytes.NewReader(data))
}

// getBadge draws the rating and the rank of a bot as a small picture. They are those on the ladder in the query
// parameter "ladder" or, without it, on the bot's first ladder.
func (s *Site) getBadge(v *visit, b ladder.Bot) error {
	ladderName := v.query().Text("ladder")
	if err := v.query().Err(); err != nil {
		return err
	}
	if ladderName != "" {
		if _, err := s.Store.Ladders.Find(v.ctx(), ladderName); err != nil {
			return err
		}
	}
	places, err := s.Store.Ladders.PlacesOfBot(v.ctx(), b.ID)
	if err != nil {
		return err
	}
	place := ladder.Standing{Ladder: ladderName, Bot: b.Name}
	if i := slices.IndexFunc(places, func(p ladder.Standing) bool { return ladderName == "" || p.Ladder == ladderName }); i >= 0 {
		place = places[i]
	}
	v.sendEmbedded("image/svg+xml", "", badgeOf(place))
	return nil
}

// These sizes of a badge are in pixels, except for badgeText.
const (
	badgeHeight = 20
	badgePad    = 7
	badgeGlyph  = 6.4 // the mean width of a character; textLength stretches the text to it
	badgeText   = 40  // the number of characters in each half
)

// badgeOf draws a badge. Its text is English, because the site that embeds it may be in any language.
func badgeOf(p ladder.Standing) []byte {
	left, right := truncate(badgeText, cmp.Or(p.Ladder, "timba")), "not rated"
	rating := "rating " + wholeNumber(p.Rating())
	switch {
	case p.Matches == 0:
	case p.IsProvisional():
		right = rating + " provisional"
	case p.Rank > 0:
		right = fmt.Sprintf("%s · #%d", rating, p.Rank)
	default:
		right = rating
	}
	half := func(text string) float64 { return float64(utf8.RuneCountInString(text))*badgeGlyph + 2*badgePad }
	wl, wr := half(left), half(right)
	title := template.HTMLEscapeString(truncate(badgeText, p.Bot) + ", " + left + ": " + right)
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d" role="img" aria-label="%s"><title>%s</title>`,
		wl+wr, badgeHeight, wl+wr, badgeHeight, title, title)
	fmt.Fprintf(&b, `<rect width="%.0f" height="%d" rx="4" fill="#8a2529"/><path d="M0 4a4 4 0 0 1 4-4H%.1fV%dH4a4 4 0 0 1-4-4z" fill="#3b352e"/>`, wl+wr, badgeHeight, wl, badgeHeight)
	write := func(x, width float64, text string) {
		fmt.Fprintf(&b, `<text x="%.1f" y="14" textLength="%.1f" lengthAdjust="spacingAndGlyphs">%s</text>`, x+badgePad, width-2*badgePad, template.HTMLEscapeString(text))
	}
	b.WriteString(`<g fill="#ffffff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">`)
	write(0, wl, left)
	write(wl, wr, right)
	b.WriteString("</g></svg>\n")
	return b.Bytes()
}

const maxFeedEntries = 30 // matches and versions in a feed

// atom is an Atom feed (RFC 4287).
type atom struct {
	XMLName   xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	Lang      string      `xml:"http://www.w3.org/XML/1998/namespace lang,attr"`
	ID        string      `xml:"id"`
	Title     string      `xml:"title"`
	UpdatedAt string      `xml:"updated"`
	Author    string      `xml:"author>name"`
	Links     []atomLink  `xml:"link"`
	Entries   []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr,omitempty"`
	Type string `xml:"type,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	ID        string   `xml:"id"`
	Title     string   `xml:"title"`
	UpdatedAt string   `xml:"updated"`
	Link      atomLink `xml:"link"`
	Summary   string   `xml:"summary"`
	timestamp time.Time
}

// getFeed answers with a feed of the finished matches and the versions of a bot, the latest first.
func (s *Site) getFeed(v *visit, b ladder.Bot) error {
	owner, err := s.ownerName(v, b)
	if err != nil {
		return err
	}
	matches, err := s.Store.Matches.List(v.ctx(), store.MatchFilter{Bot: b.Name, State: ladder.Finished, Limit: maxFeedEntries})
	if err != nil {
		return err
	}
	versions, err := s.Store.Versions.List(v.ctx(), b.ID, 0, maxFeedEntries)
	if err != nil {
		return err
	}
	data, err := v.feedOf(b, owner, matches, versions)
	if err != nil {
		return err
	}
	v.sendEmbedded("application/atom+xml; charset=utf-8", "Accept-Language, Cookie", data) // the feed is in the visitor's language
	return nil
}

func (v *visit) feedOf(b ladder.Bot, owner string, matches []ladder.Match, versions []ladder.Version) ([]byte, error) {
	links := v.publicLinks(b.Name)
	f := atom{
		Lang: v.language.Tag, ID: links.Feed, Title: v.t("feed.title", "Bot", b.Name), Author: truncate(40, cmp.Or(owner, "timba")),
		Links: []atomLink{{"self", "application/atom+xml", links.Feed}, {"alternate", "text/html", links.Page}},
	}
	for _, m := range matches {
		f.Entries = append(f.Entries, v.matchEntry(b, m))
	}
	for _, x := range versions {
		if !x.LiveAt.IsZero() { // only the owner sees versions that never went live
			f.Entries = append(f.Entries, v.versionEntry(x))
		}
	}
	slices.SortStableFunc(f.Entries, func(a, b atomEntry) int { return b.timestamp.Compare(a.timestamp) })
	f.Entries = f.Entries[:min(maxFeedEntries, len(f.Entries))]
	f.UpdatedAt = formatTimestamp(b.CreatedAt)
	if len(f.Entries) > 0 {
		f.UpdatedAt = f.Entries[0].UpdatedAt
	}
	var out bytes.Buffer
	out.WriteString(xml.Header)
	err := xml.NewEncoder(&out).Encode(f)
	return out.Bytes(), err
}

func formatTimestamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// matchEntry returns the entry for match m in the feed of bot b, with the change of the bot's rating.
func (v *visit) matchEntry(b ladder.Bot, m ladder.Match) atomEntry {
	var names []string
	for _, name := range m.Bots {
		names = append(names, truncate(40, name))
	}
	title := cmp.Or(m.Ladder, m.Game)
	address := fmt.Sprintf("%s/matches/%d", v.origin(), m.ID)
	e := atomEntry{
		ID: address + "#" + url.PathEscape(b.Name), Title: title + ": " + strings.Join(names, ", "), UpdatedAt: formatTimestamp(m.FinishedAt),
		Link: atomLink{Href: address}, Summary: v.t("feed.unrated"), timestamp: m.FinishedAt,
	}
	for slot, c := range m.Changes {
		if m.Bots[slot] == b.Name {
			e.Summary = v.t("feed.moved", "From", wholeNumber(c.EloBefore), "To", wholeNumber(c.EloAfter))
		}
	}
	return e
}

func (v *visit) versionEntry(x ladder.Version) atomEntry {
	address := fmt.Sprintf("%s/versions/%d", v.publicLinks(x.Bot).Page, x.Number)
	return atomEntry{
		ID: address, Title: v.t("feed.version", "Bot", x.Bot, "Version", x.Number), UpdatedAt: formatTimestamp(x.LiveAt),
		Link: atomLink{Href: address}, Summary: truncate(80, strings.TrimSpace(x.Label+" "+x.Language)), timestamp: x.LiveAt,
	}
}
