//go:build !race || slowrace

package store

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	c := openStore(t, t.TempDir())
	p, err := c.People.Add(bg, "anna", false)
	kit.Must(t, err)
	text, tok, err := c.Sessions.AddToken(bg, p.ID, "laptop", ladder.ScopeSubmit, time.Time{})
	kit.Must(t, err)
	who, got, err := c.Sessions.Authenticate(bg, text)
	kit.Must(t, err)
	if who != p || got.ID != tok.ID || got.Scope != ladder.ScopeSubmit || got.UsedAt.IsZero() {
		t.Errorf("%s is %+v with %+v", text, who, got)
	}
	list, err := c.Sessions.Tokens(bg, p.ID)
	kit.Must(t, err)
	used := list[0].UsedAt
	if used.IsZero() {
		t.Error("the use is not noted")
	}
	_, _, err = c.Sessions.Authenticate(bg, text)
	kit.Must(t, err)
	if list, _ := c.Sessions.Tokens(bg, p.ID); !list[0].UsedAt.Equal(used) {
		t.Error("a use within the minute is noted again")
	}
	c.clock.skip(time.Hour)
	_, _, err = c.Sessions.Authenticate(bg, text)
	kit.Must(t, err)
	if list, _ := c.Sessions.Tokens(bg, p.ID); !list[0].UsedAt.After(used) {
		t.Error("a use an hour later is not noted")
	}
	// No stored value contains the token.
	for _, table := range []string{"tokens", "people", "invites"} {
		columns, rows := c.rows("SELECT * FROM " + table)
		for _, row := range rows {
			for i, v := range row {
				if s, ok := v.(string); ok && strings.Contains(s, text[len(tokenPrefix)+publicLength:]) {
					t.Errorf("%s.%s has the secret", table, columns[i])
				}
			}
		}
	}
}

func TestTokensRefused(t *testing.T) {
	t.Parallel()
	c := openStore(t, t.TempDir())
	p, err := c.People.Add(bg, "anna", false)
	kit.Must(t, err)
	other, err := c.People.Add(bg, "berta", false)
	kit.Must(t, err)
	good, tok, err := c.Sessions.AddToken(bg, p.ID, "", ladder.ScopeAll, time.Time{})
	kit.Must(t, err)
	short, _, err := c.Sessions.AddToken(bg, p.ID, "", ladder.ScopeRead, c.clock.now().Add(time.Hour))
	kit.Must(t, err)
	if _, _, err := c.Sessions.Authenticate(bg, short); err != nil {
		t.Error(err)
	}
	c.clock.skip(2 * time.Hour)
	forged := good[:len(good)-1] + "0"
	if forged == good {
		forged = good[:len(good)-1] + "1"
	}
	refuse := func(name, token string, code ladder.ErrorCode, text string) {
		t.Helper()
		who, _, err := c.Sessions.Authenticate(bg, token)
		wantError(t, err, code, text)
		if who.ID != 0 {
			t.Errorf("%s: it is %+v all the same", name, who)
		}
	}
	const invalid = "the token is not valid: sign in with another token"
	refuse("nothing", "", ladder.Unauthorized, invalid)
	refuse("another kind", "invite_"+good[len(tokenPrefix):], ladder.Unauthorized, invalid)
	refuse("another secret", forged, ladder.Unauthorized, invalid)
	refuse("unknown", newKey(tokenPrefix).text, ladder.Unauthorized, invalid)
	refuse("long", good+"x", ladder.Unauthorized, invalid)
	refuse("expired", short, ladder.Unauthorized, "the token has expired: sign in with another token")
	wantError(t, c.Sessions.RevokeToken(bg, other.ID, tok.ID), ladder.NotFound, "token 1 does not exist")
	if _, _, err := c.Sessions.Authenticate(bg, good); err != nil {
		t.Error(err)
	}
	kit.Must(t, c.People.SetBlocked(bg, p.ID, true))
	refuse("blocked", good, ladder.Forbidden, `person "anna" is blocked: ask the operator`)
	kit.Must(t, c.People.SetBlocked(bg, p.ID, false))
	wantError(t, c.Sessions.RevokeToken(bg, p.ID, tok.ID), ladder.Conflict, "token 1 is the only one that opens your account: make another with all rights first")
	_, lesser, err := c.Sessions.AddToken(bg, p.ID, "", ladder.ScopeSubmit, time.Time{})
	kit.Must(t, err)
	wantError(t, c.Sessions.RevokeToken(bg, p.ID, tok.ID), ladder.Conflict, "token 1 is the only one that opens your account: make another with all rights first")
	kit.Must(t, c.Sessions.RevokeToken(bg, p.ID, lesser.ID))
	_, _, err = c.Sessions.AddToken(bg, p.ID, "", ladder.ScopeAll, c.clock.now().Add(time.Hour))
	kit.Must(t, err)
	kit.Must(t, c.Sessions.RevokeToken(bg, p.ID, tok.ID))
	refuse("revoked", good, ladder.Unauthorized, "the token has been revoked: sign in with another token")
	_, _, err = c.Sessions.AddToken(bg, p.ID, "", "root", time.Time{})
	wantError(t, err, ladder.Invalid, `the scope of a token cannot be "root": try read, submit or all`)
	for _, label := range []string{"a\nb", "a\u202eb", "a\u2066b", "a\u200fb", "a\u200bb", "a\xffb"} { // marks turn the text around it
		_, _, err = c.Sessions.AddToken(bg, p.ID, label, ladder.ScopeAll, time.Time{})
		wantError(t, err, ladder.Invalid, fmt.Sprintf("the label of a token cannot be %q: try one line of at most 80 bytes of visible characters", label))
	}
	_, _, err = c.Sessions.AddToken(bg, p.ID, "mi portátil 日本 عربي", ladder.ScopeAll, time.Time{})
	kit.Must(t, err)
	_, _, err = c.Sessions.AddToken(bg, 99, "", ladder.ScopeAll, time.Time{})
	wantError(t, err, ladder.NotFound, "person 99 does not exist")
}

