package rules

import (
	"bytes"
	"encoding/hex"
	"fmt"
)

// Hex is a seed or a hash, in JSON as hexadecimal digits.
type Hex [32]byte

// MarshalText writes 64 digits.
func (h Hex) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(h[:])), nil }

// UnmarshalText reads 64 digits, in lower case as they are written.
func (h *Hex) UnmarshalText(text []byte) error {
	if len(text) == 2*len(h) && bytes.Equal(text, bytes.ToLower(text)) {
		if _, err := hex.Decode(h[:], text); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%q is not 64 hexadecimal digits in lower case", text)
}

func (h Hex) String() string { return hex.EncodeToString(h[:]) }
