package runner

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/fleet"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/match"
)

// What others take of the time of a match that somebody asked for does not bring it over its time.
func TestOverOwnTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		think, held time.Duration // of each of 40 moves in two games
		over        bool
	}{
		"others":  {0, 20 * time.Second, false},
		"its own": {20 * time.Second, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				ctx, over := context.WithCancelCause(t.Context())
				p := &played{Match: &ladder.Match{ID: 1}, attempt: 1}
				p.share = &share{job: &job{slice: time.Hour}, left: 20 * time.Minute, since: time.Now(), over: func() { over(errOverTime) }}
				r := &Runner{here: here{playing: map[fleet.Playing]*played{}}}
				defer r.here.add(p)()
				m := &fleet.Match{Job: fleet.Job{
					Match: 1, Attempt: 1, Game: "brisca", Bots: []fleet.Bot{{Name: "a"}, {Name: "b"}}, Deals: 1,
					Clock: referee.Clock{Bank: time.Hour, Startup: time.Minute}, Core: cores.Any, Together: 1,
				}}
				m.Program = func(context.Context, int) (b match.Bot, err error) {
					b.Serve = func(in io.Reader, out io.Writer) error {
						return protocol.Serve(in, out, "", "", func(turn *protocol.Turn) protocol.Answer {
							time.Sleep(c.think)
							out.(match.Holder).Hold(true)
							time.Sleep(c.held)
							out.(match.Holder).Hold(false)
							return protocol.Answer{Move: turn.Moves.At(0)}
						})
					}
					return b, nil
				}
				err := r.PlayHere(ctx, m)
				if errors.Is(context.Cause(ctx), errOverTime) != c.over || (err != nil) != c.over {
					t.Errorf("it ends with %v, because %v", err, context.Cause(ctx))
				}
			})
		})
	}
}
