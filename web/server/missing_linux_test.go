package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/datadir"
)

// What a version needs is not known while its files do not stand here, as after a restore from a backup;
// then it is asked of every machine, the server's own included.
func TestMissing(t *testing.T) {
	t.Parallel()
	s := &Server{Options: Options{Dir: datadir.Dir(t.TempDir())}}
	local, other := attempt.Machine{Name: attempt.Local, Local: true, Arch: "amd64"}, attempt.Machine{Name: "lab-1", Arch: "arm64"}
	exe := kit.Get[[]byte](t)(os.ReadFile("/proc/self/exe"))
	elf := func(machine byte) string { // a header without parts
		header := append([]byte(nil), exe[:64]...)
		header[18], header[19] = machine, 0
		clear(header[32:48])
		clear(header[56:])
		return string(header)
	}
	for _, test := range []struct {
		name        string
		files       map[string]string // nil: none stand
		command     string
		here, there string // what is lacking; "?": it is not known
	}{
		{"restored", nil, "./bot", "?", "?"},
		{"in part", map[string]string{"README": ""}, "./bot", "?", "?"},
		{"native", map[string]string{"bot": elf(183)}, "./bot", "arm64", ""},
		{"32-bit", map[string]string{"bot": elf(3)}, "./bot", "", "386"},
		{"a shell", map[string]string{"bot.sh": ""}, "sh bot.sh", "", ""},
		{"of nowhere", map[string]string{"bot.py": ""}, "python2.0 bot.py", "python2.0", "python2.0"},
	} {
		v := ladder.Version{Bot: "mine", Hash: strings.ReplaceAll(test.name, " ", "-"), Command: strings.Fields(test.command)}
		if test.files != nil {
			kit.Files(t, filepath.Join(s.Dir.Bots(), v.Hash), test.files)
		}
		for _, on := range []struct {
			attempt.Machine
			want string
		}{{local, test.here}, {other, test.there}} {
			lacks, known := s.missing(v, on.Machine)
			if known != (on.want != "?") || known && ((lacks == "") != (on.want == "") || !strings.Contains(lacks, on.want)) {
				t.Errorf("%s: %s lacks %q, known: %t; want %q", test.name, on.Name, lacks, known, on.want)
			}
		}
	}
}
