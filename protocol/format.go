package protocol

import "strconv"

// The Append functions below format the lines of the referee. Each appends a whole line including its LF,
// unless it says otherwise, and does not allocate if dst has enough capacity.
//
// EventPrefix and ViewPrefix are the beginnings of the lines that a game's rules complete: the caller appends
// the text from the rules and the LF.
const (
	EventPrefix = "event "
	ViewPrefix  = "view "
)

// AppendGreeting appends to dst the first line that a bot receives, which has the protocol's version.
func AppendGreeting(dst []byte) []byte {
	dst = append(dst, "timba "...)
	dst = strconv.AppendInt(dst, Version, 10)
	return append(dst, '\n')
}

// KeyValue is one key=value pair of a line.
type KeyValue struct{ Name, Value string }

// AppendGame appends to dst the line that starts a game: its name, and pairs such as its options.
func AppendGame(dst []byte, name string, pairs ...KeyValue) []byte {
	dst = append(append(dst, "game "...), name...)
	for _, p := range pairs {
		dst = append(append(append(append(dst, ' '), p.Name...), '='), p.Value...)
	}
	return append(dst, '\n')
}

// AppendTurn appends to dst the beginning of a turn line, "turn PLY MS", without a LF. ms is the time for the
// move in milliseconds. The caller appends each legal move with a space before it, then the LF.
func AppendTurn(dst []byte, ply, ms int) []byte {
	dst = append(dst, "turn "...)
	dst = strconv.AppendInt(dst, int64(ply), 10)
	dst = append(dst, ' ')
	return strconv.AppendInt(dst, int64(ms), 10)
}

// AppendWait appends to dst the line "wait SEAT", which tells a person which other seat is to move. Bots do not get it.
func AppendWait(dst []byte, seat int) []byte {
	dst = append(dst, "wait "...)
	dst = strconv.AppendInt(dst, int64(seat), 10)
	return append(dst, '\n')
}

// AppendFault appends to dst the line that announces why a seat forfeited the game. text explains it: bytes
// outside printable ASCII become "?", spaces at both ends are removed, and the end is cut off if the line
// would exceed MaxLine.
func AppendFault(dst []byte, seat int, code Code, text string) []byte {
	start := len(dst)
	dst = append(dst, "fault "...)
	dst = strconv.AppendInt(dst, int64(seat), 10)
	dst = append(append(dst, ' '), code...)
	dst = append(dst, ' ')
	first, room := len(dst), MaxLine-(len(dst)-start)
	for i := 0; i < len(text); i++ {
		c := text[i]
		if len(dst)-first >= room {
			dst = append(dst[:first+room-len(ellipsis)], ellipsis...)
			break
		}
		if c == '\n' || c == '\t' {
			c = ' '
		}
		if c < 0x20 || c > 0x7e {
			c = '?'
		}
		if c == ' ' && len(dst) == first {
			continue
		}
		dst = append(dst, c)
	}
	for dst[len(dst)-1] == ' ' {
		dst = dst[:len(dst)-1]
	}
	return append(dst, '\n')
}

// ellipsis replaces the end of a text that was cut off.
const ellipsis = "..."

// AppendEnd appends to dst the line with the result of a game. ranks and points have an element for each seat.
func AppendEnd(dst []byte, ranks []int, points []float64) []byte {
	dst = append(dst, "end ranks="...)
	for i, r := range ranks {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(r), 10)
	}
	dst = append(dst, " points="...)
	for i, p := range points {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendFloat(dst, p+0, 'f', -1, 64) // + 0 turns a negative zero into 0
	}
	return append(dst, '\n')
}

// AppendBye appends to dst the line after which a bot must exit.
func AppendBye(dst []byte) []byte { return append(dst, "bye\n"...) }
