// Package teekolms plays Teeko by a linear evaluation of features. The weights are learned by the least mean
// squares rule: group 20, "Teeko", 2020, after the checkers learner of T. Mitchell, "Machine Learning", 1997,
// chapter 1; the rule is that of Widrow and Hoff, 1960.
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

// Weights has the constant w0 and then the weights of the features of a position of Teeko. w1 to w3 are those of the
// adjacent pairs of own pieces, the longest own line and the number of own groups. w4 to w6 are those of the same three
// of the opponent. w7 and w8 are those of the fewest moves to fewer own groups and to a longer own line, w9 and w10
// those of the same two of the opponent. The study that the package follows has the first seven; it names the others
// as future work.
type Weights [11]float64

// studySize is the number of weights in the study that the package follows.
const studySize = 7

// weightNames has the description of each weight that Weights.Text writes.
var weightNames = [...]string{
	"constant", "own adjacencies, 0 to 12", "own longest line, 1 to 4", "own connected groups",
	"adjacencies of the opponent", "longest line of the opponent", "connected groups of the opponent",
	"own moves to fewer groups, 0 to 6", "own moves to a longer line, 0 to 6",
	"moves of the opponent to fewer groups", "moves of the opponent to a longer line",
}

// InitialWeights are the weights with which training begins in the study that the package follows.
var InitialWeights = Weights{0.2, -0.2, 0.2, 0.2, 0.2, -0.2, -0.2}

// PublishedWeights are the weights that the study (group 20, "Teeko", 2020) printed after its first experiment.
// Here the constant comes first. They are 0.00098 times the features of a position that a square of four pieces
// wins.
var PublishedWeights = Weights{0.00098, 0.01180, 0.00196, 0.00098, 0.00196, 0.00196, 0.00295}

// FourthWeights are the weights that the study printed for both players of its fourth experiment. They have the form
// of PublishedWeights.
var FourthWeights = Weights{0.000981669, 0.01178003, 0.00196333, 0.00098166, 0.005890015, 0.002945007, 0.00098166}

// TrainedWeights are the rounded weights of
// `timba-lab train teeko-lms --games 5000 --mu 0.01 --opponent random --period 5 --chance`.
var TrainedWeights = Weights{0.805432, 0.943396, 2.12028, 1.21076, -1.42154, 0.176407, 2.86105}

// Named has the weights that options and files of experiments can name.
var Named = map[string]Weights{
	"trained": TrainedWeights, "initial": InitialWeights, "published": PublishedWeights, "published-4": FourthWeights,
}

// Features has the values that are multiplied by Weights: 1 for the constant, then the features of a position.
type Features [len(Weights{})]float64

// FeaturesOf returns the features of s, in which seat counts as the own side. Unless countsMoves is set, those that
// count moves, which take much longer to compute, are 0.
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

// movesToFewerGroups returns the fewest moves of the side with the pieces own to fewer groups, while the pieces of the
// other side stay where they are. It is 0 if there is one group, and at most maxMoves.
func movesToFewerGroups(own, other teeko.Board) int {
	n := groups(own)
	if n <= 1 {
		return 0
	}
	return fewestMoves(own, other, func(b teeko.Board) bool { return groups(b) < n })
}

// movesToLongerLine returns the fewest moves of the side with the pieces own to a longer line, while the pieces of the
// other side stay where they are. It is 0 if all pieces are in a line, and at most maxMoves.
func movesToLongerLine(own, other teeko.Board) int {
	n := longestLine(own)
	if n == bits.OnesCount32(uint32(own)) {
		return 0
	}
	return fewestMoves(own, other, func(b teeko.Board) bool { return longestLine(b) > n })
}

// maxMoves is the highest value of a feature that counts moves. It also stands for more moves, and for a goal that
// cannot be reached.
const maxMoves = 6

// fewestMoves returns the fewest moves by which the pieces own reach squares that the function isGoal accepts, by
// breadth-first search. The pieces other do not move. The result is from 1 to maxMoves.
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

// featureRanges has the lowest value of each feature and the difference between its highest and its lowest value.
var featureRanges = [len(Weights{})]struct{ low, width float64 }{
	{0, 1}, {0, 12}, {1, 3}, {1, 3}, {0, 12}, {1, 3}, {1, 3}, {0, maxMoves}, {0, maxMoves}, {0, maxMoves}, {0, maxMoves},
}

// Scale returns the features scaled so that each is from 0 to 1.
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

// longestLine returns the number of pieces in the longest straight line of neighboring pieces.
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

// countsMoves reports whether w gives weight to features that count moves.
func (w Weights) countsMoves() bool {
	return [len(w) - studySize]float64(w[studySize:]) != [len(w) - studySize]float64{}
}

// used returns the weights of the study's features or, if others have weights too, all weights.
func (w Weights) used() []float64 {
	if w.countsMoves() {
		return w[:]
	}
	return w[:studySize]
}

// String returns the weights joined by slashes, w0/w1/.../w6 or w0/w1/.../w10, which is the form of the bot's option.
func (w Weights) String() string {
	var words []string
	for _, x := range w.used() {
		words = append(words, strconv.FormatFloat(x, 'g', -1, 64))
	}
	return strings.Join(words, "/")
}

// Parse parses the format of String. It returns an error unless text has seven or eleven numbers from -1e6 to 1e6.
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

// Text returns the weights as a text file for people: a line with a number and a description for each weight.
func (w Weights) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Play with them: @teeko-lms:weights=%s\n", w)
	for i, x := range w.used() {
		fmt.Fprintf(&b, "w%d %-24s # %s\n", i, strconv.FormatFloat(x, 'g', -1, 64), weightNames[i])
	}
	return b.String()
}

// ParseText parses the format of Text.
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
