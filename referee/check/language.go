package check

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"

	"github.com/timba-arena/timba/referee/program"
)

// flushes says how to flush in each language. A line that is printed in these
// ways reaches the referee at once.
var flushes = map[string]string{
	"Python":     `print(..., flush=True) for every line, or run it as python3 -u`,
	"JavaScript": `console.log or process.stdout.write send at once; do not end by process.exit(), which may drop what is not yet written`,
	"C":          `fflush(stdout) after every printf, or setvbuf(stdout, NULL, _IOLBF, 0) once at the start of main`,
	"C++":        `std::endl or std::flush after every line, or std::cout << std::unitbuf once at the start of main; "\n" alone does not flush`,
	"Rust":       `std::io::stdout().flush().unwrap() after every line, with use std::io::Write; a BufWriter must be flushed as well`,
	"Java":       `System.out.flush() after every println; a PrintWriter needs true as its second argument, or flush()`,
	"Go":         `fmt.Println on os.Stdout sends at once; a bufio.Writer needs Flush() after every line, and drops what is left at the end`,
	"Bash":       `echo and printf send at once; a program in a pipe does not: use stdbuf -oL, sed -u, grep --line-buffered or awk with fflush()`,
	"Perl":       `$| = 1; once at the start`,
	"Ruby":       `$stdout.sync = true once at the start`,
	"Lua":        `print sends at once; io.write needs io.stdout:flush() after every line, or io.stdout:setvbuf("line") once at the start`,
	"Tcl":        `flush stdout after every puts, or fconfigure stdout -buffering line once at the start`,
	"PHP":        `echo sends at once when run as php bot.php; if output buffering is on, ob_implicit_flush(true) or while (ob_get_level()) ob_end_flush();`,
}

// flushIn says how to flush in a language, or in some where it is not known.
func flushIn(language string) string {
	if how, ok := flushes[language]; ok {
		return "in " + language + ": " + how
	}
	return `flush the output after every line: print(..., flush=True) in Python, fflush(stdout) in C, std::endl in C++, System.out.flush() in Java, $| = 1 in Perl, $stdout.sync = true in Ruby`
}

// interpreters are languages by the program that runs them.
var interpreters = []struct{ program, language string }{
	{"python", "Python"}, {"pypy", "Python"}, {"node", "JavaScript"}, {"deno", "JavaScript"}, {"bun", "JavaScript"},
	{"java", "Java"}, {"bash", "Bash"}, {"sh", "Bash"}, {"dash", "Bash"}, {"zsh", "Bash"}, {"perl", "Perl"}, {"ruby", "Ruby"},
	{"luajit", "Lua"}, {"lua", "Lua"}, {"tclsh", "Tcl"}, {"php", "PHP"},
}

// languageOf is the language of a program, else that of the interpreter that it
// is run by or that its first line names, "" where nothing tells.
func languageOf(p program.Program) string {
	if p.Language != "" {
		return p.Language
	}
	if l := interpreted(p.Command[0]); l != "" {
		return l
	}
	return interpreted(shebang(p.Command[0]))
}

// interpreted is the language of an interpreter's path: "python3.12" runs Python.
func interpreted(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".exe")
	name = strings.TrimRight(name, "0123456789.-")
	for _, i := range interpreters {
		if name == i.program {
			return i.language
		}
	}
	return ""
}

// shebang is the interpreter that a script names in its first line.
func shebang(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, err := bufio.NewReaderSize(f, 256).ReadSlice('\n')
	if err != nil || !strings.HasPrefix(string(line), "#!") {
		return ""
	}
	for word := range strings.FieldsSeq(string(line[2:])) {
		if filepath.Base(word) != "env" && !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
			return word
		}
	}
	return ""
}
