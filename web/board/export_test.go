package board

import "maps"

// Script and Style are embedded in each page.
var Script, Style = script, style

// Copy returns a copy of c that makes its own further frames.
func Copy(c *PublicFrames) *PublicFrames {
	d := *c
	d.perSeatKeys, d.before = maps.Clone(c.perSeatKeys), maps.Clone(c.before)
	return &d
}
