//go:build !race || slowrace

package store

import (
	"bytes"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
)

func (c *competition) addGuestSession() (key string, id int64) {
	c.tb.Helper()
	kit.Must(c.tb, c.update(bg, func(tx *Tx) (err error) {
		key, id, err = tx.addGuest(bg)
		return err
	}))
	return key, id
}

// wantSession checks that the session with the given key belongs to the person called name. An empty name means
// that the key is not valid.
func (c *competition) wantSession(what, key, name string) ladder.Session {
	c.tb.Helper()
	x, p, _, err := c.Sessions.Find(bg, key)
	if err == nil && name == "" {
		c.tb.Errorf("%s: session %d of %q goes on", what, x.ID, p.Name)
	} else if name == "" {
		wantError(c.tb, err, ladder.Unauthorized, "the session has ended: sign in again")
	} else if err != nil || p.Name != name {
		c.tb.Errorf("%s: the session is of %q, want %q: %v", what, p.Name, name, err)
	}
	return x
}

func TestSessions(t *testing.T) {
	t.Parallel()
	c := openStore(t, t.TempDir())
	anna := kit.Get[ladder.Person](t)(c.People.Add(bg, "anna", false))
	berta := kit.Get[ladder.Person](t)(c.People.Add(bg, "berta", false))
	token, tok, err := c.Sessions.AddToken(bg, anna.ID, "", ladder.ScopeSubmit, time.Time{})
	kit.Must(t, err)
	short, _, err := c.Sessions.AddToken(bg, anna.ID, "", ladder.ScopeRead, c.clock.now().Add(time.Hour))
	kit.Must(t, err)
	signIn := func(token string) string { return kit.Get[string](t)(c.Sessions.SignIn(bg, token, 0)) }
	key := signIn(token)
	x, p, by, err := c.Sessions.Find(bg, key)
	kit.Must(t, err)
	if p != anna || by.ID != tok.ID || by.Scope != ladder.ScopeSubmit || x.Token != tok.ID || !x.ExpiresAt.Equal(x.CreatedAt.Add(SessionTime)) {
		t.Errorf("the session is %+v of %+v with %+v", x, p, by)
	}
	var hash []byte
	kit.Must(t, c.readers.QueryRow("SELECT public || hash FROM sessions").Scan(&hash))
	if bytes.Contains(hash, []byte(key[len(sessionPrefix)+publicLength:])) {
		t.Error("the secret is kept")
	}
	for what, key := range map[string]string{"nothing": "", "a token": token, "unknown": newKey(sessionPrefix).text, "another secret": key[:len(key)-1] + string(key[len(key)-1]^1)} {
		c.wantSession(what, key, "")
	}
	_, _, err = c.Sessions.Authenticate(bg, key)
	wantError(t, err, ladder.Unauthorized, "the token is not valid: sign in with another token")
	_, err = c.Sessions.SignIn(bg, newKey(tokenPrefix).text, 0)
	wantError(t, err, ladder.Unauthorized, "the token is not valid: sign in with another token")

	// Its use is noted to the minute, with that of its token.
	c.clock.skip(30 * time.Second)
	if again := c.wantSession("again", key, "anna"); !again.UsedAt.Equal(x.UsedAt) {
		t.Error("a use within the minute is noted again")
	}
	c.clock.skip(time.Minute)
	c.wantSession("later", key, "anna")
	if list, tokens := kit.Get[[]ladder.Session](t)(c.Sessions.List(bg, anna.ID)), kit.Get[[]ladder.Token](t)(c.Sessions.Tokens(bg, anna.ID)); len(list) != 1 || !list[0].UsedAt.After(x.UsedAt) || !tokens[0].UsedAt.Equal(list[0].UsedAt) {
		t.Errorf("the sessions are %+v, the tokens %+v", list, tokens)
	}

	// It ends when its token expires, at the latest after SessionTime, and the next one takes it away.
	brief, long := signIn(short), signIn(token)
	c.clock.skip(time.Hour)
	c.wantSession("of an expired token", brief, "")
	if list := kit.Get[[]ladder.Session](t)(c.Sessions.List(bg, anna.ID)); len(list) != 2 {
		t.Errorf("the sessions are %+v", list)
	}
	c.clock.skip(SessionTime)
	c.wantSession("after a month", long, "")
	fresh := signIn(token)
	if n := c.countRows("sessions"); n != 1 {
		t.Errorf("%d sessions are kept", n)
	}

	// It is ended by its person alone.
	id := c.wantSession("fresh", fresh, "anna").ID
	wantError(t, c.Sessions.End(bg, berta.ID, id), ladder.NotFound, "session 4 does not exist: it may have ended")
	kit.Must(t, c.Sessions.EndOthers(bg, berta.ID, 0))
	c.wantSession("ended by another", fresh, "anna")
	others := []string{signIn(token), signIn(token)}
	kit.Must(t, c.Sessions.EndOthers(bg, anna.ID, id))
	c.wantSession("this one", fresh, "anna")
	c.wantSession("the first other", others[0], "")
	c.wantSession("the second other", others[1], "")
	kit.Must(t, c.Sessions.End(bg, anna.ID, id))
	c.wantSession("ended", fresh, "")

	// It ends with its token and when its person is blocked, for ever.
	bertas, _, err := c.Sessions.AddToken(bg, berta.ID, "", ladder.ScopeAll, time.Time{})
	kit.Must(t, err)
	hers, other := signIn(token), signIn(bertas)
	kit.Must(t, c.Sessions.RevokeToken(bg, anna.ID, tok.ID))
	c.wantSession("of a revoked token", hers, "")
	c.wantSession("of another token", other, "berta")
	kit.Must(t, c.People.SetBlocked(bg, berta.ID, true))
	c.wantSession("of a blocked person", other, "")
	_, err = c.Sessions.SignIn(bg, bertas, 0)
	wantError(t, err, ladder.Forbidden, `person "berta" is blocked: ask the operator`)
	kit.Must(t, c.People.SetBlocked(bg, berta.ID, false))
	c.wantSession("of a person who was blocked", other, "")
}

