// Timba plays matches between bots at Brisca, Tute, La Podrida, Tebes and Teeko.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
