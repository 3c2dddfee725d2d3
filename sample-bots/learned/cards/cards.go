// Package cards provides Brisca and Tute in the form that models see: the modes (a game with certain options),
// positions with the history that an observer remembers, and numbers for cards and actions. Begin with Mode and
// Position.
//
// The modes, the encodings and the algorithms follow R. Arjonilla, bachelor's thesis, UOC 2024. lab/README.md says
// where they differ.
package cards

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/rules/tute"
)

// Mode is what a model is trained for: the game, Brisca or Tute, the number of players, and whether they play in
// teams. The other options are not part of it: a model plays with every combination of them. Mode is comparable.
type Mode struct {
	Tute       bool // the game is Tute; otherwise it is Brisca
	FollowOnly bool // the game is Tute with its option followonly
	Players    int  // 2 to 4
	Teams      bool // two against two; only with four players
}

// Modes returns all modes.
func Modes() (list []Mode) {
	for _, m := range []Mode{{}, {Tute: true}, {Tute: true, FollowOnly: true}} {
		for m.Players = 2; m.Players <= baraja.TableSeats; m.Players++ {
			list = append(list, m)
		}
		m.Players, m.Teams = 4, true
		list = append(list, m)
	}
	return list
}

// ModeNames returns the names of all modes.
func ModeNames() (names []string) {
	for _, m := range Modes() {
		names = append(names, m.String())
	}
	return names
}

// String returns the name of the mode, such as brisca2 or follow-teams.
func (m Mode) String() string {
	name := "brisca"
	switch {
	case m.FollowOnly:
		name = "follow"
	case m.Tute:
		name = "tute"
	}
	if m.Teams {
		return name + "-teams"
	}
	return name + strconv.Itoa(m.Players)
}

// ParseMode returns the mode with the given name, such as "brisca2". The error lists all names.
func ParseMode(name string) (Mode, error) {
	for _, m := range Modes() {
		if m.String() == name {
			return m, nil
		}
	}
	return Mode{}, fmt.Errorf("mode %q does not exist: try %s", name, strings.Join(ModeNames(), ", "))
}

// Claim returns the text by which a bot says that it plays only the mode m: the name of the game and the values of its
// options, such as "tute players=2 followonly=no".
func (m Mode) Claim() string {
	isOn := map[bool]string{false: "no", true: "yes"}
	claim := "brisca players=" + strconv.Itoa(m.Players)
	if m.Tute {
		claim = "tute players=" + strconv.Itoa(m.Players) + " followonly=" + isOn[m.FollowOnly]
	}
	if m.Players == 4 {
		claim += " teams=" + isOn[m.Teams]
	}
	return claim
}

// ModeOf returns the mode (game, number of players, teams or not) of a variant. It returns false if the game is
// neither Brisca nor Tute.
func ModeOf(v *rules.Variant) (Mode, bool) {
	switch r := v.Rules.(type) {
	case brisca.Rules:
		return modeOf(r), true
	case tute.Rules:
		m := modeOf(r.TableRules)
		m.Tute, m.FollowOnly = true, r.FollowOnly
		return m, true
	}
	return Mode{}, false
}

func modeOf(r baraja.TableRules) Mode { return Mode{Players: int(r.Players), Teams: r.Teams} }

// Variant returns the variant of the mode with the optional rules r, which must be one of m.Rules. Otherwise it
// panics.
func (m Mode) Variant(r baraja.TableRules) *rules.Variant {
	given := map[string]string{"players": strconv.Itoa(m.Players)}
	for name, on := range map[string]bool{
		"teams": m.Teams, "exchange": r.Exchange, "last10": r.Last10, "blackhand": r.BlackHand, "hunt3": r.Hunt3, "followonly": m.FollowOnly,
	} {
		if on {
			given[name] = "yes"
		}
	}
	game := brisca.Game
	if m.Tute {
		game = tute.Game
	}
	v, err := game.Resolve(given)
	if err != nil {
		panic(err) // the mode or the rules are invalid
	}
	return v
}

