package referee

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/rules"
)

// Adjudication has the two rules, Draw and Resign, by which a game can end early. The rules use the scores that bots
// report for their positions. A rule that is nil does not apply. SPEC.md, "Adjudication", defines the rules.
type Adjudication struct {
	Draw   *ScoreRule `json:"draw,omitempty"`
	Resign *ScoreRule `json:"resign,omitempty"`
}

// ScoreRule is a condition on the scores that bots report for their positions. If the scores meet it, the game ends
// early.
type ScoreRule struct {
	Plies int     `json:"plies"`          // number of consecutive moves of bots whose scores must meet the condition
	Score float64 `json:"score"`          // in Draw the largest absolute score that counts as even; in Resign the smallest that counts as won
	From  int     `json:"from,omitempty"` // number of moves that must have been made before the rule can end the game
}

// AdjudicationKind says how a game has ended early because of the bots' scores: as a draw, or because one side
// resigns.
type AdjudicationKind string

const (
	AdjudicatedDraw        AdjudicationKind = "draw"
	AdjudicatedResignation AdjudicationKind = "resign"
)

// AdjudicationResult says how a game has ended early because of the bots' scores.
type AdjudicationResult struct {
	Kind  AdjudicationKind `json:"as"`
	Seats []int            `json:"seats,omitempty"` // the seats of the side that resigns; empty for a draw
}

// ParseScoreRule parses a rule such as "plies=8 score=10 from=40". Spaces or commas separate the parts, and "from"
// may be missing. name is the name of the rule in error messages, such as the flag that contains it.
func ParseScoreRule(name, text string) (ScoreRule, error) {
	example := fmt.Sprintf("try %s plies=8,score=10,from=40", name)
	if strings.HasSuffix(name, "resign") {
		example = fmt.Sprintf("try %s plies=3,score=600", name)
	}
	var r ScoreRule
	seen := map[string]bool{}
	for _, field := range strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == ',' }) {
		key, value, found := strings.Cut(field, "=")
		var err error
		switch {
		case !found:
			return r, fmt.Errorf("%s: %q is not key=value: %s", name, field, example)
		case seen[key]:
			return r, fmt.Errorf("%s: %s is given twice: leave one out", name, key)
		case key == "plies":
			r.Plies, err = strconv.Atoi(value)
		case key == "from":
			r.From, err = strconv.Atoi(value)
		case key == "score":
			var ok bool
			if r.Score, ok = ParseScore(value); !ok {
				return r, fmt.Errorf("%s: score=%q is not a number: try one like 10 or 0.5", name, value)
			}
		default:
			return r, fmt.Errorf("%s: unknown key %q: try plies, score or from", name, key)
		}
		if err != nil {
			return r, fmt.Errorf("%s: %s=%q is not a whole number of plies: %s", name, key, value, example)
		}
		seen[key] = true
	}
	for _, key := range [...]string{"plies", "score"} {
		if !seen[key] {
			return r, fmt.Errorf("%s: %s is missing in %q: %s", name, key, text, example)
		}
	}
	return r, r.check(name)
}

// String returns the rule in the form that ParseScoreRule parses.
func (r ScoreRule) String() string {
	text := fmt.Sprintf("plies=%d,score=%s", r.Plies, strconv.FormatFloat(r.Score, 'f', -1, 64))
	if r.From > 0 {
		text += fmt.Sprintf(",from=%d", r.From)
	}
	return text
}

func (r ScoreRule) check(name string) error {
	switch {
	case r.Plies < 1 || r.Plies > rules.MaxPlies:
		return fmt.Errorf("%s: plies=%d is out of range: try 1 to %d", name, r.Plies, rules.MaxPlies)
	case r.From < 0 || r.From > rules.MaxPlies:
		return fmt.Errorf("%s: from=%d is out of range: try 0 to %d", name, r.From, rules.MaxPlies)
	case !(r.Score >= 0) || math.IsInf(r.Score, 0):
		return fmt.Errorf("%s: score=%v is out of range: try 0 or more", name, r.Score)
	}
	return nil
}

// Check returns an error if a number in a rule is out of range. It also returns an error if both rules could end a
// game at the same position, because the limits of the scores overlap.
func (a Adjudication) Check() error {
	if a.Draw != nil {
		if err := a.Draw.check("draw"); err != nil {
			return err
		}
	}
	if a.Resign == nil {
		return nil
	}
	if err := a.Resign.check("resign"); err != nil {
		return err
	}
	if a.Resign.Score == 0 {
		return fmt.Errorf("resign: score=0 says of no position who is losing: try more than 0")
	}
	if a.Draw != nil && a.Draw.Score >= a.Resign.Score {
		return fmt.Errorf("resign: score=%v must be more than the score=%v of draw", a.Resign.Score, a.Draw.Score)
	}
	return nil
}

