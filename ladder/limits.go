package ladder

import "time"

// Anchor is the house bot that all ratings are relative to; rating.AnchorElo is its Elo.
const Anchor = "@random"

// EnoughMatches is the number of matches after which more of them say little about
// a version.
const EnoughMatches = 100

// Limits are what one bot, upload or person may use.
type Limits struct {
	Memory    int64         // bytes of a bot
	Processes int           // of a bot, threads included
	Upload    int64         // bytes of an uploaded archive
	Unpacked  int64         // bytes of its files
	Files     int           // of an upload, directories included
	Bots      int           // per person
	Versions  int           // per person and day
	Unrated   int           // unfinished unrated matches per person
	Time      time.Duration // of an unrated match in all
	Share     int           // percent of the workers' time that unrated matches have while others want it
	Requests  int           // per person and minute, with all tokens
	Anonymous int           // requests without a token, per address and minute
	Rate      int64         // the lowest rate of an upload and of a download, in bytes per second
	Window    time.Duration // how much an upload or a download may be behind that rate
}

// RemoteLimits bound the bots that run on their owners' machines.
type RemoteLimits struct {
	Allowance time.Duration // that is added to the margin of the clock, for the wire
	Comeback  time.Duration // that the program of a match may be away for in all
	Person    int           // bots that one person may have connected
	Address   int           // bots that may be connected from one address
	Total     int
	Frames    int           // a second that a bot may send on average, and as many at once
	Silence   time.Duration // without a sign of life, after which a connection ends
}

// Storage says which documents of matches stay in the database, while the others are moved to files,
// and which built bots stay.
type Storage struct {
	Keep    time.Duration // for which matches stay; 0: for ever
	Size    int64         // bytes that the files may have; 0: any
	Builds  time.Duration // without use, after which a built bot that nobody needs goes; 0: it stays
	Room    int64         // bytes that built bots may have: above it, those that nobody needs go; 0: any
}

// LiveLimits bound what those who watch matches and pages cost.
type LiveLimits struct {
	Person  int // sockets of one person
	Address int // sockets from one address
	Total   int // sockets
	Topics  int // topics of one socket
	Pages   int // topics of pages that are watched, in all languages

	Message  int // bytes of a message of a client
	Messages int // of a client in a second on average, and as many and Topics more at once

	Frames  int // messages a second about one match
	Kept    int // positions of a game that one who comes late gets, the latest ones
	Renders int // parts of pages that are rendered in a second, in all

	Queue   int   // messages that wait for one socket
	Waiting int64 // bytes that wait for one socket
	All     int64 // bytes that wait for all sockets; a message that waits for several counts for each

	Write   time.Duration // to take one message
	Silence time.Duration // without a sign of life, after which a socket ends
}
