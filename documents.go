// Package timba has the documents of the project that the program shows.
package timba

import "embed"

// Documents are SPEC.md and the pages of docs, under their paths.
//
//go:embed SPEC.md docs/*.md
var Documents embed.FS