// TestRegister checks that only one person can use an invite, even if several try at the same time.
func TestRegister(t *testing.T) {
	t.Parallel()
	c := openStore(t, t.TempDir())
	code, _, err := c.People.AddInvite(bg, 0, "", time.Time{})
	kit.Must(t, err)
	names := []string{"anna", "berta", "carla", "dora"}
	errs := make([]error, len(names))
	var group sync.WaitGroup
	for i, n := range names {
		group.Go(func() { _, _, errs[i] = c.People.Register(bg, code, n, false) })
	}
	group.Wait()
	in := 0
	for _, err := range errs {
		if err == nil {
			in++
		} else {
			wantError(t, err, ladder.Unauthorized, "the invite has been used: ask the operator for another invite")
		}
	}
	if in != 1 {
		t.Errorf("%d came in by one invite", in)
	}
	if list, _ := c.People.List(bg); len(list) != 1 {
		t.Errorf("there are %d people", len(list))
	}
	bound, _, err := c.People.AddInvite(bg, 0, "emma", c.clock.now().Add(time.Hour))
	kit.Must(t, err)
	_, _, err = c.People.Register(bg, bound, "frida", false)
	wantError(t, err, ladder.Forbidden, `the invite is not for "frida": register as emma`)
	_, _, err = c.People.Register(bg, "", "frida", false)
	wantError(t, err, ladder.Unauthorized, "this competition is by invite only: join as frida with the code of an invite; the operator makes them")
	_, _, err = c.People.Register(bg, bound+"x", "emma", true)
	wantError(t, err, ladder.Unauthorized, "the invite is not valid: ask the operator for another invite")
	emma, token, err := c.People.Register(bg, bound, "emma", false)
	kit.Must(t, err)
	if who, _, err := c.Sessions.Authenticate(bg, token); err != nil || who.ID != emma.ID {
		t.Errorf("her token is %+v's, %v", who, err)
	}
	_, _, err = c.People.Register(bg, "", "frida", true)
	kit.Must(t, err)
	_, _, err = c.People.Register(bg, "", "frida", true)
	wantError(t, err, ladder.Conflict, `person "frida" exists: choose another name`)
	_, _, err = c.People.Register(bg, "", "Frida", true)
	wantError(t, err, ladder.Conflict, `person "Frida" exists: choose another name`)
	_, _, err = c.People.Register(bg, "", "Frida!", true)
	wantError(t, err, ladder.Invalid, `the name of a person cannot be "Frida!": try letters of one alphabet and digits with single - _ . between them, at most 32 characters`)
	late, _, err := c.People.AddInvite(bg, emma.ID, "", c.clock.now().Add(time.Minute))
	kit.Must(t, err)
	c.clock.skip(time.Hour)
	_, _, err = c.People.Register(bg, late, "gerda", false)
	wantError(t, err, ladder.Unauthorized, "the invite has expired: ask the operator for another invite")
}

