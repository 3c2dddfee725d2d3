package check

import (
	"bytes"
	"iter"
)

// eachLine yields lines without their LF.
func eachLine(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for line := range bytes.Lines(text) {
			if !yield(bytes.TrimSuffix(line, []byte("\n"))) {
				return
			}
		}
	}
}
