//go:build !linux

package systemd

import (
	"context"
	"errors"
)

// Delegate returns an error: only Linux has systemd.
func Delegate(context.Context, string) error { return errors.New("systemd needs Linux") }
