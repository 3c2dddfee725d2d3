package client

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// The environment overrides the saved account, and a token is sent only to the server that it was saved for.
func TestCurrentAccount(t *testing.T) {
	for name, c := range map[string]struct{ url, token, wantURL, wantToken string }{
		"kept":             {"", "", "http://kept:1", "secret"},
		"same server":      {"http://kept:1/", "", "http://kept:1", "secret"},
		"another server":   {"http://other:2", "", "http://other:2", ""},
		"another token":    {"", "timba_MINE", "http://kept:1", "timba_MINE"},
		"all from outside": {"http://other:2", "timba_MINE", "http://other:2", "timba_MINE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_CONFIG_HOME", t.TempDir())
			t.Setenv("HOME", os.Getenv("XDG_CONFIG_HOME"))
			if _, err := (Account{"http://kept:1", "secret"}).Save(); err != nil {
				t.Fatal(err)
			}
			t.Setenv(EnvURL, c.url)
			t.Setenv(EnvToken, c.token)
			a, err := CurrentAccount()
			if err != nil || a != (Account{c.wantURL, c.wantToken}) {
				t.Errorf("got %+v, %v", a, err)
			}
		})
	}
}

// A token is found in what people paste around it, and a text without one is an error that does not repeat the text.
func TestParseToken(t *testing.T) {
	for _, text := range []string{"timba_A2", " timba_A2\r\n", `"timba_A2"`, "Bearer timba_A2", "export TIMBA_TOKEN=timba_A2", "token: timba_A2\nmore"} {
		if token, err := ParseToken("token", text); err != nil || token != "timba_A2" {
			t.Errorf("%q has the token %q, %v", text, token, err)
		}
	}
	for _, text := range []string{"secret", "timba_", "\x1f\x8b"} {
		if _, err := ParseToken("token", text); err == nil || !strings.HasPrefix(err.Error(), "token: it has no token: a token is timba_ and then") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Only the user can read the saved account. A missing file is not an error, and the error for an unreadable
// file says how to write it again.
func TestAccountFile(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", os.Getenv("XDG_CONFIG_HOME"))
	if a, err := ReadAccount(); err != nil || a != (Account{}) {
		t.Errorf("nothing is %+v, %v", a, err)
	}
	path, err := Account{"http://x:1", "secret"}.Save()
	kit.Must(t, err)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 {
		t.Errorf("there are %q", left)
	}
	kit.Must(t, os.WriteFile(path, []byte("{"), 0o600))
	if _, err := ReadAccount(); err == nil || !strings.Contains(err.Error(), "run timba login URL") {
		t.Errorf("a broken file: %v", err)
	}
}
