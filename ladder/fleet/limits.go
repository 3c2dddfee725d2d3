package fleet

import "time"

// Protocol is the number of the messages between server and worker. It changes when either
// could misunderstand the other.
const Protocol = 4

// What the messages may take; docs/operating.md, "What a worker can do", tells of them.
const (
	// MaxMessage is the largest message in bytes.
	MaxMessage = 1 << 20
	// MaxPending is how many bytes NATS keeps for a connection that does not read them, before it ends that.
	MaxPending = 16 << 20
	// PartSize is how many bytes go over a line at once of what is too large for one message. The heartbeats
	// of a connection wait behind them.
	PartSize = 128 << 10
	// MaxPacked is the largest result in bytes as it is handed in.
	MaxPacked = 8 << 20
	// MaxUploads is how many bytes of results the server keeps of one machine until they are stored.
	MaxUploads = 2 * MaxPacked
	// MaxResult is the largest result in bytes before it is compressed. What is taken of a match is
	// bounded by its games, far below it.
	MaxResult = 256 << 20
	// MaxHead is the largest line in bytes in which a result tells of its attempt.
	MaxHead = 16 << 10
	// MaxBeat is the largest message in bytes in which a machine tells of itself.
	MaxBeat = 64 << 10
	// MaxWord is the longest word in bytes that a machine may say of itself, such as its version
	// of timba.
	MaxWord = 128

	// MaxBotBytes is how many bytes the packed bots may have on the server. Those that were not
	// needed for the longest time make room for others.
	MaxBotBytes = 16 << 30
	// MaxConnections is how many connections the server's NATS accepts.
	MaxConnections = 4096
	// MaxMachineConnections is how many of them one machine may have: its account allows no more.
	MaxMachineConnections = 4
	// MaxSubscriptions is how many subscriptions one connection of a worker may have.
	MaxSubscriptions = 16
	// MaxBeats is how many messages a second one machine may send about itself on average, and
	// four times as many at once.
	MaxBeats = 20
)

// Times between the server and the machines.
const (
	// Beat is how often a machine tells of itself.
	Beat = 3 * time.Second
	// beatGap is the shortest time between two beats: a worker that plays many short matches keeps
	// well below MaxBeats.
	beatGap = 4 * time.Second / MaxBeats
	// AckTime is how long a machine may leave an attempt unmentioned before it is lost.
	AckTime = 15 * time.Second
	// KeepResults is how long a worker keeps a result for the server.
	KeepResults = 7 * 24 * time.Hour
	// PartTime is how long a part may take to be there and answered.
	PartTime = 30 * time.Second
	// StopTime is how long a machine has to end a match that is not wanted any more.
	StopTime = 5 * time.Second
)

// DefaultCache is the size in bytes of a worker's cache of bots if none is given.
const DefaultCache = 4 << 30
