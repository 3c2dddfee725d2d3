//go:build !race || slowrace

package experiment

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
)

// learning returns options for minimal trainings with models in dir.
func learning(dir string, workers int) Options {
	o := options(workers)
	o.TrainScale, o.ModelsDir = 0.001, dir
	return o
}

// figures returns the findings in JSON, without the values that differ from run to run.
func figures(t *testing.T, r *Findings) string {
	t.Helper()
	r.Seconds = 0
	for i := range r.Models {
		m := &r.Models[i]
		m.Dir, m.DataSeconds, m.PrepareSeconds, m.TrainSeconds, m.Workers = "", 0, 0, 0, 0
	}
	return asJSON(t, r)
}

// TestModels checks that models of every method are trained in both ways and play, that a cached model is not trained
// again, and that models which are trained at the same time make their common data set once.
func TestModels(t *testing.T) {
	kit.Slow(t)
	e := parsed(t, learned)
	dir := t.TempDir()
	first, err := e.Run(t.Context(), learning(dir, 1))
	kit.Must(t, err)
	var text strings.Builder
	first.Write(&text)
	for _, want := range []string{
		"SL     as published  sl      brisca2  128 of 128,000 games, 10 epochs  truncated, text-labels, no-songs  ",
		"GA     mended        ga      brisca2  1 of 1,000 generations           none",
		"table 1: won, as published\n", "table 1: won, mended\n", "models learn from 0.001 times its games, episodes or generations",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, text.String())
		}
	}
	if len(first.Models) != 6 || first.Games != 32 || len(first.Tables) != 2 || len(first.Tables[0].Figures) != 4 {
		t.Errorf("%d models, %d games, %d tables", len(first.Models), first.Games, len(first.Tables))
	}
	files, err := first.Save(t.TempDir())
	if err != nil || len(files) != 3 {
		t.Error(files, err)
	}
	again := learning(dir, 3)
	again.Progress = func(model, unit string, done, all int) {
		if model != "" {
			t.Errorf("%s is trained again", model)
		}
	}
	atOnce := learning(t.TempDir(), 6)
	makers := map[string]bool{}
	atOnce.Progress = func(model, _ string, _, _ int) {
		if strings.HasSuffix(model, ": data") {
			makers[model] = true
		}
	}
	for _, o := range []Options{again, atOnce} {
		r := kit.Get[*Findings](t)(e.Run(t.Context(), o))
		if diff := cmp.Diff(figures(t, first), figures(t, r)); diff != "" {
			t.Error(diff)
		}
	}
	if len(makers) != 1 {
		t.Errorf("the data set is made for %v", makers)
	}
}

// TestSeeds checks that a model with several seeds is trained once for each and plays all games of the match
// each time.
func TestSeeds(t *testing.T) {
	kit.Slow(t)
	e := parsed(t, strings.Replace(nets, `layers = "8"`, "layers = \"8\"\nseeds = [1, 2, 3]", 1))
	r := kit.Get[*Findings](t)(e.Run(t.Context(), learning(t.TempDir(), 2)))
	if len(r.Models) != 6 || r.Games != 48 || r.TotalGames != 48 || r.Models[5].Seed != 3 || r.Models[5].Way != mended {
		t.Errorf("%d games of %d, models %+v", r.Games, r.TotalGames, r.Models)
	}
	for _, f := range r.Tables[0].Figures {
		if f.Models != 3 || f.Games != 24 {
			t.Errorf("%+v", f)
		}
	}
	dir := t.TempDir()
	kit.Get[[]string](t)(r.Save(dir))
	if csv := string(kit.Get[[]byte](t)(os.ReadFile(filepath.Join(dir, "learned.csv")))); strings.Count(csv, ",3,8,") != 4 {
		t.Errorf("the number of models is missing in\n%s", csv)
	}
	var text strings.Builder
	r.Write(&text)
	for _, want := range []string{"SL, seed 1", "SL, seed 3", "Student's interval of\ntheir means"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &text)
		}
	}
	e = parsed(t, strings.Replace(timed, `layers = "8"`, "layers = \"8\"\nseeds = [4, 2]", 1))
	r = kit.Get[*Findings](t)(e.Run(t.Context(), learning(t.TempDir(), 2)))
	if f := r.Tables[0].Figures[1]; len(r.Models) != 4 || f.Row != "net" || f.Models != 2 || f.OurEstimate.Low == f.OurEstimate.High {
		t.Errorf("%d models, %+v", len(r.Models), f)
	}
}

