package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/attempt"
)

// frame returns a zstd frame with one uncompressed block.
func frame(content string) []byte {
	header := uint32(len(content))<<3 | 1 // the last block, raw
	return append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0, byte(header), byte(header >> 8), byte(header >> 16)}, content...)
}

// worstResults returns, for a job, the games of results that cost the server the most time. Each is as long
// as a message may be, or unpacks to as much as a result may.
func worstResults(t testing.TB, j attempt.Job) map[string][]byte {
	t.Helper()
	games := atRandom(t, j).Games
	c := kit.Get[*checker](t)(newChecker(expectationOf(j)))
	// padded returns all games, each padded to its largest size by a text that is repeated at the beginning
	// of its object.
	padded := func(fill string) []byte {
		var document bytes.Buffer
		for i, g := range games {
			document.WriteByte("[,"[min(i, 1)])
			text := kit.Get[[]byte](t)(json.Marshal(g))
			n := (c.maxGameBytes() - len(text) - 1024) / len(fill)
			if document.Len()+c.maxGameBytes() > MaxResult {
				n = 0
			}
			document.WriteString("{" + strings.Repeat(fill, n))
			document.Write(text[1:])
		}
		document.WriteByte(']')
		return compressor().EncodeAll(document.Bytes(), nil)
	}
	// said returns the games with the largest info that seats may send, in lines of a text.
	said := func(text string) []byte {
		for _, g := range games {
			left := slices.Repeat([]int{attempt.MaxInfo / attempt.InfoSize(text)}, len(g.Seats))
			for i := range g.Moves {
				m := &g.Moves[i]
				m.Info = slices.Repeat([]string{text}, left[m.Seat])
				left[m.Seat] = 0
			}
		}
		document := kit.Get[[]byte](t)(json.Marshal(games))
		return compressor().EncodeAll(document[:min(len(document), MaxResult)], nil)
	}
	moves := kit.Get[[]byte](t)(json.Marshal(games[0].Moves))
	return map[string][]byte{
		"frames of a space":    bytes.Repeat(frame(" "), MaxPacked/10-1000),
		"frames of a bracket":  bytes.Repeat(frame("["), MaxPacked/10-1000),
		"empty frames":         bytes.Repeat(frame(""), MaxPacked/9-1000),
		"skipped frames":       bytes.Repeat([]byte{0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0}, MaxPacked/8-1000),
		"frames of a quote":    append(frame(`[{"x":"`), bytes.Repeat(frame("x"), MaxPacked/10-1000)...),
		"info":                 said("a=" + strings.Repeat("<", 998)),
		"short infos":          said("a="),
		"empty infos":          said(""),
		"spaces":               padded(" "),
		"unknown fields":       padded(`"x":[],`),
		"long texts":           padded(`"x":"` + strings.Repeat("x", 1<<16) + `",`),
		"escapes":              padded(`"x":"` + strings.Repeat(`\u1234`, 1<<13) + `",`),
		"moves again":          padded(`"moves":` + string(moves) + `,`),
		"faults again":         padded(`"faults":[{},{}],`),
		"long numbers":         padded(`"Took":` + strings.Repeat("1", 18) + `,"points":[1e-300,` + strings.Repeat("1", 1000) + `],`),
		"names in other cases": padded(`"MOVES":[],`),
	}
}

// packedMessage returns a packed result with any games.
func packedMessage(t testing.TB, j attempt.Job, games []byte) []byte {
	t.Helper()
	head := kit.Get[[]byte](t)(json.Marshal(attempt.Result{Match: 1, Attempt: 1, Seed: j.Seed, Machine: "lab-1"}))
	return append(append(head, '\n'), games...)
}

