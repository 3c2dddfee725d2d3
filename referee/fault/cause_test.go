package fault

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The line that says what is wrong is found wherever a runtime writes it.
func TestCause(t *testing.T) {
	for _, c := range []struct {
		name, stderr, want string
		sure               bool
	}{
		{"nothing", "", "", false},
		{"no error", "depth 5\nscore 3\n", "score 3", false},
		{"Python", "Traceback (most recent call last):\n  File \"bot.py\", line 10, in <module>\n    best = scores[moves[0]]\nKeyError: '2o'\n", "KeyError: '2o'", true},
		{"Python, no message", "Traceback (most recent call last):\n  File \"bot.py\", line 1\nAssertionError\n", "AssertionError", true},
		{"Python, small letters", "Traceback (most recent call last):\nsocket.gaierror: [Errno -2] Name or service not known\n", "socket.gaierror: [Errno -2] Name or service not known", true},
		{"Python, chained", "KeyError: 1\n\nDuring handling of the above exception, another exception occurred:\n\nValueError: 2\n", "ValueError: 2", true},
		{"Node", "/bot.js:5\n  let h; h.x\n         ^\n\nTypeError: Cannot read properties of undefined (reading 'x')\n    at Interface.<anonymous> (/bot.js:5:66)\n\nNode.js v20.20.2\n", "TypeError: Cannot read properties of undefined (reading 'x')", true},
		{"Node, a code", "Error [ERR_X]: no\n    at x {\n  code: 'ERR_X'\n}\n\nNode.js v20\n", "Error [ERR_X]: no", true},
		{"Python, syntax", "  File \"/b/bot.py\", line 171\n    say(words[2:]\n       ^\nSyntaxError: '(' was never closed\n", "SyntaxError: '(' was never closed (bot.py, line 171)", true},
		{"Node, syntax", "/b/bot.js:12\nlet game = { (};\n             ^\n\nSyntaxError: Unexpected token '('\n    at wrapSafe (node:internal/modules/cjs/loader:1464:18)\n", "SyntaxError: Unexpected token '(' (bot.js, line 12)", true},
		{"Go", "panic: runtime error: index out of range [6] with length 6\n\ngoroutine 1 [running]:\nmain.main()\n\t/bot.go:3 +0x1\nexit status 2\n", "panic: runtime error: index out of range [6] with length 6", true},
		{"Rust", "\nthread 'main' (7) panicked at bot.rs:2:204:\nindex out of bounds\nnote: run with `RUST_BACKTRACE=1`\n", "thread 'main' (7) panicked at bot.rs:2:204: index out of bounds", true},
		{"C++", "terminate called after throwing an instance of 'std::out_of_range'\n  what():  vector\n", "terminate called after throwing an instance of 'std::out_of_range' what():  vector", true},
		{"C", "bot: bot.c:13: main: Assertion `n > 100' failed.\n", "bot: bot.c:13: main: Assertion `n > 100' failed.", true},
		{"sanitizer", "=====\n==6==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1\n    #0 0x5 in main bot.c:13\nSUMMARY: AddressSanitizer: heap-buffer-overflow bot.c:13 in main\n  Shadow:  fc\n==6==ABORTING\n", "SUMMARY: AddressSanitizer: heap-buffer-overflow bot.c:13 in main", true},
		{"Java", "NOTE: Picked up JDK_JAVA_OPTIONS: -Xmx256m\nException in thread \"main\" java.lang.RuntimeException: x\n\tat Bot.main(Bot.java:2)\nCaused by: java.io.IOException: y\n\t... 1 more\n", "Caused by: java.io.IOException: y", true},
		{"Ruby", "bot.rb:2:in `f': undefined method `best' for nil (NoMethodError)\n\n  nil.best\n     ^^^^^\n\tfrom bot.rb:2:in `<main>'\n", "bot.rb:2:in `f': undefined method `best' for nil (NoMethodError)", true},
		{"Lua", "lua5.4: bot.lua:2: attempt to index a nil value\nstack traceback:\n\tbot.lua:2: in main chunk\n", "lua5.4: bot.lua:2: attempt to index a nil value", true},
		{"Tcl", "can't read \"best\": no such variable\n    while executing\n\"puts $best\"\n    (file \"bot.tcl\" line 2)\n", `can't read "best": no such variable`, true},
		{"PHP", "PHP Fatal error:  Uncaught Error: no\nStack trace:\n#0 {main}\n  thrown in bot.php on line 3\n", "PHP Fatal error:  Uncaught Error: no", true},
		{"Perl", "Can't call method \"best\" on an undefined value at bot.pl line 2, <STDIN> line 6.\n", `Can't call method "best" on an undefined value at bot.pl line 2, <STDIN> line 6.`, true},
		{"Bash", "bot.sh: line 4: choose: command not found\n", "bot.sh: line 4: choose: command not found", true},
		{"long", "ValueError: " + strings.Repeat("x", 300) + "end", "ValueError: " + strings.Repeat("x", 122) + "..." + strings.Repeat("x", 63) + "end", true},
	} {
		if got, sure := Cause(Lines([]byte(c.stderr))); got != c.want || sure != c.sure {
			t.Errorf("%s: %q, %v, want %q, %v", c.name, got, sure, c.want, c.sure)
		}
	}
}

