package fault

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// causePatterns match lines in which a runtime, sanitizer or interpreter reports the error that ended a program.
var causePatterns = expressions(
	`^SUMMARY: \w+Sanitizer: `,
	`^\S+:[0-9]+:[0-9]+: runtime error: `, // UndefinedBehaviorSanitizer
	`Assertion .* failed`,                 // C
	`^terminate called `,                  // C++
	`^(panic|fatal error): `,              // Go
	`^thread '.*' .*panicked at `,         // Rust
	`^(Caused by: |Exception in thread )`, // Java
	`^(Uncaught )?([\w.]+\.)?([A-Z]\w*)?(Error|Exception|Rejection|Interrupt)( \[\w+\])?(:|$)`, // Python, JavaScript
	`^(\w+\.)+\w*(error|Empty|Full|timeout)(:|$)`,                                              // Python: socket.gaierror
	`^(PHP )?(Fatal|Parse) error: `,
	`^\S+:[0-9]+:.* \((\w+::)*[A-Z]\w*\)$`, // Ruby
	`^\S+:[0-9]+: syntax error`,            // Ruby
	` at \S+ line [0-9]+(, <\w+> \w+ [0-9]+)?\.$`,
	`^\S+: line [0-9]+: `, // Bash
	`^\S+: [0-9]+: `,      // dash
	`: command not found$|: not found$`,
)

// trailerPatterns match lines that directly follow an error message, as the header of a stack trace does.
var trailerPatterns = expressions(
	`^stack traceback:$`,                // Lua
	`^ {4}while (executing|compiling)$`, // Tcl
)

// noisePatterns match lines that explain nothing, because some runtimes write them after every error or at every
// start.
var noisePatterns = expressions(`^(Node\.js v[0-9]|note: |NOTE: Picked up |exit status [0-9]|\[[0-9]+ bytes are left out here\])`)

// compilerPatterns match lines with an error message of a compiler or linker.
var compilerPatterns = expressions(
	`^\S+:[0-9]+:([0-9]+:)? (fatal )?error: `,                       // C, C++, Java
	`^(cc1\w*|\S*(gcc|cc|\+\+|clang)(-[0-9.]+)?): (fatal )?error: `, // compilers of C, about no line
	`^error(\[E[0-9]+\])?: `,                                        // Rust, javac
	`^\S+\.go:[0-9]+(:[0-9]+)?: `,                                   // Go
	`: undefined reference to |^(\S*[/.-])?(ld|lld|gold): `,         // linkers
)

// expressions returns a function that returns the compiled regular expressions for texts. The expressions are
// compiled only when that function is first called, because most programs never need them.
func expressions(texts ...string) func() []*regexp.Regexp {
	return sync.OnceValue(func() (list []*regexp.Regexp) {
		for _, e := range texts {
			list = append(list, regexp.MustCompile(e))
		}
		return list
	})
}

// longestCause is the largest number of bytes of a line of stderr that are quoted.
const longestCause = 200

// Cause returns the line of a program's stderr that says why the program ended, shortened to about 200 bytes. If sure
// is true, the line is known to be an error message. Otherwise line is the last line that may explain the end, or ""
// if there is none.
func Cause(stderr []string) (line string, sure bool) {
	if i := causeIndex(stderr); i >= 0 {
		return causeText(stderr, i), true
	}
	for _, line := range slices.Backward(stderr) {
		if line = strings.TrimSpace(line); line != "" && !matches(noisePatterns, line) {
			return shorten(line), false
		}
	}
	return "", false
}

// BuildCause returns the line of a build's output that says why the build failed, shortened to about 200 bytes.
// It returns "" if no line explains it.
func BuildCause(output []string) string {
	output = slices.Clone(output)
	for i, line := range output { // a program that shows its progress overwrites its line
		line = strings.TrimRight(line, "\r")
		output[i] = line[strings.LastIndexByte(line, '\r')+1:]
	}
	for i, line := range output {
		if !matches(compilerPatterns, line) {
			continue
		}
		line = strings.TrimRight(line, " \r")
		if i+1 < len(output) && strings.HasPrefix(line, "error") { // Rust names the place in the next line
			if place, ok := strings.CutPrefix(strings.TrimSpace(output[i+1]), "--> "); ok {
				line = place + ": " + line
			}
		}
		return shorten(line)
	}
	if line, ok := (restriction{words: networkWords}).find(output); ok {
		return shorten(strings.TrimSpace(line))
	}
	line, _ := Cause(output)
	return line
}

