package fault

import (
	"regexp"
	"slices"
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
)

// restriction describes something that makes a bot fail although it works elsewhere. Usually it is a rule of the
// sandbox.
type restriction struct {
	words       []string         // parts of error messages on stderr that reveal it
	did, change string           // what the bot tried, with %s for the path or name in the message; advice on what to change
	names       []*regexp.Regexp // patterns that find the path or name in the message
	limit       Kind             // if not "", the advice for a fault of this kind replaces change
	anywhere    bool             // also applies to a bot without a sandbox
	hidden      bool             // the file may be missing because the sandbox hides it
}

const (
	endLinesByLF      = "write the files of the bot with LF alone as the end of a line, as dos2unix does"
	forEveryProcessor = "build it for every processor of its kind, without -march=native or the like: this one lacks an instruction of the program"

	putFiles = "put the files that the bot reads beside it, as copies and not as links, in a directory of its own"
	hides    = ": a match hides your home, /var, /opt and /srv, except for the program that runs the bot"
)

// networkWords are parts of error messages of programs that cannot use the network.
var networkWords = []string{"name resolution", "Name or service not known", "Network is unreachable", "network is unreachable", "ENETUNREACH", "EAI_AGAIN", "getaddrinfo", "gaierror",
	"Could not resolve host", "Couldn't resolve host", "no such host", "UnknownHostException", "SocketException", "AF_INET", "Address family not supported", "address family not supported",
	"Failed to establish a new connection", "dial tcp"}

// UsesNetwork reports whether a line of output, the output of a program, says that the program could not use the
// network.
func UsesNetwork(output []string) bool {
	_, ok := restriction{words: networkWords}.find(output)
	return ok
}

// restrictions lists the known restrictions. They are tried in this order: several may match the same message,
// and the more specific come first.
var restrictions = []restriction{
	{words: []string{"Read-only file system", "read-only file system", "EROFS"},
		did: "it tried to write %s", names: quotedPath, change: "write to $TMPDIR, or log to stderr, which a match keeps: the bot's own directory is read-only"},
	{words: networkWords,
		did: "it tried to use the network", change: "a match has no network, not even on localhost: put everything that the bot needs into its directory"},
	{words: []string{"MemoryError", "Cannot allocate memory", "cannot allocate memory", "bad_alloc", "OutOfMemoryError", "out of memory", "Out of memory", "Could not reserve", "NoMemoryError", "memory exhausted"},
		did: "it ran out of memory", limit: OutOfMemory},
	{words: []string{"Resource temporarily unavailable", "resource temporarily unavailable", "can't start new thread", "EAGAIN", "native thread", "pthread_create", "Cannot fork", "cannot fork", "retry: Resource"},
		did: "it could not start a process or thread", limit: TooManyProcesses},
	{words: []string{"Permission denied", "permission denied", "EACCES"},
		did: "it was denied access to %s", names: quotedPath, change: "write only to $TMPDIR, and read only files in the bot's directory"},
	// Libraries, files and modules that a bot did not find.
	{words: []string{"\\r': No such file", "\\r’: No such file", "\r: No such file", "\r': No such file", "\r’: No such file", "\r: not found", "^M: bad interpreter", "ption -\r", "ption: -\r"},
		anywhere: true, did: "the lines of a script end with CR LF, as on Windows", change: endLinesByLF},
	{words: []string{"to pass options in shebang lines"},
		anywhere: true, did: "the first line of a script gives env a program and its options, which env takes for one name", change: "write -S after env, as in #!/usr/bin/env -S python3 -u"},
	{words: []string{": bad interpreter: ", "env: ‘", "env: '", "env: can't execute '"},
		anywhere: true, did: "the first line of a script names the program %s, which is not there", names: quotedInterpreter, change: "install it, or name a program that is there, as in #!/usr/bin/env python3"},
	{words: []string{": cannot execute: required file not found"},
		anywhere: true, did: "it starts %s, and the program that runs that file is not there", names: quotedProgram, change: "look at the first line of the file: it names a program that is not there, or ends with CR LF, as on Windows"},
	{words: []string{"xec format error", "cannot execute binary file"},
		anywhere: true, did: "it starts %s, which is not a program for this machine", names: quotedProgram, change: "build that program on a machine like this one, or for it; begin a script with a line such as #!/usr/bin/env python3"},
	{words: []string{"CPU does not support", "can only be run on AMD64 processors with", "llegal instruction"},
		anywhere: true, did: "this processor lacks an instruction of the program", change: forEveryProcessor},
	{words: []string{"' not found (required by "},
		anywhere: true, did: "it needs %s, which the C library of this machine does not have", names: quotedVersion, change: "build the bot on a system as old as this one, or link it statically"},
	{words: []string{"cannot open shared object file", "Error loading shared library", "Library not loaded: "},
		anywhere: true, did: "it needs the library %s, which is not there", names: quotedLibrary, change: "link the library statically, or put it into the bot's directory and set the bot's rpath to $ORIGIN"},
	{words: []string{"Cannot find module '/", "Cannot find module '.", "can't open file '", "Can't open perl script", "Could not open input file"},
		anywhere: true, hidden: true, did: "it looked for %s, which is not there", names: quotedFile, change: "compare the name with that of the file, in capital letters, too: what a bot starts or imports is in its own directory"},
	{words: []string{"attempted relative import"},
		anywhere: true, did: "it imports a file as part of a package, and is started as a file", change: `write "import helpers" or "from helpers import ..." without the dot: the file that is started belongs to no package`},
	{words: []string{"ModuleNotFoundError", "Cannot find module", "cannot load such file", "@INC contains", "' not found:"},
		anywhere: true, did: "it needs the module %s, which is not there", names: quotedModule, change: "use only the standard library, or put the module into the bot's directory, as files or in a virtual environment that runs the bot: a match has no modules that were installed with pip, npm or the like for one user"},
	{words: []string{"No such file or directory", "no such file or directory", "ENOENT", "FileNotFoundException", "NoSuchFileException", "cannot open file"},
		anywhere: true, hidden: true, did: "it looked for %s, which is not there", names: quotedPath, change: putFiles + ", where it is started, and open them by paths relative to it" + hides},
}

