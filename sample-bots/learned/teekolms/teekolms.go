// Package teekolms plays Teeko by a linear evaluation of positions: it multiplies each feature of a position by a
// weight and adds the products. The weights are learned by the least mean squares rule of Widrow and Hoff, 1960. The
// package follows a study (group 20, "Teeko", 2020), which follows the checkers program in T. Mitchell, "Machine
// Learning", 1997, chapter 1. Package lab/train/lms trains the weights.
package teekolms

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/teeko"
)

// Weights has one weight for each element of Features. w0 is the constant. w1 is for the pairs of neighboring own
// pieces, w2 for the longest own line and w3 for the number of own groups; w4 to w6 are for the same features of the
// opponent. w7 is for the fewest own moves to fewer groups and w8 for the fewest own moves to a longer line; w9 and w10
// are for the same of the opponent. The study of Teeko by group 20, 2020, has only w0 to w6.
type Weights [11]float64

// studySize is the number of weights, w0 to w6, in the study of Teeko (group 20, 2020) that this package follows.
const studySize = 7

// weightNames has a description of each weight, in the order of Weights, for the text file that Weights.Text writes.
var weightNames = [...]string{
	"constant", "own adjacencies, 0 to 12", "own longest line, 1 to 4", "own connected groups",
	"adjacencies of the opponent", "longest line of the opponent", "connected groups of the opponent",
	"own moves to fewer groups, 0 to 6", "own moves to a longer line, 0 to 6",
	"moves of the opponent to fewer groups", "moves of the opponent to a longer line",
}

// InitialWeights are the weights with which the study of Teeko (group 20, 2020) begins its training.
var InitialWeights = Weights{0.2, -0.2, 0.2, 0.2, 0.2, -0.2, -0.2}

// PublishedWeights are the weights that the study of Teeko (group 20, 2020) printed after its first experiment, with
// the constant moved to the front. They are 0.00098 times the features of a position that a square of four pieces wins.
var PublishedWeights = Weights{0.00098, 0.01180, 0.00196, 0.00098, 0.00196, 0.00196, 0.00295}

// FourthWeights are the weights that the study of Teeko (group 20, 2020) printed for both players of its fourth
// experiment. As in PublishedWeights, the constant comes first.
var FourthWeights = Weights{0.000981669, 0.01178003, 0.00196333, 0.00098166, 0.005890015, 0.002945007, 0.00098166}

// TrainedWeights are the default weights of the bot teeko-lms. They were learned by the following command, and then
// rounded:
// `timba-lab train teeko-lms --games 5000 --mu 0.01 --opponent random --period 5 --chance`.
var TrainedWeights = Weights{0.805432, 0.943396, 2.12028, 1.21076, -1.42154, 0.176407, 2.86105}

// Named has the weights that users can choose by name, in options of bots and in files of experiments. The keys are the
// names.
var Named = map[string]Weights{
	"trained": TrainedWeights, "initial": InitialWeights, "published": PublishedWeights, "published-4": FourthWeights,
}

// Features has the numbers that Weights.Value multiplies by the weights, in the same order: 1 for the constant, then
// the features of a position of Teeko, such as the length of the longest own line.
type Features [len(Weights{})]float64

// FeaturesOf returns the features of the position s. The pieces of seat count as the own pieces, those of the other
// seat as the opponent's. If countsMoves is false, the last four features, which are numbers of moves, are 0: they take
// much longer to compute than the others.
func FeaturesOf(s *teeko.State, seat int, countsMoves bool) Features {
	f := Features{0: 1}
	for i, side := range [...]int{seat, 1 - seat} {
		b := s.Pieces(side)
		f[1+3*i], f[2+3*i], f[3+3*i] = float64(adjacencies(b)), float64(longestLine(b)), float64(groups(b))
		if countsMoves {
			other := s.Pieces(1 - side)
			f[studySize+2*i], f[studySize+1+2*i] = float64(movesToFewerGroups(b, other)), float64(movesToLongerLine(b, other))
		}
	}
	return f
}

