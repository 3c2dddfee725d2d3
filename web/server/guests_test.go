package server

import (
	"log/slog"
	"net/netip"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/sandbox"
)

// By default guests may play if only the machine itself can reach the server. A configuration that says
// whether guests may play applies everywhere.
func TestGuests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		listen, config string
		proxy, want    bool
	}{
		{"127.0.0.1:0", "", false, true},
		{"127.0.0.1:0", "", true, false},
		{"0.0.0.0:0", "", false, false},
		{"127.0.0.1:0", "guests = false", false, false},
		{"0.0.0.0:0", "guests = true", true, true},
	} {
		o := Options{
			Dir: datadir.Dir(t.TempDir()), HTTP: HTTP{Listen: c.listen}, Level: sandbox.LevelNone, Log: slog.New(slog.DiscardHandler), Database: store.Options{NoSync: true},
			Config: kit.Get[*config.Config](t)(config.Parse("test", []byte("[play]\n"+c.config))),
		}
		if c.proxy {
			o.HTTP.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		}
		s := kit.Get[*Server](t)(Open(t.Context(), o))
		if got := o.Config.Play.Guests; got != c.want {
			t.Errorf("%+v: guests play: %t", c, got)
		}
		kit.Must(t, s.Close())
	}
}
