package initproc

import (
	"bytes"
	"reflect"
	"syscall"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
)

// TestCode checks that a configuration and a report are decoded with every field.
func TestCode(t *testing.T) {
	config := Config{
		HasNamespaces: true, UID: -1, Path: "/bin/sh", Argv: []string{"sh", "", "-c,\n"}, Env: []string{"A=1"}, Dir: "/bot", Build: true,
		SystemPaths: []string{"/usr"}, Binds: []Bind{{"/a", "/b"}, {"/c", "/d"}}, OwnDir: Bind{"/e", "/f"},
		Limit: Limit{Memory: 1 << 40, Processes: 2, CPU: time.Second, Disk: 3, Inodes: 4, Output: 5, OpenFiles: 6},
		Home:  "/tmp", HasCgroup: true, PerFile: PerFile{Socket: 1, Pipe: 2, Poll: 3, Other: 4}, LandlockABI: 7,
		Filter: []syscall.SockFilter{{Code: 0xffff, Jt: 255, Jf: 255, K: Thread}, {}}, EnterCount: 1, LeaveTexts: []string{"0"}, CanThaw: true,
	}
	var got Config
	kit.Must(t, got.read(bytes.NewReader(config.Encode())))
	if !reflect.DeepEqual(got, config) {
		t.Errorf("%+v arrives as %+v", config, got)
	}
	report := Report{End: NotStarted, Wait: 1 << 31, CPU: 1, Step: "exec", Errno: 4, Text: "no, never"}
	var said Report
	kit.Must(t, said.Decode(report.Encode()))
	if said != report {
		t.Errorf("%+v arrives as %+v", report, said)
	}
	for _, v := range []any{config, config.Limit, config.PerFile, report} { // a new field must be added to this test
		for field, value := range reflect.ValueOf(v).Fields() {
			if field.IsExported() && value.IsZero() {
				t.Errorf("%T.%s is zero", v, field.Name)
			}
		}
	}
	for _, half := range [][]byte{nil, report.Encode()[:8], []byte("1,2,3,4,5,99,x,1,1,"), []byte("x,")} {
		if said.Decode(half) == nil {
			t.Errorf("%q is read as %+v", half, said)
		}
	}
}
