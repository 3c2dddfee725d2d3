package board

import "maps"

// Script and Style are what a page has in itself.
var Script, Style = script, style

// Copy returns a maker that goes on as another one.
func Copy(c *PublicFrames) *PublicFrames {
	d := *c
	d.perSeatKeys, d.before = maps.Clone(c.perSeatKeys), maps.Clone(c.before)
	return &d
}
