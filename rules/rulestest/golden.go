package rulestest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
)

// Case is one golden replay: a game with some options from the seed
// SHA-256(32 zero bytes ‖ Seed), or from 32 zero bytes where Seed is "". Moves
// are made first; from there on legal moves are picked at random.
type Case struct {
	Name    string // of the file, without .txt
	Options map[string]string
	Seed    string
	Moves   string // separated by spaces
}

// Golden compares each case's replay with NAME.txt in testdata; with the flag -update it
// writes the files instead. Lines begin with the seat they are sent to, or with * when every
// seat is sent the same.
func Golden(t *testing.T, g *rules.Game, cases ...Case) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			got := kit.Get[[]byte](t)(transcript(g, c))
			kit.Golden(t, c.Name+".txt", string(got))
		})
	}
}

// transcript returns the text of a case.
func transcript(g *rules.Game, c Case) ([]byte, error) {
	v, err := g.Resolve(c.Options)
	if err != nil {
		return nil, err
	}
	var seed rules.Seed
	if c.Seed != "" {
		seed = seed.Derive(c.Seed)
	}
	stream, picks := rules.NewStream(seed), rules.NewStream(seed.Derive("moves"))
	s := v.Deal(&stream)
	var out bytes.Buffer
	fmt.Fprintf(&out, "game %s %s\nseed %x\n", g.Name, v.Settings, seed)
	var log rules.Log
	s.Start(&log)
	writeEvents(&out, v, &log)
	script := strings.Fields(c.Moves)
	for s.Turn() != rules.Over {
		legal := s.Legal(nil)
		turn := s.Turn()
		fmt.Fprintf(&out, "\n%d view %s\n%d turn %d", turn, s.View(nil, turn), turn, s.Ply())
		for _, m := range legal {
			fmt.Fprintf(&out, " %s", s.MoveText(nil, m))
		}
		m := legal[picks.Below(len(legal))]
		if len(script) > 0 {
			if m, err = s.ParseMove(script[0]); err != nil {
				return nil, err
			}
			script = script[1:]
		}
		fmt.Fprintf(&out, "\n%d move %s\n", turn, s.MoveText(nil, m))
		log.Reset()
		if err := rules.Play(s, m, &log); err != nil {
			return nil, err
		}
		writeEvents(&out, v, &log)
	}
	points := s.Points()
	fmt.Fprintf(&out, "\nend ranks=%s points=%s\n", commas(v.Ranks(points)), commas(points))
	return out.Bytes(), nil
}

func commas[T int | float64](list []T) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ",")
}

// writeEvents writes what each seat is told. What all are told first and last
// is written once; between the two each seat's lines stand by themselves.
func writeEvents(out *bytes.Buffer, v *rules.Variant, log *rules.Log) {
	told := make([][]string, v.Players)
	for seat := range told {
		told[seat] = slices.Collect(strings.Lines(string(log.Events(nil, seat, "event "))))
	}
	first := takeCommon(told)
	for _, lines := range told {
		slices.Reverse(lines)
	}
	last := takeCommon(told)
	for _, line := range first {
		fmt.Fprintf(out, "* %s", line)
	}
	for seat, lines := range told {
		for _, line := range slices.Backward(lines) {
			fmt.Fprintf(out, "%d %s", seat, line)
		}
	}
	for _, line := range slices.Backward(last) {
		fmt.Fprintf(out, "* %s", line)
	}
}

// takeCommon cuts off the lines that all lists begin with, and returns them.
func takeCommon(told [][]string) []string {
	common := told[0]
	for _, lines := range told {
		n := 0
		for n < len(common) && n < len(lines) && common[n] == lines[n] {
			n++
		}
		common = common[:n]
	}
	for seat := range told {
		told[seat] = told[seat][len(common):]
	}
	return common
}
