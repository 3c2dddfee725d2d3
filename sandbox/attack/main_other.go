//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "attack: only Linux has what is attacked here: run it on Linux")
	os.Exit(2)
}
