// Package bundle is how a bot travels: Pack makes an archive of a folder, Save
// keeps an upload as it comes, and Unpack makes a folder of it again, whatever
// strangers have put into it.
package bundle

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/timba-arena/timba/ladder"
)

// Limits are what an archive may hold.
type Limits struct {
	Upload   int64 // bytes of the archive
	Unpacked int64 // bytes of all files together
	Files    int   // files and folders
	Depth    int   // names in a path
	Path     int   // bytes of a path
	Ratio    int64 // bytes unpacked for each byte of the archive, above RatioFree
}

// RatioFree is how much may come out of an archive however small that is: short
// files can be packed very well.
const RatioFree = 1 << 20

// Default are the limits where nothing else is said.
var Default = Limits{Upload: 16 << 20, Unpacked: 64 << 20, Files: 2000, Depth: 16, Path: 200, Ratio: 200}

// LimitsOf are the limits that an operator has chosen.
func LimitsOf(l ladder.Limits) Limits {
	limits := Default
	limits.Upload, limits.Unpacked, limits.Files = l.Upload, l.Unpacked, l.Files
	return limits
}

// File is one file of a bot.
type File struct {
	Path string // in the bot's folder, with slashes
	Size int64
	Exec bool
}

// Tree is what came out of an archive or went into one.
type Tree struct {
	Files   []File   // by path
	Folders []string // by path, "." left out
	Bytes   int64
	Top     string   // the single folder that held everything and was stripped, "" for none
	Left    []string // what was left out, as it is named
}

// The folders of a data folder that hold uploads.
const (
	bundlesDir = "bundles"
	tmpDir     = "tmp"
)

var sha256Hex = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Path is where an upload with a SHA-256 is kept in a data folder.
func Path(dir, sum string) (string, error) {
	if !sha256Hex.MatchString(sum) {
		return "", fmt.Errorf("bundle: %q is not a SHA-256 in hexadecimal", sum)
	}
	return filepath.Join(dir, bundlesDir, sum), nil
}

func invalid(hint, format string, args ...any) error {
	return ladder.Errorf(ladder.Invalid, hint, "archive: "+format, args...)
}

func tooLarge(hint, format string, args ...any) error {
	return ladder.Errorf(ladder.TooLarge, hint, "archive: "+format, args...)
}

// quote quotes a name that may be long and may be anything.
func quote(name string) string {
	const most = 120
	if len(name) > most {
		return fmt.Sprintf("%s and %d more bytes", strconv.QuoteToASCII(name[:most]), len(name)-most)
	}
	return strconv.QuoteToASCII(name)
}

// Size is a number of bytes as people write it.
func Size(n int64) string {
	switch {
	case n >= 10<<20 || n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 10<<10 || n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
