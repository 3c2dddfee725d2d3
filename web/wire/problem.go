package wire

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
)

// ReadProblem reads the Problem in the body of resp, an answer that is an error or a redirection. If the answer does
// not come from timba, ReadProblem returns a Problem without a Type. It explains what the answer means if a proxy
// before the server has sent it. The caller closes the body.
func ReadProblem(resp *http.Response) *Problem {
	data, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	p := new(Problem)
	if kind == ProblemType && json.Unmarshal(data, p) == nil && p.Title != "" {
		return p
	}
	p = &Problem{Title: "not an answer of timba", Status: resp.StatusCode}
	p.Detail = fmt.Sprintf("server: %s answered %q, ", resp.Request.URL.Host, resp.Status)
	if err != nil {
		p.Detail, p.Hint = p.Detail+fmt.Sprintf("but the answer was cut off: %s", err), "try again"
		return p
	}
	meaning, hint := "which is not an answer of timba", "is this the address of a timba server?"
	a, ok := proxyAnswers[resp.StatusCode]
	if !ok && resp.StatusCode >= 500 {
		a, ok = proxyAnswers[http.StatusBadGateway], true
	}
	if ok {
		meaning, hint = "an answer of a proxy: "+a.meaning, a.hint
	}
	if location, err := resp.Location(); err == nil && resp.StatusCode < 400 {
		meaning = fmt.Sprintf("a redirection to %.200q", location.Redacted())
		switch asked := resp.Request.URL; {
		case location.Path == asked.Path && location.Host == asked.Host && location.Scheme == asked.Scheme:
			hint = "it never ends: " + askOperator + "why its proxy redirects to the same address"
		case location.Path == asked.Path:
			hint = fmt.Sprintf("give the address %s://%s instead", location.Scheme, location.Host)
		}
	}
	if resp.StatusCode == http.StatusBadRequest && strings.Contains(string(data), "HTTPS") { // as servers and proxies say it
		meaning, hint = "since it speaks only https", "begin the address with https://"
	}
	p.Detail, p.Hint = p.Detail+meaning, hint
	return p
}

const askOperator = "ask the operator of the server "

// proxyAnswers maps HTTP statuses to what an answer of a proxy means and what to try.
var proxyAnswers = map[int]struct{ meaning, hint string }{
	http.StatusUnauthorized:          {"it asks for a password of its own", askOperator + "to exempt the paths /api/ and /ws/ from that"},
	http.StatusForbidden:             {"it does not let this request pass", askOperator + "whom the proxy admits"},
	http.StatusProxyAuthRequired:     {"the proxy of your network asks for a password", "write it into HTTPS_PROXY, as in http://NAME:PASSWORD@HOST:PORT"},
	http.StatusRequestEntityTooLarge: {"a body of this size is above its limit", askOperator + "to raise the limit, in nginx client_max_body_size, above limits.upload of timba.toml"},
	http.StatusTooManyRequests:       {"it limits the number of requests", "try again later"},
	http.StatusBadGateway:            {"the timba server behind it does not answer", "try again later, or " + askOperator + "whether timba serve runs, at the address that the proxy has for it (in nginx proxy_pass)"},
	http.StatusServiceUnavailable:    {"the timba server behind it does not answer", "try again later, or " + askOperator + "whether it is switched off"},
	http.StatusGatewayTimeout:        {"the timba server behind it took too long", "try again later, or " + askOperator + "whether timba serve hangs, and whether the proxy waits for 90 s and more (in nginx proxy_read_timeout)"},
}
