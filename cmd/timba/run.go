package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
)

// matchRun is a match on its way: what is counted, kept and shown.
type matchRun struct {
	match  *referee.Match
	folder *folder
	tally  *referee.Tally
	bar    *progressbar.ProgressBar
	errs   io.Writer
	voids  []string
	began  time.Time
	took   time.Duration
}

func newRun(m *referee.Match, keep *folder, errs io.Writer) *matchRun {
	r := &matchRun{match: m, folder: keep, tally: referee.NewTally(m.Variant, m.Bots), errs: errs}
	r.bar = newProgress(errs, r.total(), "games")
	m.Done = func(g *referee.Game) error {
		g.Reveal(m.Seed) // whoever keeps the replays here knows it already
		r.tally.Add(g)
		r.bar.Add(1)
		return keep.add(g)
	}
	m.Void = func(deal, rotation int, err error) {
		r.bar.Clear()
		text := fmt.Sprintf("deal %d, rotation %d is void and played again: %v", deal, rotation, err)
		r.voids = append(r.voids, text)
		fmt.Fprintln(errs, text)
	}
	return r
}

// newProgress shows how far work is and how long it will take, to people only
// and only when it takes longer than a blink.
func newProgress(w io.Writer, total int, unit string) *progressbar.ProgressBar {
	file, ok := w.(*os.File)
	visible := ok && term.IsTerminal(int(file.Fd()))
	return progressbar.NewOptions(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetVisibility(visible),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString(unit),
		progressbar.OptionThrottle(200*time.Millisecond),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
	)
}

func (r *matchRun) total() int { return r.match.Deals * r.match.Rotations() }

func (r *matchRun) play(ctx context.Context) error {
	r.began = time.Now()
	err := r.match.Play(ctx)
	r.took = time.Since(r.began)
	r.bar.Clear()
	slices.SortFunc(r.tally.Faults, func(a, b referee.FaultAt) int {
		if a.Deal != b.Deal {
			return a.Deal - b.Deal
		}
		return a.Rotation - b.Rotation
	})
	if err == nil {
		return r.folder.finish(r)
	}
	return err
}

// print tells people how the match went.
func (r *matchRun) print(w io.Writer) {
	fmt.Fprintln(w)
	t := newTable(w)
	t.AppendHeader(table.Row{"bot", "games", "wins", "draws", "losses", "points", "points a game", "faults"})
	for i, s := range r.tally.Scores {
		t.AppendRow(table.Row{s.Name, s.Games, s.Wins, s.Draws, s.Losses, number(s.Points), perGame(s), faultsByCode(r.tally.FaultsByCode(i))})
	}
	t.Render()
	fmt.Fprintf(w, "\n%d games, %d moves, %.1f games a second\n", r.tally.Games, r.tally.Plies, float64(r.tally.Games)/r.took.Seconds())
	r.printFaults(w)
	if r.folder.asked {
		fmt.Fprintf(w, "replays: %s\n", r.folder.games())
	}
	if len(r.voids) > 0 {
		fmt.Fprintf(w, "%d games were void for a failure of timba's own and were played again\n", len(r.voids))
	}
}

// shownFaults is how many faults are told in full.
const shownFaults = 10

func (r *matchRun) printFaults(w io.Writer) {
	faults := r.tally.Faults
	if len(faults) == 0 {
		return
	}
	fmt.Fprintf(w, "\nfaults:\n")
	for i, f := range faults {
		if i == shownFaults {
			fmt.Fprintf(w, "... and %d more\n", len(faults)-i)
			break
		}
		fmt.Fprintf(w, "- %s\n  look: timba replay show %s\n", f, r.folder.replay(f.Deal, f.Rotation))
		if log := r.folder.logOf(f.Deal, f.Rotation, f.Seat); log != "" {
			fmt.Fprintf(w, "  its log: %s\n", log)
		}
	}
}

func number(x float64) string { return fmt.Sprintf("%g", x) }

func perGame(s referee.Score) string {
	if s.Games == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", s.Points/float64(s.Games))
}

func faultsByCode(n map[protocol.Code]int) string {
	var words []string
	for _, c := range protocol.Codes {
		if n[c] > 0 {
			words = append(words, fmt.Sprintf("%d %s", n[c], c))
		}
	}
	if words == nil {
		return "0"
	}
	return strings.Join(words, ", ")
}

// folder keeps a match's replays and logs as its games end. Where the user has
// not asked for one, only games with faults are kept, among the user's cache.
type folder struct {
	path  string
	asked bool
}

func newFolder(path string, m *referee.Match) (*folder, error) {
	f := &folder{path: path, asked: path != ""}
	if !f.asked {
		return f, nil
	}
	if entries, err := os.ReadDir(f.games()); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("out: %s has replays in it already: name another folder", path)
	}
	return f, f.make()
}

func (f *folder) make() error {
	for _, dir := range []string{f.games(), filepath.Join(f.path, "logs")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("out: %w: name a folder that can be written to with --out", err)
		}
	}
	return nil
}

func (f *folder) games() string { return filepath.Join(f.path, "games") }

func (f *folder) replay(deal, rotation int) string {
	return filepath.Join(f.games(), fmt.Sprintf("%05d-%d.json", deal, rotation))
}

func (f *folder) log(deal, rotation, seat int) string {
	return filepath.Join(f.path, "logs", fmt.Sprintf("%05d-%d-seat%d.log", deal, rotation, seat))
}

// logOf is the path of a seat's log, "" where it has written none.
func (f *folder) logOf(deal, rotation, seat int) string {
	path := f.log(deal, rotation, seat)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

func (f *folder) add(g *referee.Game) error {
	if !f.asked {
		if len(g.Faults) == 0 {
			return nil
		}
		if f.path == "" {
			cache, err := program.CacheDir("faults")
			if err != nil {
				return err
			}
			if f.path, err = os.MkdirTemp(cache, time.Now().Format("20060102-150405-")); err != nil {
				return fmt.Errorf("out: %w", err)
			}
			if err := f.make(); err != nil {
				return err
			}
		}
	}
	if err := os.WriteFile(f.replay(g.Match.Deal, g.Match.Rotation), g.Encode(), 0o644); err != nil {
		return fmt.Errorf("out: %w", err)
	}
	for seat, log := range g.Logs {
		if len(log) == 0 {
			continue
		}
		if err := os.WriteFile(f.log(g.Match.Deal, g.Match.Rotation, seat), log, 0o644); err != nil {
			return fmt.Errorf("out: %w", err)
		}
	}
	return nil
}

// finish writes the result beside the games.
func (f *folder) finish(r *matchRun) error {
	if f.path == "" {
		return nil
	}
	out, err := os.Create(filepath.Join(f.path, "result.json"))
	if err != nil {
		return fmt.Errorf("out: %w", err)
	}
	if err := writeJSON(out, r.report()); err != nil {
		return fmt.Errorf("out: %w", err)
	}
	return out.Close()
}

// lockedWriter lets the lanes write whole blocks.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
