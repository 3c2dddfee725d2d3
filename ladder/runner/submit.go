package runner

import (
	"context"
	"fmt"

	"github.com/timba-arena/timba/ladder"
)

// submitted tells how the stages of a version have ended.
func (r *Runner) submitted(ctx context.Context, o *outcome, err error) {
	ended, ctx := ctx.Err() != nil, context.WithoutCancel(ctx)
	switch {
	case r.cancelled(ctx, o.job): // it has failed or was cancelled: that ends it, whatever else there is
	case ended:
		return // it begins again at the next start, or its owner is blocked
	case err != nil && ladder.CodeOf(err) == ladder.Conflict:
		return // it was cancelled
	case err != nil:
		o.again = append(o.again, versionName(o.version))
		r.Log.Error("a submission failed because of the server and will be tried again", "version", o.version, "err", err)
		if broken := r.Check(ctx); broken != nil {
			r.pause(fmt.Errorf("%w (version %d: %w)", broken, o.version, err))
		}
		return
	}
	o.fine = append(o.fine, versionName(o.version))
	r.health.worked()
	v, err := r.Store.Version(ctx, o.version)
	if err != nil {
		r.Log.Error("reading a submission", "version", o.version, "err", err)
		return
	}
	stages, err := r.Store.Stages(ctx, o.version)
	if err != nil {
		r.Log.Error("reading a submission's stages", "version", o.version, "err", err)
	}
	for _, s := range stages {
		label := "failed"
		if s.OK {
			label = "ok"
		}
		r.metrics.stages.WithLabelValues(s.Name, label).Inc()
	}
	r.Log.Info("submission finished", "version", v.ID, "bot", v.Bot, "number", v.Number, "state", v.State)
}
