package referee

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/rules"
)

// Step is one position of a replay, which Replay.Walk yields.
type Step struct {
	*Game              // the game before the move Next; may be read until the next step
	Faults []Fault     // the faults since the previous step; at the last step all remaining ones
	Next   *ReplayMove // the move that follows; nil at the last step
	Move   rules.Move  // the move of Next
}

// Walk plays a replay (the record of a game) again. v must be the variant that Resolve returns. Walk yields every
// position in order, from the first to the one after the last move. If a move is not legal, it yields an error and
// stops.
//
// If log is not nil, Walk fills it at each step with the events that led to the position: the events of the previous
// move or, at the first position, those of the start.
func (r *Replay) Walk(v *rules.Variant, log *rules.Log) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		again := newRerun(r, v, 0)
		again.game.events = log
		again.steps(yield)
	}
}

// Verify plays a replay (the record of a game) again by the rules of g and returns an error for each difference. If
// there is none, the replay is correct. Verify checks options, seats, clocks, hashes, texts, seeds and the result. It
// checks that each move is legal, and that it was made by the bot or by the referee as it should be. If the bots'
// scores ended the game early, it checks that, too. It stops at the first illegal move.
func (r *Replay) Verify(g *rules.Game) []error {
	v, err := r.Resolve(g)
	if err != nil {
		return []error{err}
	}
	again := newRerun(r, v, 0)
	again.checkHead()
	for s, err := range again.steps {
		if err == nil && s.Next != nil && s.IsOver() {
			how := "decided by forfeit"
			if s.earlyEnd != nil {
				how = s.earlyEnd.String()
			}
			err = fmt.Errorf("replay: move %d, %q: the game was %s before it", s.State.Ply(), s.Next.Move, how)
		}
		if err != nil {
			return append(again.differences, err)
		}
	}
	again.checkResult()
	return again.differences
}