// TestVersionStages checks the stages of a version and the changes of state that are refused.
func TestVersionStages(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p, err := c.People.Add(bg, "anna", false)
	kit.Must(t, err)
	q, err := c.People.Add(bg, "berta", false)
	kit.Must(t, err)
	v, err := c.Versions.Add(bg, p.ID, NewVersion{Bot: "anna-bot", Bundle: bundleOf(1)}, noLimits)
	kit.Must(t, err)
	if v.State != ladder.Queued || v.Number != 1 || v.Bot != "anna-bot" {
		t.Errorf("got %+v", v)
	}
	if again, err := c.Versions.Add(bg, p.ID, NewVersion{Bot: "anna-bot", Bundle: bundleOf(1)}, noLimits); err != nil || again.ID != v.ID {
		t.Errorf("the same upload is version %+v, %v", again, err)
	}
	_, err = c.Versions.Add(bg, p.ID, NewVersion{Bot: "anna-bot", Bundle: bundleOf(2)}, noLimits)
	wantError(t, err, ladder.Conflict, `bot "anna-bot": version 1 is still being checked: wait until that is over`)
	_, err = c.Versions.Add(bg, q.ID, NewVersion{Bot: "anna-bot", Bundle: bundleOf(1)}, noLimits)
	wantError(t, err, ladder.Conflict, `bot "anna-bot" is somebody else's: choose another name`)
	_, err = c.Versions.Add(bg, q.ID, NewVersion{Bot: "@greedy", Bundle: bundleOf(1)}, noLimits)
	wantError(t, err, ladder.Invalid, `the name of a bot cannot be "@greedy": try lower-case letters and digits with single - _ . between them, at most 32 characters`)
	_, err = c.Versions.Add(bg, q.ID, NewVersion{Bot: "x", Bundle: "../../etc/passwd"}, noLimits)
	wantError(t, err, ladder.Invalid, `the hash of an upload cannot be "../../etc/passwd": give the SHA-256 of the upload`)
	wantError(t, c.Versions.Promote(bg, v.ID), ladder.Conflict, "version 1 of anna-bot cannot be live: it is not built: build it first")

	kit.Must(t, c.Versions.StartStage(bg, v.ID, "unpack"))
	kit.Must(t, c.Versions.FinishStage(bg, v.ID, ladder.Stage{Name: "unpack", OK: true, Log: "3 files\n", Summary: phrase.Plain("3 files")}))
	kit.Must(t, c.Versions.SetState(bg, v.ID, ladder.Building))
	kit.Must(t, c.Versions.StartStage(bg, v.ID, "build"))
	pending, err := c.Versions.ListPending(bg)
	kit.Must(t, err)
	if len(pending) != 1 || pending[0].State != ladder.Building {
		t.Errorf("pending are %+v", pending)
	}
	stages, err := c.Versions.Stages(bg, v.ID)
	kit.Must(t, err)
	if len(stages) != 2 || stages[0].Log != "3 files\n" || !stages[0].OK || stages[0].EndedAt.IsZero() || !stages[1].EndedAt.IsZero() {
		t.Errorf("stages are %+v", stages)
	}
	kit.Must(t, c.Versions.SetState(bg, v.ID, ladder.Queued)) // the server was restarted
	if stages, _ := c.Versions.Stages(bg, v.ID); len(stages) != 0 {
		t.Errorf("stages are %+v", stages)
	}
	wantError(t, c.Versions.FinishStage(bg, v.ID, ladder.Stage{Name: "check"}), ladder.NotFound, fmt.Sprintf(`version %d: stage "check" does not exist: begin it first`, v.ID))
	kit.Must(t, c.Versions.Fail(bg, v.ID, phrase.Plain("it does not start")))
	wantError(t, c.Versions.Fail(bg, v.ID, phrase.Plain("again")), ladder.Conflict, "version 1 of anna-bot is failed already")
	messages, err := c.People.Messages(bg, p.ID, 0, 10)
	kit.Must(t, err)
	if len(messages) != 1 || messages[0].Text().String() != "version 1 of anna-bot failed: it does not start" || messages[0].Version != v.ID {
		t.Errorf("messages are %+v", messages)
	}
	wantError(t, c.Versions.SetState(bg, v.ID, ladder.Live), ladder.Invalid, fmt.Sprintf(`version %d: state cannot be set to "live": Fail, Promote and Suspend lead there`, v.ID))
}

