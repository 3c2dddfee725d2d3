package site_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/webtest"
)

// startStalledUpload starts an upload by the form, and sends nothing after the first bytes of its file.
func startStalledUpload(w *webtest.World, c *http.Client) net.Conn {
	w.T.Helper()
	at, err := url.Parse(w.URL)
	w.Must(err)
	conn, err := net.Dial("tcp", at.Host)
	w.Must(err)
	w.T.Cleanup(func() { conn.Close() })
	kind, body := multipartForm(w.T.(*testing.T), make([]byte, 100), "bot", "slow")
	var cookies []string
	for _, cookie := range c.Jar.Cookies(at) {
		cookies = append(cookies, cookie.Name+"="+cookie.Value)
	}
	_, err = fmt.Fprintf(conn, "POST /submit HTTP/1.1\r\nHost: %[1]s\r\nOrigin: http://%[1]s\r\nCookie: %[2]s\r\nContent-Type: %[3]s\r\nContent-Length: 100000\r\n\r\n%[4]s",
		at.Host, strings.Join(cookies, "; "), kind, body[:len(body)-120])
	w.Must(err)
	return conn
}

// An upload by the form that is too slow fails, like one by the API.
func TestSlowUpload(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, webtest.Calm, 0)
	w.FixAddress()
	w.SetPace(middleware.Pace{Rate: 1 << 10, Window: 10 * time.Minute})
	c := w.Client()
	w.SignIn(c, w.Token)
	w.SetPace(middleware.Pace{Rate: 1 << 10, Window: time.Second}) // on a busy machine, other requests may fail with this pace
	conn := startStalledUpload(w, c)
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	w.Must(err)
	defer answer.Body.Close()
	if answer.StatusCode < 400 || answer.StatusCode > 503 || answer.StatusCode == http.StatusInternalServerError {
		t.Errorf("a slow upload: %s", answer.Status)
	}
}
