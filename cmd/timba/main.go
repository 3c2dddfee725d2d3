// Timba plays matches between bots at Brisca, Tute, La Podrida, Tebes and Teeko.
package main

import (
	"os"

	"github.com/timba-arena/timba/sandbox"
)

func main() {
	sandbox.MaybeInit()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
