// Package client is a client of the HTTP API of a competition. The types of requests and responses are in package
// wire. If the server responds with an error, the methods return it as a *wire.Problem.
//
// A request is repeated if the server is busy (status 429 or 503). It is also repeated if the connection fails, or a
// proxy says that the server does not answer (status 502 or 504), provided that the server has answered before and that
// the request may be sent twice without harm.
package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/timba-arena/timba/web/wire"
)

// Client is a client of one server, with the token of one person. It is safe for concurrent use.
type Client struct {
	URL   string // address of the server, without /api/v1
	Token string // if "", requests are anonymous
	Agent string // value of the header User-Agent
	// Retries is the largest number of times that a request is repeated.
	Retries int
	// OnWait, unless nil, is called before each wait for another attempt. why is the error of the last attempt.
	OnWait func(why error, wait time.Duration)

	http        *http.Client
	hasAnswered atomic.Bool // the server has answered a request, so its address is right
}

// answerTime is how long the client waits for the first byte of an answer. A server that plays answers within 90 s.
const answerTime = 2 * time.Minute

// New returns a client of the server at address. Requests carry token, or are anonymous if token is "". An address
// without a scheme means https, or http for the local machine.
func New(address, token string) (*Client, error) {
	full, err := cleanURL(address)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = answerTime
	return &Client{URL: full, Token: token, Agent: "timba", Retries: 5, http: &http.Client{
		Transport: transport,
		// A redirect could carry a token or an upload elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func cleanURL(address string) (string, error) {
	text := address
	if !strings.Contains(text, "://") {
		host, _, _ := strings.Cut(text, "/")
		name, _, _ := strings.Cut(host, ":")
		text = "https://" + text
		if name == "localhost" || name == "127.0.0.1" || strings.HasPrefix(host, "[::1]") {
			text = "http://" + address
		}
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("server: %q is not an address of a server: try https://HOST or http://HOST:PORT", address)
	}
	base := u.Scheme + "://" + u.Host
	if path := strings.TrimSuffix(u.Path, "/"); path != "" && path != "/api/v1" {
		return "", fmt.Errorf("server: %q has the path %q, but timba is always at the root of a host: try %s", address, path, base)
	}
	return base, nil
}

// IsUnencrypted reports whether requests go over plain HTTP to another machine, so that others in the network
// can read them.
func (c *Client) IsUnencrypted() bool {
	u, err := url.Parse(c.URL)
	return err == nil && u.Scheme == "http" && u.Hostname() != "localhost" && !net.ParseIP(u.Hostname()).IsLoopback()
}

// request is one request to the server.
type request struct {
	method, path string // the path begins after /api/v1, and its parts are escaped
	query        url.Values
	header       http.Header
	// body returns the body and its size; it is called for each attempt. If nil, the request has no body.
	body func() (io.Reader, int64)
	kind string // media type of the body
	// notIdempotent means that the request must not be repeated after a failed connection.
	notIdempotent bool
}

// do sends a request and returns the answer if its status means success or is 304. Otherwise it may send the request
// again; the package comment says when. If the server demands a wait of more than maxWait, do returns the error at
// once instead. The caller must close the body of the answer.
func (c *Client) do(ctx context.Context, q request) (*http.Response, error) {
	for try := 0; ; try++ {
		resp, err := c.send(ctx, q)
		if err == nil && (resp.StatusCode < 300 || resp.StatusCode == http.StatusNotModified) {
			c.hasAnswered.Store(true)
			return resp, nil
		}
		var wait time.Duration
		isLost, isBusy := true, false // whether the server may not have received the request
		if err == nil {
			problem := wire.ReadProblem(resp)
			resp.Body.Close()
			if problem.Type != "" { // it is of timba
				c.hasAnswered.Store(true)
			}
			isLost = problem.Status == http.StatusBadGateway || problem.Status == http.StatusGatewayTimeout
			isBusy = problem.Status == http.StatusTooManyRequests || problem.Status == http.StatusServiceUnavailable
			wait, err = retryAfter(resp), problem
		}
		again := isBusy || isLost && !q.notIdempotent && ctx.Err() == nil && c.hasAnswered.Load()
		if !again || try >= c.Retries {
			return nil, err
		}
		if wait == 0 {
			wait = 250 * time.Millisecond << min(try, 6)
			wait += rand.N(wait / 4)
		}
		if wait > maxWait {
			return nil, err
		}
		if c.OnWait != nil {
			c.OnWait(err, wait)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

const maxWait = 2 * time.Minute

func (c *Client) send(ctx context.Context, q request) (*http.Response, error) {
	address := c.URL + "/api/v1" + q.path
	if len(q.query) > 0 {
		address += "?" + q.query.Encode()
	}
	if len(address)+len(c.Token) > maxAddress {
		return nil, fmt.Errorf("server: the names, values and the token of the request are longer than %d bytes in all: give shorter ones", maxAddress)
	}
	var body io.Reader
	var size int64
	if q.body != nil {
		body, size = q.body()
	}
	req, err := http.NewRequestWithContext(ctx, q.method, address, body)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if q.header != nil {
		req.Header = q.header.Clone()
	}
	if body != nil {
		req.ContentLength = size
		req.Header.Set("Content-Type", q.kind)
	}
	req.Header.Set("User-Agent", cmp.Or(c.Agent, "timba"))
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("server: %s cannot be reached: %s", c.URL, wire.ConnectionFailure(err))
	}
	return resp, nil
}

// maxAddress is the largest size of an address and a token together, in bytes. Servers refuse more.
const maxAddress = 16 << 10

// retryAfter returns the time in the header Retry-After, or 0 if the header is absent or invalid. It reduces
// a very large number of seconds to a time that is still longer than maxWait.
func retryAfter(resp *http.Response) time.Duration {
	text := resp.Header.Get("Retry-After")
	if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		return time.Duration(min(n, int(maxWait.Seconds())+1)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// Status returns the HTTP status of err if the server answered with it, otherwise 0.
func Status(err error) int {
	var p *wire.Problem
	if errors.As(err, &p) {
		return p.Status
	}
	return 0
}

func read[T any](ctx context.Context, c *Client, q request) (T, error) {
	var doc T
	resp, err := c.do(ctx, q)
	if err != nil {
		return doc, err
	}
	defer resp.Body.Close()
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind == "text/html" {
		return doc, fmt.Errorf("server: %s answered with the type %q, which is not an answer of timba: open the address in a browser: is it a timba server, or does the network show a page to sign in?", c.URL, kind)
	}
	data, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(data, &doc)
	}
	if err == nil && !mayBe[T](data) {
		err = fmt.Errorf("it is %.40q", data)
	}
	if err != nil {
		return doc, fmt.Errorf("server: %s: the answer cannot be read: %w: is this the address of a timba server?", c.URL, err)
	}
	return doc, nil
}

// mayBe reports whether data, a JSON document, may be a T of timba. A document is foreign if T is a struct and the
// document has members, but none that T has.
func mayBe[T any](data []byte) bool {
	var members map[string]json.RawMessage
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct || json.Unmarshal(data, &members) != nil || len(members) == 0 {
		return true
	}
	return slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		_, ok := members[name]
		return ok
	})
}

func get[T any](ctx context.Context, c *Client, path string, query url.Values) (T, error) {
	return read[T](ctx, c, request{method: http.MethodGet, path: path, query: query})
}

// post sends the JSON document doc to path with POST, and decodes the answer. After a failed connection it does
// not repeat the request, because the server may already have handled it.
func post[T any](ctx context.Context, c *Client, path string, doc any) (T, error) {
	return send[T](ctx, c, request{method: http.MethodPost, path: path, notIdempotent: true}, doc)
}

// send sends the request q with the JSON document doc as its body, and decodes the answer.
func send[T any](ctx context.Context, c *Client, q request, doc any) (T, error) {
	data, err := json.Marshal(doc)
	if err != nil {
		var none T
		return none, err
	}
	q.kind, q.body = "application/json", Body(data)
	return read[T](ctx, c, q)
}

func (c *Client) sendDelete(ctx context.Context, path string) error {
	return c.doWithoutAnswer(ctx, request{method: http.MethodDelete, path: path})
}

// doWithoutAnswer sends a request and ignores the content of the answer.
func (c *Client) doWithoutAnswer(ctx context.Context, q request) error {
	resp, err := c.do(ctx, q)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func pages[T any](ctx context.Context, c *Client, path string, query url.Values) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		q := url.Values{}
		maps.Copy(q, query)
		for {
			page, err := get[wire.Page[T]](ctx, c, path, q)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
			if page.Next == "" || page.Next == q.Get("cursor") || len(page.Items) == 0 {
				return
			}
			q.Set("cursor", page.Next)
		}
	}
}

// Collect returns the first n items of a list, or all items if n is less than 1.
func Collect[T any](list iter.Seq2[T, error], n int) ([]T, error) {
	items := []T{}
	for item, err := range list {
		if err != nil {
			return items, err
		}
		items = append(items, item)
		if len(items) == n {
			break
		}
	}
	return items, nil
}
