package store

import (
	"context"
	"fmt"
	"io"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules/games"
)

// Difference is something that is not as the matches say.
type Difference struct {
	What string // "match 3, deal 0, rotation 1", "ladder tute-2, version 7"
	Text string
}

func (d Difference) String() string { return d.What + ": " + d.Text }

// Verify rebuilds every game from its replay and says what differs.
func (s *Store) Verify(ctx context.Context, progress io.Writer) (out []Difference, err error) {
	err = s.ReplaysAfter(ctx, 0, ReplayFilter{}, func(r Replay) error {
		doc, err := referee.DecodeReplay(r.Data)
		if err == nil {
			g, ferr := games.Find(doc.Game)
			if err = ferr; err == nil {
				for _, e := range doc.Verify(g) {
					out = append(out, Difference{fmt.Sprintf("game %d", r.Game), e.Error()})
				}
			}
		}
		if err != nil {
			out = append(out, Difference{fmt.Sprintf("game %d", r.Game), err.Error()})
		}
		return nil
	})
	return out, err
}
