package api

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/web/api/wire"
)

// withdraw takes a bot off the ladders.
func (a *api) withdraw(w http.ResponseWriter, r *http.Request) error {
	return a.changeBot(w, r, "withdraw a bot", a.Store.Withdraw)
}

// restore brings a bot back.
func (a *api) restore(w http.ResponseWriter, r *http.Request) error {
	return a.changeBot(w, r, "bring a bot back", a.Store.Restore)
}

// use makes an earlier version live again.
func (a *api) use(w http.ResponseWriter, r *http.Request) error {
	var asked wire.LiveVersion
	if err := decode(w, r, &asked); err != nil {
		return err
	}
	return a.changeBot(w, r, "choose its version", func(ctx context.Context, botID int64) error {
		return a.Store.Use(ctx, botID, asked.Version)
	})
}

// changeBot changes the bot that the path names, for those who may, and answers with
// what it is then.
func (a *api) changeBot(w http.ResponseWriter, r *http.Request, what string, change func(ctx context.Context, botID int64) error) error {
	if err := NewQuery(r).Done(); err != nil {
		return err
	}
	b, err := a.Store.Bot(r.Context(), r.PathValue("bot"))
	if err != nil {
		return err
	}
	if err := infoOf(r).mustOwn(b.PersonID, what); err != nil {
		return err
	}
	if err := change(r.Context(), b.ID); err != nil {
		return err
	}
	a.Wake() // the ladders have another version to play with
	return a.answerBot(w, r, b.Name)
}

// upload answers with the upload of a version, byte for byte as it came.
func (a *api) upload(w http.ResponseWriter, r *http.Request) error {
	if err := NewQuery(r).Done(); err != nil {
		return err
	}
	b, v, err := a.pathBot(r)
	if err != nil {
		return err
	}
	if err := infoOf(r).mustOwn(b.PersonID, "fetch an upload"); err != nil {
		return err
	}
	f, err := a.Store.OpenUpload(v)
	if err != nil {
		return err
	}
	defer f.Close()
	suffix, err := bundle.Suffix(f)
	if err != nil {
		return &ladder.Error{Code: ladder.Unavailable, Text: "the upload cannot be read", Hint: "try again later", Err: err}
	}
	leave, err := a.openStream(r)
	if err != nil {
		return err
	}
	defer leave()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s-%d%s"`, v.Bot, v.Number, suffix))
	_, err = io.Copy(w, f)
	return gone(err)
}
