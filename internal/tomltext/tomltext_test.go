package tomltext

import (
	"testing"
	"time"

	"github.com/BurntSushi/toml"
)

func TestMessage(t *testing.T) {
	t.Parallel()
	type table struct {
		Text    string
		Number  int
		Share   float64
		Wait    time.Duration
		Yes     bool
		List    []string
		Options map[string]string
		Inner   struct{ Number int }
		Tables  []struct{ Number int }
	}
	const noQuotes = ` is not in quotes: write text as "text", and a list of words as ["one", "two"]`
	for document, want := range map[string]string{
		"text = mine":                      `line 1: text: "mine"` + noQuotes,
		"\nlist = one two":                 `line 2: list: "one"` + noQuotes,
		"list = [one, two]":                `line 1: list: "one"` + noQuotes,
		"[inner]\nnumber = five":           `line 2: inner.number: "five"` + noQuotes,
		"text = 5":                         "line 1: text: must be text in quotes, not a number without quotes",
		"[inner]\nnumber = \"5\"":          "line 2: inner.number: must be a whole number without quotes, not text in quotes",
		"number = 5.5":                     "line 1: number: must be a whole number without quotes, not a number with a point",
		"share = \"1\"":                    "line 1: share: must be a number without quotes, not text in quotes",
		"yes = 1":                          "line 1: yes: must be true or false, not a number without quotes",
		"list = \"one\"":                   "line 1: list: must be a list in brackets, or a list of tables, as in [[name]], not text in quotes",
		"list = [1]":                       "line 1: list: must be text in quotes, not a number without quotes",
		"options = {players = 3}":          "line 1: options.players: must be text in quotes, not a number without quotes",
		"inner = 5":                        "line 1: inner: must be a table, as in {name = value}, not a number without quotes",
		"[tables]\nnumber = 5":             "line 1: tables: must be a list in brackets, or a list of tables, as in [[name]], not a table",
		"list = [\"one\"":                  "line 1: list: expected a comma (',') or array terminator (']'), but got end of file",
		"number = 99999999999999999999999": "line 1: number: 99999999999999999999999 is out of range",
		"text = \"one\ntwo\"":              "line 1: text: the quote that ends the text is missing: both quotes stand in one line",
		"wait = \"30 seconds\"":            `line 1: wait: cannot be "30 seconds": try a number and its unit without a space, as in 250ms, 30s, 5m or 1h30m`,
		"text = “one”":                     `line 1: text: text begins and ends with straight quotes: write "text"`,
	} {
		_, err := toml.Decode(document, new(table))
		if err == nil {
			t.Errorf("%q is read", document)
		} else if got := Message(err); got.String() != want {
			t.Errorf("%q: %s\nwant %s", document, got, want)
		}
	}
}
