package check

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/timba-arena/timba/internal/cutlog"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
)

// session is one running process of the bot. It wraps the connection to the bot for three purposes: it changes the
// lines in the style of the current game, measures the bot's time, and stores the last lines in both directions.
type session struct {
	match.BotConn
	run            *run
	proc           *match.BotProcess
	process        int       // number of this process in the check, from 1
	games          int       // number of games that this process has started
	game           *progress // the current or last game; nil before the first
	out            outbox
	tail           transcript  // the last lines in both directions
	last           event       // the last thing that the bot was sent or did
	expectedAnswer phrase.Text // description of the answer that the bot must give; empty if it must give none
	watch          stopwatch
	endError       error // how the process ended; nil while it runs
}

// progress is the state of a game that has begun.
type progress struct {
	*game
	state    *referee.Game
	answers  botAnswers     // the bot's answers so far
	silences map[string]int // by verb of a line, how often the check has waited to see whether the bot is silent after it
}

// outbox contains the lines for the bot that were not sent yet.
type outbox struct {
	style  style  // of the current game
	unsent []byte // lines, already rewritten
	partly bool   // a part of the first unsent line was already sent
	kind   string // verb of the last line that was sent; "" if the bot may answer it
}

// event is the last thing that the bot did or that was sent to it. Failures mention it.
type event struct {
	text phrase.Text
	act  fault.Act // the event as package fault knows it, for advice
}

// stopwatch measures how long the bot takes for a turn or for its start. Time that other programs took does not
// count.
type stopwatch struct {
	startedAt time.Time
	pauses    time.Duration // time for which the check itself waited between the lines of the turn
	readAt    time.Time     // when the last line was read
	ownTime   time.Duration // for the last answer
}

// transcript contains the last lines in both directions, and the beginning and the end of the bot's stderr. A failure
// shows them.
type transcript struct {
	lines  []Line
	stderr cutlog.Buffer
}

// Limits of what a failure shows: the number of lines in both directions, of bytes of stderr, and of lines of stderr.
const (
	tailLines = 10
	tailLog   = 4 << 10
	logLines  = 8
)

