package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// Workers are not trusted: the server replays the games of a result by the rules before it stores them. A worker can
// still lie about faults and legal moves, because no other machine saw the answers of the bots.

// Expectation is what the dispatcher knows about a match on another machine. The result must agree with it: with the
// job, and with the commitment, which is the hash of the seed.
type Expectation struct {
	attempt.Job
	Commitment referee.Hex // checked instead of the seed, which a restarted server does not know
}

// maxText is the greatest length, in bytes, of a text from a machine that is stored and shown to people.
const maxText = 300

func newContradiction(format string, args ...any) error {
	return &attempt.Contradiction{Text: printableText(fmt.Sprintf(format, args...))}
}

// printableText returns at most the first maxText bytes of a text from a machine. It escapes everything that is
// not printable, so that the text can be shown to people.
func printableText(text string) string {
	return ladder.Plain(strings.ToValidUTF8(text[:min(len(text), maxText)], ""))
}

// Check decodes the games of a result from a machine, and plays each again by the rules. e says to which match the
// result must belong. If a game cannot be of that match, the error is an *attempt.Contradiction; any other error is a
// failure of this machine.
func (d *Delivery) Check(e Expectation) (err error) {
	if f := d.Failure; f != nil {
		if f.Version != 0 && !slices.ContainsFunc(e.Bots, func(b attempt.Entrant) bool { return b.Version == f.Version }) {
			return newContradiction("it told of a failure of version %d, which does not play", f.Version)
		}
		return nil
	}
	defer func() {
		if v := recover(); v != nil { // the rules panicked at an impossible game
			err = newContradiction("it cannot be played again: %v", v)
		}
	}()
	c, err := newChecker(e)
	if err != nil {
		return err
	}
	n := e.Deals * len(e.Bots)
	if err := d.unpack(c, time.Now().Add(CheckTime+time.Duration(n)*checkGameTime)); err != nil {
		return err
	}
	if len(d.Games) != n {
		return newContradiction("it has %d games where the match has %d", len(d.Games), n)
	}
	attempt.Cut(d.Games, len(e.Bots))
	return nil
}

// unpack decodes the games into d.Games and checks each with c. It returns an error at the first game that is not
// valid. It also returns an error if it has not finished at the time in end.
func (d *Delivery) unpack(c *checker, end time.Time) error {
	// The decoder buffers one window.
	z, err := zstd.NewReader(bytes.NewReader(d.packedGames),
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(MaxPacked))
	if err != nil {
		return newContradiction("its games cannot be unpacked: %s", err)
	}
	defer z.Close()
	in := &gameReader{source: z, game: c.maxGameBytes(), all: MaxResult, end: end}
	games := json.NewDecoder(in)
	d.Games = nil
	switch list, err := games.Token(); {
	case err != nil:
		return newContradiction("its games cannot be read: %s", err)
	case list == nil: // null
		return nil
	}
	for games.More() {
		in.game = c.maxGameBytes()
		start := games.InputOffset()
		g := new(referee.GameResult)
		if err := games.Decode(&boundedGame{GameResult: g, Faults: (*boundedFaults)(&g.Faults)}); err != nil {
			return newContradiction("game %d cannot be read: %s", len(d.Games), err)
		}
		if len(g.Bots) != len(g.Seats) || len(g.Logs) != len(g.Seats) {
			return newContradiction("game %d has %d bots and %d logs for %d seats", len(d.Games), len(g.Bots), len(g.Logs), len(g.Seats))
		}
		if err := c.checkGame(g); err != nil {
			return err
		}
		if err := checkPadding(g, games.InputOffset()-start); err != nil {
			return newContradiction("game %d cannot be read: %s", len(d.Games), err)
		}
		d.Games = append(d.Games, g)
	}
	in.game = c.maxGameBytes()
	_, err = games.Token() // read the end of the list, because More is false after an error as well
	if err == nil {
		if _, err = games.Token(); err == io.EOF { // otherwise the checksum differs, or data follow
			return nil
		}
	}
	return newContradiction("its games do not end after game %d: %v", len(d.Games)-1, err)
}

// maxPadding limits the length of a game's JSON to this many times the length that the program itself would write.
// Without the limit, spaces and unknown or repeated fields could take as much time to read as many games.
const maxPadding = 2

