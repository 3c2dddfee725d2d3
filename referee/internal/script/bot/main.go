// Command bot is the program that tests of the referee start as a bot: a bot that is part of timba, a script from
// a file, or on Linux a bot that does not exit.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/timba-arena/timba/referee/internal/script"
	"github.com/timba-arena/timba/sample-bots/house"
)

// modes maps the first argument of this program to a function that runs with the second argument.
var modes = map[string]func(arg string) error{
	"house":  func(name string) error { return house.Run(name, os.Stdin, os.Stdout) },
	"script": play,
}

func main() {
	if len(os.Args) != 3 || modes[os.Args[1]] == nil {
		fmt.Fprintf(os.Stderr, "bot: cannot be %q\n", os.Args[1:])
		os.Exit(2)
	}
	if err := modes[os.Args[1]](os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "bot:", err)
		os.Exit(1)
	}
}

// play plays the script in a file, and writes script.Handled to stderr after each answer.
func play(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var s script.Script
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	s.Run(os.Stdin, os.Stdout, func() { fmt.Fprint(os.Stderr, script.Handled) })
	return nil
}