// TestGuests checks that a guest who signs in keeps the session, and that the first key is no longer valid.
func TestGuests(t *testing.T) {
	t.Parallel()
	c := openStore(t, t.TempDir())
	anna := kit.Get[ladder.Person](t)(c.People.Add(bg, "anna", false))
	token, _, err := c.Sessions.AddToken(bg, anna.ID, "", ladder.ScopeAll, time.Time{})
	kit.Must(t, err)
	first, id := c.addGuestSession()
	if x, p, by, err := c.Sessions.Find(bg, first); err != nil || x.ID != id || p.ID != 0 || by.ID != 0 {
		t.Errorf("the guest's session is %+v of %+v with %+v: %v", x, p, by, err)
	}
	c.clock.skip(time.Hour)
	if x, _, _, err := c.Sessions.Find(bg, first); err != nil || !x.UsedAt.After(x.CreatedAt) {
		t.Errorf("the use is not noted: %+v, %v", x, err)
	}
	key := kit.Get[string](t)(c.Sessions.SignIn(bg, token, id))
	if x := c.wantSession("signed in", key, "anna"); x.ID != id {
		t.Errorf("the session of guest %d is %d", id, x.ID)
	}
	c.wantSession("before", first, "")
	kit.Must(t, c.Sessions.End(bg, anna.ID, id))
	if _, next := c.addGuestSession(); next == id {
		t.Errorf("another guest has session %d, too", next)
	}
}