// Traffic rebuilds from a replay the lines between the referee and the bot in a seat. The lines of the bot are only
// its moves and info lines, since a replay contains no others. The lines begin with the greeting and end with "bye",
// as if this were the bot's only game; if the bot forfeited, there is no "bye". There are no lines if the bot's
// process was not started.
//
// A replay does not say whether a bot that failed by itself, such as by a crash or a limit of the sandbox, did so
// before or after its turn was sent. Traffic always includes that turn. If the replay differs from the rules of g,
// Traffic returns an error for the first difference.
func (r *Replay) Traffic(g *rules.Game, seat int) ([]Traffic, error) {
	v, err := r.Resolve(g)
	if err != nil {
		return nil, err
	}
	if seat < 0 || seat >= v.Players {
		return nil, fmt.Errorf("replay: seat %d does not exist: the game has seats 0 to %d", seat, v.Players-1)
	}
	again := newRerun(r, v, rules.OneSeat(seat))
	var traffic []Traffic
	again.pass = func(fromBot bool, lines []byte) {
		if len(lines) > 0 {
			traffic = append(traffic, Traffic{
				Deal: r.Match.Deal, Rotation: r.Match.Rotation, Seat: seat, FromBot: fromBot, Lines: bytes.Clone(lines),
			})
		}
	}
	again.checkClocks()
	again.pass(false, protocol.AppendGreeting(nil))
	for _, err := range again.steps {
		if err == nil && len(again.differences) > 0 {
			err = again.differences[0]
		}
		if err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(r.Faults, func(f Fault) bool { return f.Seat == seat && f.HadNoProcess() }) {
		return nil, nil
	}
	again.game.End()
	if again.game.listens(seat) {
		again.pass(false, again.game.TakeLines(seat))
		again.pass(false, protocol.AppendBye(nil))
	}
	return traffic, nil
}

// rerun has the state of playing a replay again, and the differences between the replay and the rules that were found
// so far.
type rerun struct {
	*Replay
	game *Game
	// pass is called with protocol lines between the referee and a bot. It gets only the lines of the seats for which
	// the game writes lines.
	pass        func(fromBot bool, lines []byte)
	clocksValid bool
	differences []error // found so far
}

func newRerun(r *Replay, v *rules.Variant, listening rules.Seats) *rerun {
	return &rerun{Replay: r, game: NewGame(v, *r, listening), pass: func(bool, []byte) {}}
}

func (r *rerun) addDifference(format string, args ...any) {
	r.differences = append(r.differences, fmt.Errorf("replay: "+format, args...))
}

// steps plays the replay until its end or its first impossible move, for which it yields an error. It yields each
// position with the faults since the previous position.
func (r *rerun) steps(yield func(Step, error) bool) {
	came := 0 // number of faults that were played
	for came < len(r.Faults) && r.Faults[came].Ply == 0 && r.Faults[came].IsBeforeGame() {
		r.playFault(came)
		came++
	}
	r.game.Begin()
	told := 0 // number of those that were yielded
	for i := range r.Moves {
		m, err := r.move(i)
		if err != nil {
			yield(Step{}, err)
			return
		}
		for ; came < len(r.Faults) && r.Faults[came].Ply <= i; came++ {
			r.playFault(came)
		}
		if !yield(Step{r.game, r.Faults[told:came], &r.Moves[i], m}, nil) {
			return
		}
		told = came
		r.playMove(i, m)
	}
	for ; came < len(r.Faults); came++ {
		r.playFault(came)
	}
	yield(Step{Game: r.game, Faults: r.Faults[told:]}, nil)
}

// move returns the move with index i in the replay. It returns an error if the game is over, another seat is to
// move, or the move is illegal.
func (r *rerun) move(i int) (rules.Move, error) {
	rec := &r.Moves[i]
	if turn := r.game.Turn(); turn == rules.Over {
		return 0, fmt.Errorf("replay: move %d, %q: the game is over before it", i, rec.Move)
	} else if turn != rec.Seat {
		return 0, fmt.Errorf("replay: move %d, %q: it is the turn of seat %d, not of seat %d", i, rec.Move, turn, rec.Seat)
	}
	m, err := r.game.parse(rec.Move)
	if err != nil {
		return 0, fmt.Errorf("replay: move %d of seat %d: %v", i, rec.Seat, err)
	}
	return m, nil
}

// playMove makes the move m, which has index i in the replay. It records a difference if the replay is wrong about
// who made the move: the bot, nobody because it is a given move, or the referee for a seat that has forfeited.
func (r *rerun) playMove(i int, m rules.Move) {
	rec, g := &r.Moves[i], r.game
	switch forfeited := g.HasForfeited(rec.Seat); {
	case rec.Given:
		r.checkGivenMove(i)
	case forfeited:
		if want := g.standInMove(); want != m {
			r.addDifference("move %d: the stand-in plays %q here, not %q", i, g.State.MoveText(nil, want), rec.Move)
		}
		if !rec.StandIn {
			r.addDifference("move %d: seat %d has forfeited, so the stand-in plays for it", i, rec.Seat)
		} else if rec.MS != 0 || rec.Credit != 0 || len(rec.Info) > 0 {
			r.addDifference("move %d: the stand-in takes no time and tells nothing", i)
		}
	case rec.StandIn:
		r.addDifference("move %d: seat %d has not forfeited, so the stand-in does not play for it", i, rec.Seat)
	default:
		r.checkBotMove(i)
	}
	g.Record.Moves = r.Moves[: i+1 : i+1]
	g.make(m)
}

// checkGivenMove records a difference unless the move with index i can be a given move, one with which the game
// begins before the bots play. The replay says that it is.
func (r *rerun) checkGivenMove(i int) {
	switch rec := &r.Moves[i]; {
	case r.Match.Opening == 0:
		r.addDifference("move %d: it is given, and the match has no openings", i)
	case i > 0 && !r.Moves[i-1].Given:
		r.addDifference("move %d: it is given after moves that are not", i)
	case rec.StandIn || rec.MS != 0 || rec.Credit != 0 || len(rec.Info) > 0:
		r.addDifference("move %d: nobody plays a move that is given: it takes no time and tells nothing", i)
	}
}

// checkBotMove checks the time and the info lines of the move with index i, which a bot made. If the game writes
// protocol lines for the bot's seat, checkBotMove calls r.pass with the lines of the turn and of the answer.
func (r *rerun) checkBotMove(i int) {
	rec, g := &r.Moves[i], r.game
	if err := rec.checkTime(); err != nil {
		r.addDifference("move %d: %w", i, err)
	} else if t := &g.timers[rec.Seat]; r.clocksValid && g.isLate(rec) {
		r.addDifference("move %d: it took %v ms where seat %d had %v with the margin and %v ms of credit", i, rec.MS, rec.Seat, t.timeLeft()+t.clock.Margin, rec.Credit)
	}
	for _, info := range rec.Info {
		if err := protocol.CheckInfo([]byte(info)); err != nil {
			r.addDifference("move %d: the info %.100q %w", i, info, err)
			break // report only the first
		}
	}
	if g.listens(rec.Seat) {
		r.pass(false, g.TurnLines())
		var answer []byte
		for _, info := range rec.Info {
			answer = protocol.AppendInfo(answer, []byte(info))
		}
		r.pass(true, protocol.AppendMove(answer, []byte(rec.Move)))
	}
}

// playFault makes the seat of the fault with index i forfeit the game. It records a difference if the fault cannot
// have happened at this point of the game.
func (r *rerun) playFault(i int) {
	f, g := &r.Faults[i], r.game
	switch ply := g.State.Ply(); {
	case f.Ply < ply:
		r.addDifference("fault %d is at ply %d, out of order", i, f.Ply)
		return
	case f.Ply > ply:
		r.addDifference("fault %d is at ply %d, after the last move", i, f.Ply)
		return
	}
	if g.begun && f.Seat == g.Turn() && !g.IsOver() && f.Reason.Kind != fault.MoveUnasked { // otherwise no turn was sent
		r.pass(false, g.TurnLines())
	}
	if move := string(f.Reason.Move); f.Reason.Kind == fault.IllegalMove && g.begun && !g.IsOver() {
		if _, err := g.parse(move); err == nil {
			r.addDifference("fault %d: the move %q is legal", i, move)
		}
	}
	if err := g.Forfeit(f.Seat, f.Reason, creditDuration(f.Credit)); err != nil {
		r.addDifference("fault %d: %w", i, err)
		return
	}
	if g.lines != nil {
		r.pass(false, g.TakeLines(f.Seat))
	}
	switch want := g.Record.Faults[len(g.Record.Faults)-1]; {
	case want.Code == "":
		r.addDifference("fault %d: the reason %q is unknown to this program; timba %s recorded the game", i, f.Reason.Kind, cmp.Or(r.Program, "of an unknown version"))
	case f.Code != want.Code:
		r.addDifference("fault %d: the code is %q where the reason has %q", i, f.Code, want.Code)
	case f.Text != want.Text:
		r.addDifference("fault %d: the text is %q where the reason has %q", i, f.Text, want.Text)
	case f.Credit < 0:
		r.addDifference("fault %d: others cannot have taken %v ms", i, f.Credit)
	}
}

// maxProgram is the maximum number of characters of Replay.Program. That text is a version of timba, and all its
// characters are ASCII.
const maxProgram = 100

var versionText = regexp.MustCompile(fmt.Sprintf(`^[!-~]{0,%d}$`, maxProgram))

// printable reports whether a text is a single line of printable characters.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsPrint(c) })
}