// launch starts a process of the bot and waits until it answers "ready". The error is a *Failure if the bot is to
// blame.
func (k *run) launch() (*session, error) {
	s := &session{run: k, last: event{text: phrase.New("it was started")}, watch: stopwatch{startedAt: time.Now()}}
	k.extras.gameLog = 0
	k.extras.processes++
	s.process = k.extras.processes
	var version string
	var err error
	s.proc, err = k.startBot(k.ctx, k.program.Contestant, k.Clock, func(c match.BotConn) match.BotConn {
		s.BotConn = c
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
	s.last = event{text: phrase.New("its \"ready\"")}
	k.report.StartMS = max(k.report.StartMS, milliseconds(s.watch.ownTime))
	k.report.Bot.Version = cmp.Or(k.report.Bot.Version, version)
	return s, nil
}

// BeginTurn starts a turn and the measurement of its time. It implements match.BotConn.
func (s *session) BeginTurn(now time.Time, left time.Duration) error {
	err := s.BotConn.BeginTurn(now, left)
	s.watch.startedAt, s.watch.pauses = time.Now(), 0
	return err
}

// Line reads the next line of the bot. It adds the line to the transcript, and counts comments and info lines. It
// implements match.BotConn.
func (s *session) Line(now, deadline time.Time) (line []byte, at time.Time, err error) {
	if s.endError != nil {
		return nil, now, s.endError
	}
	line, s.watch.readAt, err = s.BotConn.Line(now, deadline)
	if err != nil {
		if r, ok := errors.AsType[fault.Reason](err); ok && r.Code() != protocol.Garbled && r.Code() != protocol.Output {
			s.endError = err
		}
		return nil, s.watch.readAt, err
	}
	s.addLine(true, line)
	if msg, err := protocol.ParseBot(line); err == nil {
		s.run.extras.addLine(msg, line)
	}
	return line, s.watch.readAt, nil
}

// Loss returns how much time the bot lost in this turn: to other programs, and to pauses that the check made. It
// implements match.BotConn. The pauses come first in the turn, so that the wrapped connection is asked only about the
// time after them.
func (s *session) Loss(since, now time.Time, answered bool) fairclock.Loss {
	return s.BotConn.Loss(since.Add(s.watch.pauses), now, answered).Plus(s.watch.pauses)
}

// EndTurn ends a turn and computes how long the bot took, not counting time that other programs took. It implements
// match.BotConn.
func (s *session) EndTurn() {
	w := &s.watch
	began := w.startedAt.Add(w.pauses)
	if w.ownTime = w.readAt.Sub(began); w.ownTime > match.MinCreditedTurn {
		credit := s.BotConn.Loss(began, w.readAt, true).Certain
		s.run.timer.credit += credit
		w.ownTime -= credit
	}
	s.expectedAnswer, w.pauses = phrase.Text{}, 0
	s.BotConn.EndTurn()
}

// Stderr returns the new output on stderr. It also counts the output and adds it to the transcript. It implements
// match.BotConn.
func (s *session) Stderr() []byte {
	data := s.BotConn.Stderr()
	s.run.extras.addStderr(data)
	s.tail.addStderr(data)
	if s.run.OnOutput != nil && len(data) > 0 {
		s.run.OnOutput(s.process, '!', data)
	}
	return data
}

// Send sends lines to the bot, in the style of the current game, such as in pieces. Lines that the bot does not read
// by the deadline are sent at the start of the next call; therefore n is the length of lines even with most errors.
// err is not nil if the check was stopped, if the bot has not read the lines, or if the bot answers where it must
// stay silent. Send implements match.BotConn.
func (s *session) Send(lines []byte, deadline time.Time) (n int, err error) {
	if err := s.run.ctx.Err(); err != nil {
		return 0, err // the referee tests it only while it waits, and it never waits for a bot that has always answered
	}
	if yield := s.run.Yield; yield != nil {
		if err := yield(s.run.timer.ownTime()); err != nil {
			return 0, err
		}
	}
	o := &s.out
	varied := o.style.rewrite(lines)
	if o.unsent = append(o.unsent, varied...); !o.style.step {
		s.recordSent(varied)
	}
	for len(o.unsent) > 0 {
		piece := o.unsent
		switch {
		case o.style.step:
			piece = piece[:bytes.IndexByte(piece, '\n')+1]
			if !o.partly {
				s.recordSent(piece)
			}
		case o.style.pieces && len(s.game.answers.moves) < piecesTurns:
			piece = piece[:1+len(piece)/3]
		}
		n, err := s.BotConn.Send(piece, deadline.Add(s.watch.pauses))
		o.partly = err != nil
		if err != nil {
			o.unsent = o.unsent[n:]
			return len(lines), err
		}
		o.unsent = o.unsent[len(piece):] // if the bot has ended, they are unread, and the next Line reports the end
		if err := s.pause(); err != nil {
			return len(lines), err
		}
	}
	return len(lines), nil
}

// recordSent adds lines that are sent to the bot to the transcript, and records which answer they require.
func (s *session) recordSent(lines []byte) {
	for line := range bytes.Lines(lines) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		s.addLine(false, line)
		l, _ := protocol.ParseReferee(line)
		s.out.kind = l.Verb.String() + " " + string(l.Name)
		switch {
		case l.Verb == protocol.RefTimba:
			s.expectedAnswer = phrase.Plain(`"ready"`)
		case l.Verb == protocol.RefTurn:
			s.out.kind, s.expectedAnswer = "", phrase.New("the move of ply %d", l.Ply)
			s.last = event{text: phrase.New("the turn of ply %d", l.Ply)}
		case l.Verb == protocol.RefEnd: // checkQuiet tests the silence after a game
			s.out.kind = ""
		case s.out.style.step:
			s.last = event{text: phrase.New("the line %s", protocol.Quote(line))}
		}
	}
}

// pause waits after a part of the lines to the bot was sent. With style.pieces it waits, so that the bot reads the
// next piece separately. With style.step, after a line that needs no answer, it returns a fault if the bot does not
// stay silent.
func (s *session) pause() error {
	began := time.Now()
	defer func() { s.watch.pauses += time.Since(began) }()
	if s.out.style.pieces && len(s.out.unsent) > 0 {
		time.Sleep(s.run.Waits.Pause / 10)
	}
	if s.out.style.step && s.out.kind != "" {
		return s.silentAfter(s.out.kind)
	}
	return nil
}

// silentAfter returns a fault if the bot writes an answer within Waits.Pause after a line that needs none. kind
// identifies the kind of that line. To save time, silentAfter waits only for the first two lines of each kind in a
// game; for others it returns nil at once.
func (s *session) silentAfter(kind string) error {
	if s.game.silences[kind]++; s.game.silences[kind] > 2 {
		return nil
	}
	return s.proc.ReadBetweenTurns(time.Now().Add(s.run.Waits.Pause))
}

// addLine adds a line to the transcript and passes it to OnOutput. fromBot says whether the bot wrote the line.
func (s *session) addLine(fromBot bool, line []byte) {
	s.tail.add(fromBot, line)
	mark := byte('<')
	if fromBot {
		mark = '>'
	}
	if s.run.OnOutput != nil {
		s.run.OnOutput(s.process, mark, line)
	}
}

func (t *transcript) add(fromBot bool, line []byte) {
	t.lines = append(t.lines, Line{fromBot, printable(string(line))})
	t.lines = slices.Delete(t.lines, 0, max(0, len(t.lines)-tailLines))
}

func (t *transcript) addStderr(data []byte) {
	t.stderr.Limit = tailLog
	t.stderr.Write(data)
}

func printable(text string) string {
	text = strconv.QuoteToASCII(text)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(text[1 : len(text)-1])
}

// newFailure returns a failure with the current game and the transcript. text says what happened, and change says
// what the author can change.
func (s *session) newFailure(text, change phrase.Text) *Failure {
	if s.BotConn != nil {
		s.Stderr()
	}
	f := &Failure{Process: s.process, Text: text, Lines: append([]Line{}, s.tail.lines...), Stderr: logEnd(string(s.tail.stderr.Bytes())), Change: change}
	if s.game != nil {
		f.Game = s.run.extras.games
		f.Place = fmt.Sprintf("%s, seat %d, game %d of its process", s.game, s.game.seat, s.games)
	}
	return f
}

// logEnd returns the last lines of log, the bot's stderr. If an earlier line explains a crash, it returns that line,
// too.
func logEnd(log string) []string {
	shown := []string{}
	for _, line := range fault.LogEnd(fault.Lines([]byte(strings.TrimSpace(log))), logLines) {
		if line = strings.TrimRight(line, "\r "); line != "" {
			shown = append(shown, printable(strings.ReplaceAll(line, "\t", "  ")))
		}
	}
	return shown
}

func (s *session) close() {
	if s.proc != nil {
		s.Stderr()
		s.proc.Close()
	}
}
