package site

// Patterns returns the patterns of all routes, and which are only for people who are signed in.
func Patterns() map[string]bool {
	all := map[string]bool{}
	for _, rt := range new(Site).routes() {
		all[rt.pattern] = rt.member
	}
	return all
}