// checkClocks records a difference for each invalid clock of the replay.
func (r *rerun) checkClocks() {
	before := len(r.differences)
	if err := r.Clock.checkReplay(); err != nil {
		r.addDifference("%w", err)
	}
	for seat, s := range r.Seats {
		if s.Clock == nil {
			continue
		}
		if err := s.Clock.checkReplay(); err != nil {
			r.addDifference("seat %d: %w", seat, err)
		}
	}
	r.clocksValid = len(r.differences) == before
}

// checkHead checks the part of the replay that was known before the game: clocks, names, hashes, the rules for an
// early end by the bots' scores, and the numbers of deal, rotation (seating) and opening. If the replay has the seed
// of the match, checkHead also checks the seeds and the commitment that follow from it.
func (r *rerun) checkHead() {
	r.checkClocks()
	for i, s := range r.Seats {
		if err := new(Hex).UnmarshalText([]byte(s.SHA256)); err != nil {
			r.addDifference("the hash of seat %d: %w", i, err)
		}
		if !printable(s.Name) || !printable(s.Version) {
			r.addDifference("the bot at seat %d is %.100q of version %.100q: both have printable characters alone", i, s.Name, s.Version)
		}
	}
	if !versionText.MatchString(r.Program) {
		r.addDifference("the version of the program is %.100q: it has at most %d printable characters", r.Program, maxProgram)
	}
	if a := r.Adjudication; a != nil {
		if err := a.Check(); err != nil {
			r.addDifference("the adjudication: %w", err)
		}
	}
	m := r.Match
	if m.Deal < 0 {
		r.addDifference("deal %d does not exist", m.Deal)
	}
	if m.Opening < 0 {
		r.addDifference("opening %d does not exist", m.Opening)
	}
	if n := len(r.Seats); m.Rotation < 0 || m.Rotation >= n {
		r.addDifference("rotation %d does not exist: there are at most %d bots", m.Rotation, n)
	}
	if m.Seed == nil {
		return
	}
	seed := rules.Seed(*m.Seed)
	if want := Commitment(seed); want != r.Commitment {
		r.addDifference("commitment is %s where SHA-256 of the match's seed is %s", r.Commitment, want)
	}
	if want := Hex(DealSeed(seed, m.Deal)); want != r.Seed && m.Opening == 0 {
		r.addDifference("seed is %s where deal %d of the match has %s", r.Seed, m.Deal, want)
	}
	for seat, s := range r.Seats {
		if want := BotSeed(seed, m.Deal, m.Rotation, seat); want != s.Seed {
			r.addDifference("the bot at seat %d had the seed %d where the match gives %d", seat, s.Seed, want)
		}
	}
}

// checkResult records a difference if the game is not over after the last move. It also records a difference if the
// ranks, the points or an early end by the bots' scores are not those that follow from the moves.
func (r *rerun) checkResult() {
	g := r.game
	if !g.IsOver() {
		r.addDifference("the game is not over after the last move, and nobody has forfeited it")
	}
	g.End()
	if got := g.Record; !got.AdjudicationResult.equal(r.AdjudicationResult) {
		r.addDifference("the game is %s where the scores and rules give %s", r.AdjudicationResult, got.AdjudicationResult)
	}
	if got := g.Record.Ranks; !slices.Equal(got, r.Ranks) {
		r.addDifference("ranks are %v where the rules give %v", r.Ranks, got)
	}
	if got := g.Record.Points; !slices.Equal(got, r.Points) {
		r.addDifference("points are %v where the rules give %v", r.Points, got)
	}
}

// Traffic is a block of protocol lines between the referee and one bot. If FromBot is set, the bot wrote them;
// otherwise the referee did.
type Traffic struct {
	Deal, Rotation, Seat int
	FromBot              bool
	Offset               time.Duration // since the start of the game
	Lines                []byte        // each with its LF; in a callback valid only until it returns
}
