package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
)

// receiveAndStore receives and stores an upload.
func receiveAndStore(r io.Reader, dir datadir.Dir, l Limits) (*ReceivedArchive, error) {
	u, err := Receive(r, dir, l)
	if err == nil {
		err = u.Store()
	}
	return u, err
}

func TestSave(t *testing.T) {
	dir := datadir.Dir(t.TempDir())
	data := tgz(testEntry{name: "bot.py", body: noise(1000)})
	sum := sha256.Sum256(data)
	for range 2 { // the same upload again changes nothing
		got, err := receiveAndStore(iotest.OneByteReader(bytes.NewReader(data)), dir, small)
		if err != nil || got.SHA256 != hex.EncodeToString(sum[:]) || got.Size != int64(len(data)) {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	path := kit.Get[string](t)(dir.Bundle(hex.EncodeToString(sum[:])))
	if kept, err := os.ReadFile(path); err != nil || !bytes.Equal(kept, data) {
		t.Errorf("it was not kept as it came: %v", err)
	}
	if found := kit.Tree(t, string(dir)); len(found) != 3 { // two directories and the file
		t.Errorf("there are %d files", len(found))
	}
	for _, bad := range []string{"", "x", "../../etc/passwd", strings.Repeat("A", 64)} {
		if _, err := dir.Bundle(bad); err == nil {
			t.Errorf("%q has a path", bad)
		}
	}
}

// A refused upload leaves no files, whatever the reason.
func TestSaveErrors(t *testing.T) {
	// limit: limits.upload
	good := tgz(testEntry{name: "bot.py", body: noise(100 << 10)})
	for name, c := range map[string]struct {
		body  io.Reader
		code  ladder.ErrorCode
		words []string
	}{
		"empty":        {strings.NewReader(""), ladder.Invalid, []string{"empty"}},
		"text":         {strings.NewReader("hello"), ladder.Invalid, []string{"archive is unknown", ".zip"}},
		"page":         {strings.NewReader("<!doctype html>" + strings.Repeat(" ", 600)), ladder.Invalid, []string{"archive is unknown"}},
		"too large":    {strings.NewReader("PK\x03\x04" + noise(256<<10)), ladder.TooLarge, []string{"256 KiB"}},
		"endless":      {io.MultiReader(strings.NewReader("PK\x03\x04"), zeros{}), ladder.TooLarge, []string{"256 KiB"}},
		"cut off":      {io.MultiReader(bytes.NewReader(good[:50_000]), iotest.ErrReader(io.ErrUnexpectedEOF)), ladder.Invalid, []string{"cut off", "send it again"}},
		"cut off soon": {io.MultiReader(bytes.NewReader(good[:5]), iotest.ErrReader(errors.New("reset by peer"))), ladder.Invalid, []string{"cut off", "reset by peer"}},
	} {
		dir := datadir.Dir(t.TempDir())
		_, err := receiveAndStore(c.body, dir, small)
		wantError(t, name, err, c.code, c.words)
		if found := kit.Tree(t, string(dir)); len(found) != 2 { // bundles and tmp, empty
			t.Errorf("%s: %v is left", name, found)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Failures of the machine have the code Unavailable and do not reveal its directories.
func TestSaveUnavailable(t *testing.T) {
	dir := datadir.Dir(t.TempDir())
	kit.Must(t, os.WriteFile(dir.Temp(), nil, 0o644))
	_, err := receiveAndStore(bytes.NewReader(tgz(testEntry{name: "x"})), dir, small)
	if ladder.CodeOf(err) != ladder.Unavailable || strings.Contains(err.Error(), string(dir)) || errors.Unwrap(err) == nil {
		t.Errorf("%v, because of %v", err, errors.Unwrap(err))
	}
}

// Many concurrent uploads, equal and different ones, do not disturb each other.
func TestSaveTogether(t *testing.T) {
	dir := datadir.Dir(t.TempDir())
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			if _, err := receiveAndStore(bytes.NewReader(tgz(testEntry{name: "x", body: noise(1000 * (i % 4))})), dir, small); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if found := kit.Tree(t, string(dir)); len(found) != 6 {
		t.Errorf("there are %d files", len(found))
	}
}

// A discarded upload is removed, but not an equal one that is stored.
func TestDiscard(t *testing.T) {
	data := tgz(testEntry{name: "bot.py"})
	for _, c := range []struct {
		name               string
		keep, others, kept bool
	}{
		{"taken", true, false, true},
		{"taken, and others have it", true, true, true},
		{"refused", false, false, false},
		{"refused, but others have it", false, true, true},
	} {
		dir := datadir.Dir(t.TempDir())
		if c.others {
			if _, err := receiveAndStore(bytes.NewReader(data), dir, small); err != nil {
				t.Fatal(err)
			}
		}
		u := kit.Get[*ReceivedArchive](t)(Receive(bytes.NewReader(data), dir, small))
		if c.keep {
			kit.Must(t, u.Store())
		}
		u.Discard()
		found := kit.Tree(t, string(dir))
		if (len(found) == 3) != c.kept {
			t.Errorf("%s: there is %v", c.name, found)
		}
	}
}
