package bench

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/timba-arena/timba/web/live"
)

// A socket that the hub has lost ends the measurement with an error.
func TestLostSocket(t *testing.T) {
	hub := live.NewHub(live.Options{Limits: live.DefaultLimits(10)})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := new(websocket.Upgrader).Upgrade(w, r, nil) // the hub does not know it
		if err == nil {
			c.Close()
		}
	}))
	defer server.Close()
	b := &watchersBench{Watchers: Watchers{Sockets: 2}}
	_, err := b.connect(hub, "ws"+strings.TrimPrefix(server.URL, "http"))
	if err == nil || !strings.Contains(err.Error(), "2 of 2 sockets have been lost") {
		t.Error(err)
	}
}
