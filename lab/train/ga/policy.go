package ga

// PolicyNames are the five policies of the study. The ratios that change were proposed by A.
// Hassanat and others (2019): ilm-dhc begins with little mutation and much crossover, and turns
// them round by the last generation; dhm-ilc is the reverse.
var PolicyNames = []string{policyILM, policyDHM, policyHalf, policyTuned, policyCustom}

const (
	policyILM    = "ilm-dhc"
	policyDHM    = "dhm-ilc"
	policyHalf   = "half"
	policyTuned  = "tuned"
	policyCustom = "custom"
)

// The ratios of the policy tuned; the study's code crosses over less often than its text says.
const (
	tunedCrossover   = 0.93
	tunedAsPublished = 0.90
	tunedMutation    = 0.03
)

// ratios returns how likely the parents of children of a generation are crossed over, and a child
// mutates. Generations count from 0.
func (c *Config) ratios(generation int) (crossover, mutation float64) {
	done := float64(generation) / float64(max(1, c.Generations-1))
	switch c.Policy {
	case policyILM:
		return 1 - done, done
	case policyDHM:
		return done, 1 - done
	case policyHalf:
		return 0.5, 0.5
	case policyTuned:
		if c.keeps(defectTuned) {
			return tunedAsPublished, tunedMutation
		}
		return tunedCrossover, tunedMutation
	}
	return c.Crossover, c.Mutation
}
