package api

import (
	"net/http"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/wire"
)

// PersonDoc returns the JSON document of the API about p.
func PersonDoc(p ladder.Person) wire.Person {
	return wire.Person{Name: p.Name, Admin: p.Admin, CreatedAt: p.CreatedAt, BlockedAt: p.BlockedAt, RemovedAt: p.RemovedAt}
}

func tokenDoc(t ladder.Token) wire.Token {
	return wire.Token{
		ID: t.ID, Label: t.Label, Scope: string(t.Scope), CreatedAt: t.CreatedAt,
		UsedAt: t.UsedAt, ExpiresAt: t.ExpiresAt, RevokedAt: t.RevokedAt, Passkey: t.IsPasskey,
	}
}

// postPerson registers a person. Each request counts against the limit of registrations, even if its body is
// invalid.
func (a *API) postPerson(w http.ResponseWriter, r *http.Request) error {
	if err := a.Middleware.Joining.Admit(w, middleware.RequestOf(r).Address); err != nil {
		return err
	}
	var asked wire.Registration
	if err := decode(w, r, &asked); err != nil {
		return err
	}
	p, key, err := a.Service.Register(r.Context(), asked.Invite, asked.Name)
	if err != nil {
		return err
	}
	return respond(w, http.StatusCreated, wire.Registered{Person: PersonDoc(p), Key: key})
}

func (a *API) getMe(r *http.Request) (wire.Me, error) {
	request := middleware.RequestOf(r)
	return wire.Me{Person: PersonDoc(request.Person), Token: tokenDoc(request.Token)}, nil
}

func (a *API) getMyBots(r *http.Request, p paging) (page wire.Page[wire.Bot], err error) {
	found, err := a.Store.Bots.ListOwn(r.Context(), middleware.RequestOf(r).Person.ID, int64(p.From), p.Limit+1)
	if err != nil {
		return page, err
	}
	return a.botPage(r, found, p.Limit)
}

// getMessages returns the messages after a cursor. Unlike other lists, even the last page has a cursor for the next
// page, so that the client can later ask for new messages.
func (a *API) getMessages(r *http.Request, p paging) (page wire.Page[wire.Message], err error) {
	after := int64(p.From)
	list, err := a.Store.People.Messages(r.Context(), middleware.RequestOf(r).Person.ID, after, p.Limit)
	page.Items = []wire.Message{}
	for _, m := range list {
		after = m.ID
		page.Items = append(page.Items, wire.Message{ID: m.ID, Text: m.Text().String(), CreatedAt: m.CreatedAt, SeenAt: m.SeenAt})
	}
	if after > 0 {
		page.Next = middleware.CursorOf("message", after)
	}
	return page, err
}

func (a *API) putSeen(_ http.ResponseWriter, r *http.Request, seen wire.SeenMessages) (empty, error) {
	return empty{}, a.Store.People.MarkSeen(r.Context(), middleware.RequestOf(r).Person.ID, seen.First, seen.Last)
}

func (a *API) deleteMyToken(r *http.Request) error {
	by := middleware.RequestOf(r).Actor
	return a.Service.RevokeToken(r.Context(), by, by.Token.ID)
}

func (a *API) getTokens(r *http.Request) (wire.List[wire.Token], error) {
	all, err := a.Service.Tokens(r.Context(), middleware.RequestOf(r).Actor)
	return wire.List[wire.Token]{Items: Docs(all, tokenDoc)}, err
}

func (a *API) postToken(_ http.ResponseWriter, r *http.Request, asked wire.NewToken) (wire.MadeToken, error) {
	key, t, err := a.Service.AddToken(r.Context(), middleware.RequestOf(r).Actor, asked.Label, ladder.Scope(asked.Scope), asked.ExpiresAt)
	return wire.MadeToken{Token: tokenDoc(t), Key: key}, err
}

// InviteDoc returns the JSON document of the API about i. It does not contain the code of the invite.
func InviteDoc(i ladder.Invite) wire.Invite {
	return wire.Invite{ID: i.ID, Name: i.Name, CreatedBy: i.Issuer, CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt}
}

func (a *API) postInvite(_ http.ResponseWriter, r *http.Request, asked wire.NewInvite) (wire.MadeInvite, error) {
	code, invite, err := a.Service.AddInvite(r.Context(), middleware.RequestOf(r).Actor, asked.Name, asked.ExpiresAt)
	return wire.MadeInvite{Invite: InviteDoc(invite), Code: code, Site: a.Service.Config.Site.URL}, err
}

func (a *API) setBlocked(blocked bool) endpoint {
	return answer(func(r *http.Request) (wire.Person, error) {
		p, err := a.Service.SetBlocked(r.Context(), middleware.RequestOf(r).Actor, r.PathValue("person"), blocked)
		return PersonDoc(p), err
	})
}

// postSignInLink makes a link for the person whom the path names. The person can sign in with it once.
func (a *API) postSignInLink(r *http.Request) (wire.SignInLink, error) {
	name := r.PathValue("person")
	code, expires, err := a.Service.AddLink(r.Context(), middleware.RequestOf(r).Actor, name)
	return wire.SignInLink{Name: name, Code: code, ExpiresAt: expires, Site: a.Service.Config.Site.URL}, err
}