// movesToFewerGroups returns the smallest number of moves after which the pieces own form fewer groups of connected
// pieces than now. The pieces other do not move meanwhile. The result is 0 if own is a single group. It is maxMoves if
// that many moves, or more, are needed or if no moves suffice.
func movesToFewerGroups(own, other teeko.Board) int {
	n := groups(own)
	if n <= 1 {
		return 0
	}
	return fewestMoves(own, other, func(b teeko.Board) bool { return groups(b) < n })
}

// movesToLongerLine returns the smallest number of moves after which the longest line of neighboring pieces in own is
// longer than now. The pieces other do not move meanwhile. The result is 0 if all pieces in own are in one line. It is
// maxMoves if that many moves, or more, are needed or if no moves suffice.
func movesToLongerLine(own, other teeko.Board) int {
	n := longestLine(own)
	if n == bits.OnesCount32(uint32(own)) {
		return 0
	}
	return fewestMoves(own, other, func(b teeko.Board) bool { return longestLine(b) > n })
}

// maxMoves is the highest value of a feature that is a number of moves. It also stands for every higher number, and for
// a goal that no moves reach.
const maxMoves = 6

// fewestMoves returns the smallest number of moves that bring the pieces own to squares for which isGoal returns true.
// The pieces other do not move meanwhile. The result is at least 1, even if isGoal(own) is true. It is maxMoves if that
// many moves, or more, are needed or if no moves suffice.
func fewestMoves(own, other teeko.Board, isGoal func(teeko.Board) bool) int {
	reached, front := map[teeko.Board]bool{own: true}, []teeko.Board{own}
	for moves := 1; moves < maxMoves; moves++ {
		var next []teeko.Board
		for _, b := range front {
			for from := b; from != 0; from &= from - 1 {
				for to := teeko.Neighbors(first(from)) &^ (b | other); to != 0; to &= to - 1 {
					moved := b ^ from&-from ^ to&-to
					if isGoal(moved) {
						return moves
					}
					if !reached[moved] {
						reached[moved] = true
						next = append(next, moved)
					}
				}
			}
		}
		front = next
	}
	return maxMoves
}

// featureRanges has, for each feature of a position with all eight pieces on the board, its lowest value (low) and the
// highest value minus the lowest (width).
var featureRanges = [len(Weights{})]struct{ low, width float64 }{
	{0, 1}, {0, 12}, {1, 3}, {1, 3}, {0, 12}, {1, 3}, {1, 3}, {0, maxMoves}, {0, maxMoves}, {0, maxMoves}, {0, maxMoves},
}

// Scale returns the features scaled so that each is from 0 to 1 if both sides have pieces on the board.
func (f Features) Scale() Features {
	for i, r := range featureRanges {
		f[i] = (f[i] - r.low) / r.width
	}
	return f
}

// Scale returns the weights that give scaled features the values that w gives the features themselves.
func (w Weights) Scale() Weights {
	for i, r := range featureRanges[1:] {
		w[0] += w[i+1] * r.low
		w[i+1] *= r.width
	}
	return w
}

// Unscale undoes Scale.
func (w Weights) Unscale() Weights {
	for i, r := range featureRanges[1:] {
		w[i+1] /= r.width
		w[0] -= w[i+1] * r.low
	}
	return w
}

// adjacencies returns twice the number of pairs of neighboring pieces in b.
func adjacencies(b teeko.Board) (n int) {
	for left := b; left != 0; left &= left - 1 {
		n += bits.OnesCount32(uint32(teeko.Neighbors(first(left)) & b))
	}
	return n
}

func first(b teeko.Board) int { return bits.TrailingZeros32(uint32(b)) }

// longestLine returns the number of pieces in the longest straight line of neighboring pieces in b, or 0 if b is empty.
func longestLine(b teeko.Board) (n int) {
	for left := b; left != 0; left &= left - 1 {
		for _, step := range [...]int{1, 4, 5, 6} { // to the right, and the three directions down
			run, sq := 1, first(left)
			for ; teeko.Neighbors(sq)&(1<<(sq+step))&b != 0; sq += step {
				run++
			}
			n = max(n, run)
		}
	}
	return n
}

// groups returns the number of groups of connected pieces in b.
func groups(b teeko.Board) (n int) {
	for ; b != 0; n++ {
		group := b & -b
		for grown := teeko.Board(0); grown != group; {
			grown = group
			for left := grown; left != 0; left &= left - 1 {
				group |= teeko.Neighbors(first(left)) & b
			}
		}
		b &^= group
	}
	return n
}