// JSON that takes long to read and adds nothing to a game is refused, wherever it is.
func TestPadding(t *testing.T) {
	kit.Slow(t)
	t.Parallel()
	j := newJob("tebes", map[string]string{"size": "4"}, 2)
	for name, games := range worstResults(t, j) {
		m := packedMessage(t, j, games)
		if len(m) > MaxPacked {
			t.Errorf("%s: the message has %d bytes", name, len(m))
		}
		d := kit.Get[Delivery](t)(Unpack(m))
		err := d.Check(expectationOf(j))
		if _, ok := errors.AsType[*attempt.Contradiction](err); ok == strings.Contains(name, "info") {
			t.Errorf("%s: it is refused with %v", name, err)
		}
	}
}

// Games are read in large pieces, even if the decoder returns small ones, and not for longer than a check may take.
func TestGameReader(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(" ", 1000)
	r := &gameReader{source: iotest.OneByteReader(strings.NewReader(text)), game: 900, all: 950, end: time.Now().Add(patience)}
	for _, want := range []int{600, 300} {
		if n, err := r.Read(make([]byte, 600)); n != want || err != nil {
			t.Errorf("a read gives %d bytes, %v, want %d", n, err, want)
		}
	}
	if _, err := r.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("more than a game may have gives %v", err)
	}
	r.game = 900 // the next game
	if n, err := r.Read(make([]byte, 600)); n != 50 || err != nil {
		t.Errorf("a read gives %d bytes, %v, want what all games may still have", n, err)
	}
	r.all, r.end = 50, time.Now().Add(-time.Second)
	if _, err := r.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "too long to check") {
		t.Errorf("after its time a read gives %v", err)
	}
}

// A check that takes too long is a contradiction.
func TestCheckTime(t *testing.T) {
	t.Parallel()
	j := newJob("tebes", map[string]string{"size": "4"}, 2)
	d := kit.Get[Delivery](t)(Unpack(kit.Get[[]byte](t)(Pack(atRandom(t, j), MaxPacked))))
	err := d.unpack(kit.Get[*checker](t)(newChecker(expectationOf(j))), time.Now().Add(-time.Second))
	if _, ok := errors.AsType[*attempt.Contradiction](err); !ok || !strings.Contains(err.Error(), "too long to check") {
		t.Errorf("it is refused with %v", err)
	}
}

// One machine cannot occupy all slots for checks: a result of another machine is checked meanwhile.
func TestCheckSlots(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ slots, own int }{{1, 1}, {2, 1}, {4, 2}, {5, 2}} {
		synctest.Test(t, func(t *testing.T) {
			s := newCheckSlots(test.slots)
			running, end := map[string]int{}, make(chan struct{})
			var mu sync.Mutex
			check := func(machine string) {
				defer s.acquire(machine)()
				mu.Lock()
				running[machine]++
				mu.Unlock()
				<-end
			}
			var checks sync.WaitGroup
			for range 10 {
				checks.Go(func() { check("evil") })
			}
			synctest.Wait()
			if got := running["evil"]; got != test.own {
				t.Errorf("of %d slots one machine has %d, want %d", test.slots, got, test.own)
			}
			checks.Go(func() { check("victim") })
			synctest.Wait()
			if got := running["victim"]; got != min(1, test.slots-test.own) {
				t.Errorf("of %d slots %d are left to another machine", test.slots, got)
			}
			close(end)
			checks.Wait()
			if len(s.machines) > 0 || len(s.all) > 0 {
				t.Errorf("when all checks have ended, %d machines and %d checks are left", len(s.machines), len(s.all))
			}
		})
	}
}

// BenchmarkWorst measures the check of the results that cost the server the most time.
func BenchmarkWorst(b *testing.B) {
	j := newJob("tebes", map[string]string{"size": "4"}, 2)
	j.Deals = 250
	for name, games := range worstResults(b, j) {
		m := packedMessage(b, j, games)
		if len(m) > MaxPacked {
			b.Fatalf("%s: it has %d bytes", name, len(m))
		}
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			for b.Loop() {
				d := kit.Get[Delivery](b)(Unpack(m))
				err := d.Check(expectationOf(j))
				if _, ok := errors.AsType[*attempt.Contradiction](err); !ok && err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(d.Games)), "games")
			}
		})
	}
}
