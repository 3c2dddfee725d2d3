package check

import (
	"bytes"
	"cmp"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
)

// session is one process of the bot. It is also the connection through which the referee plays with it: it sends
// lines in the style of the game, and keeps the last ones of both sides.
type session struct {
	match.Conn
	run    *run
	proc   *match.Process
	games  int           // started
	game   *game         // that is played, or was played last; nil before the first one
	style  style         // of the lines that are sent now
	state  *referee.Game // of the game
	played played        // of the game, so far
	where  string        // the game, in words
	last   phrase.Text   // what the bot was sent or did last, in words
	did    fault.Act     // the same, as the advice takes it
	want   phrase.Text   // the answer that is awaited; empty for none
	tail   []Line
	log    []byte // the end of its stderr
	wrote  int    // bytes on stderr in this game

	unsent   []byte         // lines in the game's style
	partly   bool           // a part of the first of them was sent
	kind     string         // of the last line that was sent; "" if it needs no silence after it
	paused   time.Duration  // while the lines of this turn were sent
	silences map[string]int // by kind of line, how often silence after it was checked
	since    time.Time      // when the turn, or the process, began
	at       time.Time      // of the last line
	took     time.Duration  // the bot's own time of its last answer
	ended    error          // how the process ended
}

// How much a failure shows: lines of both sides, bytes and lines of stderr.
const (
	tailLines = 10
	tailLog   = 4 << 10
	logLines  = 8
)

// launch starts a process and greets it. The error is a *Failure if it is the bot's fault.
func (k *run) launch() (*session, error) {
	s := &session{run: k, last: phrase.New("it was started"), since: time.Now()}
	var version string
	var err error
	s.proc, err = k.Options.start(k.ctx, k.program.Bot, k.Clock, func(c match.Conn) match.Conn {
		s.Conn = c
		return s
	})
	if err == nil {
		version, err = s.proc.Greet()
	}
	if err != nil {
		err = s.failure(err)
		s.close()
		return nil, err
	}
	s.happened(phrase.New("its \"ready\""), 0)
	k.slowest = max(k.slowest, s.took)
	k.report.StartMS = milliseconds(k.slowest)
	k.report.Bot.Version = cmp.Or(k.report.Bot.Version, version)
	return s, nil
}

// happened records what the bot was sent or did last.
func (s *session) happened(last phrase.Text, did fault.Act) { s.last, s.did = last, did }

// Begin begins a turn.
func (s *session) Begin(now time.Time, left time.Duration) error {
	err := s.Conn.Begin(now, left)
	s.since, s.paused = time.Now(), 0
	return err
}

// Line reads a line, and keeps it.
func (s *session) Line(now, deadline time.Time) (line []byte, at time.Time, err error) {
	if s.ended != nil {
		return nil, now, s.ended
	}
	line, s.at, err = s.Conn.Line(now, deadline)
	if err != nil {
		if r, ok := errors.AsType[fault.Reason](err); ok && r.Code() != protocol.Garbled && r.Code() != protocol.Output {
			s.ended = err
		}
		return nil, s.at, err
	}
	s.keep(true, line)
	if msg, err := protocol.ParseBot(line); err == nil {
		s.run.extras.line(msg, line)
	}
	return line, s.at, nil
}

// Loss counts what the check has paused, too. The pauses come first in a turn, and the bot's connection,
// which could take them for time in which the referee had no core, is asked about the rest alone.
func (s *session) Loss(since, now time.Time, answered bool) fairclock.Loss {
	return s.Conn.Loss(since.Add(s.paused), now, answered).Plus(s.paused)
}

// Answered ends a turn, for which the bot took some time of its own.
func (s *session) Answered() {
	begin := s.since.Add(s.paused)
	if s.took = s.at.Sub(begin); s.took > match.LeastPaid {
		credit := s.Conn.Loss(begin, s.at, true).Certain
		s.run.credit += credit
		s.took -= credit
	}
	s.want, s.paused = phrase.Text{}, 0
	s.Conn.Answered()
}

// Stderr also counts and keeps what it returns.
func (s *session) Stderr() []byte {
	data := s.Conn.Stderr()
	s.wrote += len(data)
	s.run.extras.stderr(data, s.wrote)
	s.log = append(s.log, data...)
	if n := len(s.log); n > tailLog {
		s.log = append(s.log[:0], s.log[n-tailLog:]...)
	}
	return data
}

