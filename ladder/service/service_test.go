package service

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/laddertest"
	"github.com/timba-arena/timba/ladder/store"
)

const tiny = `[[ladder]]
name = "tebes"
game = "tebes"
options = {size = "4"}
deals = 1
clock = {movetime = 100}
house = ["@random", "@first"]
`

// TestRequestMatchOfAwayBot checks that a remote bot that is away for too long cannot be requested, because the
// match would be dropped at once.
func TestRequestMatchOfAwayBot(t *testing.T) {
	t.Parallel()
	w := laddertest.New(t, tiny, store.Options{})
	w.SyncHouseBots(func(string) string { return strings.Repeat("0", 64) })
	away := true
	s := New(Options{Store: w.Store, Config: w.Config, IsAway: func(int64) bool { return away }})
	anna := w.AddPerson("anna", false)
	kit.Get[ladder.Version](t)(w.Store.Versions.ConnectRemote(t.Context(), anna.ID, store.RemoteVersion{Bot: "far"}, w.Config.Limits))
	a := Actor{Person: anna, Token: ladder.Token{Scope: ladder.ScopeSubmit}}
	ask := func() error {
		_, err := s.RequestMatch(t.Context(), a, MatchRequest{Ladder: "tebes", Bots: []string{"@random", "far"}})
		return err
	}
	const want = "version 1 of far is not connected: ask again when it is"
	if err := ask(); ladder.CodeOf(err) != ladder.Conflict || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
	away = false
	kit.Must(t, ask())
}

