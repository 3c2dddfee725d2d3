// Timba plays matches between bots at games of cards and boards.
package main

import "github.com/timba-arena/timba/cmd/timba/commands"

func main() { commands.Main() }
