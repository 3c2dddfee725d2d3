// Package size parses and formats sizes of memory and files.
package size

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is a number of bytes. As text it is a number with an optional unit k, m or g, such as 512m. The units mean
// 1024 bytes, 1024*1024 bytes and 1024*1024*1024 bytes.
type Bytes int64

var units = []string{"k", "m", "g"}

// Parse parses a size such as 512m; see Bytes. The unit may be a capital letter. Parse returns an error if the size
// is below 1 or too large for an int64.
func Parse(text string) (Bytes, error) {
	digits, shift := strings.ToLower(text), 0
	for i, unit := range units {
		if rest, ok := strings.CutSuffix(digits, unit); ok {
			digits, shift = rest, 10*(i+1)
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("cannot be %q: try a number and k, m or g, as in 512m", text)
	}
	return Bytes(n << shift), nil
}

// UnmarshalText implements encoding.TextUnmarshaler. Unlike Parse, it also accepts 0.
func (b *Bytes) UnmarshalText(text []byte) (err error) {
	if *b = 0; string(text) == "0" {
		return nil
	}
	*b, err = Parse(string(text))
	return err
}

// MarshalText implements encoding.TextMarshaler.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// String returns the shortest text of a size, such as 1g for 1024m.
func (b Bytes) String() string {
	unit := ""
	for _, u := range units {
		if b == 0 || b%1024 != 0 {
			break
		}
		b, unit = b>>10, u
	}
	return strconv.FormatInt(int64(b), 10) + unit
}
