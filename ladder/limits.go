package ladder

import (
	"time"

	"github.com/timba-arena/timba/internal/size"
)

// Anchor is the name of a bot that is part of timba. All ratings are relative to it, and its Elo is fixed.
const Anchor = "@random"

// EnoughMatches is the number of matches after which the rating of a version hardly changes any more.
const EnoughMatches = 100

// UnratedShare is the percentage of the machines' time that unrated matches get while rated matches are waiting
// too.
const UnratedShare = 15

// Limits are the limits for what a bot, an upload or a person may use.
type Limits struct {
	Memory         size.Bytes    // of a bot
	Upload         size.Bytes    // of an uploaded archive
	Bots           int           // per person
	Versions       int           // per person and day; a house bot whose options a person is the first to choose counts as one
	House          int           // house bots whose options people have chosen, in total
	UnratedMatches int           `toml:"unrated"` // unfinished unrated matches per person
	Time           time.Duration // longest time that an unrated match may take by its rules
	Requests       int           // per person and minute, with all tokens together; half of it per address without a token
}

// RemoteLimits are the limits for remote bots, which run on their owners' machines and connect over the network.
type RemoteLimits struct {
	Allowance time.Duration // added to the margin of the clock for network delays
	Comeback  time.Duration // total time that a program may be disconnected during one match
	Person    int           // connected bots per person
	Total     int           // connected bots in total; 0 forbids remote bots
}

// Storage says how long the replays and logs of matches stay in the database before they are moved to archive
// files, and how much disk space these files and the built bots may use.
type Storage struct {
	Days int        // that replays and logs stay in the database; 0 means forever
	Size size.Bytes // of all archive files together; 0 means no limit
	Room size.Bytes // of all built bots together, above which unneeded ones are removed; 0 means no limit
}