// checkPadding returns an error if the JSON from which g was decoded, of n bytes, is much longer than necessary; see
// maxPadding.
func checkPadding(g *referee.GameResult, n int64) error {
	text, err := json.Marshal(g)
	if err != nil {
		return err
	}
	if n > maxPadding*int64(len(text)) {
		return fmt.Errorf("it has %d bytes where %d are enough", n, len(text))
	}
	return nil
}

// gameReader reads the JSON of the games of a result within limits of size and time. Each read fills the buffer as
// far as possible, even if the zstd decoder returns single bytes: json.Decoder scans all spaces again after each
// read.
type gameReader struct {
	source io.Reader
	game   int       // bytes that may still be read for the next game
	all    int       // bytes that may still be read for all games
	end    time.Time // after which reading fails
}

// Read fills p as far as the limits allow. If it reaches a limit, the next call returns an error that names the
// limit.
func (r *gameReader) Read(p []byte) (n int, err error) {
	room := min(len(p), r.game, r.all)
	if room == 0 {
		return 0, errors.New("it is too long")
	}
	for n < room && err == nil {
		if time.Now().After(r.end) {
			return n, errors.New("the games take too long to check")
		}
		var count int
		count, err = r.source.Read(p[n:room])
		n += count
	}
	r.game -= n
	r.all -= n
	return n, err
}

// boundedGame is a game whose decoding fails if it has more than rules.MaxSeats faults. The limit exists because a
// fault takes some hundred times as much space in memory as in JSON.
type boundedGame struct {
	*referee.GameResult
	Faults *boundedFaults `json:"faults"`
}

// boundedFaults is a list of the faults of a game. If the JSON has more than rules.MaxSeats faults, decoding stops
// with an error.
type boundedFaults []referee.Fault

// UnmarshalJSON implements json.Unmarshaler.
func (f *boundedFaults) UnmarshalJSON(data []byte) error {
	list := json.NewDecoder(bytes.NewReader(data))
	if _, err := list.Token(); err != nil {
		return err
	}
	*f = boundedFaults{}
	for list.More() {
		var next referee.Fault
		if err := list.Decode(&next); err != nil {
			return err
		}
		if *f = append(*f, next); len(*f) > rules.MaxSeats {
			return errors.New("it has more faults than seats")
		}
	}
	return nil
}

// checker checks the games that a worker reports for one try to play a match, one game after another. Each game must
// belong to the match and follow the rules.
type checker struct {
	Expectation
	variant      *rules.Variant
	clock        referee.ClockMS
	checkedGames map[referee.ReplayMatch]bool
	info         int // size of the info of all games so far
}

func newChecker(e Expectation) (*checker, error) {
	v, err := ladder.Ladder{Game: e.Game, Options: e.Options}.Variant()
	return &checker{Expectation: e, variant: v, clock: e.Clock.InReplay(), checkedGames: map[referee.ReplayMatch]bool{}}, err
}

// maxFault limits the text of a fault, in bytes.
const maxFault = 16 << 10

// maxGameBytes returns an upper bound for the length of the JSON of one game, in bytes. It takes into account that
// one byte of what a bot says about its moves can become six bytes of JSON, and that a game has at most two logs of
// each bot.
func (c *checker) maxGameBytes() int {
	const head, move = 64 << 10, 256
	bound := head + c.variant.MaxPlies*move + c.variant.Players*(maxFault+6*attempt.MaxInfo+2*attempt.MaxLog)
	for _, b := range c.Bots { // some faults contain the command
		for _, word := range b.Command {
			bound += 6 * len(word)
		}
	}
	return bound
}

// checkGame checks one game and plays it again by the rules.
func (c *checker) checkGame(g *referee.GameResult) error {
	err := c.checkHead(g)
	if err == nil {
		err = c.checkSeats(g)
	}
	if err == nil {
		for _, err = range g.Verify(c.variant.Game) {
			break // the first error suffices
		}
	}
	if err == nil {
		err = c.checkInfo(g)
	}
	if err != nil {
		return newContradiction("deal %d, rotation %d: %s", g.Match.Deal, g.Match.Rotation, strings.TrimPrefix(err.Error(), "replay: "))
	}
	return nil
}

