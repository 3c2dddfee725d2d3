package site

import (
	"fmt"
	"html/template"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/web/board"
)

// resultCard is the result of a finished game on the site, as the page of the game shows it.
type resultCard struct {
	Result    string      // the result of the seat that the card is about: one of the results of package ladder
	Headline  string      // who has won, and the score
	Ending    string      // what ended the game, if not its score; "" otherwise
	FaultText phrase.Text // the text of a fault that Ending does not explain
	Sides     []cardSide
	Tricks    []cardTrick          // the tricks of a game in which tricks have points
	NextLevel *house.ChampionLevel // the level that the visitor can play next; nil if there is none
}

// cardSide is a side of the game (a seat or a team) with its result, on the card that shows the result of the game.
type cardSide struct {
	Rank   int
	Seats  []cardSeat
	Points string // "" if the game has no points beyond the rank
	Share  int    // the points in percent of the best side's points
	Colour string // the color of its pieces on a board: "b" or "w"
	Note   string // such as its color and its corners, its captures, or the bids that it fulfilled
}

// cardSeat is a seat on the card that shows the result of a game. It is listed under its side (the seat alone, or its
// team).
type cardSeat struct {
	Seat   int
	Name   string
	Rating string // see ratingOf
}

// cardTrick has the points of a trick and the seat that took it.
type cardTrick struct{ Seat, Points int }

// newResultCard returns the card that shows the result of a seat in the finished game p. own is the visitor's seat,
// or -1 if the visitor did not play. r is the replay of the game, and g has the rules. names has the name of the
// player at each seat. played has the replay in the form in which boards draw it.
func newResultCard(v *visit, p ladder.Play, seat, own int, r *referee.Replay, g *rules.Game, names []string, played *board.Recording) (*resultCard, error) {
	frames := played.Frames
	variant, err := r.Resolve(g)
	if err != nil {
		return nil, err
	}
	o := &resultCard{Result: ladder.PlayResult(rules.RecordOf(variant, r.Ranks, seat)), NextLevel: nextLevel(p)}
	scored := g.Display.Board == nil && len(r.Faults) == 0
	o.addSides(p, variant, r, names, scored)
	if o.addEvents(v, played); !scored {
		o.Tricks = nil
	}
	who := speaker{v, own, names}
	points, other := o.scores(variant.Side(seat), variant)
	switch o.Headline = who.say(results[o.Result], seat); {
	case scored && len(o.Sides) == 2:
		o.Headline = v.t("over.score", "Result", o.Headline, "Own", points, "Other", other)
	case scored && o.Result == ladder.PlayWin:
		o.Headline = who.say(ahead, seat, "Points", points)
	case scored:
		o.Headline = who.say(placed, seat, "Place", ordinal(v, r.Ranks[seat]), "Sides", len(o.Sides), "Points", points)
	}
	o.setEnding(who, r, g, frames)
	return o, nil
}

// voices has the keys of two versions of a text: you is for a text that addresses the visitor, and they for a text
// about another player.
type voices struct{ you, they string }

var (
	results = map[string]voices{
		ladder.PlayWin: {"over.you.win", "over.they.win"}, ladder.PlayDraw: {"over.you.draw", "over.they.draw"}, ladder.PlayLoss: {"over.you.loss", "over.they.loss"},
	}
	ahead       = voices{"over.you.ahead", "over.they.ahead"}
	placed      = voices{"over.you.place", "over.they.place"}
	faultVoices = map[fault.Kind]voices{
		fault.Resigned: {"over.you.resigned", "over.they.resigned"}, fault.Late: {"over.you.late", "over.they.late"}, fault.LateBank: {"over.you.bank", "over.they.bank"},
		fault.ConnectionLost: {"over.you.lost", "over.they.lost"},
	}
	forfeited = voices{"over.you.forfeited", "over.they.forfeited"}
)

func ordinal(v *visit, rank int) string {
	if rank <= 4 {
		return v.t("board.ordinal." + strconv.Itoa(rank))
	}
	return v.t("board.ordinal.any", "rank", rank)
}

// visitorSeat returns the seat at which the visitor played, or -1.
func visitorSeat(v *visit, p ladder.Play) int {
	for _, s := range p.People() {
		if (service.Actor{Person: ladder.Person{ID: s.PersonID}, Session: s.Session}).IsSame(v.Actor) {
			return s.Seat
		}
	}
	return -1
}

// seatOfResult returns the seat whose result the page of a finished game shows. It is own, the visitor's seat, or, if
// own is -1, the seat of the person with the best rank. ranks has the rank of each seat.
func seatOfResult(p ladder.Play, own int, ranks []int) int {
	best := p.Opener
	for _, s := range p.People() {
		switch {
		case s.Seat == own:
			return own
		case ranks[s.Seat] < ranks[best]:
			best = s.Seat
		}
	}
	return best
}

