package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-shellwords"

	"github.com/timba-arena/timba/internal/kit"
)

// example is a block of commands in docs/api.md, and the answer to the last one.
type example struct {
	commands []string
	answer   string // "" if the page shows none
}

func examples(t *testing.T, path string) (list []example) {
	t.Helper()
	data := kit.Get[[]byte](t)(os.ReadFile(path))
	kind, block := "", ""
	for line := range strings.Lines(string(data)) {
		fence, isFence := strings.CutPrefix(strings.TrimRight(line, "\n"), "```")
		switch {
		case isFence && kind == "":
			kind, block = fence, ""
		case isFence && kind == "sh":
			list = append(list, example{commands: strings.Split(strings.TrimSpace(block), "\n")})
			kind = ""
		case isFence:
			list[len(list)-1].answer = block
			kind = ""
		default:
			block += line
		}
	}
	return list
}

// curl does what a curl command does, for the few flags that the page uses.
func curl(t *testing.T, command, dir string) (status int, header http.Header, body []byte) {
	t.Helper()
	words, err := shellwords.Parse(command)
	if err != nil || words[0] != "curl" {
		t.Fatalf("%s: %v", command, err)
	}
	method, url, headers := http.MethodGet, "", http.Header{}
	var data io.Reader
	for i := 1; i < len(words); i++ {
		next := func() string { i++; return words[i] }
		switch w := words[i]; w {
		case "-s":
		case "-H":
			name, value, _ := strings.Cut(next(), ": ")
			headers.Add(name, value)
		case "-d":
			method, data = http.MethodPost, strings.NewReader(next())
		case "--data-binary":
			content := kit.Get[[]byte](t)(os.ReadFile(filepath.Join(dir, strings.TrimPrefix(next(), "@"))))
			method, data = http.MethodPost, bytes.NewReader(content)
		case "-o":
			next()
		default:
			if strings.HasPrefix(w, "-") || url != "" {
				t.Fatalf("%s: %q is not known to this test", command, w)
			}
			url = w
		}
	}
	r, err := http.NewRequest(method, url, data)
	kit.Must(t, err)
	r.Header = headers
	resp, err := http.DefaultClient.Do(r)
	kit.Must(t, err)
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	kit.Must(t, err)
	return resp.StatusCode, resp.Header, body
}

// TestDocumentation runs the examples of docs/api.md against a server. Each answer has the members that the
// page shows, with values of the same type.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	server := httptest.NewServer(w.http)
	defer server.Close()
	dir := t.TempDir()
	kit.Must(t, os.WriteFile(filepath.Join(dir, "bot.tar.gz"), []byte(archive(t, "bot.py", "pass")), 0o600))
	code, _, err := w.Store.People.AddInvite(bg, 0, "eve", time.Time{})
	kit.Must(t, err)
	values := map[string]string{"TIMBA_URL": server.URL, "TIMBA_TOKEN": w.keys["ada all"], "INVITE": code}
	list := examples(t, "../../docs/api.md")
	if len(list) < 8 {
		t.Fatalf("the page has %d examples", len(list))
	}
	for _, e := range list {
		var body []byte
		for _, command := range e.commands {
			filled := os.Expand(command, func(name string) string { return values[name] })
			var status int
			status, _, body = curl(t, filled, dir)
			wrong := strings.Contains(e.answer, "urn:timba:problem")
			if status >= 400 != wrong {
				t.Errorf("%s: %d %s", command, status, body)
			}
		}
		if e.answer == "" {
			continue
		}
		var shown, got any
		if err := json.Unmarshal([]byte(e.answer), &shown); err != nil {
			t.Fatalf("the page's answer to %s: %v", e.commands[0], err)
		}
		first, _, _ := bytes.Cut(body, []byte("\n")) // the first of several JSON lines
		if err := json.Unmarshal(first, &got); err != nil {
			t.Fatalf("%s: %v: %s", e.commands[0], err, body)
		}
		for _, d := range differences("", shown, got) {
			t.Errorf("%s: %s", e.commands[len(e.commands)-1], d)
		}
	}
}

// differences returns the differences between an answer and the page. Texts without digits, such as types and
// states, must be equal; all others need only the same type.
func differences(at string, shown, got any) (out []string) {
	switch s := shown.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s is shown as an object and is %v", at, got)}
		}
		for name, value := range s {
			if _, ok := g[name]; !ok {
				out = append(out, fmt.Sprintf("%s.%s is shown and not there", at, name))
				continue
			}
			out = append(out, differences(at+"."+name, value, g[name])...)
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) < len(s) {
			return []string{fmt.Sprintf("%s is shown with %d items and is %v", at, len(s), got)}
		}
		for i := range s {
			out = append(out, differences(fmt.Sprintf("%s[%d]", at, i), s[i], g[i])...)
		}
	case string:
		g, ok := got.(string)
		if !ok || !strings.ContainsAny(s, "0123456789.") && s != g {
			out = append(out, fmt.Sprintf("%s is shown as %q and is %v", at, s, got))
		}
	default:
		if fmt.Sprintf("%T", shown) != fmt.Sprintf("%T", got) {
			out = append(out, fmt.Sprintf("%s is shown as %v and is %v", at, shown, got))
		}
	}
	return out
}