// FailedLine returns the number of the line of a source file at which a program failed, or 0 if it is unknown. file
// is the name of the source file. log has the lines of the program's log, or the cause of a failed build; FailedLine
// searches its end. In a stack trace it takes the innermost line of the file.
func FailedLine(log []string, file string) int {
	place := regexp.MustCompile(`(?:^|[^\w.-])` + regexp.QuoteMeta(path.Base(file)) + `(?:(", line )|: ?(?:line )?| (?:on )?line |" line )([0-9]+)`)
	from := max(0, len(log)-len(lastWords(log))-placeLines)
	first, last := 0, 0 // Python names the innermost line last
	for _, line := range log[from:] {
		if m := place.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[2])
			if first = cmp.Or(first, n); m[1] != "" {
				last = n
			}
		}
	}
	return cmp.Or(last, first)
}

// causeIndex returns the index of the last line that is known to be an error message, or -1 if there is none.
func causeIndex(lines []string) int {
	for i, line := range slices.Backward(lines) {
		if line = strings.TrimRight(line, " \r"); matches(causePatterns, line) {
			return i
		}
		if i == 0 || !matches(trailerPatterns, line) {
			continue
		}
		return i - 1
	}
	return -1
}

// tracePatterns match lines that come before an error message and belong to it: lines of a stack trace or of a chain
// of exceptions.
var tracePatterns = expressions(
	`^\s`,
	`^Traceback `,
	`^(During handling of the above exception|The above exception was the direct cause)`, // Python
)

// lastWords returns the lines at the end of a log that can explain why the program ended. These are all lines from
// the last stack trace on or, if there is none, the last three lines.
func lastWords(log []string) []string {
	i := causeIndex(log)
	if i < 0 {
		return log[max(0, len(log)-3):]
	}
	for i > 0 && (matches(tracePatterns, log[i-1]) || matches(tracePatterns, log[i]) && matches(causePatterns, log[i-1])) {
		i--
	}
	return log[i:]
}

// causeText returns the error message that is in lines[i], shortened. If the message continues in the next line, that
// line is added, and for a syntax error its place.
func causeText(lines []string, i int) string {
	line := strings.TrimSpace(lines[i])
	if next := continuation(lines, i); next != "" {
		line += " " + next
	}
	return shorten(line) + mistakePlace(lines, i)
}

// placePatterns match the line in which Python or Node says where a syntax error is, above the error message.
var placePatterns = expressions(`^File "(?:.*/)?([^"]+)", line ([0-9]+)`, `^(?:.*/)?([^/ ]+\.[cm]?js):([0-9]+)$`)

// placeLines is how many lines above an error message are searched for the source file and the line number of a
// syntax error.
const placeLines = 6

// mistakePlace returns the place of a syntax error, such as " (bot.py, line 3)". lines[i] is the error message. For
// other errors mistakePlace returns "".
func mistakePlace(lines []string, i int) string {
	if !syntaxErrorPattern.MatchString(lines[i]) {
		return ""
	}
	for _, line := range slices.Backward(lines[max(0, i-placeLines):i]) {
		for _, re := range placePatterns() {
			if m := re.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				return " (" + m[1] + ", line " + m[2] + ")"
			}
		}
	}
	return ""
}

var syntaxErrorPattern = regexp.MustCompile(`^(Syntax|Indentation|Tab)Error: `)

// continuation returns the line after lines[i] if the error message in lines[i] continues there, and otherwise "".
func continuation(lines []string, i int) string {
	if i+1 == len(lines) {
		return ""
	}
	next := strings.TrimSpace(lines[i+1])
	switch line := strings.TrimSpace(lines[i]); {
	case strings.HasPrefix(line, "terminate called ") && strings.HasPrefix(next, "what(): "),
		strings.HasPrefix(line, "thread '") && strings.HasSuffix(line, ":"):
		return next
	}
	return ""
}

// shorten cuts out the middle of a line that is longer than longestCause, because the beginning and the end say most.
func shorten(line string) string {
	if len(line) <= longestCause {
		return line
	}
	const end = longestCause / 3
	return strings.ToValidUTF8(line[:longestCause-end], "") + "..." + strings.ToValidUTF8(line[len(line)-end:], "")
}

func quote(line string) string {
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(strconv.Quote(line))
}

func matches(list func() []*regexp.Regexp, line string) bool {
	return slices.ContainsFunc(list(), func(re *regexp.Regexp) bool { return re.MatchString(line) })
}

// Lines splits a log into its lines and leaves out empty ones.
func Lines(log []byte) []string {
	return strings.FieldsFunc(string(log), func(r rune) bool { return r == '\n' })
}

// LogEnd returns the last lines of a log; most is their largest number. If an earlier line is an error message,
// LogEnd also returns that message first, and "..." after it if lines between are left out.
func LogEnd(lines []string, most int) []string {
	from := max(0, len(lines)-most)
	i := causeIndex(lines)
	if i < 0 || i >= from {
		return lines[from:]
	}
	head := lines[i : i+1 : i+1]
	if i+1 < from && continuation(lines, i) != "" {
		head = lines[i : i+2 : i+2]
	}
	if i+len(head) < from {
		head = append(head, "...")
	}
	return slices.Concat(head, lines[from:])
}