// maxGame is how much longer a game may take than its clocks allow, because programs have to start and other programs
// use the machine.
const maxGame = 24 * time.Hour

func (c *checker) checkHead(g *referee.GameResult) error {
	at := referee.ReplayMatch{Deal: g.Match.Deal, Rotation: g.Match.Rotation}
	v, err := g.Resolve(c.variant.Game)
	switch {
	case err != nil:
		return err
	case !reflect.DeepEqual(v.Settings, c.variant.Settings):
		return fmt.Errorf("its options are %.100v", g.Options)
	case g.Match.Opening != 0:
		return errors.New("it begins with an opening, which no game of a competition does")
	case g.Timba != protocol.Version:
		return fmt.Errorf("it is of version %d of the protocol", g.Timba)
	case g.Match.Seed == nil || g.Commitment != c.Commitment:
		return errors.New("its commitment is not that of the attempt")
	case !reflect.DeepEqual(g.Clock, c.clock):
		return errors.New("its clock is not that of the match")
	case g.Adjudication != nil || g.AdjudicationResult != nil:
		return errors.New("it is adjudicated, which no game of a competition is")
	case at.Deal < 0 || at.Deal >= c.Deals || at.Rotation < 0 || at.Rotation >= len(c.Bots):
		return errors.New("the match has no such game")
	case c.checkedGames[at]:
		return errors.New("it comes twice")
	case g.Took < 0 || g.Took > c.Clock.Longest(c.variant.MaxPlies, c.variant.Players)+maxGame:
		return fmt.Errorf("it took %s", g.Took)
	}
	c.checkedGames[at] = true
	return nil
}

func (c *checker) checkSeats(g *referee.GameResult) error {
	for i, s := range g.Seats {
		slot := rules.BotAt(i, g.Match.Rotation, len(c.Bots))
		b := c.Bots[slot]
		switch {
		case g.Bots[i] != slot:
			return fmt.Errorf("seat %d was played by bot %d where the rotation has bot %d", i, g.Bots[i], slot)
		case s.Name != b.Name:
			return fmt.Errorf("at seat %d sat %.60q where the match has %q", i, s.Name, b.Name)
		case s.Clock != nil || s.Untimed:
			return fmt.Errorf("seat %d has a clock of its own, or none", i)
		case b.House != "" && !ladder.IsLine(s.Version, MaxWord): // its version and its hash are those of the worker's timba
			return fmt.Errorf("the version of seat %d is %.100q: it is one printable line of at most %d bytes", i, s.Version, MaxWord)
		case b.House == "" && (s.Version != b.Label || s.SHA256 != b.Hash):
			return fmt.Errorf("at seat %d ran version %.60q with the hash %.64s where the match has %q, %s", i, s.Version, s.SHA256, b.Label, b.Hash)
		}
	}
	for _, f := range g.Faults {
		if f.Seat < 0 || f.Seat >= len(g.Seats) {
			return fmt.Errorf("a fault is of seat %d", f.Seat)
		}
		for _, text := range []string{f.Text, f.Reason.Detail, f.Reason.Name} {
			if !ladder.IsLine(text, maxFault) {
				return fmt.Errorf("a fault of seat %d has the text %.100q: it is one printable line of at most %d bytes", f.Seat, text, maxFault)
			}
		}
		if b := c.Bots[g.Bots[f.Seat]]; f.Reason.Kind.IsOfConnection() || b.House != "" && f.HouseFailed() {
			return fmt.Errorf("seat %d, %s, cannot have the fault %s", f.Seat, b.Name, f.Reason.Kind)
		}
	}
	return nil
}

// checkInfo returns an error if a game has more info (what bots report about their moves) than a worker sends
// for a seat or for a whole match.
func (c *checker) checkInfo(g *referee.GameResult) error {
	sizes := make([]int, len(g.Seats))
	for _, m := range g.Moves {
		for _, text := range m.Info {
			size := attempt.InfoSize(text)
			c.info += size
			if sizes[m.Seat] += size; sizes[m.Seat] > attempt.MaxInfo || c.info > attempt.MaxMatchInfo {
				return fmt.Errorf("it has more info than the %d bytes of a seat, or the %d of a match", attempt.MaxInfo, attempt.MaxMatchInfo)
			}
		}
	}
	return nil
}