// Rules returns all combinations of the optional rules that the mode leaves open: 16 with two players, otherwise 8.
// The index of a combination is its RuleBits.
func (m Mode) Rules() (list []baraja.TableRules) {
	for bits := range 1 << m.RuleCount() {
		r := baraja.TableRules{Players: uint8(m.Players), Teams: m.Teams}
		if m.Players == 2 {
			r.Hunt3 = bits&1 != 0
			bits >>= 1
		}
		r.Exchange, r.Last10, r.BlackHand = bits&4 != 0, bits&2 != 0, bits&1 != 0
		list = append(list, r)
	}
	return list
}

// AllRules and NoRules are texts for Mode.Combinations. AllRules stands for all combinations of the
// optional rules, NoRules for the combination without any of them.
const (
	AllRules = "all"
	NoRules  = "none"
)

// Combinations returns the combinations of optional rules that text stands for: AllRules, NoRules, or one
// combination written as the binary digits of its RuleBits. Any other text is an error.
func (m Mode) Combinations(text string) ([]baraja.TableRules, error) {
	all := m.Rules()
	switch text {
	case AllRules:
		return all, nil
	case NoRules:
		return all[:1], nil
	}
	for i := range all {
		if fmt.Sprintf("%0*b", m.RuleCount(), RuleBits(all[i])) == text {
			return all[i : i+1], nil
		}
	}
	return nil, fmt.Errorf("rules %q do not exist in mode %s: try %s, %s, or %d digits 0 or 1 for exchange, last10, blackhand, hunt3",
		text, m, AllRules, NoRules, m.RuleCount())
}

// CheckRules returns an error if mode is not the name of a Mode (a game with certain options), or if rules is not a
// text that the method Combinations of this Mode accepts.
func CheckRules(mode, rules string) error {
	m, err := ParseMode(mode)
	if err == nil {
		_, err = m.Combinations(rules)
	}
	return err
}

// RuleCount returns the number of optional rules that the mode leaves open: 4 with two players, otherwise 3.
func (m Mode) RuleCount() int {
	if m.Players == 2 {
		return 4
	}
	return 3
}

// RuleBits returns a number with one bit for each optional rule, which is 1 if r has the rule. The binary digits,
// from the left, are exchange, last10, blackhand and, with two players, hunt3.
func RuleBits(r baraja.TableRules) (bits int) {
	rules := [...]bool{r.Exchange, r.Last10, r.BlackHand, r.Hunt3}
	n := len(rules)
	if r.Players != 2 {
		n--
	}
	for _, on := range rules[:n] {
		bits <<= 1
		if on {
			bits |= 1
		}
	}
	return bits
}

// TypicalMaxPlies returns a number of moves that a game rarely exceeds. In Tute it allows one choice of a
// pair to declare for each suit.
func (m Mode) TypicalMaxPlies() int {
	plies := baraja.TableRules{Exchange: true}.MaxPlies()
	if m.Tute {
		plies += 4
	}
	return plies
}

// MaxPoints returns the number by which points are divided to scale them to inputs of a net: 130 in Brisca,
// 230 in Tute.
func (m Mode) MaxPoints() int {
	if m.Tute {
		return 230
	}
	return baraja.AllPoints + baraja.LastBonus
}

// PointInterval returns the index of the interval to which a number of card points belongs: 0 for less than 20, 1 for
// 20 to 39, and so on, up to 6 for 120 and more. The intervals are those of R. Arjonilla's bachelor's thesis.
func PointInterval(points int16) int { return int(min(max(0, points)/20, PointIntervals-1)) }

// PointIntervals is the number of intervals into which PointInterval divides the points of a player.
const PointIntervals = 7

// Side returns the number of the side that a seat plays for: its team or, without teams, the seat.
func (m Mode) Side(seat int) int {
	if m.Teams {
		return seat % 2
	}
	return seat
}
