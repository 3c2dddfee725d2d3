package submission

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/sandbox"
)

// The time limit of a trial is for the bot's own time: time that other programs or its opponent take does not count, and
// does not hide how much the bot uses. All cases end.
func TestTimeOfTrial(t *testing.T) {
	sandbox.RemoveAtEnd("none") // starts the cleaner outside of synctest bubbles
	sandbox.CancelRemoveAtEnd("none")
	sandbox.Probe()
	for name, c := range map[string]struct {
		think, held time.Duration
		opponent    time.Duration
		reason      string
	}{
		"others":        {0, time.Minute, 0, ""},
		"its own":       {50 * time.Second, 0, 0, "trial: it did not finish within 10 min"},
		"of both":       {20 * time.Second, 20 * time.Second, 0, "trial: it did not finish within 10 min"},
		"all in all":    {10 * time.Second, 50 * time.Second, 0, ""},
		"opponent":      {0, 0, 20 * time.Second, ""},
		"slow opponent": {0, 0, 50 * time.Second, "trial: the opponent is too slow for a test: the games of both bots need more than 20 min; choose another one"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				w := newWorld(t)
				v := w.add("mine", fileTree(t, map[string]string{"timba.toml": tebesOnly, "bot.sh": shellBot("")}))
				s := &submission{Pipeline: w.Pipeline, version: v, core: cores.Any, botBuild: &botBuild{}}
				thinker := func(name string, think, held time.Duration) match.Contestant {
					return match.Contestant{Name: name, Serve: func(in io.Reader, out io.Writer) error {
						return protocol.Serve(in, out, name, "1", func(turn *protocol.Turn) protocol.Answer {
							time.Sleep(think)
							out.(match.Holder).Hold(true)
							time.Sleep(held)
							out.(match.Holder).Hold(false)
							return protocol.Answer{Move: turn.Moves.Token(0)}
						})
					}}
				}
				mine, opponent := thinker("mine", c.think, c.held), thinker("opponent", c.opponent, 0)
				st := w.stages()[3]
				st.run = func(s *submission, ctx context.Context, log *transcript) (summary phrase.Text, err error) {
					// 20 moves in each of two games take more than 10 minutes with the time of other programs.
					_, err = s.playMatch(ctx, ladder.Ladder{Game: "brisca", Clock: referee.Clock{Bank: time.Hour, Startup: time.Minute}}, match.Match{Bots: []match.Contestant{mine, opponent}, Deals: TrialDeals}, 0, log,
						func(*referee.GameResult) error { return nil })
					return summary, err
				}
				on, err := s.processStage(t.Context(), st)
				kit.Must(t, err)
				if v, _ := w.version(v.ID); on != (c.reason == "") || v.Reason.String() != c.reason {
					t.Errorf("it goes on: %v, it failed for %q", on, v.Reason)
				}
			})
		})
	}
}

// The check is also limited by the bot's own time.
func TestTimeOfCheck(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.add("mine", fileTree(t, map[string]string{"timba.toml": tebesOnly, "bot.sh": shellBot("")}))
	s := &submission{Pipeline: w.Pipeline, version: v, core: cores.Any, work: t.TempDir()}
	defer func() { s.release() }()
	on := true
	for _, st := range w.stages()[:3] {
		if st.byOwnTime {
			st.timeLimit = 1
		}
		var err error
		on, err = s.processStage(t.Context(), st)
		kit.Must(t, err)
	}
	if v, stages := w.version(v.ID); on || v.Reason.String() != "check: it did not finish within 0.0 s" {
		t.Errorf("it goes on: %v, it failed for %q\n%s", on, v.Reason, joinLogs(stages))
	}
}

// A late house bot does not affect a submission.
func TestHouseLate(t *testing.T) {
	t.Parallel()
	for kind, fails := range map[fault.Kind]bool{fault.Late: false, fault.NoReady: false, fault.Exited: true} {
		g := &referee.GameResult{Bots: []int{0, 1}}
		f := fault.New(0, 0, fault.Reason{Kind: kind})
		f.Seat = 1
		g.Faults = []referee.Fault{f}
		if err := new(submission).refuseFirstFault("brisca", g, &transcript{}); errors.Is(err, errHouse) != fails || !fails && err != nil {
			t.Errorf("%s: %v, want a failure: %v", kind, err, fails)
		}
	}
}

// A game without a ladder is skipped if its matches do not fit into the memory.
func TestTrialWithoutRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	manifest := "games = [\"podrida\"]\nrun = [\"sh\", \"bot.sh\"]\n"
	v := w.buildOnly(w.add("mine", fileTree(t, map[string]string{"timba.toml": manifest, "bot.sh": shellBot("")})))
	w.Room = ladder.MemoryBudget{Total: 512 << 20, Bot: 256 << 20}
	s := &submission{Pipeline: w.Pipeline, version: v, core: cores.Any, botBuild: &botBuild{dir: w.Dir.Bot(v.Hash), hash: v.Hash}}
	log := s.transcript()
	summary := kit.Get[phrase.Text](t)(s.trial(t.Context(), log)).String()
	want := "podrida              is not tried: a match of podrida: its 4 bots can use 704 MiB at once, " +
		"256 MiB each, and all bots together have 512 MiB\n"
	if summary != "0 games against @random in 0 matches, no fault" || log.String() != want {
		t.Errorf("%s: %s", summary, log)
	}
}
