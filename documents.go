// Package timba has the documents of the project that the program shows.
package timba

import "embed"

// Documents are SPEC.md with its transcripts and the pages of docs, under their paths. Some pages have
// translations, such as docs/ca/competing.md.
//
//go:embed SPEC.md referee/testdata/transcripts/*.txt docs/*.md docs/*/*.md docs/*.svg
var Documents embed.FS
