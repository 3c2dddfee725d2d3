package matchmaking

// Figures are the constants of the rule, for people; docs/ladder.md explains them. All but
// HalfUrgent, which is a number of matches, are Elo.
type Figures struct{ HalfUrgent, Vague, Often, Related, Chance int }

// Constants returns the constants of the rule.
func Constants() Figures { return Figures{halfUrgent, vague, often, related, chance} }
