package rulestest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules/rulestest/toy"
)

var toyOptions = Options{Total: toy.Total, Sound: toy.Sound}

// The toy game without a fault passes everything.
func TestRun(t *testing.T) { Run(t, toy.New(""), toyOptions) }

func FuzzPlay(f *testing.F) { Fuzz(f, toy.New(""), toyOptions) }

func TestGolden(t *testing.T) {
	Golden(t, toy.New(""),
		Case{Name: "high"},
		Case{Name: "low-scripted", Options: map[string]string{"best": "low"}, Seed: "2", Moves: "6"})
}

// faultTable lists the faults of the toy game and what the kit says to each.
var faultTable = []struct{ fault, says string }{
	{"", ""},
	{"option default", "options: cards: 5 is not in a range"},
	{"option help", "options: best: the help is empty"},
	{"option twice", "options: cards is listed twice"},
	{"option error", "name the game first"},
	{"display", `display: the view has no key "trick"`},
	{"settings", "settings: "},
	{"sides", "settings: there is only one side"},
	{"shape", "shape: sliceState.waste is a slice"},
	{"deal any", "deal: seed 0 gives two different positions"},
	{"deal one", "deal: every seed gives the same position"},
	{"chance", "deal: the position depends on the seed"},
	{"turn", "turn: 2 is not a seat"},
	{"legal empty", "and over is false"},
	{"legal overwrites", "legal: does not append"},
	{"legal unsorted", "stands before"},
	{"legal double", "stands before"},
	{"check strict", "check: refuses the legal move"},
	{"check over", "after the end, not ErrOver"},
	{"check lax", "check: accepts the move 300"},
	{"check trace", "changes the state"},
	{"check error", `error: "it cannot be done": name the game first`},
	{"start leaks", "start: seat 0 sees"},
	{"start changes", "start: changes the state"},
	{"ply", "ply: is 2 after 2"},
	{"apply log", "apply: gives another position without a log"},
	{"event leaks", "can tell a redeal by"},
	{"event text", "has an empty word"},
	{"points", "total: points [0 0], not"},
	{"seats", "points: [0] for 2 players"},
	{"text same", `text: "1" reads back as`},
	{"parse error", "name the game first"},
	{"parse lax", "reads as the move"},
	{"view leaks", "view leaks"},
	{"view empty", "is no key=value of its own"},
	{"view key", `"hand=-"`},
	{"clone", "clone: is not the same position"},
	{"apply allocates", "apply: a game allocates"},
	{"redeal nothing", "redeal: no redeal changed"},
	{"redeal doubles", "redeal: sound: the cards"},
	{"redeal own", "view leaks"},
	{"from view refuses", "from view: seat"},
	{"from view doubles", "from view: sound: the cards"},
	{"from view fixed", "arrangements"},
	{"from view lax", "from view: "},
}

// Every fault is found, and the error says what is wrong.
func TestFaults(t *testing.T) {
	for _, row := range faultTable {
		t.Run(row.fault, func(t *testing.T) {
			err := check(toy.New(row.fault), toyOptions)
			if row.fault == "" {
				if err != nil {
					t.Fatalf("the game without a fault: %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), row.says) {
				t.Fatalf("says %v, not %q", err, row.says)
			}
		})
	}
}

// The fuzz helper finds faults that it is led to.
func TestFuzzFaults(t *testing.T) {
	for fault, data := range map[string]string{
		"check lax":   "\x00\x01\x00\x00\xc0\x01\x2c",
		"parse lax":   "\x00\x01\x00\x00\xf0\x0201",
		"view leaks":  "\x00\x01\x00\x00\x00\x00\xe0\x00",
		"legal empty": "\x00\x01\x00\x00\x00\x00\x00",
		"points":      "",
	} {
		if err := fuzz(toy.New(fault), toyOptions, []byte(data)); err == nil {
			t.Errorf("%s: nothing found", fault)
		}
		if err := fuzz(toy.New(""), toyOptions, []byte(data)); err != nil {
			t.Errorf("%s: without the fault: %v", fault, err)
		}
	}
}

// Events that seats see differently stand between those that all see.
func TestGoldenEvents(t *testing.T) {
	got, err := transcript(toy.New(""), Case{})
	kit.Must(t, err)
	if head := "game toy cards=3 best=high\nseed 00"; !strings.HasPrefix(string(got), head) {
		t.Errorf("begins %.60q", got)
	}
	for _, line := range []string{"\n0 event deal ", "\n1 event deal ", "\n* event trick ", "\nend ranks="} {
		if !strings.Contains(string(got), line) {
			t.Errorf("has no line %q:\n%s", line, got)
		}
	}
	if _, err := transcript(toy.New(""), Case{Moves: "7 7"}); err == nil {
		t.Error("accepts an illegal script")
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) != 2 {
		t.Fatalf("golden files: %v, %v", files, err)
	}
	for _, name := range files {
		if text, err := os.ReadFile(name); err != nil || strings.Count(string(text), "\n0 move ") != 3 {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}