// Value returns the estimated result of a position with the features f, between -1 for a loss and 1 for a win.
func (w Weights) Value(f Features) float64 {
	sum := 0.0
	for i, x := range f {
		sum += w[i] * x
	}
	return sum / (1 + math.Abs(sum))
}

// Learn moves the weights so that Value(f) comes closer to train, the training value: it adds mu * (train -
// Value(f)) * f to them. mu is the learning rate. If replace is set, this product replaces the old weights instead.
func (w *Weights) Learn(f Features, train, mu float64, replace bool) {
	miss := train - w.Value(f)
	if replace {
		*w = Weights{}
	}
	for i, x := range f {
		w[i] += mu * miss * x
	}
}

// Choose returns the legal move of s that leads to the position with the highest value, and that value. Among equal
// values it chooses by r. A move that wins has the value 1. If blind is set, it has the value of its features
// instead.
func (w Weights) Choose(s *teeko.State, r *rules.Rand, blind bool) (rules.Move, float64) {
	var list [rules.MaxMoves]rules.Move
	var best rules.Move
	seat, top, ties, countsMoves := s.Turn(), math.Inf(-1), 0, w.countsMoves()
	for _, m := range s.Legal(list[:0]) {
		next := *s
		next.Apply(m, nil)
		v := 1.0
		if blind || !next.HasWon(seat) {
			v = w.Value(FeaturesOf(&next, seat, countsMoves))
		}
		if v > top {
			top, ties = v, 0
		} else if v < top {
			continue
		}
		if ties++; r.Below(ties) == 0 {
			best = m
		}
	}
	return best, top
}

// countsMoves reports whether at least one of the weights w7 to w10 is not 0. These are the weights of features that
// are numbers of moves.
func (w Weights) countsMoves() bool {
	return [len(w) - studySize]float64(w[studySize:]) != [len(w) - studySize]float64{}
}

// used returns the weights that String and Text write: w0 to w6 if all later weights are 0, and otherwise all eleven.
func (w Weights) used() []float64 {
	if w.countsMoves() {
		return w[:]
	}
	return w[:studySize]
}

// String returns the weights joined by slashes, in the form of an option of the bot teeko-lms. It leaves out w7 to w10
// if all of them are 0. Parse reads the result.
func (w Weights) String() string {
	var words []string
	for _, x := range w.used() {
		words = append(words, strconv.FormatFloat(x, 'g', -1, 64))
	}
	return strings.Join(words, "/")
}

// Parse returns the weights that text has in the form of String: seven or eleven numbers joined by slashes, each from
// -1e6 to 1e6. If there are seven, w7 to w10 are 0. Any other text is an error.
func Parse(text string) (w Weights, err error) {
	words := strings.Split(text, "/")
	if len(words) != studySize && len(words) != len(w) {
		return w, fmt.Errorf("weights %q are not %d or %d numbers: write them as in %s", text, studySize, len(w), InitialWeights)
	}
	for i, word := range words {
		if w[i], err = strconv.ParseFloat(word, 64); err != nil || math.IsNaN(w[i]) || math.Abs(w[i]) > 1e6 {
			return w, fmt.Errorf("weight %q is not a number from -1e6 to 1e6", word)
		}
	}
	return w, nil
}

// Text returns the weights as a text file for people. Each weight has a line with its name, its value and a
// description; the first line says how to play with the weights. ParseText reads the result.
func (w Weights) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Play with them: @teeko-lms:weights=%s\n", w)
	for i, x := range w.used() {
		fmt.Fprintf(&b, "w%d %-24s # %s\n", i, strconv.FormatFloat(x, 'g', -1, 64), weightNames[i])
	}
	return b.String()
}

// ParseText returns the weights in a text of the form that Text writes. It ignores empty lines and everything from a #
// to the end of a line. It returns an error if another line is not the name of the next weight and a number.
func ParseText(text string) (Weights, error) {
	var words []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 2 || fields[0] != fmt.Sprintf("w%d", len(words)) {
			return Weights{}, fmt.Errorf("line %q is not w%d and a number", strings.TrimSpace(line), len(words))
		}
		words = append(words, fields[1])
	}
	return Parse(strings.Join(words, "/"))
}
