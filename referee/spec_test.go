package referee_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

const specFile = "../SPEC.md"

func readSpec(t *testing.T) string {
	t.Helper()
	return string(kit.Get[[]byte](t)(os.ReadFile(specFile)))
}

// specSection returns the text of a section of SPEC.md without its heading.
func specSection(t *testing.T, name string) string {
	t.Helper()
	_, text, ok := strings.Cut(readSpec(t), "\n## "+name+"\n")
	if !ok {
		t.Fatalf("SPEC.md has no section %q", name)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// The code refers to sections by these names.
func TestShapeSections(t *testing.T) {
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(readSpec(t), -1) {
		got = append(got, m[1])
	}
	want := []string{"Words", "Shape", "Lines from the referee", "Lines from the bot", "Limits and faults", "Clocks",
		"Seeds and deals", "Openings", "Duplicate deals", "Adjudication", "Replays", "Perft", "Games", "Cards"}
	for _, g := range refereetest.SpecGames(t) {
		want = append(want, g.Display.Title)
	}
	want = append(want, "Transcripts")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Every number of the worked example, computed by what the project itself uses.
func TestSeedsAndDealsWorkedExample(t *testing.T) {
	text := specSection(t, "Seeds and deals")
	want := func(what, line string) {
		t.Helper()
		if !strings.Contains(text, line) {
			t.Errorf("%s: SPEC.md does not have %q", what, line)
		}
	}
	for block := range uint64(2) {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(make([]byte, 32), block))
		want("block", "\n"+hex.EncodeToString(sum[:])+"  -\n")
	}
	pack := slices.Clone(baraja.Pack40)
	want("pack", cards(pack[:20])+"\n"+cards(pack[20:]))
	draws, stream := rules.NewStream(rules.Seed{}), rules.NewStream(rules.Seed{})
	for i := len(pack) - 1; i > 0; i-- {
		v, j := draws.Uint32(), stream.Below(i+1)
		if i >= 34 {
			want("draw", fmt.Sprintf("\n| %d | %d | %d | `%s` and `%s` |\n", i, v, j, pack[i], pack[j]))
		}
		pack[i], pack[j] = pack[j], pack[i]
	}
	want("shuffled", cards(pack[:20])+"\n"+cards(pack[20:]))
	want("deal", fmt.Sprintf("seat 0 has `%s`, seat 1 has `%s`, and the trump card is `%s`",
		cards([]baraja.Card{pack[0], pack[2], pack[4]}), cards([]baraja.Card{pack[1], pack[3], pack[5]}), pack[6]))
	want("game seed", "\n"+hexSeed(rules.Seed{}.Derive("deal/0"))+"  -\n")
	want("bot's seed", "\n"+hexSeed(rules.Seed{}.Derive("bot/0/0/0"))+"  -\n")
	want("bot's seed", "\n"+strconv.FormatUint(ownSeed(rules.Seed{}, 0), 10)+", the seed that seat 0 is told.\n")
	commitment := sha256.Sum256(make([]byte, 32))
	want("commitment", "\n"+hex.EncodeToString(commitment[:])+"  -\n")
}

// The opening of the worked example, with its draws.
func TestOpeningsWorkedExample(t *testing.T) {
	text := specSection(t, "Openings")
	stream := rules.NewStream(rules.Seed{})
	s := refereetest.Variant(t, "teeko", "start=drop opening=3").Deal(&stream)
	var log rules.Log
	s.LogStart(&log)
	if events := string(log.AppendEvents(nil, 0, "event ")); !strings.Contains(text, "```\n"+events+"```\n") {
		t.Errorf("SPEC.md does not have the events %q", events)
	}
	draws, bare := rules.NewStream(rules.Seed{}), refereetest.Variant(t, "teeko", "start=drop").Deal(nil)
	for ply := range 3 {
		legal := bare.Legal(nil)
		v := draws.Uint32()
		k := int(v) % len(legal)
		row := fmt.Sprintf("\n| %d | %d | %d | %d | `%s` |\n", ply, len(legal), v, k, bare.MoveText(nil, legal[k]))
		if !strings.Contains(text, row) {
			t.Errorf("SPEC.md does not have %q", row)
		}
		bare.Apply(legal[k], nil)
	}
	if bare.Turn() != s.Turn() || string(bare.View(nil, 0)) != string(s.View(nil, 0)) {
		t.Errorf("the moves lead to %s, the seed to %s", bare.View(nil, 0), s.View(nil, 0))
	}
	if standard := fmt.Sprintf("`opening=%d`", rules.DefaultOpening); !strings.Contains(text, standard) {
		t.Errorf("SPEC.md does not have the default %s", standard)
	}
}

// The deals of the other games for the zero seed: what the rules deal, put into the words of the table.
func TestSeedsAndDealsTable(t *testing.T) {
	text := specSection(t, "Seeds and deals")
	for _, c := range []struct {
		game, options string
		row           func(v *rules.Variant, s rules.State) string
	}{
		{"tute", "players=4", func(v *rules.Variant, s rules.State) string {
			return fmt.Sprintf("| Tute, 4 players | seat 0 `%s`, trump card `%s` |\n", dealt(v, s)[0], key(s, "trump"))
		}},
		{"podrida", "players=4 deck=48", func(v *rules.Variant, s rules.State) string {
			d, turned := dealt(v, s), key(s, "trump")
			var log rules.Log
			for key(s, "round") == "1" {
				log.Reset()
				s.Apply(s.Legal(nil)[0], &log)
			}
			var second []string // the first four cards, from the seat after the dealer
			for i := range 4 {
				hand := hands(v, &log)[(atoi(key(s, "dealer"))+1+i)%4]
				card, _, _ := strings.Cut(hand, " ")
				second = append(second, card)
			}
			return fmt.Sprintf("| La Podrida, 4 players, 48 cards | round 1: `%s` for seats 0 to 3, `%s` turned up; round 2 begins `%s`, and `%s` is turned up |\n",
				strings.Join(d, "`, `"), turned, strings.Join(second, " "), key(s, "trump"))
		}},
		{"tebes", "board=random", func(_ *rules.Variant, s rules.State) string {
			return fmt.Sprintf("| Tebes, `board=random` | black squares %s |\n", squares(key(s, "colours"), 'b'))
		}},
		{"teeko", "start=random", func(_ *rules.Variant, s rules.State) string {
			// The view does not tell the order in which the text has them.
			order := regexp.MustCompile(`black on ([\d ]+), white on ([\d ]+) \|`).FindStringSubmatch(text)
			for i, side := range "bw" {
				list := strings.Fields(order[1+i])
				slices.SortFunc(list, func(a, b string) int { return atoi(a) - atoi(b) })
				if squares(key(s, "board"), side) != strings.Join(list, " ") {
					return fmt.Sprintf("%c on %s", side, squares(key(s, "board"), side))
				}
			}
			return order[0]
		}},
	} {
		t.Run(c.game, func(t *testing.T) {
			v := refereetest.Variant(t, c.game, c.options)
			stream := rules.NewStream(rules.Seed{})
			if row := c.row(v, v.Deal(&stream)); !strings.Contains(text, row) {
				t.Errorf("SPEC.md does not have %q", row)
			}
		})
	}
}

// key returns a value of seat 0's view.
func key(s rules.State, name string) string { return protocol.Pairs(s.View(nil, 0)).Get(name) }

// dealt returns the hands of the first deal.
func dealt(v *rules.Variant, s rules.State) []string {
	var log rules.Log
	s.LogStart(&log)
	return hands(v, &log)
}

// hands returns the events of a deal for each seat.
func hands(v *rules.Variant, log *rules.Log) (hands []string) {
	for seat := range v.Players {
		deal := regexp.MustCompile(`(?m)^deal (.*)$`).FindSubmatch(log.AppendEvents(nil, seat, ""))
		hands = append(hands, strings.ReplaceAll(string(deal[1]), ",", " "))
	}
	return hands
}

// The ten lines must be lines that a referee may send and a bot may answer.
func TestShapeTenLines(t *testing.T) {
	m := regexp.MustCompile("(?s)```python\n(.*?)```").FindStringSubmatch(specSection(t, "Shape"))
	if m == nil {
		t.Fatal("there is no example")
	}
	if n := strings.Count(m[1], "\n"); n > 10 {
		t.Errorf("the ten-line bot has %d lines", n)
	}
}

// Transcripts: the files are what the rules say, line by line, and SPEC.md names them.
func TestTranscripts(t *testing.T) {
	text := specSection(t, "Transcripts")
	var seen []string
	for _, file := range kit.Get[[]string](t)(filepath.Glob("testdata/transcripts/*.txt")) {
		head, body, _ := strings.Cut(string(kit.Get[[]byte](t)(os.ReadFile(file))), "\n")
		header := strings.Fields(strings.TrimPrefix(head, "# "))
		seen = append(seen, header[0])
		if !strings.Contains(text, "(referee/"+filepath.ToSlash(file)+")") {
			t.Errorf("SPEC.md does not have %s", file)
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			tr := newTranscript(t, header)
			if kit.Updating() {
				kit.Must(t, os.WriteFile(file, []byte(head+"\n"+tr.play(t, tr.pick)), 0o644))
				return
			}
			if diff := cmp.Diff(strings.Split(tr.play(t, tr.read(body)), "\n"), strings.Split(body, "\n")); diff != "" {
				t.Errorf("want -, the file has +: if the change is right, write it with -update\n%s", diff)
			}
			if again := newTranscript(t, header); again.play(t, again.pick) != body {
				t.Error("the moves are not those that -update makes")
			}
		})
	}
	var want []string
	for _, g := range refereetest.SpecGames(t) {
		want = append(want, g.Name)
	}
	slices.Sort(want)
	slices.Sort(seen)
	seen = slices.Compact(seen) // a game may have more than one
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("games without a transcript of their own: %s", diff)
	}
}

