package runner

import (
	"context"
	"fmt"

	"github.com/timba-arena/timba/ladder"
)

// submit takes a version through its stages.
func (r *Runner) submit(ctx context.Context, o *outcome) {
	if err := pinThread(o.core); err != nil {
		r.pause(err)
		return
	}
	err := r.Submit(ctx, o.version, o.core)
	switch {
	case ctx.Err() != nil:
		return // it begins again at the next start
	case err != nil:
		o.again = append(o.again, versionName(o.version))
		r.Log.Error("a submission failed for the server's own fault: it is tried again", "version", o.version, "err", err)
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
		r.metrics.stages.WithLabelValues(s.Name, outcomeLabel(s)).Inc()
	}
	r.Log.Info("submission through", "version", v.ID, "bot", v.Bot, "number", v.Number, "state", v.State)
	r.hub.publish(Event{Kind: VersionMoved, At: r.Now(), Version: v.ID, State: v.State, Text: v.Reason})
}

func outcomeLabel(s ladder.Stage) string {
	if s.OK {
		return "ok"
	}
	return "failed"
}
