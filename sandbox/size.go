package sandbox

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// sizeUnits are the units of sizes, each 1024 of the one before.
var sizeUnits = []string{"k", "m", "g"}

// ParseSize returns the bytes of a size of memory such as 512m; the units are k, m and g.
func ParseSize(s string) (int64, error) {
	digits, shift := strings.ToLower(s), 0
	for i, unit := range sizeUnits {
		if rest, ok := strings.CutSuffix(digits, unit); ok {
			digits, shift = rest, 10*(i+1)
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("memory cannot be %q: try a number and k, m or g, as in 512m", s)
	}
	return n << shift, nil
}

// SizeText returns a size that ParseSize reads, in its shortest form: 1g for 1024m.
func SizeText(n int64) string {
	unit := ""
	for _, u := range sizeUnits {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, unit = n>>10, u
	}
	return fmt.Sprint(n) + unit
}
