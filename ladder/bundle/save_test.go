package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/timba-arena/timba/ladder"
)

func TestSave(t *testing.T) {
	dir := t.TempDir()
	data := tgz(ent{name: "bot.py", body: noise(1000)})
	sum := sha256.Sum256(data)
	for range 2 { // the same again is the same
		got, err := Save(iotest.OneByteReader(bytes.NewReader(data)), dir, small)
		if err != nil || got.SHA256 != hex.EncodeToString(sum[:]) || got.Size != int64(len(data)) {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	path, err := Path(dir, hex.EncodeToString(sum[:]))
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := os.ReadFile(path); err != nil || !bytes.Equal(kept, data) {
		t.Errorf("it was not kept as it came: %v", err)
	}
	if found := listing(t, dir); len(found) != 3 { // two folders and the file
		t.Errorf("there are %d files", len(found))
	}
	for _, bad := range []string{"", "x", "../../etc/passwd", strings.Repeat("A", 64)} {
		if _, err := Path(dir, bad); err == nil {
			t.Errorf("%q has a path", bad)
		}
	}
}

// What is refused leaves nothing, whatever the reason.
func TestSaveErrors(t *testing.T) {
	good := tgz(ent{name: "bot.py", body: noise(100 << 10)})
	for name, c := range map[string]struct {
		body  io.Reader
		code  ladder.Code
		words []string
	}{
		"empty":        {strings.NewReader(""), ladder.Invalid, []string{"empty"}},
		"text":         {strings.NewReader("hello"), ladder.Invalid, []string{"no kind that is known", ".zip"}},
		"page":         {strings.NewReader("<!doctype html>" + strings.Repeat(" ", 600)), ladder.Invalid, []string{"no kind that is known"}},
		"too large":    {strings.NewReader("PK\x03\x04" + noise(256<<10)), ladder.TooLarge, []string{"256 KiB"}},
		"endless":      {io.MultiReader(strings.NewReader("PK\x03\x04"), zeros{}), ladder.TooLarge, []string{"256 KiB"}},
		"cut off":      {io.MultiReader(bytes.NewReader(good[:50_000]), iotest.ErrReader(io.ErrUnexpectedEOF)), ladder.Invalid, []string{"cut off", "send it again"}},
		"cut off soon": {io.MultiReader(bytes.NewReader(good[:5]), iotest.ErrReader(errors.New("reset by peer"))), ladder.Invalid, []string{"cut off", "reset by peer"}},
	} {
		dir := t.TempDir()
		_, err := Save(c.body, dir, small)
		if ladder.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, w := range c.words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q says nothing of %s", name, err, w)
			}
		}
		if found := listing(t, dir); len(found) != 2 { // bundles and tmp, empty
			t.Errorf("%s: %v is left", name, found)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// The machine's own failures are told as such, and say nothing of its folders.
func TestSaveUnavailable(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tmp"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Save(bytes.NewReader(tgz(ent{name: "x"})), dir, small)
	if ladder.CodeOf(err) != ladder.Unavailable || strings.Contains(err.Error(), dir) || errors.Unwrap(err) == nil {
		t.Errorf("%v, because of %v", err, errors.Unwrap(err))
	}
}

// Many at the same time, the same and others, do not meet.
func TestSaveTogether(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			if _, err := Save(bytes.NewReader(tgz(ent{name: "x", body: noise(1000 * (i % 4))})), dir, small); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if found := listing(t, dir); len(found) != 6 {
		t.Errorf("there are %d files", len(found))
	}
}

// What is refused after it has come in is gone, but for what others have.
func TestTake(t *testing.T) {
	data := tgz(ent{name: "bot.py"})
	refused := errors.New("too many")
	for _, c := range []struct {
		name    string
		add     error
		needed  bool
		unknown error
		kept    bool
	}{
		{"taken", nil, false, nil, true},
		{"refused", refused, false, nil, false},
		{"refused, but others have it", refused, true, nil, true},
		{"refused, and nobody knows", refused, false, errors.New("no database"), true},
	} {
		dir := t.TempDir()
		var sum string
		_, err := Take(bytes.NewReader(data), dir, small, func(s Saved) error {
			sum = s.SHA256
			if path, err := Path(dir, sum); err != nil {
				return err
			} else if _, err := os.Stat(path); err != nil { // it is there before it is anybody's
				return err
			}
			return c.add
		}, func(s string) (bool, error) { return c.needed && s == sum, c.unknown })
		if !errors.Is(err, c.add) {
			t.Errorf("%s: %v", c.name, err)
		}
		if found := listing(t, dir); (len(found) == 3) != c.kept {
			t.Errorf("%s: there is %v", c.name, found)
		}
	}
}
