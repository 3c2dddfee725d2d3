package sandbox

import (
	"maps"
	"strings"
	"sync"
)

// versionArgs are the arguments with which an interpreter tells its version, where they are not
// --version.
var versionArgs = map[string][]string{
	"java": {"-version"}, "perl": {"-e", `printf "%vd", $^V`}, "lua": {"-v"}, "luajit": {"-v"}, "erl": {"-version"}, "tclsh": nil,
}

// Interpreters returns the well-known interpreters of this machine with their versions, "" where one
// does not tell. It asks them once.
func Interpreters() map[string]string { return maps.Clone(askInterpreters()) }

var askInterpreters = sync.OnceValue(func() map[string]string {
	var mu sync.Mutex
	var asked sync.WaitGroup
	found := map[string]string{}
	for _, name := range wellKnown {
		path, err := locate(name, "")
		if err != nil {
			continue
		}
		asked.Go(func() {
			version := tellsVersion(name, path)
			mu.Lock()
			defer mu.Unlock()
			found[name] = version
		})
	}
	asked.Wait()
	return found
})

func tellsVersion(name, path string) string {
	args, special := versionArgs[name]
	if !special {
		args = []string{"--version"}
	}
	if len(args) == 0 {
		return ""
	}
	out, errs, _ := ask(path, args...) // what it prints counts, whatever its status
	return firstVersion(out + errs)
}

// firstVersion returns the first numbers of a text with points between them; "" if there are none.
func firstVersion(text string) string {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }) {
		if word = strings.Trim(word, "."); strings.Contains(word, ".") {
			return word
		}
	}
	return ""
}
