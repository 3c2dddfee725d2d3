package sandbox

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/sandbox/internal/initproc"
)

func init() {
	actions = map[string]func([]string){
		"hello":      func([]string) { fmt.Println("hello") },
		"exit":       func([]string) { unix.Exit(7) },
		"echo":       func([]string) { io.Copy(os.Stdout, os.Stdin) },
		"sleep":      func([]string) { fmt.Println("asleep"); hang() },
		"fault":      fault,
		"eat":        func([]string) { eat() },
		"eat-child":  func([]string) { again("eat").Run(); fmt.Println("the child is gone"); hang() },
		"eat-many":   eatMany,
		"spin":       func([]string) { spin() },
		"spin-two":   func([]string) { again("spin").Start(); spin() },
		"fork":       forkAll,
		"fill":       fill,
		"inodes":     inodes,
		"open":       openAll,
		"mount":      func([]string) { unix.Mount("x", "/tmp", "tmpfs", 0, "") },
		"orphan":     func([]string) { again("sleep").Start(); fmt.Println("left") },
		"see":        see,
		"env":        func([]string) { fmt.Println(strings.Join(os.Environ(), "\n")) },
		"fds":        fds,
		"build":      build,
		"map-many":   mapMany,
		"map-some":   mapSome,
		"open-pairs": openPairs,
		"count":      count,
		"signals":    signalInit,
		"close":      func([]string) { os.Stdout.Close(); hang() },
	}
}

// hang blocks until the process is killed.
func hang() {
	for {
		unix.Pause()
	}
}

func pause(d time.Duration) {
	for rest := unix.NsecToTimespec(d.Nanoseconds()); unix.Nanosleep(&rest, &rest) != nil; {
	}
}

// again returns a command that runs the test binary with another action.
func again(action string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{"do", action}, args...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd
}

// fault ends by a signal from the kernel, the only kind that can be tested where just Landlock restricts signals.
func fault([]string) {
	var byDefault [32]byte // a sigaction
	if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGSEGV), uintptr(unsafe.Pointer(&byDefault)), 0, 8, 0, 0); errno != 0 {
		panic(errno)
	}
	*(*byte)(nil) = 1
}

func eat() {
	var all [][]byte
	for {
		b := make([]byte, 1<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		all = append(all, b)
		runtime.KeepAlive(all)
	}
}

// eatMany uses much memory in many processes, each of which uses little.
func eatMany([]string) {
	for range 16 {
		if err := again("eat-some").Start(); err != nil {
			fmt.Println(err)
		}
	}
	hang()
}

func init() {
	actions["eat-some"] = func([]string) {
		b := make([]byte, 24<<20)
		for i := range b {
			b[i] = byte(i)
		}
		hang()
		runtime.KeepAlive(b)
	}
}

func spin() {
	for i := 0; ; i++ {
		runtime.KeepAlive(i)
	}
}

// forkAll starts processes until that is refused, and then fails.
func forkAll([]string) {
	for n := range 1000 {
		if err := again("sleep").Start(); err != nil {
			fmt.Println("refused after", n)
			unix.Exit(1)
		}
	}
	fmt.Println("never refused")
}

// fill writes to files in a directory until that fails, and prints the result.
func fill(args []string) {
	data := make([]byte, 1<<20)
	total := 0
	for i := range 1000 {
		f, err := os.Create(fmt.Sprintf("%s/%d", args[0], i))
		for err == nil && total < 1<<30 {
			var n int
			n, err = f.Write(data)
			total += n
			if i, _ := f.Stat(); i != nil && i.Size() >= 4<<20 {
				break
			}
		}
		if err != nil {
			fmt.Println(err)
			break
		}
	}
	fmt.Println(total>>20, "MiB")
}

func inodes(args []string) {
	for i := range 1_000_000 {
		f, err := os.Create(fmt.Sprintf("%s/%d", args[0], i))
		if err != nil {
			fmt.Println(err)
			fmt.Println(i)
			return
		}
		f.Close()
	}
}

func openAll([]string) {
	for i := range 100_000 {
		if _, err := unix.Dup(0); err != nil {
			fmt.Println(err, i+3)
			return
		}
	}
}

// see prints which of the given paths exist.
func see(args []string) {
	for _, path := range args {
		if _, err := os.Stat(path); err == nil {
			fmt.Println(path)
		}
	}
}

func fds([]string) {
	names, _ := os.ReadDir("/proc/self/fd")
	for _, n := range names {
		target, err := os.Readlink("/proc/self/fd/" + n.Name())
		if err == nil && !strings.Contains(target, "anon_inode") && !strings.HasPrefix(target, "/proc/") {
			fmt.Println(n.Name(), target)
		}
	}
}

// build does what a compiler does, and some things that a build must not do.
func build(args []string) {
	source, err := os.ReadFile("source")
	if err == nil {
		err = os.Mkdir("sub", 0o755)
	}
	if err == nil {
		err = os.WriteFile("sub/binary", append([]byte("built from "), source...), 0o755)
	}
	if err == nil {
		err = os.Symlink(args[0], "link")
	}
	if err == nil {
		err = os.WriteFile("source", []byte("changed"), 0o644)
	}
	if err == nil {
		err = os.Remove("trap") // a link in the directory outside, which must not be followed
	}
	if err == nil {
		err = os.WriteFile("trap", []byte("overwritten"), 0o644)
	}
	if err != nil {
		fmt.Println(err)
		unix.Exit(1)
	}
}

// count prints a line every millisecond.
func count([]string) {
	for i := 0; ; i++ {
		fmt.Println(i)
		pause(time.Millisecond)
	}
}

// signalInit sends every signal to init, to its threads and to all processes, except those that would end itself.
func signalInit([]string) {
	for pid := 1; pid < os.Getpid(); pid++ { // threads have IDs, too
		for sig := unix.Signal(1); sig < 65; sig++ {
			unix.Kill(pid, sig)
			unix.Tgkill(1, pid, sig)
		}
	}
	for sig := unix.Signal(1); sig < 65; sig++ {
		unix.Kill(-1, sig)
	}
	fmt.Println("still here")
}

// mapMany makes more memory mappings in its processes than the memory limit allows.
func mapMany([]string) {
	fmt.Println("mapping")
	for range 12 {
		if err := again("map-some").Start(); err != nil {
			fmt.Println(err)
		}
	}
	hang()
}

func mapSome([]string) {
	const pages = 60_000
	m, err := unix.Mmap(-1, 0, pages*4096, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON)
	for i := 0; err == nil && i < pages; i += 2 { // each change splits a mapping in two
		err = unix.Mprotect(m[i*4096:(i+1)*4096], unix.PROT_NONE)
	}
	if err != nil {
		fmt.Println(err)
	}
	hang()
}

// openPairs opens as many sockets and pipes as allowed and tries to enlarge their buffers.
func openPairs([]string) {
	raised, open := 0, 3
	for open < 40 {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			fmt.Println(err)
		}
		if unix.SetsockoptInt(pair[0], unix.SOL_SOCKET, unix.SO_SNDBUF, 1<<20) == nil {
			raised++
		}
		var ends [2]int
		if err := unix.Pipe2(ends[:], 0); err != nil {
			fmt.Println(err)
		}
		if _, err := unix.FcntlInt(uintptr(ends[0]), unix.F_SETPIPE_SZ, 1<<20); err == nil {
			raised++
		}
		open = ends[1] + 1
	}
	pause(4 * initproc.PollEvery) // init checks it and must not kill it
	fmt.Println(raised, "raised")
}
