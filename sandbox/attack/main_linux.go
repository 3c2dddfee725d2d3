// The attacks want the descriptors that they inherited and no others, so the Go
// runtime must not keep a file of the control group open.
//
//go:debug containermaxprocs=0
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"
	"time"
)

// Exit statuses.
const (
	exitThrough = 0
	exitUsage   = 2
	exitBound   = 3
	exitBlocked = 10
)

// bound is how long any process of an attack may live.
const bound = 10 * time.Minute

// attack is a row of the table.
type attack struct {
	Name string
	Help string // what it tries
	// Run tries it and tells what it got, or the error that blocked it. The harness
	// judges those whose rows say so.
	Run func(*target) (got string, err error)
	// First is what the other bot of a match does before Run, in collusions. It
	// stays until its stdin ends.
	First func(*target) error
	Setup setup
	// Ends says how a sandbox may end it, other than by an error.
	Ends ends
	// Idle tells why the attack cannot get through on this machine for this user, even
	// without a sandbox; "" when it can.
	Idle func() string
}

// setup is what an attack needs of the harness.
type setup struct {
	Judge  judge
	Parent bool // without a sandbox it runs below "middle", which stands for a sandbox's init
	Drop   bool // without a sandbox root runs it as an ordinary user
	Group  bool // without a sandbox it runs in a control group of its own
	CPU    bool // the sandbox has a limit of CPU time
	Leave  bool // the first bot of a collusion ends before the second one starts
	File   bool // standard error is a file
}

// judge is how the harness tells that an attack got through.
type judge uint8

const (
	byWord     judge = iota // it prints THROUGH
	bySurvivor              // a process of it lives on after its end
	byRunaway               // a process of it lives on after it was killed
	byEnd                   // it cannot be ended
	byFlood                 // its output goes on and on
	byOther                 // the other bot has ended
)

// ends is a set of ways to end an attack.
type ends uint8

const (
	endMemory ends = 1 << iota
	endProcesses
	endCPU
	endForbidden
	endSignal // of its own doing
	endCrash  // the Go runtime gives up, with status 2
)

// target is what the harness has put there.
type target struct {
	Base     string `json:",omitempty"` // the harness's directory
	Marker   string `json:",omitempty"` // what secrets contain
	Secret   string `json:",omitempty"` // a file that all may read
	Database string `json:",omitempty"` // a file that its owner may read
	Home     string `json:",omitempty"` // a directory of its user
	Other    string `json:",omitempty"` // the directory of another bot
	Fifo     string `json:",omitempty"` // outside of the bot's directory; one named fifo is inside
	TCP      string `json:",omitempty"` // address of a listener
	UDP      string `json:",omitempty"`
	Unix     string `json:",omitempty"` // path of a listener; one named door is in the bot's directory
	Abstract string `json:",omitempty"` // name of a listener
	Victim   int    `json:",omitempty"` // pid of another process of its user, with the marker
	Address  uint64 `json:",omitempty"` // in its memory
	FD       int    `json:",omitempty"` // open on Secret
	Handle   []byte `json:",omitempty"` // of Secret, for open_by_handle_at
	Kind     int32  `json:",omitempty"` // of that handle
	Passwd   string `json:",omitempty"` // SHA-256 of /etc/passwd
	Group    string `json:",omitempty"` // a control group
	Top      string `json:",omitempty"` // the control group above it
	Key      int    `json:",omitempty"` // of System V objects
	First    bool   `json:",omitempty"` // be the first bot of a collusion
}

// prefix begins the names of the files that attacks of this target make in shared
// directories.
func (t *target) prefix() string { return fmt.Sprintf("attack-%d-", t.Key) }

var themes = [][]attack{
	processes, memory, files, network, outsiders, namespaces, kernel, machine, devices, pipes, collusion,
}

// attacks returns the whole table.
func attacks() (all []attack) {
	for _, t := range themes {
		all = append(all, t...)
	}
	return all
}

func main() {
	args := os.Args[1:]
	if len(args) == 0 {
		args = []string{"list"}
	}
	var t target
	if len(args) > 1 {
		if err := json.Unmarshal([]byte(args[1]), &t); err != nil {
			fail("attack: %q is not a target: %v", args[1], err)
		}
	}
	if args[0] != "victim" { // which ends with its stdin
		time.AfterFunc(bound, func() { os.Exit(exitBound) })
	}
	if f, ok := helpers[args[0]]; ok {
		f(&t, args[1:])
		return
	}
	for _, a := range attacks() {
		if a.Name == args[0] {
			launch(&a, &t)
		}
	}
	fail("attack: %q is not an attack: try list", args[0])
}

func fail(format string, a ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", a...)
	os.Exit(exitUsage)
}

// errNothing says that an attack got nothing, though no call of it failed.
var errNothing = errors.New("nothing there")

// launch runs an attack and reports.
func launch(a *attack, t *target) {
	if t.First {
		if err := a.First(t); err != nil {
			blocked(err)
		}
		ready()
		var b [1]byte
		os.Stdin.Read(b[:])
		os.Exit(exitThrough)
	}
	got, err := a.Run(t)
	if err != nil {
		blocked(err)
	}
	fmt.Println("THROUGH", got)
	os.Exit(exitThrough)
}

func blocked(err error) {
	fmt.Println("BLOCKED", err)
	os.Exit(exitBlocked)
}

// ready tells the harness that it may go on.
func ready() { fmt.Println("READY", os.Getpid()) }

func list() {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, a := range attacks() {
		fmt.Fprintf(w, "%s\t%s\n", a.Name, a.Help)
	}
	w.Flush()
}
