package ga

// Policy is how likely crossover and mutation are in a generation.
type Policy struct {
	Name                string
	Crossover, Mutation float64 // of the policies that do not change, and custom's
}

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

// newPolicy returns a policy by its name. Crossover and mutation are those of custom; tunedDown
// asks for the lower ratio of tuned.
func newPolicy(name string, crossover, mutation float64, tunedDown bool) Policy {
	p := Policy{Name: name}
	switch name {
	case policyILM, policyDHM:
	case policyHalf:
		p.Crossover, p.Mutation = 0.5, 0.5
	case policyTuned:
		p.Crossover, p.Mutation = tunedCrossover, tunedMutation
		if tunedDown {
			p.Crossover = tunedAsPublished
		}
	case policyCustom:
		p.Crossover, p.Mutation = crossover, mutation
	}
	return p
}

// ratios returns how likely the parents of children of a generation are crossed over, and a child
// mutates. Generations count from 0; all is their number.
func (p Policy) ratios(generation, all int) (crossover, mutation float64) {
	done := 0.0
	if all > 1 {
		done = float64(generation) / float64(all-1)
	}
	switch p.Name {
	case policyILM:
		return 1 - done, done
	case policyDHM:
		return done, 1 - done
	}
	return p.Crossover, p.Mutation
}
