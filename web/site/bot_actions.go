package site

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/client"
	"github.com/timba-arena/timba/web/problem"
)

// withdraw takes a bot of one's own off the ladders.
func (s *Site) withdraw(v *visit) error {
	return s.changeBot(v, func(ctx context.Context, c *client.Client, bot string) (wire.Bot, error) { return c.Withdraw(ctx, bot) })
}

// restore brings a bot of one's own back.
func (s *Site) restore(v *visit) error {
	return s.changeBot(v, func(ctx context.Context, c *client.Client, bot string) (wire.Bot, error) { return c.Restore(ctx, bot) })
}

// useVersion makes an earlier version of a bot of one's own live again.
func (s *Site) useVersion(v *visit) error {
	text := v.r.PostForm.Get("version")
	number, err := strconv.Atoi(text)
	if err != nil {
		return ladder.Errorf(ladder.Invalid, "try a number", "version cannot be %q", problem.Clip(text))
	}
	return s.changeBot(v, func(ctx context.Context, c *client.Client, bot string) (wire.Bot, error) {
		return c.UseVersion(ctx, bot, number)
	})
}

// changeBot changes a bot by the API and returns to its page, which says why if the API refuses.
func (s *Site) changeBot(v *visit, change func(ctx context.Context, c *client.Client, bot string) (wire.Bot, error)) error {
	name := v.r.PathValue("bot")
	_, err := change(v.ctx(), v.client(), name)
	var refused *wire.Problem
	switch {
	case err == nil:
		v.redirect("/bots/" + url.PathEscape(name))
		return nil
	case errors.As(err, &refused) && refused.Status < http.StatusInternalServerError && refused.Status != http.StatusNotFound:
		return s.showBot(v, refused.Status, refused)
	}
	return err
}
