package phrase_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
)

var catalan = map[string]string{
	"bot %q has no version %d": "la versió %[2]d no és de %[1]q",
	"the bot has no name: %s":  "el bot no té nom: %s",
	"it is empty":              "és buit",
	"%s needs a token":         "cal un token",
}

// TestText checks that a text in English is what fmt writes, and that a translation can place its values.
func TestText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text        phrase.Text
		english, ca string
		complete    bool
	}{
		{phrase.New("bot %q has no version %d", "a b", 3), `bot "a b" has no version 3`, `la versió 3 no és de "a b"`, true},
		{phrase.New("%s needs a token", "to submit a bot"), "to submit a bot needs a token", "cal un token", true}, // a value is left out
		{phrase.New("100 %é %s", "x"), "100 %é x", "100 %é x", false},
		{phrase.New("the bot has no name: %s", phrase.New("it is empty")), "the bot has no name: it is empty", "el bot no té nom: és buit", true},
		{phrase.New("the bot has no name: %v", phrase.Errorf("it is empty")), "the bot has no name: it is empty", "the bot has no name: és buit", false},
		{phrase.New("the bot has no name: %s", "it is empty"), "the bot has no name: it is empty", "el bot no té nom: it is empty", true},
		{phrase.New("%s: %s", "file", phrase.New("it is empty")), "file: it is empty", "file: és buit", true},
		{phrase.New("%s: %s", "file", phrase.New("it is not empty")), "file: it is not empty", "file: it is not empty", false},
		{phrase.Join("; ", phrase.New("it is empty"), phrase.New("it is empty")), "it is empty; it is empty", "és buit; és buit", true},
		{phrase.New("%.1f %% of %02x, %v", 1.25, 10, true), "1.2 % of 0a, true", "1.2 % of 0a, true", false},
		{phrase.New("one %s of %s", "two"), "one two of %s", "one two of %s", false},
		{phrase.Plain("it is empty"), "it is empty", "it is empty", false},
		{phrase.Text{}, "", "", false},
	} {
		if got := c.text.String(); got != c.english {
			t.Errorf("%+v is %q, want %q", c.text, got, c.english)
		}
		if got, complete := c.text.Translate(catalan); got != c.ca || complete != c.complete {
			t.Errorf("%+v is %q, %v, want %q", c.text, got, complete, c.ca)
		}
		data := kit.Get[[]byte](t)(json.Marshal(c.text))
		var again phrase.Text
		kit.Must(t, json.Unmarshal(data, &again))
		if !again.Equal(c.text) {
			t.Errorf("%s is read as %+v", data, again)
		}
	}
	want := `["bot %q has no version %d","\"a\"","3"]`
	if data := kit.Get[[]byte](t)(json.Marshal(phrase.New("bot %q has no version %d", "a", 3))); string(data) != want {
		t.Errorf("in JSON it is %s, want %s", data, want)
	}
	for _, damaged := range []string{`[]`, `[["a"]]`, `7`, `["a", 7]`} {
		if err := json.Unmarshal([]byte(damaged), new(phrase.Text)); err == nil {
			t.Errorf("%s is read", damaged)
		}
	}
}

// TestError checks that an error has a text, wraps its cause, and stays translatable in the text of another error.
func TestError(t *testing.T) {
	t.Parallel()
	err := phrase.Errorf("the bot has no name: %w", fs.ErrNotExist)
	if err.Error() != "the bot has no name: file does not exist" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is %v", err)
	}
	if text, _ := phrase.FromError(phrase.Errorf("the bot has no name: %s", fs.ErrNotExist)).Translate(catalan); text != "el bot no té nom: file does not exist" {
		t.Errorf("in Catalan it is %q", text)
	}
	wrapped := fmt.Errorf("reading: %w", phrase.Errorf("it is empty"))
	if diff := cmp.Diff(phrase.Plain("reading: it is empty"), phrase.FromError(wrapped)); diff != "" {
		t.Errorf("an error without a text (-want +got): %s", diff)
	}
}

// TestMap checks that Map changes values but not formats.
func TestMap(t *testing.T) {
	t.Parallel()
	text := phrase.New("bot %s: %s", "x", phrase.Plain("x y")).Map(strings.ToUpper)
	if got := text.String(); got != "bot X: X Y" {
		t.Errorf("it is %q", got)
	}
}