// nextLevel returns the level of difficulty above the highest level of the bots in game p. It returns nil if there is
// no higher level, if a bot took part that has no level, or if several people played.
func nextLevel(p ladder.Play) *house.ChampionLevel {
	var next *house.ChampionLevel
	if len(p.People()) > 1 {
		return nil
	}
	for _, b := range p.Bots() {
		level := levelOf(b.Bot)
		if level == nil || level.Number >= len(house.Levels()) {
			return nil
		}
		if next == nil || level.Number >= next.Number {
			next = &house.Levels()[level.Number]
		}
	}
	return next
}

func (o *resultCard) addSides(p ladder.Play, variant *rules.Variant, r *referee.Replay, names []string, scored bool) {
	points := make([]float64, variant.Sides)
	for side := range variant.Sides {
		s := cardSide{Rank: r.Ranks[side]} // the first seat of a side has the side's number
		for seat := side; seat < len(r.Seats); seat += variant.Sides {
			s.Seats = append(s.Seats, cardSeat{seat, names[seat], ratingOf(p, seat)})
			points[side] += r.Points[seat]
		}
		if scored {
			s.Points = strconv.FormatFloat(points[side], 'f', -1, 64)
		}
		o.Sides = append(o.Sides, s)
	}
	if highest := slices.Max(points); scored && highest > 0 {
		for side := range o.Sides {
			o.Sides[side].Share = int(max(0, 100*points[side]/highest))
		}
	}
	slices.SortStableFunc(o.Sides, func(a, b cardSide) int { return a.Rank - b.Rank })
}

// ratingOf returns the new rating of the person at a seat and its change, such as "1662 (+162)". It returns
// "" if the game did not change it.
func ratingOf(p ladder.Play, seat int) string {
	i := slices.IndexFunc(p.Seats, func(s ladder.PlaySeat) bool { return s.Seat == seat && s.RatingAfter != 0 })
	if i < 0 {
		return ""
	}
	before, after := math.Round(p.Seats[i].RatingBefore), math.Round(p.Seats[i].RatingAfter)
	return fmt.Sprintf("%.0f (%+.0f)", after, after-before)
}

// scores returns, as texts, the points of the given side and the points of the best other side. A text is "" if the
// game counts no points or has no such side.
func (o *resultCard) scores(side int, variant *rules.Variant) (own, other string) {
	for _, s := range o.Sides {
		if variant.Side(s.Seats[0].Seat) == side {
			own = s.Points
		} else if other == "" {
			other = s.Points
		}
	}
	return own, other
}

// addEvents adds to the card what the events of game g show: the points of the tricks, and notes about captures and
// bids. For a board game, it also sets the colors of the sides.
func (o *resultCard) addEvents(v *visit, g *board.Recording) {
	seats, b, columns := len(g.Seats), g.Display.Board, g.Columns()
	captures, kept := make([]int, seats), make([]int, seats)
	before, rounds, captured := make([]int, seats), 0, false
	for _, f := range g.Frames {
		for _, event := range f.Events.All {
			verb, rest, _ := strings.Cut(event, " ")
			words := parseNumbers(rest)
			switch {
			case verb == "trick" && len(words) == 2:
				o.Tricks = append(o.Tricks, cardTrick{words[0], words[1]})
			case verb == "song" && len(words) == 2 && len(o.Tricks) > 0:
				o.Tricks[len(o.Tricks)-1].Points += words[1]
			case verb == "capture" && len(words) == 2:
				captures[words[0]]++
				captured = true
			case verb == "score" && len(words) == seats:
				rounds++
				for seat, points := range words {
					if points > before[seat] {
						kept[seat]++
					}
				}
				before = words
			}
		}
	}
	for i := range o.Sides {
		s := &o.Sides[i]
		seat := s.Seats[0].Seat
		var notes []string
		if b != nil {
			s.Colour = b.Sides[seat : seat+1]
			notes = append(notes, v.t("board.colour."+s.Colour))
			if wanted := cornersOf(b, s.Colour, columns); wanted != nil {
				notes = append(notes, v.t("over.corners", "Squares", strings.Join(wanted, ", ")))
			}
		}
		switch {
		case captured:
			notes = append(notes, v.t("over.captures", "Count", captures[seat]))
		case rounds > 0:
			notes = append(notes, v.t("over.kept", "Kept", kept[seat], "Rounds", rounds))
		}
		for k, note := range notes {
			notes[k] = strings.ReplaceAll(note, " ", "\u00a0") // lines break only between notes
		}
		s.Note = strings.Join(notes, " · ")
	}
}

