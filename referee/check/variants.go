package check

import (
	"maps"
	"slices"
	"strconv"

	"github.com/timba-arena/timba/rules"
)

// samples returns the values of an option that are tested, the default first. If the option has words as values, or
// is the number of players, all values are tested. Of any other number, the default, a tenth of the default and the
// minimum are tested.
func samples(o rules.Option) []string {
	if o.Values != nil {
		return o.Values
	}
	list := []string{o.DefaultText()}
	add := func(n int) {
		if text := strconv.Itoa(n); n >= o.Min && n <= o.Max && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	if o.Name == "players" {
		for n := o.Min; n <= o.Max; n++ {
			add(n)
		}
		return list
	}
	add(o.Default / 10)
	add(o.Min)
	return list
}

// allVariants returns the variants of g with all allowed combinations of option values. Each option has the values
// that samples returns or, if it is in required, only the value there.
func allVariants(g *rules.Game, required map[string]string) (list []*rules.Variant) {
	options := g.Options
	given := make(map[string]string, len(options))
	var choose func(i int)
	choose = func(i int) {
		if i == len(options) {
			if v, err := g.Resolve(given); err == nil {
				list = append(list, v)
			}
			return
		}
		values := samples(options[i])
		if value, ok := required[options[i].Name]; ok {
			values = []string{value}
		}
		for _, value := range values {
			given[options[i].Name] = value
			choose(i + 1)
		}
	}
	choose(0)
	return list
}

// claimedVariants returns the variants of g that are tested. Each must be one that the bot says it plays, by its
// claims such as "brisca players=2"; no claims mean all variants. It must also have the option values in set. Other
// options have the values that samples returns. If g does not have an option in set, the result is nil.
func claimedVariants(g *rules.Game, claims []string, set map[string]string) (list []*rules.Variant) {
	if len(claims) == 0 {
		claims = []string{g.Name}
	}
	for name := range set {
		if !slices.ContainsFunc(g.Options, func(o rules.Option) bool { return o.Name == name }) {
			return nil
		}
	}
	seen := map[string]bool{}
	for _, claim := range claims {
		game, options := rules.SplitClaim(claim)
		if game != g.Name {
			continue
		}
		required := rules.Settings(options).Map()
		maps.Copy(required, set)
		for _, v := range allVariants(g, required) {
			if text := v.Settings.String(); !seen[text] && rules.ClaimsVariant(claims, g.Name, v.Settings.Map()) {
				seen[text] = true
				list = append(list, v)
			}
		}
	}
	return list
}

// coveringVariants chooses the variants of a game that are tested from every, a list of at least one variant. The
// result begins with every[0] and has each value of each option that occurs in every. If pairs is true, it also has
// each pair of values of two options that occurs in every. It has few variants, but not always the fewest.
func coveringVariants(every []*rules.Variant, pairs bool) []*rules.Variant {
	missing := map[[2]rules.Setting]bool{}
	for _, v := range every {
		for _, p := range settingPairs(v, pairs) {
			missing[p] = true
		}
	}
	var chosen []*rules.Variant
	for best := every[0]; best != nil; {
		chosen = append(chosen, best)
		for _, p := range settingPairs(best, pairs) {
			delete(missing, p)
		}
		most := 0
		best = nil
		for _, v := range every {
			n := 0
			for _, p := range settingPairs(v, pairs) {
				if missing[p] {
					n++
				}
			}
			if n > most {
				best, most = v, n
			}
		}
	}
	return chosen
}

// settingPairs returns all pairs of two different options of v, with their values. If pairs is false, it returns each
// option paired with itself instead.
func settingPairs(v *rules.Variant, pairs bool) (list [][2]rules.Setting) {
	for i, a := range v.Settings {
		for _, b := range v.Settings[i:] {
			if (a != b) == pairs {
				list = append(list, [2]rules.Setting{a, b})
			}
		}
	}
	return list
}
