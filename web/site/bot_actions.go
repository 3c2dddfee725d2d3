package site

import (
	"context"
	"net/url"
	"strconv"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
)

// withdraw takes a bot of one's own off the ladders.
func (s *Site) withdraw(v *visit) error {
	return s.changeBot(v, s.Service.Withdraw)
}

// restore brings a bot of one's own back.
func (s *Site) restore(v *visit) error {
	return s.changeBot(v, s.Service.Restore)
}

// useVersion makes an earlier version of a bot of one's own live again.
func (s *Site) useVersion(v *visit) error {
	text := v.r.PostForm.Get("version")
	number, err := strconv.Atoi(text)
	if err != nil {
		return ladder.Errorf(ladder.Invalid, "try a number", "version cannot be %q", ladder.Clip(text))
	}
	return s.changeBot(v, func(ctx context.Context, by service.Actor, bot string) (ladder.Bot, error) {
		return s.Service.Use(ctx, by, bot, number)
	})
}

// changeBot changes a bot and returns to its page, which says why if that is refused.
func (s *Site) changeBot(v *visit, change func(context.Context, service.Actor, string) (ladder.Bot, error)) error {
	name := v.r.PathValue("bot")
	_, err := change(v.ctx(), v.Actor, name)
	switch ladder.CodeOf(err) {
	case ladder.Invalid, ladder.Conflict, ladder.Forbidden, ladder.Unauthorized:
		p := s.Middleware.Problem(v.r, err)
		return s.showBot(v, p.Status, &p)
	}
	if err == nil {
		v.redirect("/bots/" + url.PathEscape(name))
	}
	return err
}
