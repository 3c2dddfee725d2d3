package site

import "github.com/timba-arena/timba/ladder/store"

// Patterns returns the patterns of all routes. The value is true for those that need a person who is signed in.
func Patterns() map[string]bool {
	all := map[string]bool{}
	for _, rt := range (&Site{Store: new(store.Store)}).routes() {
		all[rt.pattern] = rt.member
	}
	return all
}