func TestLimitsOfAPerson(t *testing.T) {
	// limit: limits.bots, limits.versions
	t.Parallel()
	c := newCompetition(t)
	p, err := c.People.Add(bg, "anna", false)
	kit.Must(t, err)
	few := ladder.Limits{Bots: 2, Versions: 3}
	n := 0
	add := func(name string) error {
		n++
		v, err := c.Versions.Add(bg, p.ID, NewVersion{Bot: name, Bundle: bundleOf(n)}, few)
		if err == nil {
			kit.Must(t, c.Versions.SetBuildInfo(bg, v.ID, BuildInfo{Hash: bundleOf(2)}))
			kit.Must(t, c.Versions.Promote(bg, v.ID))
		}
		return err
	}
	kit.Must(t, add("one"))
	kit.Must(t, add("two"))
	wantError(t, add("three"), ladder.Conflict, `2 bots are the limit, and "three" would be one more: submit a new version of one of them`)
	kit.Must(t, add("two"))
	err = add("one")
	wantError(t, err, ladder.TooMany, "3 versions within a day are the limit: try again in 24 h")
	if e := new(ladder.Error); !errors.As(err, &e) || e.Retry < 23*time.Hour || e.Retry > 24*time.Hour {
		t.Errorf("try again after %s, want a day at most", e.Retry)
	}
	c.clock.skip(25 * time.Hour)
	kit.Must(t, add("one"))
}

// TestBlockedPeopleDoNotPlay checks that the matches of a blocked person's bots end, and that the bots play
// again when the person is unblocked.
func TestBlockedPeopleDoNotPlay(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p, err := c.People.Add(bg, "anna", false)
	kit.Must(t, err)
	v := c.addLive(p.ID, "anna-bot")
	m, err := c.Matches.Add(bg, NewMatch{Ladder: "tebes-4", Versions: []int64{v.ID, c.liveIDs("@first")[0]}})
	kit.Must(t, err)
	active := func() int {
		list := kit.Get[[]ladder.Standing](t)(c.Ladders.Standings(bg, "tebes-4"))
		return len(list)
	}
	berta := kit.Get[ladder.Person](t)(c.People.Add(bg, "berta", false))
	asked := c.addUnrated(berta.ID, m.Versions...)
	before := active()
	kit.Must(t, c.People.SetBlocked(bg, p.ID, true))
	if m, _ := c.Matches.Find(bg, m.ID); m.State != ladder.Dropped || active() != before-1 {
		t.Errorf("the match is %s, %d play", m.State, active())
	}
	told := kit.Get[[]ladder.Message](t)(c.People.Messages(bg, berta.ID, 0, 10))
	if len(told) != 1 || told[0].Kind != ladder.MessageDropped || told[0].Match != asked.ID || told[0].Reason.String() != "cancelled: anna is blocked" {
		t.Errorf("who asked for a match is told %+v", told)
	}
	_, err = c.Matches.Add(bg, NewMatch{Game: m.Game, Options: m.Options, Clock: m.Clock, Deals: 1, Versions: m.Versions, RequestedBy: berta.ID})
	wantError(t, err, ladder.Conflict, "the owner of anna-bot is blocked: choose another bot")
	kit.Must(t, c.People.SetBlocked(bg, p.ID, false))
	c.addUnrated(berta.ID, m.Versions...)
	if active() != before {
		t.Errorf("%d play, not %d", active(), before)
	}
	wantError(t, c.People.SetBlocked(bg, 99, true), ladder.NotFound, "person 99 does not exist")
}