func (a Adjudication) isSet() bool { return a.Draw != nil || a.Resign != nil }

// String returns the rules as text such as "draw plies=8,score=10, resign plies=3,score=600", or "" if there are
// none.
func (a Adjudication) String() string {
	var words []string
	if a.Draw != nil {
		words = append(words, "draw "+a.Draw.String())
	}
	if a.Resign != nil {
		words = append(words, "resign "+a.Resign.String())
	}
	return strings.Join(words, ", ")
}

// InReplay returns the value for the field Replay.Adjudication. It is a pointer to a copy of a, or nil if a has no
// rules.
func (a Adjudication) InReplay() *Adjudication {
	if !a.isSet() {
		return nil
	}
	return &a
}

// adjudicator applies the rules of an Adjudication to the scores that the bots report in one game.
type adjudicator struct {
	rules           Adjudication
	variant         *rules.Variant
	moves           int   // number of moves by bots
	lastMoves       []int // by seat: the number of its last move, counted from 1; 0 before its first
	lastAgainstDraw int   // number of the last move whose score is not even
	lastAgainstLoss []int // by side: number of the last move whose score does not say that the side is losing
}

func newAdjudicator(a Adjudication, v *rules.Variant) *adjudicator {
	if !a.isSet() {
		return nil
	}
	return &adjudicator{rules: a, variant: v, lastMoves: make([]int, v.Players), lastAgainstLoss: make([]int, v.Sides)}
}

// recordMove records a bot's move m. s is the position after the move, and f has the sides that have forfeited. If
// the scores now end the game, recordMove returns how; otherwise it returns nil.
func (a *adjudicator) recordMove(m *ReplayMove, f *forfeits, s rules.State) *AdjudicationResult {
	a.recordScore(m)
	if s.Turn() == rules.Over {
		return nil
	}
	if a.allAgree(a.rules.Draw, a.lastAgainstDraw, f, s.Ply()) {
		return &AdjudicationResult{Kind: AdjudicatedDraw}
	}
	for side, n := range a.lastAgainstLoss {
		if !slices.Contains(f.order, side) && a.allAgree(a.rules.Resign, n, f, s.Ply()) {
			return &AdjudicationResult{Kind: AdjudicatedResignation, Seats: seatsOf(a.variant, side)}
		}
	}
	return nil
}

// recordScore records what the score of the move m contradicts: a draw, or the resignation of some sides. A move
// without a score contradicts both.
func (a *adjudicator) recordScore(m *ReplayMove) {
	a.moves++
	a.lastMoves[m.Seat] = a.moves
	score, ok := m.Score()
	if r := a.rules.Draw; r != nil && (!ok || math.Abs(score) > r.Score) {
		a.lastAgainstDraw = a.moves
	}
	r := a.rules.Resign
	if r == nil {
		return
	}
	own := a.variant.Side(m.Seat)
	for side := range a.lastAgainstLoss {
		if !ok || side == own && score > -r.Score || side != own && score < r.Score {
			a.lastAgainstLoss[side] = a.moves
		}
	}
}

// allAgree reports whether the rule r ends the game at ply. behind is the number of the last move whose score does
// not meet the rule. Since then at least r.Plies moves must have been made, at least one by each seat that has not
// forfeited. At least two sides must not have forfeited, and ply must be at least r.From. If r is nil, allAgree
// returns false.
func (a *adjudicator) allAgree(r *ScoreRule, behind int, f *forfeits, ply int) bool {
	if r == nil || a.moves-behind < r.Plies || ply < r.From || len(f.order) >= len(a.lastAgainstLoss)-1 {
		return false
	}
	for seat, n := range a.lastMoves {
		if n <= behind && !f.has(seat) {
			return false
		}
	}
	return true
}

func seatsOf(v *rules.Variant, side int) (seats []int) {
	for seat := range v.Players {
		if v.Side(seat) == side {
			seats = append(seats, seat)
		}
	}
	return seats
}

