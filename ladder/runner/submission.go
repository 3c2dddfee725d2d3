package runner

import (
	"context"
	"fmt"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timba-arena/timba/ladder"
)

// submissions is a Source of the uploaded versions that have to be built and checked, in the order of
// store.Versions.ListPending.
type submissions struct {
	store    Store
	backoffs backoffs
	waiting  prometheus.Gauge
	need     int64 // memory in bytes for each submission
	run      func(ctx context.Context, version int64, core int) error
}

// Submissions returns a Source of the uploaded versions that have to be built and checked. The function run builds
// and checks the version with the given ID on a core. If run returns an error, the server has failed, and the version
// is tried again later.
func (r *Runner) Submissions(run func(ctx context.Context, version int64, core int) error) Source {
	return &submissions{store: r.Store, backoffs: r.backoffs, waiting: r.metrics.submissions, need: r.Limits.BuildMemory, run: run}
}

func (s *submissions) Next(ctx context.Context, c Core) (Job, error) {
	pending, err := s.store.Versions.ListPending(ctx)
	if err != nil {
		return nil, fmt.Errorf("the submissions: %w", err)
	}
	s.waiting.Set(float64(len(pending)))
	for _, v := range pending {
		if !slices.Contains(c.BusyOwners, v.Owner) && !s.backoffs.isBackingOff(versionName(v.ID), c.now) {
			return &submission{v, s.need, s.run}, nil
		}
	}
	return nil, nil
}

func (s *submissions) RecordStart(Job) {}

// finishSubmission logs that the build and checks of an uploaded version have ended, counts them, and sets the
// successes and failures of o. If failure is not nil, the server has failed, and the version is tried again
// later.
func (r *Runner) finishSubmission(ctx context.Context, o *outcome, s *submission, failure error) {
	ended, ctx := ctx.Err() != nil, context.WithoutCancel(ctx)
	switch {
	case s.isCancelled(ctx, r.Store): // it has failed or was cancelled, which is final
	case ended:
		return // it starts again with the server, unless its owner is blocked
	case failure != nil && ladder.CodeOf(failure) == ladder.Conflict:
		return // it was cancelled
	case failure != nil:
		o.failures = append(o.failures, versionName(s.ID))
		r.Log.Error("a submission failed because of the server and will be tried again", "version", s.ID, "err", failure)
		if broken := r.Host.Check(ctx); broken != nil {
			r.pause(fmt.Errorf("%w (version %d: %w)", broken, s.ID, failure))
		}
		return
	}
	o.successes = append(o.successes, versionName(s.ID))
	r.health.recordSuccess()
	v, err := r.Store.Versions.Find(ctx, s.ID)
	if err != nil {
		r.Log.Error("reading a submission", "version", s.ID, "err", err)
		return
	}
	stages, err := r.Store.Versions.Stages(ctx, s.ID)
	if err != nil {
		r.Log.Error("reading a submission's stages", "version", s.ID, "err", err)
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
