// Timba plays matches between bots at Brisca, Tute, La Podrida, Tebes and Teeko.
package main

import (
	"os"

	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/sandbox/systemd"
)

func main() {
	sandbox.MaybeInit(systemd.Delegate)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
