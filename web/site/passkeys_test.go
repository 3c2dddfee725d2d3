package site_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/webtest"
)

// A person adds a passkey, revokes the last token and signs in with the passkey. The browser has a virtual device that
// makes and uses it.
func TestPasskeys(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	s := webtest.NewStaticWorld(t, nil)
	numeric := s.URL
	s.URL = strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	b := webtest.Open(t, in, s.URL+"/sign-in")
	webtest.Call(b, webauthn.Enable, webauthn.EnableParams{})
	webtest.Call(b, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}})
	root := s.Ladder.AddPerson("root", false)
	signIn(b, &s.World, s.NewToken(root, ladder.ScopeAll))
	b.Go(s.URL + "/account/tokens")
	b.Wait("#passkey:not([hidden])")
	b.RequireAccessible()
	b.Picture(*screens, "tokens-passkey")
	fill(b, "#passkey-label", "virtual")
	b.Click("#passkey button")
	b.Wait("td .tag:first-of-type")
	b.Wait(`summary[aria-label$="virtual"]`)
	tokens := kit.Get[[]ladder.Token](t)(s.Store.Sessions.Tokens(t.Context(), root.ID))
	if len(tokens) != 2 || !tokens[1].IsPasskey || tokens[1].Label != "virtual" {
		t.Fatalf("the tokens are %+v", tokens)
	}
	s.Must(s.Store.Sessions.RevokeToken(t.Context(), root.ID, tokens[0].ID)) // the passkey is another way in
	b.Go(s.URL + "/account")
	b.Wait(`.notice[role="status"]`) // the session has ended with its token
	b.Wait("#passkey:not([hidden])")
	b.RequireAccessible()
	b.Picture(*screens, "signin-passkey")
	b.Click("#passkey button")
	b.Wait(".tabs")
	if name := b.Text("h1"); name != "root" {
		t.Errorf("%q is signed in", name)
	}
	b.RequireQuiet()

	// The last passkey cannot be revoked, a forged answer is refused, and elsewhere there are no passkeys.
	if err := s.Store.Sessions.RevokeToken(t.Context(), root.ID, tokens[1].ID); ladder.CodeOf(err) != ladder.Conflict {
		t.Errorf("the last passkey is revoked: %v", err)
	}
	for _, signed := range []string{"{}", `{"id":"AA","rawId":"AA","type":"public-key","response":{"clientDataJSON":"e30","authenticatorData":"AA","signature":"AA"}}`} {
		if a := s.Post(s.Client(), "/sign-in", url.Values{"passkey": {signed}}.Encode()); a.Status != http.StatusUnauthorized {
			t.Errorf("%s answers %d", signed, a.Status)
		}
	}
	s.URL = numeric
	if page := s.Get(s.Client(), "/sign-in").Body; strings.Contains(page, `id="passkey"`) {
		t.Error("a site without a domain offers passkeys")
	}
	if a := s.Post(s.Client(), "/sign-in/options", ""); a.Status != http.StatusConflict {
		t.Errorf("a site without a domain answers %d: %s", a.Status, a.Body)
	}
}