// TestRemovedPerson checks what ends and what stays when a person is removed: the games and bots stay under another
// name, also in replays, and nobody gets the old name.
func TestRemovedPerson(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	people := c.addPeople("anna", "ben")
	anna, ben := people[0], people[1]
	root := kit.Get[ladder.Person](t)(c.People.Add(bg, "root", true))
	v := c.addLive(anna.ID, "anna-bot")
	first := c.liveIDs("@first")[0]
	c.playRatedMatch("tebes-4", v.ID, first)
	l := testLadders(t)[0]
	c.playPeopleGame("before", l, anna, ben)
	asked := c.addUnrated(anna.ID, v.ID, first)
	queued := c.addBuilt(anna.ID, "second")
	text, _, err := c.Sessions.AddToken(bg, anna.ID, "", ladder.ScopeAll, time.Time{})
	kit.Must(t, err)
	key := kit.Get[string](t)(c.Sessions.SignIn(bg, text, 0))
	kit.Must(t, c.Sessions.AddPasskey(bg, anna.ID, "phone", []byte("id"), []byte("{}")))

	kit.Must(t, c.People.Remove(bg, anna.ID))
	name := RemovedName(anna.ID)
	p := kit.Get[ladder.Person](t)(c.People.FindByName(bg, name))
	if p.ID != anna.ID || p.RemovedAt.IsZero() || p.BlockedAt.IsZero() {
		t.Errorf("the person is %+v", p)
	}
	c.playPeopleGame("during", l, anna, ben) // it was open when anna was removed
	for _, id := range []string{"before", "during"} {
		r := kit.Get[*referee.Replay](t)(referee.DecodeReplay(kit.Get[[]byte](t)(c.Plays.Replay(bg, id))))
		if r.Seats[0].Name != name || r.Seats[1].Name != "ben" {
			t.Errorf("%s: the replay has %q and %q", id, r.Seats[0].Name, r.Seats[1].Name)
		}
	}
	c.wantPlaying(v.BotID, "of a removed person", 1, 0)
	places := kit.Get[[]ladder.Standing](t)(c.Ladders.ListInactive(bg, "tebes-4"))
	if len(places) != 1 || places[0].Owner != name || places[0].Matches != 1 {
		t.Errorf("the place that stays is %+v", places)
	}
	if m := kit.Get[ladder.Match](t)(c.Matches.Find(bg, asked.ID)); m.State != ladder.Dropped || m.Reason.String() != "cancelled: "+name+" is removed" {
		t.Errorf("the requested match is %s: %s", m.State, m.Reason)
	}
	if s := kit.Get[ladder.Version](t)(c.Versions.Find(bg, queued.ID)); s.State != ladder.Cancelled {
		t.Errorf("the submission is %s", s.State)
	}
	if _, _, _, err := c.Sessions.Find(bg, key); ladder.CodeOf(err) != ladder.Unauthorized {
		t.Errorf("the session: %v", err)
	}
	if _, _, err := c.Sessions.Authenticate(bg, text); ladder.CodeOf(err) != ladder.Unauthorized {
		t.Errorf("the token: %v", err)
	}
	if n := c.countRows("passkeys"); n != 0 {
		t.Errorf("%d passkeys are left", n)
	}
	if n := c.countRows(fmt.Sprintf("messages WHERE person_id = %d", anna.ID)); n != 0 {
		t.Errorf("%d messages are left", n)
	}

	if _, err := c.People.FindByName(bg, "anna"); ladder.CodeOf(err) != ladder.NotFound {
		t.Errorf("anna is still found: %v", err)
	}
	_, _, err = c.People.Register(bg, "", "Anna", true)
	wantError(t, err, ladder.Conflict, `the name "Anna" is reserved: choose another name`)
	_, _, err = c.People.Register(bg, "", "anon-99", true)
	wantError(t, err, ladder.Conflict, `the name "anon-99" is reserved: choose another name`)
	removed := fmt.Sprintf("person %q is removed", name)
	wantError(t, c.People.Remove(bg, anna.ID), ladder.Conflict, removed)
	wantError(t, c.People.SetBlocked(bg, anna.ID, false), ladder.Conflict, removed)
	wantError(t, c.People.Remove(bg, root.ID), ladder.Conflict, `person "root" is the last admin`)
	kit.Get[ladder.Person](t)(c.People.Add(bg, "other", true))
	kit.Must(t, c.People.Remove(bg, root.ID))
	wantError(t, c.People.Remove(bg, 99), ladder.NotFound, "person 99 does not exist")
	wantSound(t, c.Store)
}

