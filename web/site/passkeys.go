package site

import (
	"encoding/binary"
	"encoding/json"
	"net/netip"
	"net/url"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/timba-arena/timba/ladder"
)

// passkeyHolder is a person with passkeys, as a webauthn.User.
type passkeyHolder struct {
	ladder.Person
	credentials []webauthn.Credential
}

// WebAuthnID returns the ID of the person in bytes.
func (h passkeyHolder) WebAuthnID() []byte { return binary.BigEndian.AppendUint64(nil, uint64(h.ID)) }

// WebAuthnName returns the person's name, by which a browser lists the passkey.
func (h passkeyHolder) WebAuthnName() string { return h.Name }

// WebAuthnDisplayName returns the same name as WebAuthnName.
func (h passkeyHolder) WebAuthnDisplayName() string { return h.Name }

// WebAuthnCredentials returns the passkeys of the person.
func (h passkeyHolder) WebAuthnCredentials() []webauthn.Credential { return h.credentials }

// newHolder returns the person p with passkeys. data has the JSON document of each passkey.
func newHolder(p ladder.Person, data ...[]byte) (h passkeyHolder, err error) {
	h.Person = p
	for _, d := range data {
		var c webauthn.Credential
		if err := json.Unmarshal(d, &c); err != nil {
			return h, err
		}
		h.credentials = append(h.credentials, c)
	}
	return h, nil
}

// challenges has random texts, each of which a browser is to sign once. The value has the data to check the
// signature.
type challenges = lru.Cache[string, webauthn.SessionData]

func newChallenges() *challenges {
	list, _ := lru.New[string, webauthn.SessionData](maxAnswers) // the size is positive
	return list
}

// takeChallenge removes a challenge and returns its data, or an error if it does not exist. So only one of several
// calls with the same challenge succeeds.
func (s *Site) takeChallenge(challenge string) (webauthn.SessionData, error) {
	d, _ := s.challenges.Get(challenge)
	if !s.challenges.Remove(challenge) {
		return d, passkeyError()
	}
	return d, nil
}

func passkeyError() error {
	return ladder.Errorf(ladder.Unauthorized, "try again, or sign in with a token", "the passkey was not accepted")
}

// passkeyDomain returns the domain of the site's passkeys, or "" if the visitor cannot use passkeys. Passkeys work
// only at the site's own address, and only if that address is localhost or has a domain and https.
func (v *visit) passkeyDomain() string {
	u, err := url.Parse(v.origin())
	if err != nil || u.Host != v.r.Host {
		return ""
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil || u.Scheme != "https" && u.Hostname() != "localhost" {
		return ""
	}
	return u.Hostname()
}

// HasPasskeys reports whether passkeys can be used at the address of the page.
func (f frame) HasPasskeys() bool { return f.passkeyDomain() != "" }

// relyingParty returns the site for package webauthn, or an error if the visitor cannot use passkeys here.
func (v *visit) relyingParty() (*webauthn.WebAuthn, error) {
	domain := v.passkeyDomain()
	if domain == "" {
		return nil, ladder.Errorf(ladder.Conflict, "use a token", "passkeys need a site with a domain and https")
	}
	return webauthn.New(&webauthn.Config{RPID: domain, RPDisplayName: "timba", RPOrigins: []string{v.origin()}})
}

// sendOptions sends options, which the browser needs to create or use a passkey, and remembers the challenge in d. If
// err is not nil, it does nothing and returns err.
func (v *visit) sendOptions(options any, d *webauthn.SessionData, err error) error {
	if err != nil {
		return err
	}
	v.site.challenges.Add(d.Challenge, *d)
	v.w.Header().Set("Content-Type", "application/json")
	v.w.Header().Set("Cache-Control", "no-store")
	return json.NewEncoder(v.w).Encode(options)
}

// postNewPasskey sends the data with which the browser creates a passkey for the visitor.
func (s *Site) postNewPasskey(v *visit) error {
	if err := s.Service.CheckPasskey(v.Actor); err != nil {
		return err
	}
	party, err := v.relyingParty()
	if err != nil {
		return err
	}
	data, err := s.Store.Sessions.Passkeys(v.ctx(), v.Person.ID)
	if err != nil {
		return err
	}
	h, err := newHolder(v.Person, data...)
	if err != nil {
		return err
	}
	options, d, err := party.BeginRegistration(h,
		webauthn.WithResidentKeyRequirement(protocol.ResidentKeyRequirementRequired),
		webauthn.WithExclusions(webauthn.Credentials(h.credentials).CredentialDescriptors()))
	return v.sendOptions(options, d, err)
}

// postPasskey adds the passkey in the form, which the browser has made.
func (s *Site) postPasskey(v *visit) error {
	label := v.field("label")
	err := v.addPasskey(label)
	if err != nil {
		return s.showTokens(v, tokensPage{Days: "90"}, err)
	}
	return v.redirect("/account/tokens")
}

func (v *visit) addPasskey(label string) error {
	party, err := v.relyingParty()
	if err != nil {
		return err
	}
	made, err := protocol.ParseCredentialCreationResponseBytes([]byte(v.field("passkey")))
	if err != nil {
		return passkeyError()
	}
	d, err := v.site.takeChallenge(made.Response.CollectedClientData.Challenge)
	if err != nil {
		return err
	}
	credential, err := party.CreateCredential(passkeyHolder{Person: v.Person}, d, made)
	if err != nil {
		return passkeyError()
	}
	data, err := json.Marshal(credential)
	if err != nil {
		return err
	}
	return v.site.Service.AddPasskey(v.ctx(), v.Actor, label, credential.ID, data)
}

// postUsePasskey sends the data with which the browser signs the visitor in by a passkey.
func (s *Site) postUsePasskey(v *visit) error {
	party, err := v.relyingParty()
	if err != nil {
		return err
	}
	options, d, err := party.BeginDiscoverableLogin()
	return v.sendOptions(options, d, err)
}

// checkPasskey checks signed, a JSON document that a browser has signed with a passkey. It returns the passkey's
// credential ID, and the new data to store for the passkey.
func (v *visit) checkPasskey(signed string) (credential, data []byte, err error) {
	party, err := v.relyingParty()
	if err != nil {
		return nil, nil, err
	}
	answer, err := protocol.ParseCredentialRequestResponseBytes([]byte(signed))
	if err != nil {
		return nil, nil, passkeyError()
	}
	d, err := v.site.takeChallenge(answer.Response.CollectedClientData.Challenge)
	if err != nil {
		return nil, nil, err
	}
	var failed error // of the store
	_, used, err := party.ValidatePasskeyLogin(func(id, _ []byte) (webauthn.User, error) {
		var p ladder.Person
		var data []byte
		if p, data, failed = v.site.Store.Sessions.Passkey(v.ctx(), id); failed != nil {
			return nil, failed
		}
		return newHolder(p, data)
	}, d, answer)
	if failed != nil {
		return nil, nil, failed
	}
	if err != nil || used.Authenticator.CloneWarning {
		return nil, nil, passkeyError()
	}
	data, err = json.Marshal(used)
	return used.ID, data, err
}
