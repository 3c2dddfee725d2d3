// Package timba has the documents of the project that the program shows.
package timba

import "embed"

// Documents are SPEC.md with its transcripts and those pages of docs that the site shows, under their paths. Some
// have translations, such as docs/ca/competing.md.
//
//go:embed SPEC.md referee/testdata/transcripts/*.txt docs/*/*.md
//go:embed docs/api.md docs/competing.md docs/data.md docs/house-bots.md docs/matches.md
//go:embed docs/operating.md docs/ratings.md docs/sandbox.md docs/writing-a-bot.md
var Documents embed.FS
