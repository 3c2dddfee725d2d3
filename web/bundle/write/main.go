// Write writes the bundle of each file next to it, for go generate:
//
//	//go:generate go run github.com/timba-arena/timba/web/bundle/write page.js page.css
package main

import (
	"fmt"
	"os"

	"github.com/timba-arena/timba/web/bundle"
)

func main() {
	for _, name := range os.Args[1:] {
		text, err := bundle.File(name)
		if err == nil {
			err = os.WriteFile(bundle.Output(name), []byte(text), 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
