package ladder

import (
	"time"

	"github.com/timba-arena/timba/internal/size"
)

// Anchor is the house bot to which all ratings are relative. Its Elo is rating.Current.Anchor and never changes.
const Anchor = "@random"

// EnoughMatches is the number of matches after which the rating of a version hardly changes any more.
const EnoughMatches = 100

// UnratedShare is the percentage of the workers' time that goes to unrated matches while rated matches wait.
const UnratedShare = 15

// Limits bound what a bot, an upload or a person may use.
type Limits struct {
	Memory         size.Bytes    // of a bot
	Upload         size.Bytes    // of an uploaded archive
	Bots           int           // per person
	Versions       int           // per person and day
	UnratedMatches int           `toml:"unrated"` // unfinished unrated matches per person
	Time           time.Duration // of an unrated match in all
	Requests       int           // per person and minute, with all tokens; half as many per address without a token
}

// RemoteLimits bound remote bots, which run on the machines of their owners.
type RemoteLimits struct {
	Allowance time.Duration // added to the margin of the clock, for the time on the network
	Comeback  time.Duration // how long a program may be disconnected during one match, in total
	Person    int           // bots that one person may have connected
	Total     int           // bots that may be connected; 0: none
}

// Storage says which documents of matches stay in the database instead of files, and which builds of bots stay on
// disk.
type Storage struct {
	Days int        // how many days documents stay in the database; 0: for ever
	Size size.Bytes // of all files together; 0: no limit
	Room size.Bytes // of all builds together, above which builds that nobody needs are removed; 0: no limit
}