// Send writes lines in the game's style. What it could not write in time comes first in the next call.
func (s *session) Send(lines []byte, deadline time.Time) (n int, err error) {
	if err := s.run.ctx.Err(); err != nil {
		return 0, err // the referee looks for it only when it waits, which it never does for a bot that always answers
	}
	if yield := s.run.Yield; yield != nil {
		if err := yield(s.run.own()); err != nil {
			return 0, err
		}
	}
	varied := s.style.varied(lines)
	if s.unsent = append(s.unsent, varied...); !s.style.step {
		s.sent(varied)
	}
	for len(s.unsent) > 0 {
		piece := s.unsent
		switch {
		case s.style.step:
			piece = piece[:bytes.IndexByte(piece, '\n')+1]
			if !s.partly {
				s.sent(piece)
			}
		case s.style.pieces && len(s.played.moves) < piecesTurns:
			piece = piece[:1+len(piece)/3]
		}
		n, err := s.Conn.Send(piece, deadline.Add(s.paused))
		s.partly = err != nil
		if err != nil {
			s.unsent = s.unsent[n:]
			return len(lines), err
		}
		s.unsent = s.unsent[len(piece):] // a bot that has ended does not read them: the next Line reports it
		if err := s.pause(); err != nil {
			return len(lines), err
		}
	}
	return len(lines), nil
}

// sent keeps lines that the bot is sent.
func (s *session) sent(lines []byte) {
	for line := range bytes.Lines(lines) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		s.keep(false, line)
		l, _ := protocol.ParseReferee(line)
		s.kind = l.Verb.String() + " " + string(l.Name)
		switch {
		case l.Verb == protocol.RefTimba:
			s.want = phrase.Plain(`"ready"`)
		case l.Verb == protocol.RefTurn:
			s.kind, s.want = "", phrase.New("the move of ply %d", l.Ply)
			s.happened(phrase.New("the turn of ply %d", l.Ply), 0)
		case l.Verb == protocol.RefEnd: // after it the bot has to be silent in any case
			s.kind = ""
		case s.style.step:
			s.happened(phrase.New("the line %s", protocol.Quote(line)), 0)
		}
	}
}

// pause waits after a piece: for the bot to read the next one separately, or to check that it is silent after a
// line that needs no answer.
func (s *session) pause() error {
	began := time.Now()
	defer func() { s.paused += time.Since(began) }()
	if s.style.pieces && len(s.unsent) > 0 {
		time.Sleep(s.run.Pause / 10)
	}
	if s.style.step && s.kind != "" {
		return s.silentAfter(s.kind)
	}
	return nil
}

// silentAfter checks for silence after a kind of line, the first two times.
func (s *session) silentAfter(kind string) error {
	if s.silences[kind]++; s.silences[kind] > 2 {
		return nil
	}
	return s.proc.Await(time.Now().Add(s.run.Pause))
}

// keep records a line, for failures to show.
func (s *session) keep(fromBot bool, line []byte) {
	s.tail = append(s.tail, Line{fromBot, printable(string(line))})
	if n := len(s.tail); n > tailLines {
		s.tail = append(s.tail[:0], s.tail[n-tailLines:]...)
	}
}

// printable returns a text with escapes for what is not printable ASCII.
func printable(text string) string {
	text = strconv.QuoteToASCII(text)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(text[1 : len(text)-1])
}

// fail makes a failure from what happened and what to change.
func (s *session) fail(text, change phrase.Text) *Failure {
	if s.Conn != nil {
		s.Stderr()
	}
	return &Failure{Text: text, Where: s.where, Lines: append([]Line{}, s.tail...), Stderr: logEnd(string(s.log)), Change: change}
}

// logEnd returns the part of a log that describes a crash.
func logEnd(log string) []string {
	shown := []string{}
	for _, line := range fault.LogEnd(fault.Lines([]byte(strings.TrimSpace(log))), logLines) {
		if line = strings.TrimRight(line, "\r "); line != "" {
			shown = append(shown, printable(strings.ReplaceAll(line, "\t", "  ")))
		}
	}
	return shown
}

// close ends the process without "bye".
func (s *session) close() {
	if s.proc != nil {
		s.Stderr()
		s.proc.Close()
	}
}