// rank returns the final rank of each seat. points has the points by seat. f has the sides that have forfeited; they
// rank last. A nil receiver means that the bots' scores did not end the game early. Then the other seats rank by
// points. If the scores ended the game as a draw, the other seats rank equally. If they ended it because a side
// resigned, that side ranks behind all sides that have not forfeited, and those rank by points.
func (a *AdjudicationResult) rank(f *forfeits, points []float64) []int {
	game := f.variant.Ranks(points)
	switch {
	case a == nil:
	case a.Kind == AdjudicatedDraw:
		for seat := range game {
			game[seat] = 1
		}
	default: // a side that resigns ranks before sides that forfeited earlier
		f = &forfeits{variant: f.variant, order: slices.Clone(f.order)}
		f.add(a.Seats[0])
	}
	return f.rank(game)
}

// points returns the final points of each seat. made has the points of each seat at the end of play; the method may
// change this slice. If the bots' scores ended the game as a draw, the seats without a forfeit share the game's
// Prize (what the winner gets if only winning counts) equally. In a game without a Prize they share the sum of their
// points. If a side resigned in a game with a Prize, the seats that neither forfeited nor resigned share the Prize.
// In all other cases, points returns made unchanged.
func (a *AdjudicationResult) points(f *forfeits, made []float64) []float64 {
	v := f.variant
	if a == nil || a.Kind == AdjudicatedResignation && v.Prize == 0 {
		return made
	}
	var even []int // the seats that share the points equally
	for seat := range made {
		if !f.has(seat) && !slices.Contains(a.Seats, seat) {
			even = append(even, seat)
		}
	}
	sum := v.Prize
	if sum == 0 {
		for _, seat := range even {
			sum += made[seat]
		}
	}
	for _, seat := range even {
		made[seat] = sum / float64(len(even))
	}
	return made
}

func (a *AdjudicationResult) equal(b *AdjudicationResult) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Kind == b.Kind && slices.Equal(a.Seats, b.Seats)
}

// String describes in English how the bots' scores ended the game, with seat numbers instead of bots' names. a may be
// nil, which means that they did not end it.
func (a *AdjudicationResult) String() string {
	switch {
	case a == nil:
		return "not adjudicated"
	case a.Kind == AdjudicatedDraw:
		return "adjudicated: draw by scores"
	}
	return fmt.Sprintf("adjudicated: %s by seats %v", a.Kind, a.Seats)
}

// TryResignation returns the seats of the side that would have resigned if the game had been played with this rule, and
// the ply after which it would have. If no side would have resigned, seats is empty. v is the variant of the game, which
// Resolve returned.
func (r *Replay) TryResignation(v *rules.Variant, rule ScoreRule) (seats []int, ply int, err error) {
	trial := *r
	trial.Adjudication = &Adjudication{Resign: &rule}
	for s, err := range trial.Walk(v, nil) {
		if err != nil {
			return nil, 0, err
		}
		if s.earlyEnd != nil {
			return s.earlyEnd.Seats, s.State.Ply(), nil
		}
	}
	return nil, 0, nil
}

// Ending describes in English how the bots' scores ended the game early. It names the bots that resigned. It returns
// "" if the scores did not end the game.
func (r *Replay) Ending() string {
	a := r.AdjudicationResult
	switch {
	case a == nil:
		return ""
	case a.Kind != AdjudicatedResignation:
		return a.String()
	}
	var who []string
	for _, seat := range a.Seats {
		name := "?"
		if seat >= 0 && seat < len(r.Seats) {
			name = r.Seats[seat].Name
		}
		who = append(who, fmt.Sprintf("%s (seat %d)", name, seat))
	}
	verb := "resigns"
	if len(who) > 1 {
		verb = "resign"
	}
	return fmt.Sprintf("adjudicated: %s %s, by the scores of all", strings.Join(who, " and "), verb)
}

// Score returns the score that the bot gave the position before its move. This is the number after "score=" in the
// bot's last info line with a score. If there is none, Score returns false. SPEC.md, "Lines from the bot", defines
// the unit.
func (m *ReplayMove) Score() (float64, bool) {
	for _, info := range slices.Backward(m.Info) {
		for pair := range strings.SplitSeq(info, " ") {
			if value, found := strings.CutPrefix(pair, "score="); found {
				if score, ok := ParseScore(value); ok {
					return score, true
				}
				break // as in protocol.Pairs, the first value of a key counts
			}
		}
	}
	return 0, false
}

// ParseScore parses a score that a bot reports: a decimal number such as -3, 0.25 or 1e3. It returns false if text is
// not a finite number in this form.
func ParseScore(text string) (float64, bool) {
	if strings.Trim(text, "+-.0123456789eE") != "" { // hexadecimal, infinite, or not a number
		return 0, false
	}
	score, err := strconv.ParseFloat(text, 64)
	return score, err == nil && !math.IsInf(score, 0)
}