// quotedPath matches the path in an error message. The path is in quotation marks, before or after a colon, or after
// a dash.
var quotedPath = []*regexp.Regexp{
	regexp.MustCompile(`['"]([^'"]*[/.][^'"]*)['"]`),
	regexp.MustCompile(`(?:open|create|mkdir|cannot create|line [0-9]+:|rb_sysopen -) ([^ :]+)`),
	regexp.MustCompile(`([^ :(]*[/.][^ :()]+):? \(?(?:[Rr]ead-only|[Pp]ermission|[Nn]o such)`),
}

// quotedVersion matches the version of a library in an error message of the loader, such as GLIBC_2.38.
var quotedVersion = []*regexp.Regexp{regexp.MustCompile("version `([^']+)' not found")}

// quotedLibrary matches the name of a shared library in an error message of the loader.
var quotedLibrary = []*regexp.Regexp{
	regexp.MustCompile(`([^ :]+): cannot open shared object file`),
	regexp.MustCompile(`(?:Error loading shared library|Library not loaded:) ([^ :]+)`),
}

// quotedInterpreter matches error messages about a missing program in the first line of a script. The first group is
// that program.
var quotedInterpreter = []*regexp.Regexp{
	regexp.MustCompile(`env: (?:can't execute )?['‘]([^'’]+)['’]`),
	regexp.MustCompile(`([^ :]+): bad interpreter`),
}

// quotedProgram matches error messages that a program cannot be executed. The first group is the program.
var quotedProgram = []*regexp.Regexp{
	regexp.MustCompile(`xec format error: ['"]([^'"]+)['"]`),
	regexp.MustCompile(`([^ :]+): (?:cannot execute|[Ee]xec format error)`),
}

// quotedModule matches the name of a module in an error message.
var quotedModule = []*regexp.Regexp{
	regexp.MustCompile(`(?:Cannot find module|named|load such file --|locate) ['"]?([^'" ]+?)['"]?(?: |$)`),
	regexp.MustCompile(`module '([^']+)' not found`),
}

// quotedFile matches, in an error message of an interpreter, the file that it could not read.
var quotedFile = slices.Concat(quotedModule, []*regexp.Regexp{regexp.MustCompile(`input file: (\S+)`)}, quotedPath)

// restrictionHit searches the end of the bot's log for a sign that a restriction, such as a rule of the sandbox, made
// the bot fail. It returns what the bot tried and what to change. Both are empty if it finds nothing. They are also
// empty if the process neither was killed by a signal nor exited with an error.
func (r Reason) restrictionHit(c Circumstances) (did, change phrase.Text) {
	if r.Kind != Exited && r.Kind != Signalled || r.Kind == Exited && r.Status == 0 || slices.Contains([]string{"SIGSEGV", "SIGBUS", "SIGFPE"}, r.Name) {
		return did, change
	}
	log := slices.DeleteFunc(slices.Clone(lastWords(c.Log.Lines)), isCaughtException)
	for _, w := range restrictions {
		line, ok := w.find(log)
		if !ok || c.Sandbox.Absent && !w.anywhere {
			continue
		}
		if !strings.Contains(w.did, "%s") {
			return phrase.New(w.did), w.advice(c)
		}
		name := pathIn(w.names, line, log)
		if w.hidden && !c.Sandbox.Absent && c.Sandbox.Hides != nil && c.Sandbox.Hides(name) {
			return phrase.New("it looked for %s, which the sandbox hides", name), phrase.New(putFiles + hides)
		}
		if name == "" {
			return phrase.New(w.did, phrase.New("a file")), w.advice(c)
		}
		return phrase.New(w.did, name), w.advice(c)
	}
	return did, change
}

var exceptionName = regexp.MustCompile(`\w(Error|Exception)\b`)

// isCaughtException reports whether a line of a log names an exception in another way than a runtime that reports it,
// as in "caught MemoryError, using less": the program has survived the exception.
func isCaughtException(line string) bool {
	return exceptionName.MatchString(line) && !matches(causePatterns, strings.TrimSpace(line))
}

// find returns the last line of stderr that contains one of the words of the restriction.
func (w restriction) find(stderr []string) (line string, ok bool) {
	for _, line := range slices.Backward(stderr) {
		if slices.ContainsFunc(w.words, func(word string) bool { return strings.Contains(line, word) }) {
			return line, true
		}
	}
	return "", false
}

func (w restriction) advice(c Circumstances) phrase.Text {
	switch w.limit {
	case OutOfMemory:
		return Reason{Kind: w.limit, Limit: c.Sandbox.Memory}.Advice(c)[0]
	case TooManyProcesses:
		return Reason{Kind: w.limit, Limit: c.Sandbox.Processes}.Advice(c)[0]
	}
	return phrase.New(w.change)
}

// pathIn returns the path or name that one of the expressions in find matches in line. If line has none, it searches
// the lines in others, because Node writes the path on a separate line. It returns "" if there is none.
func pathIn(find []*regexp.Regexp, line string, others []string) string {
	for _, line := range append([]string{line}, others...) {
		for _, re := range find {
			if m := re.FindStringSubmatch(line); m != nil {
				return m[1]
			}
		}
	}
	return ""
}
