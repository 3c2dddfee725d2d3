package ladder

import (
	"time"

	"github.com/timba-arena/timba/internal/size"
)

// Anchor is the house bot that all ratings are relative to; rating.Current.Anchor is its Elo.
const Anchor = "@random"

// EnoughMatches is the number of matches after which more of them say little about
// a version.
const EnoughMatches = 100

// UnratedShare is the percentage of the workers' time that unrated matches have while others want it.
const UnratedShare = 15

// Limits are what one bot, upload or person may use.
type Limits struct {
	Memory   size.Bytes    // of a bot
	Upload   size.Bytes    // of an uploaded archive
	Bots     int           // per person
	Versions int           // per person and day
	Unrated  int           // unfinished unrated matches per person
	Time     time.Duration // of an unrated match in all
	Requests int           // per person and minute, with all tokens; half as many per address without a token
}

// RemoteLimits bound the bots that run on their owners' machines.
type RemoteLimits struct {
	Allowance time.Duration // that is added to the margin of the clock, for the wire
	Comeback  time.Duration // that the program of a match may be away for in all
	Person    int           // bots that one person may have connected
	Total     int           // bots that may be connected; 0: none
}

// Storage says which documents of matches stay in the database, while the others are moved to files,
// and which built bots stay.
type Storage struct {
	Days int        // for which matches stay; 0: for ever
	Size size.Bytes // that the files may have; 0: any
	Room size.Bytes // that built bots may have: above it, those that nobody needs go; 0: any
}
