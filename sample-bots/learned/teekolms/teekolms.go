// Package teekolms plays Teeko by a linear evaluation of six features. The weights are learned by the least
// mean squares rule: group 20, "Teeko", 2020, after the checkers learner of T. Mitchell, "Machine Learning",
// 1997, chapter 1; the rule is that of Widrow and Hoff, 1960.
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

// Weights has the constant w0 and then the weights of six features of a position of Teeko: the adjacent pairs
// of own pieces, the longest own line, the number of own groups, and the same three of the opponent.
type Weights [7]float64

// weightNames has the description of each weight that Weights.Text writes.
var weightNames = [...]string{
	"constant", "own adjacencies, 0 to 12", "own longest line, 1 to 4", "own connected groups",
	"adjacencies of the opponent", "longest line of the opponent", "connected groups of the opponent",
}

// InitialWeights are the weights with which training begins in the study that the package follows.
var InitialWeights = Weights{0.2, -0.2, 0.2, 0.2, 0.2, -0.2, -0.2}

// PublishedWeights are the weights that the study (group 20, "Teeko", 2020) printed after its first experiment.
// Here the constant comes first. They are 0.00098 times the features of a position that a square of four pieces
// wins.
var PublishedWeights = Weights{0.00098, 0.01180, 0.00196, 0.00098, 0.00196, 0.00196, 0.00295}

// TrainedWeights are the rounded weights of `timba-lab train teeko-lms --games 5000 --mu 0.01 --opponent random`.
var TrainedWeights = Weights{0.805432, 0.943396, 2.12028, 1.21076, -1.42154, 0.176407, 2.86105}

// Features has the values that are multiplied by Weights: 1 for the constant, then the six features of a position.
type Features [7]float64

// FeaturesOf returns the features of s, in which seat counts as the own side.
func FeaturesOf(s *teeko.State, seat int) Features {
	f := Features{0: 1}
	for i, side := range [...]int{seat, 1 - seat} {
		b := s.Pieces(side)
		f[1+3*i], f[2+3*i], f[3+3*i] = float64(adjacencies(b)), float64(longestLine(b)), float64(groups(b))
	}
	return f
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
	seat, top, ties := s.Turn(), math.Inf(-1), 0
	for _, m := range s.Legal(list[:0]) {
		next := *s
		next.Apply(m, nil)
		v := 1.0
		if blind || !next.HasWon(seat) {
			v = w.Value(FeaturesOf(&next, seat))
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

// String returns the weights joined by slashes, w0/w1/.../w6, which is the form of the bot's option.
func (w Weights) String() string {
	words := make([]string, len(w))
	for i, x := range w {
		words[i] = strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strings.Join(words, "/")
}

// Parse parses the format of String. It returns an error unless text has seven numbers from -1e6 to 1e6.
func Parse(text string) (w Weights, err error) {
	words := strings.Split(text, "/")
	if len(words) != len(w) {
		return w, fmt.Errorf("weights %q are not %d numbers: write them as in %s", text, len(w), InitialWeights)
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
	for i, x := range w {
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
