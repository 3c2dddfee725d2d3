package stats

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Model says in which kind of Elo the hypotheses of a sequential test are expressed.
type Model string

const (
	// Logistic means the usual Elo, which the logistic curve converts to an expected score.
	Logistic Model = "logistic"
	// Normalized means normalized Elo: the difference in strength divided by the standard deviation of the score
	// of a game. The length of a test then does not depend on how often the game is tied or decided by luck.
	Normalized Model = "normalized"
)

// maxElo is the maximum absolute value of Elo0 and Elo1. Beyond it, scores hardly differ.
const maxElo = 1000

// SPRT holds the parameters of a sequential probability ratio test of two bots. Hypothesis H0 says that the first
// bot is stronger by Elo0, H1 that it is stronger by Elo1. Alpha is the probability of accepting H1 if H0 is
// true, Beta that of accepting H0 if H1 is true.
type SPRT struct {
	Elo0  float64 `json:"elo0"`
	Elo1  float64 `json:"elo1"`
	Alpha float64 `json:"alpha"`
	Beta  float64 `json:"beta"`
	Model Model   `json:"model"`
}

// Verdict is the decision of a sequential test so far.
type Verdict string

const (
	Continue Verdict = "continue"
	AcceptH0 Verdict = "H0"
	AcceptH1 Verdict = "H1"
)

// Progress is the state of a sequential test.
type Progress struct {
	LLR     float64 `json:"llr"`   // log-likelihood ratio of H1 to H0
	Lower   float64 `json:"lower"` // H0 is accepted if LLR is at or below it
	Upper   float64 `json:"upper"` // H1 is accepted if LLR is at or above it
	Verdict Verdict `json:"verdict"`
}

// ParseSPRT parses a test such as "elo0=0,elo1=10,alpha=0.05,beta=0.05,model=logistic". Alpha, beta and model
// are optional; their defaults are the values in this example.
func ParseSPRT(text string) (SPRT, error) {
	s := SPRT{Alpha: 0.05, Beta: 0.05, Model: Logistic}
	numbers := map[string]*float64{"elo0": &s.Elo0, "elo1": &s.Elo1, "alpha": &s.Alpha, "beta": &s.Beta}
	seen := make(map[string]bool)
	for field := range strings.SplitSeq(text, ",") {
		key, value, found := strings.Cut(field, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		number := numbers[key]
		switch {
		case !found:
			return SPRT{}, fmt.Errorf("sprt: %q is not key=value: try elo0=0,elo1=10", field)
		case seen[key]:
			return SPRT{}, fmt.Errorf("sprt: %s is given twice: leave one out", key)
		case key == "model":
			s.Model = Model(value)
		case number == nil:
			return SPRT{}, fmt.Errorf("sprt: unknown key %q: try elo0, elo1, alpha, beta or model", key)
		default:
			x, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return SPRT{}, fmt.Errorf("sprt: %s=%q is not a number: try one like 10 or 0.05", key, value)
			}
			*number = x
		}
		seen[key] = true
	}
	for _, key := range [...]string{"elo0", "elo1"} {
		if !seen[key] {
			return SPRT{}, fmt.Errorf("sprt: %s is missing in %q: try elo0=0,elo1=10", key, text)
		}
	}
	return s, s.Check()
}

// Check returns an error unless the parameters of the test are valid.
func (s SPRT) Check() error {
	for i, elo := range [...]float64{s.Elo0, s.Elo1} {
		if !(math.Abs(elo) <= maxElo) {
			return fmt.Errorf("sprt: elo%d=%v is out of range: try %d to %d", i, elo, -maxElo, maxElo)
		}
	}
	if s.Elo0 >= s.Elo1 {
		return fmt.Errorf("sprt: elo0=%v is not below elo1=%v: H1 is the stronger hypothesis", s.Elo0, s.Elo1)
	}
	for i, rate := range [...]float64{s.Alpha, s.Beta} {
		if !(rate > 0 && rate < 0.5) {
			return fmt.Errorf("sprt: %s=%v is not an error rate above 0 and below 0.5: try 0.05", [...]string{"alpha", "beta"}[i], rate)
		}
	}
	if s.Model != Logistic && s.Model != Normalized {
		return fmt.Errorf("sprt: unknown model %q: try %s or %s", string(s.Model), Logistic, Normalized)
	}
	return nil
}

// String returns the test in the form that ParseSPRT parses.
func (s SPRT) String() string {
	return fmt.Sprintf("elo0=%v,elo1=%v,alpha=%v,beta=%v,model=%s", s.Elo0, s.Elo1, s.Alpha, s.Beta, s.Model)
}

// Bounds returns Wald's bounds for the log-likelihood ratio. H0 is accepted if the ratio is at most lower, H1 if
// it is at least upper.
func (s SPRT) Bounds() (lower, upper float64) {
	return math.Log(s.Beta / (1 - s.Alpha)), math.Log((1 - s.Beta) / s.Alpha)
}

// Test returns the state of the test after the results in t. The caller must call it after every deal, in the
// order of the deals (not in the order in which they finish), and must stop at the first verdict. A test that
// continues after a verdict has other error rates.
func (s SPRT) Test(t *Tally) Progress {
	lower, upper := s.Bounds()
	p := Progress{LLR: s.llr(t), Lower: lower, Upper: upper, Verdict: Continue}
	switch {
	case p.LLR <= lower:
		p.Verdict = AcceptH0
	case p.LLR >= upper:
		p.Verdict = AcceptH1
	}
	return p
}

// llr returns the generalized log-likelihood ratio of H1 to H0 for the results in t. Under each hypothesis, the
// probabilities of the possible scores are fitted by maximum likelihood (Van den Bergh, "A practical introduction
// to the GSPRT").
func (s SPRT) llr(t *Tally) float64 {
	if t.score.n == 0 {
		return 0
	}
	m := newMultinomial(t)
	if s.Model == Normalized {
		// The unit is the standard deviation of a game; that of the mean of g
		// independent games is smaller by the root of g.
		perDeal := math.Sqrt(float64(t.games)/float64(t.score.n)) / (2 * eloPerNat)
		return m.ratio(m.fitEffect(s.Elo0*perDeal), m.fitEffect(s.Elo1*perDeal))
	}
	return m.ratio(m.fitMean(Score(s.Elo0)), m.fitMean(Score(s.Elo1)))
}