// TestAddHouseBot checks by which names house bots with options are found, which are refused, and to whom.
func TestAddHouseBot(t *testing.T) {
	t.Parallel()
	w := laddertest.New(t, tiny, store.Options{})
	w.SyncHouseBots(func(string) string { return strings.Repeat("0", 64) })
	s := New(Options{Store: w.Store, Config: w.Config})
	anna := Actor{Person: w.AddPerson("anna", false), Token: ladder.Token{Scope: ladder.ScopeSubmit}}
	reader := Actor{Person: anna.Person, Token: ladder.Token{Scope: ladder.ScopeRead}}
	for _, c := range []struct {
		who        Actor
		name, want string // the canonical name, or the error
	}{
		{Actor{}, "@greedy", "@greedy"},
		{Actor{}, "nobody", "nobody"},
		{Actor{}, "@nobody", "@nobody"},
		{Actor{}, "@greedy:noise=00", "@greedy"},
		{Actor{}, "@greedy:noise=7", `bot "@greedy:noise=7" has never played here, and only people with an account may add it: sign in, or choose another`},
		{reader, "@greedy:noise=7", `to choose new options of a house bot needs the scope "submit", this token has "read": use a token of scope submit`},
		{anna, "@greedy:noise=07", "@greedy:noise=7"},
		{Actor{}, "@greedy:noise=007", "@greedy:noise=7"},
		{anna, "@greedy:noise=x", `house bot "greedy:noise=x": option noise cannot be "x": try 0 to 100`},
		{anna, "@sl:model=/etc/passwd", `house bot "sl:model=/etc/passwd": option model cannot be "/etc/passwd": try built-in`},
	} {
		got, err := s.AddHouseBot(t.Context(), c.who, c.name)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	m, err := s.RequestMatch(t.Context(), anna, MatchRequest{Ladder: "tebes", Bots: []string{"@greedy:noise=9", "@greedy:noise=007"}})
	if kit.Must(t, err); m.Bots[0] != "@greedy:noise=9" || m.Bots[1] != "@greedy:noise=7" {
		t.Errorf("the match is of %q", m.Bots)
	}
}

// TestRights checks what is permitted to nobody, to a person with a token of each scope, to another person and
// to an admin.
func TestRights(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := laddertest.New(t, tiny, store.Options{})
	w.SyncHouseBots(func(name string) string { return strings.Repeat("0", 64) })
	s := New(Options{Store: w.Store, Config: w.Config})
	anna, ben, root := w.AddPerson("anna", false), w.AddPerson("ben", false), w.AddPerson("root", true)
	bundle := strings.Repeat("1", 64)
	v := w.MakeLive(w.Submit(anna.ID, "anna-bot", bundle).ID, store.BuildInfo{Hash: bundle})
	next := w.Submit(anna.ID, "anna-bot", strings.Repeat("2", 64))
	actor := func(p ladder.Person, scope ladder.Scope) Actor {
		key, _, err := w.Store.Sessions.AddToken(ctx, p.ID, "", scope, time.Time{})
		kit.Must(t, err)
		return kit.Get[Actor](t)(s.TokenActor(ctx, key))
	}
	who := []struct {
		name string
		Actor
	}{
		{"nobody", Actor{}},
		{"anna read", actor(anna, ladder.ScopeRead)},
		{"anna submit", actor(anna, ladder.ScopeSubmit)},
		{"anna all", actor(anna, ladder.ScopeAll)},
		{"ben all", actor(ben, ladder.ScopeAll)},
		{"root submit", actor(root, ladder.ScopeSubmit)},
		{"root all", actor(root, ladder.ScopeAll)},
	}
	match := func() int64 {
		m, err := s.RequestMatch(ctx, who[3].Actor, MatchRequest{Ladder: "tebes", Bots: []string{"@random", "@first"}})
		kit.Must(t, err)
		return m.ID
	}()
	for _, c := range []struct {
		name string
		call func(Actor) error
		may  string // a letter for each of who: y is permitted, u unauthorized, f forbidden
	}{
		{"Tokens", func(a Actor) error { _, err := s.Tokens(ctx, a); return err }, "uffyyfy"},
		{"AddToken", func(a Actor) error { _, _, err := s.AddToken(ctx, a, "", "none", time.Time{}); return err }, "uffyyfy"},
		{"RevokeToken", func(a Actor) error { return s.RevokeToken(ctx, a, 999) }, "uffyyfy"},
		{"Sessions", func(a Actor) error { _, err := s.Sessions(ctx, a); return err }, "uyyyyyy"},
		{"EndSession", func(a Actor) error { return s.EndSession(ctx, a, 999) }, "uffyyfy"},
		{"EndOtherSessions", func(a Actor) error { return s.EndOtherSessions(ctx, a) }, "uffyyfy"},
		{"Invites", func(a Actor) error { _, err := s.Invites(ctx, a); return err }, "ufffffy"},
		{"AddInvite", func(a Actor) error { _, _, err := s.AddInvite(ctx, a, "", time.Time{}); return err }, "ufffffy"},
		{"RevokeInvite", func(a Actor) error { return s.RevokeInvite(ctx, a, 999) }, "ufffffy"},
		{"People", func(a Actor) error { _, err := s.People(ctx, a); return err }, "ufffffy"},
		{"Block", func(a Actor) error { _, err := s.SetBlocked(ctx, a, "nobody", true); return err }, "ufffffy"},
		{"Withdraw", func(a Actor) error { _, err := s.WithdrawBot(ctx, a, "anna-bot"); return err }, "ufyyffy"},
		{"Restore", func(a Actor) error { _, err := s.RestoreBot(ctx, a, "anna-bot"); return err }, "ufyyffy"},
		{"Use", func(a Actor) error { _, err := s.UseVersion(ctx, a, "anna-bot", v.Number); return err }, "ufyyffy"},
		{"Upload", func(a Actor) error {
			f, _, err := s.OpenUpload(ctx, a, "anna-bot", v.Number)
			f.Close() // f may be nil
			return err
		}, "fyyyffy"},
		{"Stages", func(a Actor) error { _, err := s.Stages(ctx, a, "anna-bot", v.Number); return err }, "fyyyffy"},
		{"Submit", func(a Actor) error {
			_, err := s.Submit(ctx, a, Upload{Bot: "x", Content: strings.NewReader("no archive")}, func() {})
			return err
		}, "ufyyyyy"},
		{"Submission", func(a Actor) error { _, err := s.Submission(ctx, a, next.ID); return err }, "fyyyffy"},
		{"AwaitSubmission", func(a Actor) error {
			_, err := s.AwaitSubmission(ctx, a, next.ID, time.Hour, nil, func(SubmissionProgress) bool { return true })
			return err
		}, "fyyyffy"},
		{"CancelSubmission", func(a Actor) error { _, err := s.CancelSubmission(ctx, a, next.ID); return err }, "ufyyffy"},
		{"RequestMatch", func(a Actor) error { _, err := s.RequestMatch(ctx, a, MatchRequest{}); return err }, "ufyyyyy"},
		{"CancelMatch", func(a Actor) error { _, err := s.CancelMatch(ctx, a, match); return err }, "ufyyffy"},
	} {
		for i, a := range who {
			got := "y"
			switch ladder.CodeOf(c.call(a.Actor)) {
			case ladder.Unauthorized:
				got = "u"
			case ladder.Forbidden:
				got = "f"
			}
			if got != c.may[i:i+1] {
				t.Errorf("%s by %s: %s, want %s: %v", c.name, a.name, got, c.may[i:i+1], c.call(a.Actor))
			}
		}
	}
}

// TestSignInAgain checks that signing in again works if the old session has ended in the meantime, perhaps in
// another tab.
func TestSignInAgain(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := laddertest.New(t, tiny, store.Options{})
	s := New(Options{Store: w.Store, Config: w.Config})
	token, _, err := w.Store.Sessions.AddToken(ctx, w.AddPerson("anna", false).ID, "", ladder.ScopeRead, time.Time{})
	kit.Must(t, err)
	visitor := kit.Get[Actor](t)(s.SessionActor(ctx, kit.Get[string](t)(s.SignIn(ctx, token, Actor{}))))
	kit.Must(t, s.EndSession(ctx, visitor, visitor.Session))
	again := kit.Get[Actor](t)(s.SessionActor(ctx, kit.Get[string](t)(s.SignIn(ctx, token, visitor))))
	if again.Person.Name != "anna" || again.Session == visitor.Session {
		t.Errorf("the new session is %+v", again)
	}
}

// TestAwaitAccessEnd checks that AwaitAccessEnd returns the reason as soon as the access of the actor ends, and
// not when that of others does.
func TestAwaitAccessEnd(t *testing.T) {
	t.Parallel()
	const ended = "the session has ended: sign in again"
	for name, c := range map[string]struct {
		end              func(ctx context.Context, s *store.Store, a Actor) error
		token, session   string // error for an actor with the token, and for one in a session; "" if the access continues
		person, guestToo bool   // whether access also ends for the person with another token, and for a guest
	}{
		"a session that is ended": {func(ctx context.Context, s *store.Store, a Actor) error {
			return s.Sessions.End(ctx, a.Person.ID, a.Session)
		}, "", ended, false, false},
		"all sessions": {func(ctx context.Context, s *store.Store, a Actor) error {
			return s.Sessions.EndOthers(ctx, a.Person.ID, 0)
		}, "", ended, false, false},
		"a token that is revoked": {func(ctx context.Context, s *store.Store, a Actor) error {
			return s.Sessions.RevokeToken(ctx, a.Person.ID, a.Token.ID)
		}, "the token has been revoked: sign in with another token", ended, false, false},
		"a token that expires": {func(context.Context, *store.Store, Actor) error {
			time.Sleep(24 * time.Hour)
			return nil
		}, "the token has expired: sign in with another token", ended, false, false},
		"a session that expires": {func(context.Context, *store.Store, Actor) error {
			time.Sleep(store.SessionTime)
			return nil
		}, "the token has expired: sign in with another token", ended, false, true},
		"a person who is blocked": {func(ctx context.Context, s *store.Store, a Actor) error {
			return s.People.SetBlocked(ctx, a.Person.ID, true)
		}, `person "anna" is blocked: ask the operator`, ended, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble.Run(t, func(t *testing.T) {
				ctx := t.Context()
				w := laddertest.New(t, tiny, store.Options{})
				s := New(Options{Store: w.Store, Config: w.Config})
				anna, ben := w.AddPerson("anna", false), w.AddPerson("ben", false)
				actor := func(p ladder.Person, expires time.Time) (Actor, string) {
					key, _, err := w.Store.Sessions.AddToken(ctx, p.ID, "", ladder.ScopeAll, expires)
					kit.Must(t, err)
					return kit.Get[Actor](t)(s.TokenActor(ctx, key)), key
				}
				token, key := actor(anna, time.Now().Add(24*time.Hour))
				session := kit.Get[Actor](t)(s.SessionActor(ctx, kit.Get[string](t)(s.SignIn(ctx, key, Actor{}))))
				another, _ := actor(anna, time.Time{})
				other, _ := actor(ben, time.Time{})
				guestKey, _, err := w.Store.Plays.Add(ctx, ladder.Play{ID: "game", Game: "tebes", Options: map[string]string{}, Seats: []ladder.PlaySeat{{}}}, netip.Addr{}, 0, true)
				kit.Must(t, err)
				guest := kit.Get[Actor](t)(s.SessionActor(ctx, guestKey))
				all, over := []Actor{token, session, another, other, guest}, make(chan struct{})
				heard := make([]chan error, len(all))
				for i, a := range all {
					heard[i] = make(chan error, 1)
					go func() { heard[i] <- s.AwaitAccessEnd(a, over) }()
				}
				bubble.Settle()
				kit.Must(t, c.end(ctx, w.Store, session))
				bubble.Settle()
				want := []string{c.token, c.session, "", "", ""}
				if c.person {
					want[2] = c.token
				}
				if c.guestToo {
					want[4] = ended
				}
				for i := range all {
					got := ""
					select {
					case err := <-heard[i]:
						got = err.Error()
					default:
					}
					if got != want[i] {
						t.Errorf("actor %d hears %q, want %q", i, got, want[i])
					}
					want[i] = got
				}
				close(over)
				for i := range all {
					if want[i] == "" {
						if err := <-heard[i]; err != nil {
							t.Errorf("actor %d hears %v at the end", i, err)
						}
					}
				}
			})
		})
	}
}
