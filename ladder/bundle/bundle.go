// Package bundle handles the archives in which bots are uploaded: Pack makes an archive of a directory,
// Receive stores an upload, and Unpack extracts it. Receive and Unpack accept archives from strangers.
package bundle

import (
	"fmt"
	"io/fs"
	"strconv"

	"github.com/timba-arena/timba/ladder"
)

// Limits are the limits for an archive and its content.
type Limits struct {
	UploadSize   int64 // bytes of the archive
	UnpackedSize int64 // bytes of all files together
	Files        int   // number of files and directories
	Depth        int   // number of names in a path
	PathSize     int   // bytes of a path
	Ratio        int64 // unpacked bytes per byte of the archive, if it unpacks to more than RatioFree
}

// RatioFree is the size, in bytes, up to which an archive may unpack without regard to Limits.Ratio. Short files can
// be compressed very well.
const RatioFree = 1 << 20

// Default has the default limits.
var Default = Limits{UploadSize: 16 << 20, UnpackedSize: 64 << 20, Files: 2000, Depth: 16, PathSize: 200, Ratio: 200}

// LimitsOf returns the default limits, but with the configured upload size in l and four times that as the unpacked
// size.
func LimitsOf(l ladder.Limits) Limits {
	limits := Default
	limits.UploadSize, limits.UnpackedSize = int64(l.Upload), 4*int64(l.Upload)
	return limits
}

// Limits of a built bot.
const (
	MaxBuilt      = 256 << 20 // bytes of all files
	MaxBuiltFiles = 10_000    // files and directories
)

// BotFile is one file of a bot.
type BotFile struct {
	Path string // relative to the bot's directory, with slashes
	Size int64
	Exec bool // whether it is executable
}

func (f BotFile) mode() fs.FileMode {
	if f.Exec {
		return 0o755
	}
	return 0o644
}

// Tree is the list of the files and directories in an uploaded archive of a bot.
type Tree struct {
	Files        []BotFile // sorted by path
	Dirs         []string  // sorted paths, without "."
	Bytes        int64     // of all files
	Top          string    // directory that contains everything, which was removed from all paths; "" if there is none
	SkippedPaths []string  // paths in the archive that are not part of the bot
}

func invalid(hint, format string, args ...any) error {
	return ladder.Errorf(ladder.Invalid, hint, format, args...)
}

func tooLarge(hint, format string, args ...any) error {
	return ladder.Errorf(ladder.TooLarge, hint, format, args...)
}

// quote returns name quoted, in ASCII and shortened.
func quote(name string) string {
	const maxName = 120
	if len(name) > maxName {
		return fmt.Sprintf("%s and %d more bytes", strconv.QuoteToASCII(name[:maxName]), len(name)-maxName)
	}
	return strconv.QuoteToASCII(name)
}

// FormatSize formats a number of bytes for people, such as "16 MiB".
func FormatSize(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 10<<20 || n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 10<<10 || n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