// sectionsOf returns the sections of SPEC.md that describe a game, its own first: Tute builds on Brisca.
func sectionsOf(g *rules.Game) []string {
	sections := []string{g.Display.Title}
	if sections[0] == "Tute" {
		sections = append(sections, "Brisca")
	}
	return sections
}

// Every event and every view key that random games bring is described.
func TestGamesEventsAndViews(t *testing.T) {
	for _, g := range refereetest.SpecGames(t) {
		var text string
		for _, name := range sectionsOf(g) {
			text += specSection(t, name)
		}
		seen := map[string]bool{}
		described := func(kind, word string) {
			if seen[kind+word] {
				return
			}
			seen[kind+word] = true
			if !regexp.MustCompile("`" + word + "[ `]").MatchString(text) {
				t.Errorf("%s: SPEC.md does not describe the %s %q", g.Name, kind, word)
			}
		}
		for _, options := range []string{"", "exchange=yes"} {
			if options != "" && !strings.Contains(fmt.Sprint(g.Options), "exchange") {
				continue
			}
			for seed := range 20 {
				tr := newTranscript(t, append([]string{g.Name, fmt.Sprintf("seed=%d", seed), "seats=0"}, strings.Fields(options)...))
				for line := range strings.Lines(tr.play(t, tr.pick)) {
					words := strings.Fields(line)
					switch words[1] {
					case "event":
						described("event", words[2])
					case "view":
						for _, pair := range words[2:] {
							key, _, _ := strings.Cut(pair, "=")
							described("view key", key)
						}
					}
				}
			}
		}
	}
}