func TestUnratedMatches(t *testing.T) {
	// limit: limits.unrated
	t.Parallel()
	c := newCompetition(t)
	p := kit.Get[ladder.Person](t)(c.People.Add(bg, "anna", false))
	l := testLadders(t)[0]
	ids := c.liveIDs("@random", "@first")
	ask := func(change func(*NewMatch)) error {
		n := NewMatch{Game: l.Game, Options: l.Options, Clock: l.Clock, Deals: 1, Versions: ids, RequestedBy: p.ID, MaxOpen: 2}
		change(&n)
		_, err := c.Matches.Add(bg, n)
		return err
	}
	wantError(t, ask(func(n *NewMatch) { n.Game = "mus" }), ladder.Invalid, `game "mus" does not exist: try brisca, tute, podrida, tebes, teeko`)
	wantError(t, ask(func(n *NewMatch) { n.Options = map[string]string{"size": "9"} }), ladder.Invalid, `option size cannot be "9": try 6 or 4`)
	wantError(t, ask(func(n *NewMatch) { n.Deals = 101 }), ladder.Invalid, "deals cannot be 101: try 1 to 100")
	wantError(t, ask(func(n *NewMatch) { n.Versions = ids[:1] }), ladder.Invalid, "the number of bots cannot be 1 in a game of 2 seats: try 2")
	wantError(t, ask(func(n *NewMatch) { n.Versions = []int64{ids[0], 99} }), ladder.NotFound, "version 99 does not exist")
	wantError(t, ask(func(n *NewMatch) { n.Clock = referee.Clock{} }), ladder.Invalid, "clock: neither movetime nor bank is set: set one, such as a movetime of 1000 ms")
	fresh := c.addBuilt(p.ID, "anna-bot")
	wantError(t, ask(func(n *NewMatch) { n.Versions = []int64{ids[0], fresh.ID} }), ladder.Conflict, "version 1 of anna-bot is queued: choose one that is live, retired or suspended")
	if n := c.countRows("matches"); n != 0 {
		t.Errorf("%d refused matches are there", n)
	}
	kit.Must(t, ask(func(*NewMatch) {}))
	kit.Must(t, ask(func(*NewMatch) {}))
	wantError(t, ask(func(*NewMatch) {}), ladder.Conflict, "2 unrated matches at a time are the limit: wait until one is over, or cancel one")
	waiting := kit.Get[[]ladder.Match](t)(c.Matches.ListWaiting(bg, 10))
	if len(waiting) != 2 || waiting[0].Rated || waiting[0].RequestedBy != p.ID || waiting[0].Ladder != "" {
		t.Errorf("waiting are %+v", waiting)
	}
}