// TestSessionLimits checks that, above the limits, the sessions of the person or of guests end that were used
// longest ago.
func TestSessionLimits(t *testing.T) {
	t.Parallel()
	c := openStore(t, t.TempDir())
	anna := kit.Get[ladder.Person](t)(c.People.Add(bg, "anna", false))
	berta := kit.Get[ladder.Person](t)(c.People.Add(bg, "berta", false))
	signIn := func(p ladder.Person) string {
		token, _, err := c.Sessions.AddToken(bg, p.ID, "", ladder.ScopeAll, time.Time{})
		kit.Must(t, err)
		c.clock.skip(time.Second)
		return kit.Get[string](t)(c.Sessions.SignIn(bg, token, 0))
	}
	bertas := signIn(berta)
	var keys []string
	for range MaxSessions {
		keys = append(keys, signIn(anna))
	}
	c.clock.skip(time.Hour)
	c.wantSession("used again", keys[0], "anna")
	keys = append(keys, signIn(anna))
	c.wantSession("that used longest ago", keys[1], "")
	c.wantSession("that used again", keys[0], "anna")
	c.wantSession("the next", keys[2], "anna")
	c.wantSession("the last", keys[MaxSessions], "anna")
	c.wantSession("another's", bertas, "berta")

	// The order of uses within a minute counts, too.
	used := keys[MaxSessions]
	for range MaxSessions + 1 {
		c.clock.skip(time.Second)
		c.wantSession("in use", used, "anna")
		signIn(anna)
	}
	c.wantSession("in use", used, "anna")

	first, _ := c.addGuestSession()
	now := stamp(c.clock.now().Add(time.Second))
	_, err := c.writer.ExecContext(bg, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO sessions (public, hash, created, used, expires) SELECT i, zeroblob(32), ?, ?, ? FROM n`, MaxGuests-1, now, now, now+stamp(time.Unix(3600, 0)))
	kit.Must(t, err)
	if n := c.countRows("sessions"); n != MaxGuests+MaxSessions+1 {
		t.Errorf("there are %d sessions", n)
	}
	if _, p, _, err := c.Sessions.Find(bg, first); err != nil || p.ID != 0 {
		t.Errorf("the first guest is %+v, %v", p, err)
	}
	c.clock.skip(2 * time.Second)
	last, _ := c.addGuestSession()
	c.wantSession("the first guest", first, "")
	if _, _, _, err := c.Sessions.Find(bg, last); err != nil {
		t.Error(err)
	}
	if n := c.countRows("sessions"); n != MaxGuests+MaxSessions+1 {
		t.Errorf("there are %d sessions", n)
	}
	c.wantSession("another's, still", bertas, "berta")
}

// TestGuestSessionNeedsGame checks that a session of a guest is started only together with a game that is accepted.
func TestGuestSessionNeedsGame(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	add := func(id string) (string, error) {
		key, _, err := c.Plays.Add(bg, ladder.Play{ID: id, Game: "tebes", Seats: []ladder.PlaySeat{{}}}, netip.MustParseAddr("192.0.2.1"), 1, true)
		return key, err
	}
	key := kit.Get[string](t)(add("first"))
	if _, p, _, err := c.Sessions.Find(bg, key); err != nil || p.ID != 0 {
		t.Errorf("the guest is %+v, %v", p, err)
	}
	key, err := add("second")
	wantError(t, err, ladder.TooMany, "1 games were begun from your address within a day, which is the limit: try again tomorrow, or with an account")
	if n := c.countRows("sessions"); n != 1 || key != "" {
		t.Errorf("there are %d sessions, and the refused guest has the key %q", n, key)
	}
}

// TestClaimSeat checks that a game of a guest who signs in counts for the person and no longer for the address,
// unless the person has reached the limit.
func TestClaimSeat(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	anna, here := c.addPeople("anna")[0], netip.MustParseAddr("192.0.2.1")
	add := func(id string, person int64) error {
		_, _, err := c.Plays.Add(bg, ladder.Play{ID: id, Game: "tebes", Seats: []ladder.PlaySeat{{PersonID: person}}}, here, 1, false)
		return err
	}
	give := func(id string) error { return c.Plays.ClaimSeat(bg, id, 0, anna.ID, here, 1) }
	kit.Must(t, add("a", 0))
	kit.Must(t, give("a"))
	if p := kit.Get[ladder.Play](t)(c.Plays.Find(bg, "a")); p.Seats[0].Person != "anna" {
		t.Errorf("the game is that of %q", p.Seats[0].Person)
	}
	wantError(t, add("b", anna.ID), ladder.TooMany, "you have begun 1 games within a day, which is the limit: try again tomorrow")
	kit.Must(t, add("c", 0))
	kit.Must(t, give("c"))
	wantError(t, add("d", 0), ladder.TooMany, "1 games were begun from your address within a day, which is the limit: try again tomorrow, or with an account")
	wantError(t, give("c"), ladder.NotFound, `game "c" does not exist`)
	wantError(t, give("d"), ladder.NotFound, `game "d" does not exist`)
	c.clock.skip(25 * time.Hour)
	kit.Must(t, add("e", 0))
	kit.Must(t, c.Plays.Break(bg, "e", ladder.BrokenByStop))
	wantError(t, give("e"), ladder.NotFound, `game "e" does not exist`)
}

// TestLinks checks that a link signs its person in once, until it expires, is replaced or the person is blocked.
func TestLinks(t *testing.T) {
	t.Parallel()
	c := openStore(t, t.TempDir())
	anna := kit.Get[ladder.Person](t)(c.People.Add(bg, "anna", false))
	makeLink := func() string {
		text, expires, err := c.Sessions.AddLink(bg, anna.ID, "link of root")
		kit.Must(t, err)
		if left := expires.Sub(c.clock.now()); left > LinkTime || left < LinkTime-time.Minute {
			t.Errorf("the link expires at %v", expires)
		}
		return text
	}
	refuse := func(what, text, want string) {
		t.Helper()
		if _, err := c.Sessions.SignIn(bg, text, 0); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	first, second := makeLink(), makeLink()
	refuse("replaced", first, "a later link has replaced this one, or it was revoked: ask the operator for another link")
	refuse("another secret", second[:len(second)-1]+string(second[len(second)-1]^1), "the link is not valid: ask the operator for another link")
	if _, _, err := c.Sessions.Authenticate(bg, second); err == nil {
		t.Error("a link is a token")
	}
	c.clock.skip(LinkTime - time.Minute)
	key := kit.Get[string](t)(c.Sessions.SignIn(bg, second, 0))
	refuse("used", second, "the link has been used: ask the operator for another link")
	if x := c.wantSession("by a link", key, "anna"); !x.ExpiresAt.Equal(x.CreatedAt.Add(SessionTime)) {
		t.Errorf("the session ends at %v", x.ExpiresAt)
	}
	makeLink()
	c.clock.skip(time.Hour)
	c.wantSession("by a link, after another was made", key, "anna")
	late := makeLink()
	c.clock.skip(LinkTime)
	refuse("late", late, "the link has expired: ask the operator for another link")
	if list := kit.Get[[]ladder.Token](t)(c.Sessions.Tokens(bg, anna.ID)); len(list) != 0 {
		t.Errorf("links are among the tokens: %+v", list)
	}
	_, token, err := c.Sessions.AddToken(bg, anna.ID, "", ladder.ScopeAll, time.Time{})
	kit.Must(t, err)
	wantError(t, c.Sessions.RevokeToken(bg, anna.ID, token.ID), ladder.Conflict, fmt.Sprintf("token %d is the only one that opens your account: make another with all rights first", token.ID))
	third := makeLink()
	kit.Must(t, c.People.SetBlocked(bg, anna.ID, true))
	refuse("blocked", third, `person "anna" is blocked: ask the operator`)
	_, _, err = c.Sessions.AddLink(bg, anna.ID, "")
	wantError(t, err, ladder.Forbidden, `person "anna" is blocked: ask the operator`)
}

// TestLinkUsedByMany checks that of several people who use a link at the same time only one is signed in.
func TestLinkUsedByMany(t *testing.T) {
	t.Parallel()
	c := openStore(t, t.TempDir())
	anna := kit.Get[ladder.Person](t)(c.People.Add(bg, "anna", false))
	text, _, err := c.Sessions.AddLink(bg, anna.ID, "")
	kit.Must(t, err)
	var in atomic.Int64
	var group sync.WaitGroup
	for range 5 {
		group.Go(func() {
			if _, err := c.Sessions.SignIn(bg, text, 0); err == nil {
				in.Add(1)
			}
		})
	}
	group.Wait()
	if in.Load() != 1 {
		t.Errorf("%d are signed in", in.Load())
	}
}
