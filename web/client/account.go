package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	renameio "github.com/google/renameio/v2/maybe"
)

// Account has the address of the server to which the user has signed in, and the user's token. It is saved in a file
// in the user's configuration directory, which only the user can read.
type Account struct {
	URL   string `json:"url"`
	Token string `json:"token"`
}

// Environment variables that override the saved account.
const (
	EnvURL   = "TIMBA_URL"
	EnvToken = "TIMBA_TOKEN"
)

var tokenText = regexp.MustCompile(`timba_[A-Za-z0-9]+`)

// ParseToken returns the token in a text that may have quotes, a name or the word Bearer before it. source, such as the
// name of a variable, begins the error.
func ParseToken(source, text string) (string, error) {
	token := tokenText.FindString(text)
	if token == "" {
		return "", fmt.Errorf("%s: it has no token: a token is timba_ and then capital letters and digits, as the page of tokens shows it once", source)
	}
	return token, nil
}

// AccountFile returns the path of the saved account.
func AccountFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("login: the configuration directory is unknown: %w: set %s and %s instead", err, EnvURL, EnvToken)
	}
	return filepath.Join(dir, "timba", "login.json"), nil
}

// ReadAccount returns the saved account, or the zero Account if none is saved.
func ReadAccount() (Account, error) {
	var a Account
	path, err := AccountFile()
	if err != nil {
		return a, err
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &a)
	}
	if err != nil {
		return a, fmt.Errorf("login: %s cannot be read: %w: run timba login URL to write it again", path, err)
	}
	return a, nil
}

// CurrentAccount returns the saved account, with URL and Token replaced by the environment variables EnvURL and
// EnvToken if these are set. If EnvURL names another server than the saved account, the saved token is not used.
func CurrentAccount() (Account, error) {
	url, token := os.Getenv(EnvURL), os.Getenv(EnvToken)
	if token != "" {
		var err error
		if token, err = ParseToken(EnvToken, token); err != nil {
			return Account{}, err
		}
	}
	if url != "" && token != "" {
		return Account{url, token}, nil // the file need not exist
	}
	a, err := ReadAccount()
	if err != nil {
		return a, err
	}
	if url != "" {
		c, err := New(url, "")
		if err != nil {
			return a, fmt.Errorf("%s: %w", EnvURL, err)
		}
		if c.URL != a.URL {
			a = Account{URL: c.URL}
		}
	}
	if token != "" {
		a.Token = token
	}
	return a, nil
}

// Save writes the account into its file, as a whole or not at all, and returns the path of the file.
func (a Account) Save() (path string, err error) {
	if path, err = AccountFile(); err != nil {
		return "", err
	}
	data, err := json.MarshalIndent(a, "", " ")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("login: %w", err)
	}
	if err := renameio.WriteFile(path, append(data, '\n'), 0o600); err != nil {
		return "", fmt.Errorf("login: %w", err)
	}
	return path, nil
}