// transcript writes a game as the bots in some seats see it.
type transcript struct {
	v      *rules.Variant
	match  rules.Seed
	shown  []int
	random rules.Stream

	s       rules.State
	pending [][]byte // lines by seat, kept until the seat's next turn
	out     bytes.Buffer
	moves   []rules.Move
}

// newTranscript parses a header: the game, the match seed, the seats shown and the options, such as "brisca
// seed=1 seats=0 players=2".
func newTranscript(t *testing.T, header []string) *transcript {
	t.Helper()
	tr := &transcript{}
	var options []string
	for _, word := range header[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "seed":
			binary.BigEndian.PutUint64(tr.match[24:], uint64(atoi(value)))
		case "seats":
			for seat := range strings.SplitSeq(value, ",") {
				tr.shown = append(tr.shown, atoi(seat))
			}
		default:
			options = append(options, word)
		}
	}
	tr.v = refereetest.Variant(t, header[0], strings.Join(options, " "))
	game := tr.match.Derive("deal/0")
	stream := rules.NewStream(game)
	tr.s = tr.v.Deal(&stream)
	tr.random = rules.NewStream(game.Derive("transcript"))
	tr.pending = make([][]byte, tr.v.Players)
	return tr
}

// pick returns a random legal move, as -update writes it.
func (tr *transcript) pick() rules.Move { return tr.moves[tr.random.Below(len(tr.moves))] }

