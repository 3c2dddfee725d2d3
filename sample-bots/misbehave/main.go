// Command misbehave is a bot that makes a chosen fault, to test the referee. Before the fault it plays the
// first legal move.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/timba-arena/timba/sample-bots/misbehave/faults"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == faults.ChildArg {
		time.Sleep(faults.LingerTime)
		return
	}
	list := flag.Bool("list", false, "list the faults and the code that each leads to")
	name := flag.String("fault", "", "the `NAME` of the fault; --list shows them")
	b := faults.Bot{Input: os.Stdin, Output: os.Stdout, Log: os.Stderr, Exit: os.Exit}
	flag.IntVar(&b.Ply, "at", 0, "misbehave at the first turn from this ply on")
	flag.IntVar(&b.Game, "game", 1, "misbehave in this game of the process, counted from 1")
	flag.DurationVar(&b.Delay, "late", time.Second, "the delay of a late answer beyond its time limit")
	flag.BoolVar(&b.ReportWaits, "tell", false, "say on stderr when it has acted and others wait for it")
	flag.Parse()
	if *list {
		printList()
		return
	}
	var ok bool
	if b.Fault, ok = faults.Find(*name); !ok || flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "misbehave: fault %q does not exist: try --fault with a name that --list shows\n", *name)
		os.Exit(2)
	}
	if err := b.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "misbehave:", err)
		os.Exit(1)
	}
}

func printList() {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, f := range faults.All {
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.Name, cmp.Or(f.Code, "(no fault)"), f.Help)
	}
	w.Flush()
}
