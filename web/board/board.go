// Package board draws games in a browser. It consists of embedded JavaScript modules and style
// sheets. Their input is what a seat may know, as in the view lines of SPEC.md, so that they can
// draw replays and games in progress.
package board

import "embed"

// Files contains the modules and style sheets, for servers and for package bundle.
//
//go:embed *.js *.css
var Files embed.FS