// cornersOf returns the names of the corner squares that a side has to occupy to win. The board is square and has the
// given number of columns. side is the letter of the side's pieces. If the game has no such goal, it returns nil.
func cornersOf(b *rules.Board, side string, columns int) (list []string) {
	for i, square := range cornerSquares(columns) {
		if b.Corners != "" && b.Corners[i:i+1] == side {
			list = append(list, rules.SquareName(square, columns))
		}
	}
	return list
}

// cornerSquares returns the numbers of the four corner squares of a square board, in the order of
// rules.Board.Corners. Squares are numbered row by row.
func cornerSquares(columns int) [4]int {
	return [4]int{0, columns - 1, columns * (columns - 1), columns*columns - 1}
}

// parseNumbers returns the numbers in text, which are separated by spaces, or nil if one word is not a number.
func parseNumbers(text string) (list []int) {
	for word := range strings.FieldsSeq(text) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil
		}
		list = append(list, n)
	}
	return list
}

// setEnding sets o.Ending, the text about what ended the game: a fault, the way in which a board game ended,
// or an event that won a card game at once. If only the points decided, Ending stays "".
func (o *resultCard) setEnding(who speaker, r *referee.Replay, g *rules.Game, frames []board.Frame) {
	if len(r.Faults) > 0 {
		f := r.Faults[0]
		text, known := faultVoices[f.Reason.Kind]
		if !known {
			text, o.FaultText = forfeited, f.TextIn(fault.Circumstances{})
		}
		o.Ending = who.say(text, f.Seat)
		return
	}
	if b := g.Display.Board; b != nil {
		if who.hasTexts(g.Name) { // games of other modules may end in other ways
			o.Ending = who.t(endingOf(b, lastView(frames), r.Ranks))
		}
		return
	}
	for _, event := range frames[len(frames)-1].Events.All {
		if words := strings.Fields(event); words[0] == "instant" {
			seat, _ := strconv.Atoi(words[1]) // the referee wrote it
			o.Ending = who.event(words[2], seat)
			return
		}
	}
}

// endingOf returns the key of the text that says how a board game between two sides ended. view is what all seats see
// of the last position. ranks has the rank of each side.
func endingOf(b *rules.Board, view map[string]string, ranks []int) string {
	first, last := slices.Index(ranks, 1), slices.Index(ranks, 2)
	if last < 0 {
		return "over.end.limit"
	}
	if b.Corners == "" {
		return "over.end.shape"
	}
	pieces, won := view[b.Pieces], b.Sides[first]
	held := true
	for i, square := range cornerSquares(rules.Columns(pieces)) {
		held = held && (b.Corners[i] != won || pieces[square] == won)
	}
	switch {
	case held:
		return "over.end.corners"
	case strings.Count(pieces, b.Sides[last:last+1]) < 2:
		return "over.end.pieces"
	}
	return "over.end.stuck"
}

// lastView returns what all seats see of the last position. It combines all frames, because each frame has only the
// values that changed.
func lastView(frames []board.Frame) map[string]string {
	view := map[string]string{}
	for _, f := range frames {
		maps.Copy(view, f.Common)
	}
	return view
}

// speaker makes sentences that say what a seat did. It addresses the visitor in the second person and calls other
// players by their names.
type speaker struct {
	*visit
	ownSeat int // the visitor's seat, or -1
	names   []string
}

func (s speaker) say(text voices, seat int, args ...any) string {
	if seat == s.ownSeat {
		return s.t(text.you, args...)
	}
	return s.t(text.they, append(args, "Name", s.names[seat])...)
}

// event returns a sentence, in the words of the boards, that says what a seat did in a game. key is the last part of
// the key of the text, and names the event.
func (s speaker) event(key string, seat int) string {
	if seat == s.ownSeat {
		return s.t("board.you." + key)
	}
	return s.t("board.event."+key, "who", s.names[seat])
}

// trickWidth and trickHeight are the size of a bar in the chart of tricks, in units of the viewBox of the SVG.
const trickWidth, trickHeight = 10, 44

// Chart draws the points of the tricks as bars in the colors of the seats that took them.
func (o *resultCard) Chart() template.HTML {
	highest := 1
	for _, t := range o.Tricks {
		highest = max(highest, t.Points)
	}
	var b strings.Builder
	b.WriteString(`<svg class="tricks" viewBox="0 0 ` + strconv.Itoa(trickWidth*len(o.Tricks)) + ` 44" preserveAspectRatio="none" aria-hidden="true">`)
	for i, t := range o.Tricks {
		height := max(2, t.Points*trickHeight/highest)
		b.WriteString(`<rect class="seat` + strconv.Itoa(t.Seat) + `" x="` + strconv.Itoa(trickWidth*i+1) + `" y="` + strconv.Itoa(trickHeight-height) +
			`" width="` + strconv.Itoa(trickWidth-2) + `" height="` + strconv.Itoa(height) + `"><title>` + strconv.Itoa(t.Points) + `</title></rect>`)
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}
