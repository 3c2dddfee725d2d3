package match

import (
	"bytes"
	"regexp"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/internal/script"
	"github.com/timba-arena/timba/rules"
)

// foretell predicts the fault of a script in a seat, by SPEC.md, "Limits and faults", and the rules alone. The
// other seats play the first legal move. Only seat, ply and code of the fault are set; nil means no fault.
func foretell(v *rules.Variant, game rules.Seed, seat int, s script.Script) *referee.Fault {
	stream := rules.NewStream(game)
	state := v.Deal(&stream)
	r := &reader{pieces: s.Pieces}
	if code := r.greeting(); code != "" {
		return &referee.Fault{Seat: seat, Code: code}
	}
	for state.Turn() != rules.Over {
		legal := state.Legal(nil)
		move := legal[0]
		if state.Turn() == seat {
			text, code := r.turn()
			if code == "" {
				code = protocol.Illegal
				for _, m := range legal {
					if text == string(state.MoveText(nil, m)) {
						move, code = m, ""
					}
				}
			}
			if code != "" {
				return &referee.Fault{Seat: seat, Ply: state.Ply(), Code: code}
			}
		}
		state.Apply(move, nil)
	}
	return nil
}

// reader follows what the referee reads from a script.
type reader struct {
	pieces []script.Piece
	unread []byte
	read   int // bytes since the last answer
	ended  bool
}

// silence is the code for a script that writes no line until the next question.
const silence protocol.Code = "silence"

var (
	readyLine = regexp.MustCompile(`^ready( [!-~]+){0,2}$`)
	moveLine  = regexp.MustCompile(`^move ([!-~]+)$`)
	infoLine  = regexp.MustCompile(`^info( [!-<>-~]+=[!-~]*)*$`)
	comment   = regexp.MustCompile(`^#[ -~]*$`)
)

// ask makes the script write its next piece.
func (r *reader) ask() {
	if len(r.pieces) == 0 {
		r.ended = true
	}
	if r.ended {
		return
	}
	r.unread = append(r.unread, r.pieces[0].Text...)
	r.ended = r.pieces[0].Exit
	r.pieces = r.pieces[1:]
}

// line returns the next line that is neither an info nor a comment.
func (r *reader) line() (line []byte, code protocol.Code) {
	const longest, most = 4096, 65536
	for {
		text, _, whole := bytes.Cut(r.unread, []byte("\n"))
		size := len(text)
		if size > 0 && text[size-1] == '\r' {
			size-- // belongs to the line's end
		}
		// Whichever limit is broken first: at this byte the line is too long.
		if size > longest && r.read+longest+1 <= most {
			return nil, protocol.Garbled
		}
		r.read += len(text)
		if whole {
			r.read++
		}
		if r.read > most {
			return nil, protocol.Output
		}
		if !whole {
			r.read -= len(text)
			if r.ended {
				return nil, protocol.Exit
			}
			return nil, silence
		}
		r.unread = r.unread[len(text)+1:]
		if line = text[:size]; !infoLine.Match(line) && !comment.Match(line) {
			return line, ""
		}
	}
}

func (r *reader) greeting() protocol.Code {
	r.ask()
	line, code := r.line()
	switch {
	case code == protocol.Exit, code == silence:
		return protocol.Startup
	case code != "":
		return code
	case !readyLine.Match(line):
		return protocol.Garbled
	}
	r.read = 0
	return ""
}

func (r *reader) turn() (move string, code protocol.Code) {
	// Before the turn is sent nothing but infos and comments may be there.
	if _, code := r.line(); code == "" {
		return "", protocol.Garbled
	} else if code != silence {
		return "", code
	}
	r.ask()
	line, code := r.line()
	if code == silence {
		return "", protocol.Timeout
	}
	if code != "" {
		return "", code
	}
	m := moveLine.FindSubmatch(line)
	if m == nil {
		return "", protocol.Garbled
	}
	r.read = 0
	return string(m[1]), ""
}
