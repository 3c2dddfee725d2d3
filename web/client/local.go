package client

import "net/http"

// Over returns a client whose requests a transport answers, such as a handler in this process.
// It never repeats a request.
func Over(transport http.RoundTripper, token string) *Client {
	return &Client{URL: "http://timba.invalid", Token: token, Agent: "timba", http: &http.Client{Transport: transport}}
}