// TestModelsResume checks that an experiment interrupted during a training resumes it and gives the same figures.
func TestModelsResume(t *testing.T) {
	kit.Slow(t)
	e := parsed(t, nets)
	dir := t.TempDir()
	o := learning(dir, 1)
	o.TrainScale = 0.003
	stopped := 0
	for ; ; stopped++ {
		ctx, cancel := context.WithCancel(t.Context())
		o.Progress = func(model, _ string, done, all int) {
			if model != "" && done > 0 && done < all && stopped < 3 {
				cancel()
			}
		}
		r, err := e.Run(ctx, o)
		cancel()
		if err == nil {
			o.Progress, o.ModelsDir = nil, t.TempDir()
			whole := kit.Get[*Findings](t)(e.Run(t.Context(), o))
			if diff := cmp.Diff(figures(t, whole), figures(t, r)); diff != "" {
				t.Error(diff)
			}
			break
		}
		if !errors.Is(err, context.Canceled) || r == nil || !r.Interrupted || r.Games != 0 || r.TotalGames != 16 || len(r.Tables) != 2 {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if stopped < 2 {
		t.Errorf("it was interrupted %d times", stopped)
	}
}

// TestModelsNotSaved checks that the error is not an interruption if its checkpoint cannot be written.
func TestModelsNotSaved(t *testing.T) {
	kit.Slow(t)
	ctx, cancel := context.WithCancel(t.Context())
	o := learning(t.TempDir(), 1)
	o.TrainScale = 0.003
	o.Progress = func(model, _ string, done, _ int) {
		if model == "SL, as published" && done > 0 {
			kit.Must(t, os.RemoveAll(o.ModelsDir))
			cancel()
		}
	}
	if r, err := parsed(t, nets).Run(ctx, o); r != nil || err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestFindPlayers checks that an unreadable model is an error before the first game, and that labels do not
// contain the directory of the models.
func TestFindPlayers(t *testing.T) {
	kit.Slow(t)
	e := parsed(t, nets)
	o := learning(t.TempDir(), 1)
	r := kit.Get[*Findings](t)(e.Run(t.Context(), o))
	found := kit.Get[map[way]map[string][]player](t)(e.findPlayers(t.Context(), &o, r.Models))
	for i, w := range e.ways() {
		want := "@sl:model=" + filepath.Base(r.Models[i].Dir)
		if p := found[w]["SL"]; len(p) != 1 || p[0].label != want || found[w]["random"][0].label != "@random" {
			t.Errorf("%s: %+v, want %s", w, found[w], want)
		}
	}
	kit.Must(t, os.Remove(filepath.Join(r.Models[1].Dir, "model.timba")))
	o.Progress = func(model, _ string, _, _ int) {
		if model == "" {
			t.Error("a game is played")
		}
	}
	if _, err := e.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "model.timba") {
		t.Errorf("a model that is missing: %v", err)
	}
}

// TestTimes checks that the times of models are measured, and that the ratio to the study is for each game.
func TestTimes(t *testing.T) {
	e := parsed(t, timed)
	r := kit.Get[*Findings](t)(e.Run(t.Context(), learning(t.TempDir(), 2)))
	if len(r.Tables) != 1 || len(r.Tables[0].Figures) != 5 {
		t.Fatalf("%+v", r.Tables)
	}
	for _, f := range r.Tables[0].Figures {
		if f.OurEstimate.Value <= 0 || f.Verdict != NotCompared || f.Games < 1 || f.StudyGames < f.Games || f.ratio() == "" {
			t.Errorf("%+v, ratio %q", f, f.ratio())
		}
	}
}

// TestModelsBound checks the size limit of the directory of models: older models are removed, and an
// experiment whose own models are too large fails.
func TestModelsBound(t *testing.T) {
	e := parsed(t, nets)
	dir := t.TempDir()
	old := filepath.Join(dir, "brisca2-rl-0000000000000000")
	kit.Must(t, os.Mkdir(old, 0o755))
	for name, size := range map[string]int{"config.json": 2, "model.timba": 3 << 20} {
		kit.Must(t, os.WriteFile(filepath.Join(old, name), make([]byte, size), 0o644))
	}
	foreign := filepath.Join(dir, "notes")
	kit.Must(t, os.Mkdir(foreign, 0o755))
	o := learning(dir, 1)
	o.MaxModelsMiB = 3
	if _, err := e.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old model is still there: %v", err)
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Errorf("a directory that is no model is gone: %v", err)
	}
	o = learning(t.TempDir(), 1)
	o.MaxModelsMiB = 1
	e = parsed(t, strings.NewReplacer(`method = "sl"`, `method = "rl"`, "layers = \"8\"\nepochs = 4", "episodes = 5_000_000").Replace(nets))
	if _, err := e.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "of this experiment, more than the 1 of --models-size: allow more, or train less") {
		t.Errorf("models that are too large: %v", err)
	}
}

// TestModelsRefuses checks that a directory of models is rejected if another experiment uses it or its name
// cannot be part of a spec.
func TestModelsRefuses(t *testing.T) {
	e := parsed(t, learned)
	dir := t.TempDir()
	c := kit.Get[*cache](t)(openCache(dir, 10))
	defer c.close()
	file := filepath.Join(dir, "file")
	kit.Must(t, os.WriteFile(file, nil, 0o644))
	for want, change := range map[string]func(o *Options){
		"is in use by another experiment":  func(o *Options) { o.ModelsDir = dir },
		"cannot have a comma":              func(o *Options) { o.ModelsDir = filepath.Join(dir, "a,b") },
		"models: the directory is missing": func(o *Options) { o.ModelsDir = "" },
		"not a directory":                  func(o *Options) { o.ModelsDir = file },
	} {
		o := learning(t.TempDir(), 1)
		change(&o)
		if r, err := e.Run(t.Context(), o); err == nil || r != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
