package main

import (
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
)

const events = `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:1: left out by make check\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:2: noise\n"}
{"Action":"pass","Package":"p","Test":"TestB","Elapsed":2.5}
{"Action":"output","Package":"p","Output":"ok  \tp\t2.5s\n"}
{"Action":"pass","Package":"p","Elapsed":2.5}
{"Action":"output","Package":"q","Test":"TestC","Output":"    c_test.go:3: it is wrong\n"}
{"Action":"fail","Package":"q","Test":"TestC","Elapsed":0.5}
{"Action":"output","Package":"q","Output":"FAIL\tq\t0.5s\n"}
{"Action":"fail","Package":"q","Elapsed":0.5}
`

// TestSummary checks the output: a line for each package that passes, all output of failed tests, then what
// was slow, failed or skipped.
func TestSummary(t *testing.T) {
	r, w, err := os.Pipe()
	kit.Must(t, err)
	stdout := os.Stdout
	os.Stdout = w
	s := &summary{leftOut: map[string]int{}}
	reader := &reader{summary: s, output: map[string][]outputLine{}}
	for line := range strings.Lines(events) {
		var e event
		kit.Must(t, json.Unmarshal([]byte(line), &e))
		reader.handle(e)
	}
	t.Setenv("TESTLOG_LEFT_OUT", "NOT ROOT")
	s.print(3 * time.Second)
	os.Stdout = stdout
	w.Close()
	got := string(kit.Get[[]byte](t)(io.ReadAll(r)))
	want := "ok  \tp\t2.5s\n    c_test.go:3: it is wrong\nFAIL\tq\t0.5s\n" +
		"\nslowest packages, in seconds:\n    2.5  p\n    0.5  q\n\nslowest tests, in seconds:\n    2.5  p TestB\n    0.5  q TestC\n" +
		"\n3 s, and 0 s of processor time for building and testing\nfailed: q TestC\nLEFT OUT: left out by make check (1); NOT ROOT\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestRuns(t *testing.T) {
	if got := runs([]string{"-race", "./a", "+", "./b"}); !slices.EqualFunc(got, [][]string{{"-race", "./a"}, {"./b"}}, slices.Equal) {
		t.Errorf("%q", got)
	}
}
