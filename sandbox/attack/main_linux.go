// This setting keeps the Go runtime from holding a cgroup file open. The attacks must have no open descriptors
// except those that they inherit.
//
//go:debug containermaxprocs=0
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// bound is the maximum lifetime of any process of an attack.
const bound = 10 * time.Minute

// Limits of the sandbox in which the attacks run. The attacks try to exceed them.
const (
	openFiles  = 64
	outputSize = 4 << 20
)

// attack is a hostile bot, which tries to escape from a sandbox or to exceed a limit.
type attack struct {
	name string
	help string // what it tries
	// run makes the attack. It returns what the attack got, or the error that blocked it.
	run func(*target) (got string, err error)
	// prepareOther, if not nil, is called before run, in another process. That process acts as the other bot of a
	// match, and lives until its stdin is closed. An error means that the attack was blocked.
	prepareOther func(*target) error
	criterion    criterion
	ends         ends
	cpu          bool // the attack needs a sandbox with a limit of CPU time
	// obstacle returns why the attack cannot succeed for this user on this machine even without a sandbox. It returns
	// "" if the attack can succeed. nil means that it always can.
	obstacle func() string
}

// criterion says by what sign the tests recognize that an attack has succeeded.
type criterion uint8

const (
	byWord     criterion = iota // it prints THROUGH
	bySurvivor                  // one of its processes still runs after its end
	byKill                      // it ignores SIGTERM, or one of its processes still runs after SIGKILL
)

// ends is a set of ways in which a sandbox may end an attack. A system call that fails is always allowed and is not
// in the set.
type ends uint8

const (
	endMemory ends = 1 << iota
	endProcesses
	endCPU
	endSignal // a signal that the attack causes itself
	endCrash  // the Go runtime exits with status 2
)

// target describes the things that an attack tries to reach. The tests have created all of them.
type target struct {
	Base    string // directory of the tests, outside the bot's directory
	Address string // address of a TCP listener
	Victim  int    // PID of another process of the same user
	Harness int    // PID of the test process
	First   bool   // play the other bot of a match, by calling prepareOther instead of run
}

// secret returns the path of a file outside the bot's directory that all users may read.
func (t *target) secret() string { return filepath.Join(t.Base, "secret.txt") }

// prefix returns the prefix of the names of everything that attacks create in shared directories and namespaces.
func (t *target) prefix() string { return fmt.Sprintf("timba-attack-%d-", t.Harness) }

// The name and the content of a file in the bot's directory.
const (
	notes     = "notes.txt"
	notesText = "a book of openings\n"
)

var attacks = slices.Concat(processes, memory, escapes)

// helpers are the subcommands of this program that are not attacks.
var helpers map[string]func(*target)

func init() {
	helpers = map[string]func(*target){
		"list": list, "calls": makeCalls, "echo": echo, "victim": await, "linger": linger, "stop-parent": stopParent,
		"euid": func(*target) { fmt.Println(os.Geteuid()) },
	}
}

func main() {
	name, t := "list", target{}
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	if len(os.Args) > 2 {
		if err := json.Unmarshal([]byte(os.Args[2]), &t); err != nil {
			fail("attack: %q is not a target: %v", os.Args[2], err)
		}
	}
	if name != "victim" { // the victim ends with its stdin
		time.AfterFunc(bound, func() { os.Exit(exitBound) })
	}
	if f, ok := helpers[name]; ok {
		f(&t)
		return
	}
	i := slices.IndexFunc(attacks, func(a attack) bool { return a.name == name })
	if i < 0 {
		fail("attack: %q is not an attack: try list", name)
	}
	launch(attacks[i], &t)
}

func fail(format string, a ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", a...)
	os.Exit(exitUsage)
}

// errNothing is the error of an attack that has gained nothing although none of its system calls failed.
var errNothing = errors.New("nothing there")

// launch makes the attack a, prints THROUGH or BLOCKED with the result, and exits with status 10 if the attack was
// blocked. If t.First is set, this process instead plays the other bot of a match: launch calls a.prepareOther and
// waits until stdin is closed.
func launch(a attack, t *target) {
	if t.First {
		if err := a.prepareOther(t); err != nil {
			exitWithError(err)
		}
		ready()
		await(t)
		return
	}
	got, err := a.run(t)
	if err != nil {
		exitWithError(err)
	}
	fmt.Println("THROUGH", got)
}

func exitWithError(err error) {
	fmt.Println("BLOCKED", err)
	os.Exit(exitBlocked)
}

func ready() { fmt.Println("READY", os.Getpid()) }

func await(*target) {
	var b [1]byte
	for n, err := 1, error(nil); n > 0 && err == nil; {
		n, err = os.Stdin.Read(b[:])
	}
}

func list(t *target) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, a := range attacks {
		fmt.Fprintf(w, "%s\t%s\n", a.name, a.help)
	}
	for _, c := range calls(t) {
		fmt.Fprintf(w, "%s\tcalls number %d\n", c.name, c.number)
	}
	w.Flush()
}
