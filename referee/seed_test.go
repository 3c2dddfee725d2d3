package referee

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
)

func TestSeedsAndDealsParseSeed(t *testing.T) {
	zeros := strings.Repeat("0", 64)
	for _, c := range []struct{ text, want string }{
		{"0", zeros},
		{"7", zeros[:63] + "7"},
		{"256", zeros[:61] + "100"},
		{"18446744073709551615", zeros[:48] + "ffffffffffffffff"},
		{zeros, zeros},
		{strings.Repeat("Fe", 32), strings.Repeat("fe", 32)},
		{strings.Repeat("1", 64), strings.Repeat("1", 64)}, // 64 digits are hexadecimal
		{"", ""},
		{"-1", ""},
		{"+1", ""},
		{"1.5", ""},
		{"0x10", ""},
		{"18446744073709551616", ""},
		{"a" + zeros[2:], ""},
		{zeros + "a", ""},
		{strings.Repeat("g", 64), ""},
	} {
		got, err := ParseSeed(c.text)
		if c.want == "" {
			if want := "is neither 64 hexadecimal digits nor a decimal number below 2^64"; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want an error that says that it %s", c.text, err, want)
			}
		} else if err != nil || hex.EncodeToString(got[:]) != c.want {
			t.Errorf("%q is %x, %v, want %s", c.text, got, err, c.want)
		}
	}
}

// Seeds made from seeds: the labels, restated, and the values of the example.
func TestSeedsAndDealsLabels(t *testing.T) {
	var zero rules.Seed
	if got, want := Hex(DealSeed(zero, 0)).String(), "3feed286b5768c47d57dee3b5ad19ca82c134687e129d020fe8e5061ca78fba9"; got != want {
		t.Errorf("deal 0 of the zero seed is %s, want %s", got, want)
	}
	if got := BotSeed(zero, 0, 0, 0); got != 1342913898756151 {
		t.Errorf("the bot's seed is %d, want 1342913898756151", got)
	}
	if got, want := Commitment(zero).String(), "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925"; got != want {
		t.Errorf("the commitment is %s, want %s", got, want)
	}
	seed := rules.Seed{1, 2, 3}
	if want := rules.Seed(sha256.Sum256(append(seed[:], "deal/12"...))); DealSeed(seed, 12) != want {
		t.Errorf("deal 12 is %x, want %x", DealSeed(seed, 12), want)
	}
	sum := sha256.Sum256(append(seed[:], "bot/12/3/4"...))
	var want uint64
	for _, b := range sum[:8] {
		want = want<<8 | uint64(b)
	}
	if got := BotSeed(seed, 12, 3, 4); got != want>>11 || got > protocol.MaxSeed {
		t.Errorf("the bot's seed is %d, want %d", got, want>>11)
	}
	if a, b := NewSeed(), NewSeed(); a == b {
		t.Error("two new seeds are the same")
	}
}

// listed is a position that has nothing but legal moves.
type listed struct {
	rules.State
	moves []rules.Move
}

func (s *listed) Legal(dst []rules.Move) []rules.Move { return append(dst, s.moves...) }

// The stand-in: one stream for the game, and for each move the first of the list after a shuffle, restated here.
func TestSeedsAndDealsStandIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		game := rules.Seed(sha256.Sum256([]byte(rapid.String().Draw(t, "seed"))))
		stream := rules.NewStream(sha256.Sum256(append(game[:], "standin"...)))
		var s listed
		g := &Game{Record: Replay{Seed: Hex(game)}, State: &s}
		for range rapid.IntRange(1, 20).Draw(t, "moves") {
			legal := rapid.SliceOfN(rapid.Uint16(), 1, rules.MaxMoves).Draw(t, "legal")
			s.moves = nil
			for _, m := range legal {
				s.moves = append(s.moves, rules.Move(m))
			}
			got := g.standInMove()
			for i := len(legal) - 1; i > 0; i-- {
				j := stream.Below(i + 1)
				legal[i], legal[j] = legal[j], legal[i]
			}
			if got != rules.Move(legal[0]) {
				t.Fatalf("the stand-in plays %d, want %d", got, legal[0])
			}
		}
	})
}
