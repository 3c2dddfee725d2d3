package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/web/client"
)

// account is the server that the user plays on, and the token there. It is kept
// in the user's configuration folder, for nobody else to read.
type account struct {
	URL   string `json:"url"`
	Token string `json:"token"`
}

// The variables that win over what is kept.
const (
	envURL   = "TIMBA_URL"
	envToken = "TIMBA_TOKEN"
)

func accountFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("login: there is no folder for configuration: %w: set %s and %s instead", err, envURL, envToken)
	}
	return filepath.Join(dir, "timba", "login.json"), nil
}

// readAccount is what is kept; nothing is no error.
func readAccount() (account, error) {
	var a account
	path, err := accountFile()
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
		return a, fmt.Errorf("login: %s cannot be read: %w: run timba login URL to write it anew", path, err)
	}
	return a, nil
}

// currentAccount is what is kept with the environment on top. A token is never
// sent to another server than the one that it was kept for.
func currentAccount() (account, error) {
	url, token := os.Getenv(envURL), os.Getenv(envToken)
	if url != "" && token != "" {
		return account{url, token}, nil // without a look at the file, which need not be there
	}
	a, err := readAccount()
	if err != nil {
		return a, err
	}
	if url != "" {
		c, err := client.New(url, "")
		if err != nil {
			return a, fmt.Errorf("%s: %w", envURL, err)
		}
		if c.URL != a.URL {
			a = account{URL: c.URL}
		}
	}
	if token != "" {
		a.Token = token
	}
	return a, nil
}

// keep writes the account, whole or not at all.
func (a account) keep() (path string, err error) {
	if path, err = accountFile(); err != nil {
		return "", err
	}
	data, err := json.MarshalIndent(a, "", " ")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("login: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "login-*") // 0600
	if err != nil {
		return "", fmt.Errorf("login: %w", err)
	}
	defer os.Remove(f.Name()) // fails when it has been renamed
	_, err = f.Write(append(data, '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("login: %w", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return "", fmt.Errorf("login: %w", err)
	}
	return path, nil
}

// connect is a client of the user's server. mine demands a token.
func connect(cmd *cobra.Command, mine bool) (*client.Client, error) {
	a, err := currentAccount()
	if err != nil {
		return nil, err
	}
	switch {
	case a.URL == "":
		return nil, fmt.Errorf("no server: run timba login URL, or set %s", envURL)
	case a.Token == "" && mine:
		return nil, fmt.Errorf("no token for %s: run timba login %s, or set %s", a.URL, a.URL, envToken)
	}
	return dial(cmd, a)
}

func dial(cmd *cobra.Command, a account) (*client.Client, error) {
	c, err := client.New(a.URL, a.Token)
	if err != nil {
		return nil, err
	}
	c.Agent = "timba/" + strings.Fields(version())[0]
	errs := cmd.ErrOrStderr()
	c.Waiting = func(why error, wait time.Duration) {
		fmt.Fprintf(errs, "%v: trying again in %s\n", why, wait.Round(100*time.Millisecond))
	}
	return c, nil
}

// since is a time for people: how long ago, or the day.
func since(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	switch d := time.Since(t); {
	case d < 0:
		return "in " + (-d).Round(time.Second).String()
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return t.Local().Format("2006-01-02")
}

// botRef splits NAME@N; a house bot's name begins with @ itself. 0 is no number.
func botRef(ref string) (bot string, version int, err error) {
	at := strings.LastIndexByte(ref, '@')
	if at <= 0 {
		return ref, 0, nil
	}
	if _, err := fmt.Sscanf(ref[at+1:], "%d", &version); err != nil || version < 1 || fmt.Sprint(version) != ref[at+1:] {
		return "", 0, fmt.Errorf("bot %q: write NAME, or NAME@N with the number of a version", ref)
	}
	return ref[:at], version, nil
}

// jsonFlag adds --json to a command.
func jsonFlag(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "json", false, "write the result as JSON")
}

// orDash is a text for a table, where nothing is a dash.
func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// readSecret is the first line of a file, or of stdin for "-".
func readSecret(cmd *cobra.Command, path string) (string, error) {
	var data []byte
	var err error
	if path == "-" {
		data, err = io.ReadAll(io.LimitReader(cmd.InOrStdin(), 4096))
	} else {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(data)), "\n")
	if line = strings.TrimSpace(line); line == "" {
		return "", errors.New("token: there is none in what was given: it begins with timba_")
	}
	return line, nil
}
