// Package datadir names the files of the data directory of a competition. docs/operating.md describes them.
package datadir

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
)

// Dir is the path of the data directory of a competition. Its methods without arguments return paths in it.
type Dir string

// ConfigFile is the name of the configuration file in a data directory.
const ConfigFile = "timba.toml"

// Database returns the path of the SQLite database. SQLite keeps two files beside it, whose names end in -wal
// and -shm.
func (d Dir) Database() string { return d.join("timba.db") }

// Config returns the path of the configuration file.
func (d Dir) Config() string { return d.join(ConfigFile) }

// Lock returns the path of the file that a server locks while it runs.
func (d Dir) Lock() string { return d.join("lock") }

// Bundles returns the directory of the uploads, stored as they were received.
func (d Dir) Bundles() string { return d.join("bundles") }

// Bots returns the directory of the unpacked and built bots. They can be built again from the uploads.
func (d Dir) Bots() string { return d.join("bots") }

// Archive returns the directory of the files with old replays and logs. The name of each file is its SHA-256.
func (d Dir) Archive() string { return d.join("archive") }

// Starters returns the directory of the example bots that timba demo submits.
func (d Dir) Starters() string { return d.join("starters") }

// AdminToken returns the path of the file with the admin's token, which the first start of a server writes.
func (d Dir) AdminToken() string { return d.join("admin.token") }

// Fleet returns the directory for playing on other machines. It contains the keys of the workers and the bots that
// are packed for workers.
func (d Dir) Fleet() string { return d.join("fleet") }

// Certificates returns the directory of the TLS certificate for the server's domain and its keys. The server
// can obtain a new certificate at any time.
func (d Dir) Certificates() string { return d.join("certificates") }

// Machines returns the path of a file with the list of machines that play matches, which a server updates
// while it runs.
func (d Dir) Machines() string { return d.join("machines.json") }

// Temp returns the directory of temporary files. A server empties it when it starts.
func (d Dir) Temp() string { return d.join("tmp") }

func (d Dir) join(name string) string { return filepath.Join(string(d), name) }

var sha256Hex = regexp.MustCompile(`^[0-9a-f]{64}$`)

// IsHash reports whether text is a SHA-256 in hexadecimal with small letters, as in the names of uploads and
// built bots.
func IsHash(text string) bool { return sha256Hex.MatchString(text) }

// Bundle returns the path of the upload with the given SHA-256. It returns an error unless IsHash(sum) is true.
func (d Dir) Bundle(sum string) (string, error) {
	if !IsHash(sum) {
		return "", fmt.Errorf("data: upload %q is not a SHA-256 in hexadecimal", sum)
	}
	return filepath.Join(d.Bundles(), sum), nil
}

// Bot returns the directory of the built bot whose files have the given hash. IsHash(hash) must be true.
// Versions with the same files share the directory.
func (d Dir) Bot(hash string) string { return filepath.Join(d.Bots(), hash) }

// botPath matches the path of a directory in which a bot is built or runs, on a server or a worker.
var botPath = regexp.MustCompile(`(?:file:|[A-Za-z]:)?(?:[/\\][^\s"'<>(),:;]*)?[/\\](?:bots[/\\][0-9a-f]{64}|tmp[/\\](?:version|tryout|restore)-[0-9-]+[/\\](?:source|bot)\b)[/\\]?`)

// HideBotPaths removes from the log of a bot the paths of the directories in which a server or worker builds and
// runs bots. The log then names files relative to the bot's directory, as the bot's author knows them.
func HideBotPaths(log []byte) []byte {
	if !bytes.Contains(log, []byte("bots")) && !bytes.Contains(log, []byte("tmp")) {
		return log
	}
	return botPath.ReplaceAllFunc(log, func(path []byte) []byte {
		if last := path[len(path)-1]; last == '/' || last == '\\' {
			return nil
		}
		return []byte{'.'}
	})
}

// EmptyDir creates the directory dir, or removes everything in it if it exists.
func EmptyDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// MkdirTemp creates a directory in Temp and returns its path. pattern is as for os.MkdirTemp. Other users can read
// the directory, because a bot may run as another user. The caller must remove it.
func (d Dir) MkdirTemp(pattern string) (string, error) {
	if err := os.MkdirAll(d.Temp(), 0o755); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(d.Temp(), pattern)
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755)
}

// Sync makes sure that a file, or the list of files in a directory, is on the disk. On systems without support for
// this, it does nothing.
func Sync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if runtime.GOOS == "windows" || errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil // not supported here
	}
	return errors.Join(err, f.Close())
}