// read returns the moves of a block: those of the seats shown from their lines, the others from pick. A wrong
// line therefore changes everything after it.
func (tr *transcript) read(block string) func() rules.Move {
	told := regexp.MustCompile(`(?m)^(\d+)> move (\S+)$`).FindAllStringSubmatch(block, -1)
	return func() rules.Move {
		picked := tr.pick()
		if !slices.Contains(tr.shown, tr.s.Turn()) {
			return picked
		}
		if len(told) == 0 || told[0][1] != strconv.Itoa(tr.s.Turn()) {
			return picked // the comparison shows it
		}
		m, err := tr.s.ParseMove(told[0][2])
		told = told[1:]
		if err != nil || tr.s.Check(m) != nil {
			return picked
		}
		return m
	}
}

// play plays to the end and returns the text of the block.
func (tr *transcript) play(t *testing.T, choose func() rules.Move) string {
	t.Helper()
	for seat := range tr.pending {
		tr.pending[seat] = protocol.AppendGame(nil, tr.v.Game.Name, gamePairs(tr.v, seat, ownSeed(tr.match, seat))...)
	}
	var log rules.Log
	tr.s.LogStart(&log)
	for {
		for seat := range tr.pending {
			tr.pending[seat] = log.AppendEvents(tr.pending[seat], seat, protocol.EventPrefix)
		}
		seat := tr.s.Turn()
		if seat == rules.Over {
			break
		}
		tr.moves = tr.s.Legal(tr.moves[:0])
		p := append(tr.pending[seat], protocol.ViewPrefix...)
		p = append(tr.s.View(p, seat), '\n')
		p = protocol.AppendTurn(p, tr.s.Ply(), 1000)
		for _, m := range tr.moves {
			p = tr.s.MoveText(append(p, ' '), m)
		}
		tr.send(seat, append(p, '\n'))
		m := choose()
		tr.answer(seat, protocol.AppendMove(nil, tr.s.MoveText(nil, m)))
		log.Reset()
		kit.Must(t, rules.Play(tr.s, m, &log))
	}
	points := tr.s.Points()
	for seat := range tr.pending {
		tr.send(seat, protocol.AppendEnd(tr.pending[seat], tr.v.Ranks(points), points))
	}
	return tr.out.String()
}

func (tr *transcript) send(seat int, lines []byte) {
	if slices.Contains(tr.shown, seat) {
		for line := range bytes.Lines(lines) {
			fmt.Fprintf(&tr.out, "%d< %s", seat, line)
		}
	}
	tr.pending[seat] = nil
}

func (tr *transcript) answer(seat int, line []byte) {
	if slices.Contains(tr.shown, seat) {
		fmt.Fprintf(&tr.out, "%d> %s", seat, line)
	}
}

// gamePairs returns the keys of a game line, in the order of SPEC.md, "Lines from the referee".
func gamePairs(v *rules.Variant, seat int, seed uint64) []protocol.KeyValue {
	var pairs []protocol.KeyValue
	for _, s := range v.Settings {
		pairs = append(pairs, protocol.KeyValue(s))
	}
	if v.Settings.Get("players") == "" {
		pairs = append(pairs, protocol.KeyValue{Name: "players", Value: strconv.Itoa(v.Players)})
	}
	return append(pairs,
		protocol.KeyValue{Name: "seat", Value: strconv.Itoa(seat)},
		protocol.KeyValue{Name: "seed", Value: strconv.FormatUint(seed, 10)},
		protocol.KeyValue{Name: "movetime", Value: "1000"})
}

// ownSeed restates BotSeed for deal 0 and rotation 0.
func ownSeed(match rules.Seed, seat int) uint64 {
	s := match.Derive(fmt.Sprintf("bot/0/0/%d", seat))
	return binary.BigEndian.Uint64(s[:8]) >> 11
}

func hexSeed(s rules.Seed) string { return hex.EncodeToString(s[:]) }

func cards(p []baraja.Card) string {
	return strings.ReplaceAll(string(baraja.Text(nil, p)), ",", " ")
}

// squares returns the squares of a board that have a letter.
func squares(board string, letter rune) string {
	var words []string
	for i, c := range board {
		if c == letter {
			words = append(words, strconv.Itoa(i))
		}
	}
	return strings.Join(words, " ")
}

func atoi(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err) // the text is the test's own
	}
	return n
}
