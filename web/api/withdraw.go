package api

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/web/api/wire"
)

// withdraw takes a bot off the ladders.
func (a *api) withdraw(w http.ResponseWriter, r *http.Request) error {
	return a.changeBot(w, r, a.Service.Withdraw)
}

// restore brings a bot back.
func (a *api) restore(w http.ResponseWriter, r *http.Request) error {
	return a.changeBot(w, r, a.Service.Restore)
}

// use makes an earlier version live again.
func (a *api) use(w http.ResponseWriter, r *http.Request) error {
	var asked wire.LiveVersion
	if err := decode(w, r, &asked); err != nil {
		return err
	}
	return a.changeBot(w, r, func(ctx context.Context, by service.Actor, bot string) (ladder.Bot, error) {
		return a.Service.Use(ctx, by, bot, asked.Version)
	})
}

// changeBot changes the bot that the path names, and answers with what it is then.
func (a *api) changeBot(w http.ResponseWriter, r *http.Request, change func(context.Context, service.Actor, string) (ladder.Bot, error)) error {
	if err := NewQuery(r).Done(); err != nil {
		return err
	}
	b, err := change(r.Context(), infoOf(r).Actor, r.PathValue("bot"))
	if err != nil {
		return err
	}
	return a.answerBot(w, r, b)
}

// upload answers with the upload of a version, byte for byte as it came.
func (a *api) upload(w http.ResponseWriter, r *http.Request) error {
	number, err := PathID(r, "version")
	if err != nil {
		return err
	}
	f, v, err := a.Service.Upload(r.Context(), infoOf(r).Actor, r.PathValue("bot"), int(number))
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