// The first error of a compiler is the cause.
func TestBuildCause(t *testing.T) {
	for _, c := range []struct{ name, output, want string }{
		{"C", "bot.c: In function 'main':\nbot.c:1:2: warning: unused\nbot.c:13:32: error: expected ';'\n   13 | }\nbot.c:14:1: error: more\n", "bot.c:13:32: error: expected ';'"},
		{"no header", "bot.c:1:10: fatal error: x.h: No such file or directory\ncompilation terminated.\n", "bot.c:1:10: fatal error: x.h: No such file or directory"},
		{"linker", "/usr/bin/ld: /tmp/x.o: in function `main':\nbot.c:(.text+0x5): undefined reference to `f'\n", "/usr/bin/ld: /tmp/x.o: in function `main':"},
		{"Java", "Bot.java:1: error: cannot find symbol\n2 errors\n", "Bot.java:1: error: cannot find symbol"},
		{"Rust", "error[E0425]: cannot find value `y`\n --> bot.rs:1:46\n  |\nerror: aborting due to 1 previous error\n", "bot.rs:1:46: error[E0425]: cannot find value `y`"},
		{"Go", "# bot\n./bot.go:5:27: undefined: ready\n", "./bot.go:5:27: undefined: ready"},
		{"C, no line", "cc1: fatal error: *.c: No such file or directory\ncompilation terminated.\n", "cc1: fatal error: *.c: No such file or directory"},
		{"npm", "npm error code ENOTFOUND\nnpm error request failed, reason: getaddrinfo ENOTFOUND registry.npmjs.org\nnpm error A complete log of this run can be found in: /tmp/x.log\n", "npm error request failed, reason: getaddrinfo ENOTFOUND registry.npmjs.org"},
		{"progress", "% Total\n\r  0  0\r  0  0\rcurl: (6) Could not resolve host: example.org\n", "curl: (6) Could not resolve host: example.org"},
		{"a script", "Traceback (most recent call last):\nNameError: x\n", "NameError: x"},
		{"anything", "one\ntwo\n", "two"},
		{"nothing", "", ""},
	} {
		if got := BuildCause(Lines([]byte(c.output))); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// The end of a log contains the line that says what went wrong, and each line once.
func TestLogEnd(t *testing.T) {
	lines := func(n int) (list []string) { return slices.Repeat([]string{"x"}, n) }
	for name, c := range map[string]struct{ log, want []string }{
		"short":     {[]string{"a", "panic: b"}, []string{"a", "panic: b"}},
		"no error":  {append([]string{"a"}, lines(3)...), lines(3)},
		"far above": {append([]string{"a", "panic: b"}, lines(5)...), []string{"panic: b", "...", "x", "x", "x"}},
		"above":     {append([]string{"a", "panic: b"}, lines(3)...), []string{"panic: b", "x", "x", "x"}},
		"two lines": {append([]string{"thread 'main' panicked at a:", "b"}, lines(3)...), []string{"thread 'main' panicked at a:", "b", "x", "x", "x"}},
	} {
		before := slices.Clone(c.log)
		if diff := cmp.Diff(c.want, LogEnd(c.log, 3)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if !slices.Equal(before, c.log) {
			t.Errorf("%s: the log is changed to %q", name, c.log)
		}
	}
}

// Stderr reveals which restriction a bot hit, unless the sandbox cannot be the reason.
func TestEvidence(t *testing.T) {
	failed := Reason{Kind: Exited, Status: 1}
	hides := func(path string) bool { return path == "/home/me/book" }
	for name, c := range map[string]struct {
		reason    Reason
		c         Circumstances
		saw, want string // the beginning of the first advice
	}{
		"network":                 {failed, Circumstances{Log: BotLog{Lines: []string{"socket.gaierror: [Errno -2] Name or service not known"}}}, "it tried to use the network", "a match has no network"},
		"outside":                 {failed, Circumstances{Sandbox: Confinement{Absent: true}, Log: BotLog{Lines: []string{"socket.gaierror: no"}}}, `its stderr says "socket.gaierror: no"`, "its stderr says why"},
		"read-only":               {failed, Circumstances{Log: BotLog{Lines: []string{"OSError: [Errno 30] Read-only file system: 'cache.txt'"}}}, "it tried to write cache.txt", "write to $TMPDIR"},
		"before ready":            {Reason{Kind: Exited, Status: 1, BeforeReady: true}, Circumstances{Log: BotLog{Lines: []string{"touch: cannot touch 'x.y': Read-only file system"}}}, "it tried to write x.y", "write to $TMPDIR"},
		"Node":                    {failed, Circumstances{Log: BotLog{Lines: []string{"Error: EROFS: read-only file system, open 'a.txt'", "  path: 'a.txt'"}}}, "it tried to write a.txt", "write to $TMPDIR"},
		"memory":                  {failed, Circumstances{Sandbox: Confinement{Memory: 512}, Log: BotLog{Lines: []string{"MemoryError"}}}, "it ran out of memory", "use less, or allow more with --memory; the limit was 512 MiB"},
		"fixed memory":            {failed, Circumstances{Sandbox: Confinement{Memory: 512}, Fixed: true, Log: BotLog{Lines: []string{"MemoryError"}}}, "it ran out of memory", "use less; the limit was 512 MiB"},
		"unknown limit":           {failed, Circumstances{Log: BotLog{Lines: []string{"MemoryError"}}}, "it ran out of memory", "use less, or allow more with --memory"},
		"threads":                 {failed, Circumstances{Fixed: true, Sandbox: Confinement{Processes: 64}, Log: BotLog{Lines: []string{"RuntimeError: can't start new thread"}}}, "it could not start a process or thread", "start fewer; the limit was 64"},
		"hidden":                  {failed, Circumstances{Sandbox: Confinement{Hides: hides}, Log: BotLog{Lines: []string{"open '/home/me/book': No such file or directory"}}}, "it looked for /home/me/book, which the sandbox hides", "put the files"},
		"missing":                 {failed, Circumstances{Sandbox: Confinement{Hides: hides}, Log: BotLog{Lines: []string{"open './book.bin': No such file or directory"}}}, "it looked for ./book.bin, which is not there", "put the files"},
		"other missing":           {failed, Circumstances{Log: BotLog{Lines: []string{"no book: book.bin: No such file or directory, playing without", "depth 3", "Traceback (most recent call last):", "  File \"bot.py\", line 3, in <module>", "KeyError: 'x'"}}}, `its stderr says "KeyError: 'x'"`, "its stderr says why"},
		"chained":                 {failed, Circumstances{Log: BotLog{Lines: []string{"Traceback (most recent call last):", "  File \"bot.py\", line 3, in load", "FileNotFoundError: [Errno 2] No such file or directory: 'book.bin'", "The above exception was the direct cause of the following exception:", "Traceback (most recent call last):", "  File \"bot.py\", line 5, in <module>", "RuntimeError: no book"}}}, "it looked for book.bin, which is not there", "put the files"},
		"long ago":                {failed, Circumstances{Log: BotLog{Lines: []string{"book.bin: No such file or directory", "depth 1", "depth 2", "depth 3"}}}, `its stderr says "depth 3"`, "the end of its stderr"},
		"CR LF, env":              {Reason{Kind: Exited, Status: 127, BeforeReady: true}, Circumstances{Log: BotLog{Lines: []string{`/usr/bin/env: ‘python3\r’: No such file or directory`}}}, "the lines of a script end with CR LF, as on Windows", "write the files of the bot with LF alone"},
		"CR LF, option":           {Reason{Kind: Exited, Status: 2, BeforeReady: true}, Circumstances{Log: BotLog{Lines: []string{"/bin/sh: 0: Illegal option -\r"}}}, "the lines of a script end with CR LF, as on Windows", "write the files of the bot with LF alone"},
		"CR LF, sh":               {Reason{Kind: Exited, Status: 127, BeforeReady: true}, Circumstances{Log: BotLog{Lines: []string{"./bot.sh: 2: read\r: not found"}}}, "the lines of a script end with CR LF, as on Windows", "write the files of the bot with LF alone"},
		"interpreter, env":        {Reason{Kind: Exited, Status: 126, BeforeReady: true}, Circumstances{Log: BotLog{Lines: []string{`/usr/bin/env: ‘pythn’: No such file or directory`}}}, "the first line of a script names the program pythn, which is not there", "install it, or name a program that is there"},
		"interpreter, old bash":   {Reason{Kind: Exited, Status: 126, BeforeReady: true}, Circumstances{Log: BotLog{Lines: []string{`run.sh: ./bot: /no/pythn: bad interpreter: No such file or directory`}}}, "the first line of a script names the program /no/pythn, which is not there", "install it, or name a program that is there"},
		"interpreter, new bash":   {Reason{Kind: Exited, Status: 126, BeforeReady: true}, Circumstances{Log: BotLog{Lines: []string{`run.sh: line 1: ./bot: cannot execute: required file not found`}}}, "it starts ./bot, and the program that runs that file is not there", "look at the first line of the file"},
		"other processor, bash":   {Reason{Kind: Exited, Status: 126, BeforeReady: true}, Circumstances{Log: BotLog{Lines: []string{`run.sh: line 1: ./bot: cannot execute binary file: Exec format error`}}}, "it starts ./bot, which is not a program for this machine", "build that program on a machine like this one"},
		"other processor, dash":   {Reason{Kind: Exited, Status: 126, BeforeReady: true}, Circumstances{Log: BotLog{Lines: []string{`run.sh: 1: ./bot: Exec format error`}}}, "it starts ./bot, which is not a program for this machine", "build that program on a machine like this one"},
		"other processor, Python": {Reason{Kind: Exited, Status: 126, BeforeReady: true}, Circumstances{Log: BotLog{Lines: []string{`OSError: [Errno 8] Exec format error: './bot'`}}}, "it starts ./bot, which is not a program for this machine", "build that program on a machine like this one"},
		"musl":                    {Reason{Kind: Exited, Status: 126, BeforeReady: true}, Circumstances{Log: BotLog{Lines: []string{`Error loading shared library libfoo.so.1: No such file or directory (needed by ./bot)`}}}, "it needs the library libfoo.so.1, which is not there", "link the library statically"},
		"newer processor":         {Reason{Kind: Exited, Status: 126, BeforeReady: true}, Circumstances{Log: BotLog{Lines: []string{`This program can only be run on AMD64 processors with v3 microarchitecture support.`}}}, "this processor lacks an instruction of the program", "build it for every processor of its kind"},
		"C library":               {Reason{Kind: Exited, Status: 1, BeforeReady: true}, Circumstances{Log: BotLog{Lines: []string{"./bot: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by ./bot)"}}}, "it needs GLIBC_2.38, which the C library of this machine does not have", "build the bot on a system as old as this one"},
		"a processor":             {Reason{Kind: Signalled, Signal: 4, Name: "SIGILL"}, Circumstances{}, "", "build it for every processor of its kind"},
		"a library":               {failed, Circumstances{Log: BotLog{Lines: []string{"./bot: error while loading shared libraries: libfoo.so.1: cannot open shared object file: No such file or directory"}}}, "it needs the library libfoo.so.1, which is not there", "link the library statically"},
		"module":                  {failed, Circumstances{Log: BotLog{Lines: []string{"ModuleNotFoundError: No module named 'numpy'"}}}, "it needs the module numpy, which is not there", "use only the standard library"},
		"a file":                  {failed, Circumstances{Log: BotLog{Lines: []string{"python3: can't open file '/b/Bot.py': [Errno 2] No such file or directory"}}}, "it looked for /b/Bot.py, which is not there", "compare the name"},
		"Node, a file":            {failed, Circumstances{Log: BotLog{Lines: []string{"Error: Cannot find module './util'", "- /b/bot.js"}}}, "it looked for ./util, which is not there", "compare the name"},
		"Perl, a file":            {failed, Circumstances{Log: BotLog{Lines: []string{`Can't open perl script "Bot.pl": No such file or directory`}}}, "it looked for Bot.pl, which is not there", "compare the name"},
		"PHP, a file":             {failed, Circumstances{Log: BotLog{Lines: []string{"Could not open input file: Bot.php"}}}, "it looked for Bot.php, which is not there", "compare the name"},
		"a package":               {failed, Circumstances{Log: BotLog{Lines: []string{"ImportError: attempted relative import with no known parent package"}}}, "it imports a file as part of a package, and is started as a file", `write "import helpers"`},
		"Lua module":              {failed, Circumstances{Log: BotLog{Lines: []string{"lua: bot.lua:1: module 'socket' not found:", "stack traceback:"}}}, "it needs the module socket, which is not there", "use only the standard library"},
		"a crash":                 {Reason{Kind: Signalled, Signal: 11, Name: "SIGSEGV"}, Circumstances{Log: BotLog{Lines: []string{"warning: Network is unreachable, no telemetry", "a ModuleNotFoundError would be ignored"}}}, "", "look for an index out of range"},
		"a caught exception":      {Reason{Kind: Exited, Status: 3}, Circumstances{Log: BotLog{Lines: []string{"caught MemoryError, using less", "bad weights"}}}, `its stderr says "bad weights"`, "the end of its stderr"},
		"options, env":            {Reason{Kind: Exited, Status: 127, BeforeReady: true}, Circumstances{Log: BotLog{Lines: []string{"/usr/bin/env: ‘python3 -u’: No such file or directory", "/usr/bin/env: use -[v]S to pass options in shebang lines"}}}, "the first line of a script gives env a program and its options, which env takes for one name", "write -S after env"},
		"a signal":                {Reason{Kind: Signalled, Signal: 6, Name: "SIGABRT"}, Circumstances{Log: BotLog{Lines: []string{"debug"}}}, "", "look for an index out of range"},
		"an assertion":            {Reason{Kind: Signalled, Signal: 6, Name: "SIGABRT"}, Circumstances{Log: BotLog{Lines: []string{"b: Assertion `x' failed."}}}, "its stderr says \"b: Assertion `x' failed.\"", "its stderr says why"},
		"no error":                {Reason{Kind: Exited}, Circumstances{Log: BotLog{Lines: []string{"KeyError: 1"}}}, "", "read stdin line by line"},
		"late":                    {Reason{Kind: Late}, Circumstances{Log: BotLog{Lines: []string{"KeyError: 1"}}}, "", "it has not answered"},
	} {
		if got := c.reason.Evidence(c.c); got.String() != c.saw {
			t.Errorf("%s: %q, want %q", name, got, c.saw)
		}
		if got := c.reason.Advice(c.c)[0]; !strings.HasPrefix(got.String(), c.want) {
			t.Errorf("%s: the advice is %q, want %q", name, got, c.want)
		}
	}
}

// The innermost line of a file is found in the stack traces of many languages, and in the causes of failed builds.
func TestFailedLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, log string
		want      int
	}{
		{"bot.py", "loading bot.py:99\nTraceback (most recent call last):\n  File \"/bot/bot.py\", line 30, in <module>\n  File \"/bot/bot.py\", line 12, in move\n  File \"/usr/lib/python3/random.py\", line 373, in choice\nIndexError: list index out of range", 12},
		{"a/bot.py", "  File \"/x/a/bot.py\", line 2\n    def f(:\n          ^\nSyntaxError: invalid syntax", 2},
		{"bot.js", "/bot/bot.js:3\nconst x = ;\n          ^\nSyntaxError: Unexpected token ';'\n    at wrapSafe (node:internal/modules/cjs/loader:1378:20)", 3},
		{"bot.js", "/bot/bot.js:7\n  x.y.z;\n      ^\nTypeError: Cannot read properties of undefined\n    at move (/bot/bot.js:7:7)\n    at main (/bot/bot.js:20:3)", 7},
		{"Bot.java", "Exception in thread \"main\" java.lang.NullPointerException\n\tat java.base/java.util.Objects.requireNonNull(Objects.java:233)\n\tat Bot.move(Bot.java:41)\n\tat Bot.main(Bot.java:12)", 41},
		{"bot.go", "panic: runtime error: index out of range [5]\ngoroutine 1 [running]:\nmain.move(...)\n\t/build/bot.go:17\nmain.main()\n\t/build/bot.go:31 +0x1d", 17},
		{"bot.rs", "thread 'main' panicked at bot.rs:12:5:\nno move", 12},
		{"bot.rb", "bot.rb:12:in 'move': undefined method (NoMethodError)\n\tfrom bot.rb:20:in '<main>'", 12},
		{"bot.lua", "lua5.4: bot.lua:9: attempt to index a nil value\nstack traceback:\n\tbot.lua:9: in function 'move'", 9},
		{"bot.pl", "Can't locate object method at bot.pl line 14, <STDIN> line 3.", 14},
		{"bot.php", "PHP Fatal error:  Uncaught TypeError in /bot/bot.php:8\nStack trace:\n#0 {main}\n  thrown in /bot/bot.php on line 8", 8},
		{"bot.tcl", "can't read \"x\": no such variable\n    while executing\n\"puts $x\"\n    (file \"bot.tcl\" line 6)", 6},
		{"bot.sh", "bot.sh: line 5: nothing: command not found", 5},
		{"bot.c", "bot.c:1:33: error: ‘x’ undeclared", 1},
		{"bot.py", "  File \"/bot/mybot.py\", line 3, in move\nKeyError: 1", 0},
		{"bot.py", "hm", 0},
		{"bot.py", "", 0},
	} {
		if got := FailedLine(Lines([]byte(c.log)), c.file); got != c.want {
			t.Errorf("%s failed at line %d, want %d: %s", c.file, got, c.want, c.log)
		}
	}
}
