package server

import (
	"context"
	"errors"
	"time"

	"github.com/timba-arena/timba/ladder/submission"
)

// storageInterval is the time between two runs of maintainStorage.
const storageInterval = 24 * time.Hour

// maintainStorage moves replays and logs of old matches into files and removes unused builds of bots, at once
// and then every day, until ctx ends. Nothing else depends on it, so a failure is only logged and tried again
// the next day.
func (s *Server) maintainStorage(ctx context.Context, p *submission.Pipeline) error {
	return runEvery(ctx, s.dayStarts, func() {
		// A failure of one part must not prevent the other.
		if err := errors.Join(s.moveDocuments(ctx), s.sweepBuilds(ctx, p)); err != nil && ctx.Err() == nil {
			s.Log.Error("what is stored cannot be tidied", "err", err)
		}
	})
}

func (s *Server) moveDocuments(ctx context.Context) error {
	moved, err := s.Store.MoveDocuments(ctx, s.Config.Storage)
	if moved.Matches > 0 {
		s.Log.Info("replays and logs of old matches are moved to files", "matches", moved.Matches, "bytes", moved.Bytes, "files", moved.Files)
	}
	if moved.Full {
		s.Log.Warn("the archive is full: old replays stay in the database", "limit_bytes", int64(s.Config.Storage.Size), "try", "a larger storage.size")
	}
	return err
}

func (s *Server) sweepBuilds(ctx context.Context, p *submission.Pipeline) error {
	swept, err := p.SweepBuilds(ctx)
	if swept.Entries > 0 {
		s.Log.Info("built bots that nobody needs are removed", "builds", swept.Entries, "bytes", swept.Bytes)
	}
	if room := int64(s.Config.Storage.Room); room > 0 && swept.RemainingBytes > room {
		s.Log.Warn("the built bots that are needed take more than they may", "bytes", swept.RemainingBytes, "try", "a larger storage.room")
	}
	return err
}
