package dataset

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// Set is a data set in memory.
type Set struct {
	Header  SetHeader // Games is the number of games that were read
	Mode    cards.Mode
	bytes   []byte
	offsets []uint32 // of each game in bytes, in units of align
}

// Load reads a data set and checks every game against the rules. path is the file, or the directory of the run that
// has generated it. If maxGames is not 0, Load reads at most this number of games.
func Load(path string, maxGames int) (*Set, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, File)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := Read(f, maxGames)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Read reads a data set, like Load, but from r.
func Read(r io.Reader, maxGames int) (*Set, error) {
	b := bufio.NewReaderSize(r, maxHeader)
	s := &Set{}
	if err := s.readHeader(b); err != nil {
		return nil, err
	}
	games := s.Header.Games
	if maxGames > 0 {
		games = min(games, maxGames)
	}
	z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	body := bufio.NewReaderSize(z, 64<<10)
	if err := s.readGames(body, games); err != nil {
		return nil, err
	}
	if games == s.Header.Games {
		if _, err := body.ReadByte(); err == nil || !errors.Is(err, io.EOF) {
			return nil, errors.Join(fmt.Errorf("the data set does not end behind its %d games: the file is damaged", games), err)
		}
	}
	s.Header.Games = games
	return s, nil
}

func (s *Set) readHeader(b *bufio.Reader) error {
	first := make([]byte, len(magic))
	if n, err := io.ReadFull(b, first); err != nil || string(first) != magic {
		return fmt.Errorf("the first line is %q, not %q: is this a file of timba-lab train data?", first[:n], magic)
	}
	line, err := b.ReadSlice('\n')
	if err == nil {
		err = json.Unmarshal(line, &s.Header)
	}
	if err != nil {
		return fmt.Errorf("the header, line 2: %w", err)
	}
	if s.Header.Games < 1 || s.Header.Games > MaxGames {
		return fmt.Errorf("the header, line 2: games cannot be %d: 1 to %d are possible", s.Header.Games, MaxGames)
	}
	s.Mode, err = cards.ParseMode(s.Header.Mode)
	return err
}

func (s *Set) readGames(r io.Reader, games int) error {
	list := s.Mode.Rules()
	var game GameRecord
	var memory [fixedBytes + MaxMoves]byte
	for i := range games {
		_, err := io.ReadFull(r, memory[:fixedBytes])
		if err == nil && memory[1] <= MaxMoves {
			_, err = io.ReadFull(r, memory[fixedBytes:fixedBytes+int(memory[1])])
		}
		if err != nil {
			return fmt.Errorf("game %d of %d: %w", i+1, s.Header.Games, err)
		}
		n, err := game.Decode(memory[:])
		if err == nil {
			err = CheckGame(s.Mode, list, &game)
		}
		if err != nil {
			return fmt.Errorf("game %d of %d: %w", i+1, s.Header.Games, err)
		}
		s.offsets = append(s.offsets, uint32(len(s.bytes)/align))
		s.bytes = append(s.bytes, memory[:n]...)
		for len(s.bytes)%align != 0 {
			s.bytes = append(s.bytes, 0)
		}
	}
	return nil
}

// align is the alignment, in bytes, of the games in Set.bytes. Set.offsets has the offset of each game divided by
// align, so that 32 bits are enough.
const align = 4

// Game sets g to game i, where i is in [0, Header.Games).
func (s *Set) Game(i int, g *GameRecord) {
	if _, err := g.Decode(s.bytes[int(s.offsets[i])*align:]); err != nil {
		panic(err) // Read has decoded it
	}
}

// Len returns the number of moves of game i.
func (s *Set) Len(i int) int { return int(s.bytes[int(s.offsets[i])*align+1]) }

// Sum returns the SHA-256 hash of the games. By this hash a training recognizes its data set. The header alone
// would not be enough, because a bot can change without changing its name.
func (s *Set) Sum() string { return fmt.Sprintf("%x", sha256.Sum256(s.bytes)) }

// Memory returns the size of the data set in memory, in bytes.
func (s *Set) Memory() int64 { return int64(cap(s.bytes)) + 4*int64(cap(s.offsets)) }
