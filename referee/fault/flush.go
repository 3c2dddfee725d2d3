package fault

import "github.com/timba-arena/timba/internal/phrase"

// flushes maps programming languages to advice on how to flush the output, so that the referee gets each line at
// once.
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

// Flush returns advice on how to flush the output in a programming language. If it does not know the language, the
// advice covers several languages.
func Flush(language string) phrase.Text {
	if how, ok := flushes[language]; ok {
		return phrase.New("in " + language + ": " + how)
	}
	return phrase.New(`print(..., flush=True) in Python, fflush(stdout) in C, std::endl in C++, System.out.flush() in Java, $| = 1 in Perl, $stdout.sync = true in Ruby`)
}
