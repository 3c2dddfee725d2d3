package live

import "time"

// Limits bound what those who watch cost. docs/operating.md names them.
type Limits struct {
	Person  int // sockets of one person
	Address int // sockets from one address
	Total   int // sockets
	Topics  int // topics of one socket
	Pages   int // topics of pages that are watched, in all languages

	Inbound int // bytes of a message of a client
	Asks    int // messages of a client in a second, and as many more at once

	Frames  int           // messages a second about one match
	Hold    time.Duration // how long the end of a game is shown before the next game
	Kept    int           // positions of a game that one who comes late gets, the latest ones
	Renders int           // parts of pages that are rendered in a second, in all

	Queue   int   // messages that wait for one socket
	Waiting int64 // bytes that wait for one socket
	All     int64 // bytes that wait for all sockets; a message that waits for several counts for each

	Write time.Duration // to take one message
	Ping  time.Duration // between two signs of life
}

// DefaultLimits are the limits of a server.
func DefaultLimits() Limits {
	return Limits{
		Person: 32, Address: 128, Total: 4096, Topics: 24, Pages: 512,
		Inbound: 512, Asks: 16,
		Frames: 5, Hold: 4 * time.Second, Kept: 512, Renders: 20,
		Queue: 32, Waiting: 512 << 10, All: 128 << 20,
		Write: 10 * time.Second, Ping: 45 * time.Second,
	}
}
